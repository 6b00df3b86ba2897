"""What the drivers of llama.cpp and of its relative have in common: batches over the C API, through ctypes.

A GgmlApi says where the two differ: model_params and context_params set what a variant asks for, remove cuts a
sequence at a position, free_model frees the model.
"""

import time

import protocol

MAX_STEP = 512


class GgmlApi:
    def __init__(self, lib):
        self.lib = lib
        lib.llama_backend_init()

    def load(self, path, variant):
        params = self.lib.llama_model_default_params()
        params.n_gpu_layers = 0
        self.model_params(params, variant)
        self.model = self.lib.llama_model_load_from_file(path, params)
        if not self.model:
            raise RuntimeError("the model cannot be loaded")

    def context(self, n_ctx, n_seq, threads, variant):
        params = self.lib.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch, params.n_seq_max = n_ctx * n_seq, MAX_STEP, MAX_STEP, n_seq
        params.n_threads = params.n_threads_batch = threads
        self.context_params(params, variant)
        self.ctx = self.lib.llama_init_from_model(self.model, params)
        if not self.ctx:
            raise RuntimeError("no context")

    def n_vocab(self):
        return self.lib.llama_vocab_n_tokens(self.lib.llama_model_get_vocab(self.model))

    def forget(self, sequence, position):
        if not self.remove(sequence, position):
            raise RuntimeError("the sequence cannot be cut")

    def free(self):
        self.lib.llama_free(self.ctx)
        self.free_model()


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
