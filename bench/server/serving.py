"""A running `quire serve` and requests to it, for the measurements of this folder."""

import asyncio
import json
import os
import resource
import subprocess
import sys
import time


def allow_files(n):
    """Raises this process's limit, which the server inherits."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(n, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)


class Serving:
    """Use with `with`."""

    def __init__(self, quire, model, *options):
        self.process = subprocess.Popen([quire, "serve", "-m", model, "--port", "0", *options], stdout=subprocess.PIPE)
        line = next((l for l in self.process.stdout if l.startswith(b"ready: ")), None)
        if line is None:
            sys.exit("the server did not start")
        self.port, self.pid = int(line.rsplit(b":", 1)[1]), self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        if self.process.wait() != 0:
            sys.exit("the server ended with code %d" % self.process.returncode)

    def anonymous_bytes(self):
        """Resident memory less mapped files: what the plan is about."""
        with open("/proc/%d/status" % self.pid) as file:
            return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) * 1024

    def open_files(self):
        return len(os.listdir("/proc/%d/fd" % self.pid))

    def cpu_seconds(self):
        """{name: seconds} of its threads; "quire" is the edge, "quire-1", ... compute."""
        out, tick = {}, os.sysconf("SC_CLK_TCK")
        for thread in os.listdir("/proc/%d/task" % self.pid):
            with open("/proc/%d/task/%s/stat" % (self.pid, thread)) as file:
                name, fields = file.read().rsplit(")", 1)
            fields = fields.split()
            name = name.split("(", 1)[1]
            out[name] = out.get(name, 0) + (int(fields[11]) + int(fields[12])) / tick
        return out

    async def metrics(self):
        """{name: sum over labels}, and with its labels in braces each sample by itself."""
        out = {}
        for line in (await exchange(self.port, b"GET /metrics HTTP/1.0\r\n\r\n")).decode().splitlines():
            if line and not line.startswith(("#", "HTTP")) and " " in line:
                name, value = line.rsplit(" ", 1)
                try:
                    number = float(value)
                except ValueError:
                    continue  # a header
                out[name] = number
                if "{" in name:
                    family = name.split("{", 1)[0]
                    out[family] = out.get(family, 0) + number
        return out

    async def settled_files(self):
        """Open files, once the connections that were closed are gone, and their requests; after ten seconds in any case."""
        for _ in range(100):
            metrics = await self.metrics()
            if metrics["quire_connections"] == 1 and not metrics["quire_sequences_running"] + metrics["quire_sequences_queued"]:
                break
            await asyncio.sleep(0.1)
        return self.open_files()

    async def planned_bytes(self):
        return sum(v for k, v in (await self.metrics()).items() if k.startswith("quire_memory_bytes{") and 'place="host"' in k)


def post(path, body):
    text = json.dumps(body).encode()
    return (b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
            b"Content-Length: %d\r\n\r\n" % (path.encode(), len(text))) + text


async def exchange(port, text):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(text)
    answer = await reader.read()
    writer.close()
    return answer


class Answer:
    """Of one stream: its text, and the seconds at which its pieces came, from when it was asked for."""

    def __init__(self):
        self.text, self.times, self.usage = "", [], None

    @property
    def first(self):
        return self.times[0]

    @property
    def last(self):
        return self.times[-1]

    def gaps(self):
        return [b - a for a, b in zip(self.times, self.times[1:])]


async def stream(port, text):
    """Raises RuntimeError on whatever is not a whole stream."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    begin, answer, done = time.perf_counter(), Answer(), False
    writer.write(text)
    pieces = []
    while line := await reader.readline():
        if line.startswith(b"HTTP/1.1 ") and b" 200 " not in line:
            raise RuntimeError((await reader.read()).decode())
        if line == b"data: [DONE]\n":
            done = True
        if not line.startswith(b"data: {"):
            continue
        event = json.loads(line[6:])
        if "error" in event:
            raise RuntimeError(event["error"]["message"])
        answer.usage = event.get("usage") or answer.usage
        if event["choices"] and event["choices"][0]["delta"].get("content"):
            answer.times.append(time.perf_counter() - begin)
            pieces.append(event["choices"][0]["delta"]["content"])
    writer.close()
    if not done or not pieces:
        raise RuntimeError("the stream broke off")
    answer.text = "".join(pieces)
    return answer
