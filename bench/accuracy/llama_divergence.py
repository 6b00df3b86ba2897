"""Divergence of llama.cpp's predictions from those of the same weights in F32. Runs in the peer's environment.

    python llama_divergence.py model.gguf model-f32.gguf windows.json THREADS    prints one JSON object

windows.json holds lists of ids; every id but the first of each is scored, as by `quire perplexity`.
"""

import json
import os
import sys

import llama_cpp as lib
import numpy


class Model:
    def __init__(self, path, n_ctx, threads):
        params = lib.llama_model_default_params()
        params.n_gpu_layers = 0
        self.model = lib.llama_model_load_from_file(path.encode(), params)
        if not self.model:
            raise SystemExit(f"{path} cannot be loaded")
        params = lib.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = n_ctx
        params.n_threads = params.n_threads_batch = threads
        self.ctx = lib.llama_init_from_model(self.model, params)
        self.batch = lib.llama_batch_init(n_ctx, 0, 1)
        self.n_vocab = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(self.model))

    def logits(self, ids):
        """[len(ids), n_vocab]"""
        lib.llama_memory_clear(lib.llama_get_memory(self.ctx), True)
        for i, token in enumerate(ids):
            self.batch.token[i], self.batch.pos[i] = token, i
            self.batch.n_seq_id[i], self.batch.seq_id[i][0], self.batch.logits[i] = 1, 0, True
        self.batch.n_tokens = len(ids)
        if lib.llama_decode(self.ctx, self.batch) != 0:
            raise SystemExit("llama_decode failed")
        return numpy.ctypeslib.as_array(lib.llama_get_logits(self.ctx), (len(ids), self.n_vocab))


class Distributions:
    """Compares two rows of logits, in buffers that live on: fresh ones of a vocabulary's size cost more than the sums."""

    def __init__(self, n_vocab):
        self.q, self.p, self.terms = (numpy.empty(n_vocab) for _ in range(3))

    def log_softmax(self, row, out):
        numpy.copyto(out, row)
        out -= out.max()
        numpy.exp(out, out=self.terms)
        out -= numpy.log(self.terms.sum())

    def divergence(self, row, exact_row):
        """KL divergence; q and p are then the logarithms of the distributions."""
        self.log_softmax(row, self.q)
        self.log_softmax(exact_row, self.p)
        numpy.exp(self.p, out=self.terms)
        return float(self.terms @ self.p - self.terms @ self.q)


def mean_with_error(values):
    values = numpy.array(values)
    return float(values.mean()), float(values.std(ddof=1) / numpy.sqrt(len(values)))


def main():
    path, exact_path, windows_path, threads = sys.argv[1:]
    with open(windows_path) as file:
        windows = json.load(file)
    n_ctx = max(len(ids) for ids in windows)
    quantised, exact = Model(path, n_ctx, int(threads)), Model(exact_path, n_ctx, int(threads))
    both = Distributions(quantised.n_vocab)
    divergences, same, logprobs, exact_logprobs = [], [], [], []
    for ids in windows:
        rows, exact_rows = quantised.logits(ids[:-1]), exact.logits(ids[:-1])
        for i, following in enumerate(ids[1:]):
            divergences.append(both.divergence(rows[i], exact_rows[i]))
            same.append(rows[i].argmax() == exact_rows[i].argmax())
            logprobs.append(both.q[following])
            exact_logprobs.append(both.p[following])
    mean, error = mean_with_error(divergences)
    ratio, ratio_error = mean_with_error(numpy.array(exact_logprobs) - numpy.array(logprobs))
    ordered = numpy.sort(divergences)
    print(json.dumps({
        "tokens": len(divergences), "perplexity": float(numpy.exp(-numpy.mean(logprobs))),
        "base_perplexity": float(numpy.exp(-numpy.mean(exact_logprobs))), "difference": float(numpy.expm1(ratio)),
        "difference_error": float(numpy.exp(ratio) * ratio_error),
        "kld": {"mean": mean, "mean_error": error, "median": float(numpy.median(ordered)),
                "p99": float(ordered[int(0.99 * (len(ordered) - 1))]), "max": float(ordered[-1])},
        "same_top": float(numpy.mean(same))}))
    sys.stdout.flush()
    os._exit(0)  # freeing is the system's work


if __name__ == "__main__":
    main()
