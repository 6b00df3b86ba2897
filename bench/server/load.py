#!/usr/bin/env python3
"""Many streams at once through `quire serve`, compared byte by byte with the same requests alone.

usage: load.py QUIRE MODEL [--streams 64] [--tokens 32] [--ctx 512] [--idle 0] [--threads N]

Prints one JSON object: times, tokens per second, time to the first token and gaps between events, the share of CPU time
spent outside the model's steps, memory against the plan, and open files before and after. --idle opens so many
connections that never say anything. Exit status 1 when an answer failed or was not the one given alone, when memory is
above the plan and 64 MiB, or when files stayed open.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time

from serving import Serving, allow_files, post, stream

ALLOWANCE = 64 << 20  # for program, stacks, connections and requests


def request_text(i, tokens):
    return post("/v1/chat/completions", {
        "messages": [{"role": "user", "content": "Tell me a story about the number %d. " % i + "Please. " * (i % 7)}],
        "temperature": 0.8, "seed": i, "max_tokens": tokens, "ignore_eos": True, "stream": True})


async def try_stream(port, text):
    try:
        return await stream(port, text)
    except (OSError, RuntimeError) as error:
        return error


def outside_share(before, after):
    """Of the CPU time between, that of edge and workers; the engine's thread computes, as do those with numbers."""
    spent = {name: after[name] - before.get(name, 0) for name in after}
    outside = sum(t for name, t in spent.items() if name in ("quire", "quire-worker"))
    return outside / max(1e-9, sum(spent.values()))


async def measure(args, server):
    texts = [request_text(i, args.tokens) for i in range(args.streams)]
    await stream(server.port, texts[0])
    files = await server.settled_files()
    idle = []
    for _ in range(args.idle // 100):
        idle += await asyncio.gather(*[asyncio.open_connection("127.0.0.1", server.port) for _ in range(100)])
    cpu = server.cpu_seconds()
    begin = time.perf_counter()
    together = await asyncio.gather(*[try_stream(server.port, text) for text in texts])
    seconds = time.perf_counter() - begin
    outside = outside_share(cpu, server.cpu_seconds())
    resident, planned = server.anonymous_bytes(), await server.planned_bytes()
    begin = time.perf_counter()
    alone = [await stream(server.port, text) for text in texts]
    alone_seconds = time.perf_counter() - begin
    for _, writer in idle:
        writer.close()
    good = [a for a in together if not isinstance(a, Exception)]
    gaps = sorted(gap for answer in good for gap in answer.gaps())
    return {"streams": args.streams, "tokens": args.tokens, "idle_connections": len(idle),
            "errors": [str(a) for a in together if isinstance(a, Exception)],
            "different_answers": sum(isinstance(a, Exception) or a.text != b.text for a, b in zip(together, alone)),
            "seconds": round(seconds, 3), "alone_seconds": round(alone_seconds, 3),
            "tokens_per_second": round(args.streams * args.tokens / seconds, 1),
            "first_token_p50": round(statistics.median(a.first for a in good), 3),
            "gap_p50": round(statistics.median(gaps), 4), "gap_p99": round(gaps[len(gaps) * 99 // 100], 4),
            "outside_the_engine": round(outside, 4),
            "resident_mib": round(resident / 2**20, 1), "planned_mib": round(planned / 2**20, 1),
            "files_before": files, "files_after": await server.settled_files()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("quire")
    parser.add_argument("model")
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--ctx", type=int, default=512)
    parser.add_argument("--idle", type=int, default=0, help="a multiple of 100")
    parser.add_argument("--threads", type=int)
    args = parser.parse_args()
    allow_files(16384)
    options = ["--parallel", str(args.streams), "--ctx", str(args.ctx)]
    with Serving(args.quire, args.model, *options, *(["--threads", str(args.threads)] if args.threads else [])) as server:
        result = asyncio.run(measure(args, server))
    print(json.dumps(result))
    wrong = (result["errors"] or result["different_answers"] or result["files_after"] > result["files_before"]
             or result["resident_mib"] > result["planned_mib"] + ALLOWANCE / 2**20)
    sys.exit(1 if wrong else 0)


main()
