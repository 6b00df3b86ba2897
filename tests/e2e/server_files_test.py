"""The files `quire serve` writes: the trace and the access log, also on a disk that is full."""

import json
import os
import subprocess
import tempfile
import unittest

from server_case import QUIRE, TINY, Server, wait_until

HELLO = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 12, "temperature": 0, "ignore_eos": True}


class Trace(unittest.TestCase):
    def traced(self, path):
        """The events of a server that answered four chats, one with an id of its own, and was stopped."""
        with Server("--trace", path) as server:
            for i in range(4):
                self.assertEqual(server.post("/v1/chat/completions", HELLO, {"X-Request-Id": "mine-%d" % i})[0], 200)
            server.get("/no/such%22path")
            self.assertEqual(server.stop(), 0)
        with open(path) as file:
            return json.load(file)

    def test_it_shows_steps_ops_and_requests(self):
        with tempfile.TemporaryDirectory() as folder:
            events = self.traced(os.path.join(folder, "trace.json"))
        steps = [e for e in events if e["name"] == "step"]
        self.assertGreaterEqual(len(steps), 4 * 12)
        self.assertTrue(all(e["ph"] == "X" and e["dur"] > 0 for e in steps))
        ops = [e for e in events if e["ph"] == "X" and e["name"] != "step"]
        self.assertTrue(any(e["cat"].startswith("attention") for e in ops), {e["cat"] for e in ops})
        for step in steps:
            inside = [e for e in ops if step["ts"] - 0.01 <= e["ts"] and e["ts"] + e["dur"] <= step["ts"] + step["dur"] + 0.01]
            self.assertGreater(len(inside), 5)
        # Every token but those in memory and each answer's last went through a step.
        requests = [e["args"] for e in events if e["ph"] == "b" and e["name"] == "request"]
        self.assertEqual(sum(e["args"]["streams"] + e["args"]["prompt_tokens"] for e in steps),
                         sum(r["prompt_tokens"] - r["cached_tokens"] + r["answer_tokens"] - 1 for r in requests))

    def test_a_requests_stages_nest(self):
        with tempfile.TemporaryDirectory() as folder:
            events = self.traced(os.path.join(folder, "trace.json"))
        spans = {}
        for event in events:
            if event["ph"] in "be":
                spans.setdefault((event["cat"], event["id"], event["name"]), {})[event["ph"]] = event
        self.assertTrue(all(set(span) == {"b", "e"} and span["b"]["ts"] <= span["e"]["ts"] for span in spans.values()))
        ids = {i for (cat, i, _) in spans if cat == "request"}
        self.assertEqual(len(ids), 4)
        for i in ids:
            whole, queued, prompt, answer = [spans["request", i, name] for name in ("request", "queued", "prompt", "answer")]
            times = [whole["b"]["ts"], queued["b"]["ts"], queued["e"]["ts"], prompt["b"]["ts"], prompt["e"]["ts"],
                     answer["b"]["ts"], answer["e"]["ts"], whole["e"]["ts"]]
            self.assertEqual(times, sorted(times))
            self.assertEqual(whole["b"]["args"]["answer_tokens"], 12)
        http = [span["b"] for (cat, _, _), span in spans.items() if cat == "http"]
        chats = [e for e in http if e["name"] == "POST /v1/chat/completions"]
        self.assertEqual(sorted(e["args"]["id"] for e in chats), ["mine-%d" % i for i in range(4)])
        self.assertEqual([e["args"]["status"] for e in http if e["name"] == "other"], [404])

    def test_one_that_cannot_be_opened_is_refused(self):
        result = subprocess.run([QUIRE, "serve", "-m", TINY, "--port", "0", "--trace", "/no/such/folder/trace"],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (1, 1), result.stderr)
        self.assertIn("/no/such/folder/trace", result.stderr)


class FullDisk(unittest.TestCase):
    def test_serving_goes_on_with_one_warning_each(self):
        with Server() as plain:
            expected = plain.post("/v1/chat/completions", HELLO)[1]["choices"]
        with Server("--trace", "/dev/full", "--access-log", "/dev/full") as server:
            for _ in range(20):
                status, body = server.post("/v1/chat/completions", HELLO)
                self.assertEqual((status, body["choices"]), (200, expected))
            self.assertTrue(wait_until(lambda: "trace" in server.errors()))
            self.assertEqual(server.stop(), 0)
            warnings = server.errors().splitlines()
        self.assertEqual(len([w for w in warnings if "cannot write the trace" in w]), 1, warnings)
        self.assertEqual(len([w for w in warnings if "cannot write the access log" in w]), 1, warnings)
        self.assertEqual(len([w for w in warnings if "No space left" in w]), 2, warnings)

    def test_a_disk_that_has_room_again_is_used_again(self):
        """A limit on the size of files stands in for the disk: it makes half a line, then none."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "access.log")
            with open(path, "w") as file:
                file.write(" " * 400)  # so that the limit falls into a line
            command = 'trap "" XFSZ; ulimit -S -f 1; exec "$@"'
            server = Server("--access-log", path, prefix=["bash", "-c", command, "bash"])
            with server:
                for _ in range(8):
                    server.get("/health")
                self.assertTrue(wait_until(lambda: "cannot write the access log" in server.errors()))
                subprocess.run(["prlimit", "--pid", str(server.process.pid), "--fsize=unlimited:unlimited"], check=True)
                server.get("/health")
                self.assertTrue(wait_until(lambda: "can be written again" in server.errors()))
            with open(path) as file:
                lines = file.read().strip().splitlines()
        whole = [json.loads(line) for line in lines if line.endswith("}")]
        self.assertEqual(whole[-1]["path"], "/health")
        self.assertLessEqual(len(lines) - len(whole), 1)


if __name__ == "__main__":
    unittest.main(argv=["server_files_test"], verbosity=1)
