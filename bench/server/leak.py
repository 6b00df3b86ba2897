#!/usr/bin/env python3
"""Every kind of request and of leaving, for a while; afterwards nothing may have stayed behind.

usage: leak.py QUIRE MODEL [--seconds 180] [--clients 8]

Clients are processes of their own. They chat, stream, ask for what is refused, keep connections open, leave in the
middle; every other one is killed (SIGKILL) at a moment that chance picks and replaced by another, so that clients die in
every phase of a request. Meanwhile one client of this process asks for the same answer again and again, which must never
change. Prints one JSON object; exit status 1 when resident memory grew by more than 1% after the first quarter, when
files stayed open, or when that one answer failed or changed.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import socket
import sys
import time

from serving import Serving, allow_files, post, stream


def chat(rng, **changes):
    words = " ".join(rng.choice(("red", "green", "sea", "wind", "ship", "seven")) for _ in range(rng.randint(1, 120)))
    return {"messages": [{"role": "user", "content": words}], "max_tokens": rng.randint(1, 60), "ignore_eos": True, **changes}


def requests(rng):
    yield post("/v1/chat/completions", chat(rng))
    yield post("/v1/chat/completions", chat(rng, stream=True, n=rng.randint(1, 3)))
    yield post("/v1/chat/completions", chat(rng, stream=True, logprobs=True, top_logprobs=5, stop=["a"]))
    yield post("/v1/messages", chat(rng, stream=True))
    yield post("/v1/responses", {"input": "Say something.", "max_output_tokens": 20, "stream": True})
    yield post("/completion", {"prompt": "Once", "n_predict": 20})
    yield post("/tokenize", {"content": "word " * rng.randint(1, 5000)})
    yield post("/v1/chat/completions", {"messages": 3})
    yield b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"
    yield b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    yield b"\x16\x03\x01nonsense\r\n\r\n"
    yield post("/v1/chat/completions", chat(rng, stream=True, max_tokens=400))


def client(port, seed):
    """Never ends by itself."""
    rng = random.Random(seed)
    while True:
        for text in requests(rng):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                cut = rng.random() < 0.2
                connection.settimeout(0.3 if cut else 60)  # half a request is never answered
                end = rng.randint(0, len(text)) if cut else len(text)
                try:
                    for at in range(0, end, 700):
                        connection.sendall(text[at:min(at + 700, end)])
                    while not (cut and rng.random() < 0.3) and connection.recv(4096):
                        pass
                except OSError:
                    pass


class Clients:
    def __init__(self, port, n):
        self.port, self.rng, self.killed = port, random.Random(1), 0
        self.pids = [self.start() for _ in range(n)]

    def start(self):
        pid = os.fork()
        if pid == 0:
            try:
                client(self.port, self.rng.random())
            finally:
                os._exit(0)
        return pid

    def end(self, i):
        os.kill(self.pids[i], signal.SIGKILL)
        os.waitpid(self.pids[i], 0)
        self.killed += 1

    def replace_one(self):
        i = self.rng.randrange(len(self.pids) // 2) * 2
        self.end(i)
        self.rng.random()
        self.pids[i] = self.start()


async def measure(args, server):
    same = post("/v1/chat/completions", {"messages": [{"role": "user", "content": "What is a ship?"}], "temperature": 0,
                                         "max_tokens": 24, "ignore_eos": True, "stream": True})
    expected = (await stream(server.port, same)).text
    files = await server.settled_files()
    clients = Clients(server.port, args.clients)
    samples, checked, wrong = [], 0, []
    begin = time.monotonic()
    try:
        while (now := time.monotonic() - begin) < args.seconds:
            clients.replace_one()
            await asyncio.sleep(0.05 + 0.3 * clients.rng.random())
            samples.append((now, server.anonymous_bytes()))
            if checked < now / 2:
                checked += 1
                try:
                    if (await stream(server.port, same)).text != expected:
                        wrong.append("another answer")
                except (OSError, RuntimeError) as error:
                    wrong.append(str(error))
    finally:
        for i in range(args.clients):
            clients.end(i)
    files_after = await server.settled_files()
    metrics = await server.metrics()
    early = max(bytes for at, bytes in samples if at <= args.seconds / 4)
    late = max(bytes for at, bytes in samples if at > args.seconds / 4)
    held = sum(v for k, v in metrics.items() if k.startswith("quire_pages{") and 'state="held"' in k)
    return {"seconds": args.seconds, "requests": int(metrics["quire_requests_total"]), "killed_clients": clients.killed,
            "checked_answers": checked, "wrong_answers": wrong, "resident_mib_first_quarter": round(early / 2**20, 2),
            "resident_mib_later": round(late / 2**20, 2), "growth": round(late / early - 1, 5), "files_before": files,
            "files_after": files_after, "running_after": metrics["quire_sequences_running"], "held_pages_after": held}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("quire")
    parser.add_argument("model")
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--clients", type=int, default=8)
    args = parser.parse_args()
    allow_files(8192)
    with Serving(args.quire, args.model, "--parallel", "8", "--ctx", "1024") as server:
        result = asyncio.run(measure(args, server))
    print(json.dumps(result))
    good = (not result["wrong_answers"] and result["growth"] <= 0.01 and result["files_after"] <= result["files_before"]
            and result["running_after"] == result["held_pages_after"] == 0)
    sys.exit(0 if good else 1)


main()
