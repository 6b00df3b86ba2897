"""What the drivers of llama.cpp and of its relative have in common: batches over the C API, through ctypes.

`api` gives load(path, variant), context(n_ctx, n_seq, threads, variant), forget(sequence, from_position), decode(batch)
and free(); the rest is the same.
"""

import time

import protocol

MAX_STEP = 512


class GgmlDriver:
    def __init__(self, api):
        self.api = api
        self.lengths = {}

    def open(self, model, n_ctx, n_seq, threads, variant):
        self.close()
        start = time.perf_counter()
        self.api.load(model.encode(), variant)
        self.api.context(n_ctx=n_ctx, n_seq=n_seq, threads=threads, variant=variant)
        self.batch = self.api.lib.llama_batch_init(MAX_STEP, 0, 1)
        self.lengths = {sequence: 0 for sequence in range(n_seq)}
        self._step([(0, [1])], True)
        seconds = time.perf_counter() - start
        self._truncate(0, 0)
        self.ids = protocol.bench_ids(self.api.n_vocab(), MAX_STEP)
        return {"seconds": seconds}

    def close(self):
        if self.lengths:
            self.api.lib.llama_batch_free(self.batch)
            self.api.free()
        self.lengths = {}

    def _truncate(self, sequence, length):
        if self.lengths[sequence] > length:
            self.api.forget(sequence, length)
            self.lengths[sequence] = length

    def _step(self, items, logits):
        """items: (sequence, ids); logits of the last token of each, or of none."""
        n = 0
        for sequence, ids in items:
            for i, token in enumerate(ids):
                self.batch.token[n] = token
                self.batch.pos[n] = self.lengths[sequence] + i
                self.batch.n_seq_id[n] = 1
                self.batch.seq_id[n][0] = sequence
                self.batch.logits[n] = logits and i + 1 == len(ids)
                n += 1
            self.lengths[sequence] += len(ids)
        self.batch.n_tokens = n
        status = self.api.lib.llama_decode(self.api.ctx, self.batch)
        if status != 0:
            raise RuntimeError(f"llama_decode returned {status}")

    def _feed(self, sequence, n_tokens):
        while n_tokens > 0:
            n = min(n_tokens, MAX_STEP)
            self._step([(sequence, self.ids[:n])], n == n_tokens)
            n_tokens -= n

    def prefill(self, n_tokens):
        self._truncate(0, 0)
        start = time.perf_counter()
        self._feed(0, n_tokens)
        return {"seconds": time.perf_counter() - start}

    def decode(self, batch, depth, n_tokens):
        for sequence in range(batch):
            self._truncate(sequence, depth)
            if self.lengths[sequence] < depth:
                self._feed(sequence, depth - self.lengths[sequence])
        start = time.perf_counter()
        for _ in range(n_tokens):
            self._step([(sequence, [self.ids[sequence]]) for sequence in range(batch)], True)
        return {"seconds": time.perf_counter() - start}

    def greedy(self, ids, n_tokens):
        self._truncate(0, 0)
        chosen, n_vocab = [], self.api.n_vocab()
        for _ in range(n_tokens):
            self._step([(0, ids)], True)
            logits = self.api.lib.llama_get_logits_ith(self.api.ctx, self.batch.n_tokens - 1)
            row = logits[:n_vocab]
            ids = [max(range(n_vocab), key=row.__getitem__)]
            chosen += ids
        self._truncate(0, 0)
        return {"ids": chosen}
