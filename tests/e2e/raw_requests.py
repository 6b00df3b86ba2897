"""Mutated requests, heads and bodies, against `quire serve`: no crash, and no answer that says the server failed.

usage: raw_requests.py QUIRE TEST_DATA [COUNT] [SEED]

Good requests with bytes flipped, cut, repeated and put in, sent over plain sockets, several at a time on one connection. COUNT:
how many (default 5000). Not part of the fast tests."""

import random
import re
import socket
import sys

from client_package import check
from server_case import Server

BODIES = [("/v1/chat/completions", b'{"messages":[{"role":"user","content":"Hi"}],"max_tokens":2,"temperature":0.5,"stop":["x"]}'),
          ("/v1/completions", b'{"prompt":["a",[1,2]],"max_tokens":1,"echo":true,"logprobs":2}'),
          ("/v1/embeddings", b'{"input":["a",[1,2]],"encoding_format":"base64"}'), ("/tokenize", b'{"content":"Hello"}'),
          ("/v1/messages", b'{"messages":[{"role":"user","content":"Hi"}],"max_tokens":2}'),
          ("/v1/responses", b'{"input":"Hi","max_output_tokens":2}'), ("/completion", b'{"prompt":"a","n_predict":2}')]
WORDS = [b"\r\n", b"\r\n\r\n", b"\0", b"\xff\xfe", b": ", b"HTTP/1.1", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n",
         b"Expect: 100-continue\r\n", b"0\r\n\r\n", b"-1", b"99999999999999999999", b"{", b'"', b"[[[[", b"null", b"Connection: close\r\n",
         b"Authorization: Bearer x\r\n", b"X-Request-Id: \x01\r\n", b"%00", b"../"]


def request(random):
    path, body = random.choice(BODIES)
    head = b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (path.encode(), len(body))
    return head, body


def mutated(random, data):
    data = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4, 8))):
        at = random.randrange(len(data) + 1)
        kind = random.randrange(4)
        if kind == 0 and at < len(data):
            data[at] = random.randrange(256)
        elif kind == 1:
            del data[at:at + random.randrange(1, 9)]
        elif kind == 2:
            data[at:at] = random.choice(WORDS)
        else:
            data[at:at] = data[at:at + random.randrange(1, 30)]
    return bytes(data)


def piece(random):
    head, body = request(random)
    if random.random() < 0.5:  # a bad body in a good frame
        body = mutated(random, body)
        return re.sub(rb"Content-Length: \d+", b"Content-Length: %d" % len(body), head) + body
    return mutated(random, head + body)


def main():
    count, seed = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((3, 5000), (4, 1)))
    rng = random.Random(seed)
    statuses = {}
    with Server("--parallel", "8", "--ctx", "256") as server:
        sent = 0
        while sent < count:
            pieces = [piece(rng) for _ in range(rng.randrange(1, 9))]
            sent += len(pieces)
            client = server.raw(b"")
            client.settimeout(0.2)  # the server may wait for more
            got = b""
            try:
                client.sendall(b"".join(pieces))
                client.shutdown(socket.SHUT_WR)
                while data := client.recv(1 << 16):
                    got += data
            except OSError:
                pass
            client.close()
            for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", got):
                statuses[int(status)] = statuses.get(int(status), 0) + 1
            if any(s >= 500 for s in statuses):
                sys.exit("FAILED: seed %d, after %d: %r to %r" % (seed, sent, got, pieces))
        print("%d requests; answers: %s" % (sent, dict(sorted(statuses.items()))))
        check(server.process.poll() is None and server.get("/health")[0] == 200, "the server is well")
        check(server.stop() == 0, "shutdown")


main()
