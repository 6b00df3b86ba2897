#!/usr/bin/env python3
"""Streamed events per second of the server without its engine, on one core.

usage: edge.py EDGE_BENCH [--streams 64] [--events 500] [--rounds 3]

The server is kept on one core, this client on another. Prints one JSON object: events per second on the clock, and per
second of the server's CPU time. Exit status 1 below 20,000 of the latter.
"""

import argparse
import json
import os
import selectors
import socket
import statistics
import subprocess
import sys
import time

REQUEST = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"


def count_events(port, n_streams):
    """(events, seconds)"""
    selector, events, tails = selectors.DefaultSelector(), 0, {}
    begin = time.perf_counter()
    for _ in range(n_streams):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(REQUEST)
        selector.register(connection, selectors.EVENT_READ)
        tails[connection] = b""
    while tails:
        for key, _ in selector.select():
            connection = key.fileobj
            data = connection.recv(1 << 16)
            if not data:
                selector.unregister(connection)
                connection.close()
                del tails[connection]
                continue
            text = tails[connection] + data
            events += text.count(b"data: {")
            tails[connection] = text[-6:]  # too short to hold the mark
    return events, time.perf_counter() - begin


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("edge_bench")
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--events", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    server = subprocess.Popen([args.edge_bench, str(args.events)], stdout=subprocess.PIPE,
                              preexec_fn=lambda: os.sched_setaffinity(0, cores[:1]))
    os.sched_setaffinity(0, cores[1:] or cores)
    clock, cpu = [], []
    try:
        port = int(server.stdout.readline().rsplit(b":", 1)[1])
        for _ in range(args.rounds):
            before = cpu_seconds(server.pid)
            events, seconds = count_events(port, args.streams)
            # Besides the words: the role at the beginning and the reason at the end.
            assert events == args.streams * (args.events + 2), events
            clock.append(events / seconds)
            cpu.append(events / (cpu_seconds(server.pid) - before))
    finally:
        server.terminate()
        server.wait()
    result = {"streams": args.streams, "events": args.streams * (args.events + 2),
              "events_per_second": round(statistics.median(clock)), "events_per_cpu_second": round(statistics.median(cpu))}
    print(json.dumps(result))
    sys.exit(0 if result["events_per_cpu_second"] >= 20000 else 1)


main()
