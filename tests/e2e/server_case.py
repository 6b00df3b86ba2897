"""A running `quire serve` for tests, and clients of it made of plain sockets."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

QUIRE, DATA = sys.argv[1], sys.argv[2]
TINY = os.path.join(DATA, "models", "llama", "model-f32.gguf")


class Server:
    """Starts on a free port; use with `with`. prefix: a command that runs the program."""

    def __init__(self, *options, model=TINY, threads=1, prefix=()):
        self.folder = tempfile.TemporaryDirectory(prefix="quire-server-")
        self.log = open(os.path.join(self.folder.name, "stderr"), "w+b")
        self.process = subprocess.Popen(
            [*prefix, QUIRE, "serve", "-m", model, "--port", "0", "--threads", str(threads), *options],
            stdout=subprocess.PIPE, stderr=self.log, stdin=subprocess.DEVNULL)
        self.port = None
        for line in self.process.stdout:
            if line.startswith(b"ready: "):
                self.port = int(line.rsplit(b":", 1)[1])
                break
        if self.port is None:
            raise RuntimeError(self.errors())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()
        self.folder.cleanup()

    def errors(self):
        self.log.seek(0)
        return self.log.read().decode()

    def stop(self, timeout=20):
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout)

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def ask(self, method, path, body=None, headers=None):
        """(status, headers, body bytes) of one request on a connection of its own."""
        connection = self.connect()
        try:
            if body is not None and not isinstance(body, (bytes, str)):
                body = json.dumps(body)
            connection.request(method, path, body, {"Content-Type": "application/json", **(headers or {})})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def get(self, path, **headers):
        status, _, body = self.ask("GET", path, headers=headers)
        return status, body.decode()

    def post(self, path, body, headers=None):
        status, _, text = self.ask("POST", path, body, headers)
        return status, json.loads(text)

    def events(self, path, body, headers=None):
        """The data of every event of a stream; "[DONE]" as it is."""
        status, head, text = self.ask("POST", path, dict(body, stream=True), headers)
        if status != 200:
            raise AssertionError((status, text))
        if not head["Content-Type"].startswith("text/event-stream"):
            raise AssertionError(head)
        out = []
        for event in text.decode().split("\n\n"):
            for line in event.splitlines():
                if line.startswith("data: "):
                    out.append(line[6:] if line == "data: [DONE]" else json.loads(line[6:]))
        return out

    def metric(self, name):
        total = 0.0
        for line in self.get("/metrics")[1].splitlines():
            if line.startswith(name + "{") or line.startswith(name + " "):
                total += float(line.rsplit(" ", 1)[1])
        return total

    def raw(self, data):
        """A connection that has sent these bytes."""
        client = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        client.sendall(data)
        return client

    def raw_post(self, path, body):
        text = json.dumps(body).encode()
        return self.raw(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                        % (path.encode(), len(text)) + text)


def wait_until(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False
