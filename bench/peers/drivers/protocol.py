"""How compare.py talks to a driver: one JSON object per line each way, on the driver's standard input and output.

A driver is a class with the requests as methods; whatever a library prints goes to standard error. Requests:

  open {model, n_ctx, n_seq, threads, variant}   load the model; -> {seconds}: from the file to the first token
  prefill {n_tokens}                             -> {seconds} of a prompt of n_tokens
  decode {batch, depth, n_tokens}                -> {seconds} of n_tokens of each of `batch` sequences, one at a time,
                                                    every sequence holding `depth` tokens before
  greedy {ids, n_tokens}                         -> {ids}: the n_tokens likeliest continuations of ids
  close                                          forget the model

Prompts are the ids that `quire bench` feeds: bench_ids(). What fails is answered with {error}.
"""

import json
import os
import sys
import traceback


def bench_ids(n_vocab, count):
    """The first ids of the minimal standard generator, as quire's bench takes them."""
    state, ids = 1, []
    for _ in range(count):
        state = state * 48271 % 2147483647
        ids.append(state % n_vocab)
    return ids


def prompt_ids(n_vocab, n_tokens, step=512):
    """A prompt of any length: every step of the bench begins with the same ids."""
    ids = bench_ids(n_vocab, step)
    return [ids[i % step] for i in range(n_tokens)]


def serve(driver):
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries that print must not break the lines
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(driver, request.pop("op"))(**request) or {}
        except Exception as error:  # whatever a peer throws belongs to the report, not to this program
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"[:400]}
        out.write(json.dumps(answer) + "\n")
        out.flush()
