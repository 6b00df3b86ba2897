"""Clients that are killed (SIGKILL) in every phase of a request: nobody else notices, and nothing stays behind."""

import json
import os
import signal
import socket
import unittest

from server_case import Server, wait_until

ASK = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 40, "temperature": 0, "ignore_eos": True}


def request(body):
    text = json.dumps(body).encode()
    return b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text)


LONG = request({**ASK, "max_tokens": 100_000, "stream": True})
WHOLE = request({**ASK, "max_tokens": 100_000})

# Each says what the client has done before it dies.
PHASES = {
    "connected": lambda c: None,
    "in the header": lambda c: c.sendall(LONG[:30]),
    "in the body": lambda c: c.sendall(LONG[:-20]),
    "between two requests": lambda c: (c.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"), c.recv(4096)),
    "asked": lambda c: c.sendall(LONG),
    "waiting for a whole answer": lambda c: c.sendall(WHOLE),
    "in the stream": lambda c: (c.sendall(LONG), c.recv(1000)),
    "reading nothing": lambda c: (c.sendall(LONG), c.recv(1)),
    "with another request sent ahead": lambda c: (c.sendall(LONG + LONG), c.recv(1000)),
}


class KilledClients(unittest.TestCase):
    def die(self, port, act):
        """A process that connects, does what it does, and is killed."""
        ready, say = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                with socket.create_connection(("127.0.0.1", port)) as client:
                    act(client)
                    os.write(say, b"x")
                    signal.pause()
            finally:
                os._exit(1)
        os.close(say)
        self.assertEqual(os.read(ready, 1), b"x")
        os.close(ready)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    def test_in_every_phase(self):
        with Server("--parallel", "2", "--ctx", "8192") as server:
            files = lambda: len(os.listdir("/proc/%d/fd" % server.process.pid))
            expected = server.post("/v1/chat/completions", ASK)[1]["choices"]
            self.assertTrue(wait_until(lambda: server.metric("quire_connections") == 1))
            before = files()
            for phase, act in PHASES.items():
                with self.subTest(phase):
                    for _ in range(4):  # more than there are sequences: some die in the queue
                        self.die(server.port, act)
                    self.assertEqual(server.post("/v1/chat/completions", ASK)[1]["choices"], expected)
                    self.assertTrue(wait_until(lambda: server.metric("quire_connections") == 1))
                    for name in ("quire_sequences_running", "quire_sequences_queued"):
                        self.assertTrue(wait_until(lambda: server.metric(name) == 0), name)
                    self.assertTrue(wait_until(lambda: files() <= before))
            self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main(argv=["server_kill_test"], verbosity=1)
