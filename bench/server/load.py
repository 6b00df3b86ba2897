#!/usr/bin/env python3
"""Many streams at once through `quire serve`, compared byte by byte with the same requests alone.

usage: load.py QUIRE MODEL [--streams 64] [--tokens 32] [--idle 0] [--threads N]

Prints one JSON object: times, tokens per second, time to the first token and gaps between events, and whether every
answer was the one given alone. Exit status 1 when one was not. --idle opens so many connections that never say anything.
"""

import argparse
import asyncio
import json
import resource
import statistics
import subprocess
import sys
import time


def request_text(i, tokens):
    body = json.dumps({"messages": [{"role": "user", "content": "Tell me a story about the number %d. " % i + "Please. " * (i % 7)}],
                       "temperature": 0.8, "seed": i, "max_tokens": tokens, "ignore_eos": True, "stream": True}).encode()
    return (b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body)) + body


async def stream(port, text):
    """(the text of the answer, seconds to the first event, gaps)"""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    begin = time.perf_counter()
    writer.write(text)
    answer, times = [], []
    while line := await reader.readline():
        if not line.startswith(b"data: {"):
            continue
        event = json.loads(line[6:])
        if "error" in event:
            raise RuntimeError(event["error"]["message"])
        delta = event["choices"][0]["delta"]
        if delta.get("content"):
            times.append(time.perf_counter())
            answer.append(delta["content"])
    writer.close()
    return "".join(answer), times[0] - begin, [b - a for a, b in zip(times, times[1:])]


def memory(pid):
    with open("/proc/%d/status" % pid) as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) // 1024


async def measure(args, process, port):
    texts = [request_text(i, args.tokens) for i in range(args.streams)]
    idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(args.idle)]
    begin = time.perf_counter()
    together = await asyncio.gather(*[stream(port, text) for text in texts])
    seconds = time.perf_counter() - begin
    rss = memory(process.pid)
    begin = time.perf_counter()
    alone = [await stream(port, text) for text in texts]
    alone_seconds = time.perf_counter() - begin
    for _, writer in idle:
        writer.close()
    gaps = sorted(gap for answer in together for gap in answer[2])
    return {"streams": args.streams, "tokens": args.tokens, "idle_connections": args.idle,
            "seconds": round(seconds, 3), "alone_seconds": round(alone_seconds, 3),
            "tokens_per_second": round(args.streams * args.tokens / seconds, 1),
            "first_token_p50": round(statistics.median(a[1] for a in together), 3),
            "gap_p50": round(statistics.median(gaps), 4), "gap_p99": round(gaps[len(gaps) * 99 // 100], 4), "rss_mb": rss,
            "different_answers": sum(a[0] != b[0] for a, b in zip(together, alone))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("quire")
    parser.add_argument("model")
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--idle", type=int, default=0)
    parser.add_argument("--threads", type=int)
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    command = [args.quire, "serve", "-m", args.model, "--port", "0", "--parallel", str(args.streams), "--ctx", "512"]
    process = subprocess.Popen(command + (["--threads", str(args.threads)] if args.threads else []), stdout=subprocess.PIPE)
    try:
        line = next((l for l in process.stdout if l.startswith(b"ready: ")), None)
        if line is None:
            sys.exit("the server did not start")
        result = asyncio.run(measure(args, process, int(line.rsplit(b":", 1)[1])))
    finally:
        process.terminate()
        process.wait()
    print(json.dumps(result))
    sys.exit(1 if result["different_answers"] else 0)


main()
