"""/metrics of `quire serve`: its format, its arithmetic, and that documentation and dashboard name what there is."""

import importlib.util
import os
import re
import threading
import unittest

import exposition
from server_case import DATA, Server

ROOT = os.path.join(DATA, "..", "..")
HELLO = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 12, "temperature": 0, "ignore_eos": True}


def text_of(*path):
    with open(os.path.join(ROOT, *path)) as file:
        return file.read()


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--parallel", "4")
        cls.addClassCleanup(cls.server.__exit__)
        for _ in range(3):
            cls.server.post("/v1/chat/completions", HELLO)
        cls.server.get('/no/such/"path\\')
        cls.server.post("/v1/chat/completions", {"messages": 1})

    def scrape(self):
        status, headers, body = self.server.ask("GET", "/metrics")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
        return body.decode()

    def test_the_format_is_kept(self):
        families = exposition.read(self.scrape())
        self.assertGreater(len(families), 20)
        self.assertTrue(all(n.startswith(("quire_", "process_")) for n in families), families.keys())

    def test_it_is_read_as_prometheus_clients_read_it(self):
        if importlib.util.find_spec("prometheus_client") is None:
            self.skipTest("prometheus_client is not installed")
        from prometheus_client.parser import text_string_to_metric_families
        text = self.scrape()
        read = {s.name: s.value for f in text_string_to_metric_families(text) for s in f.samples if not s.labels}
        own = {name: value for f in exposition.read(text).values() for (name, labels), value in f.samples.items() if not labels}
        self.assertEqual(read, own)

    def test_counters_count_what_was_asked(self):
        sums = {f.name: sum(f.samples.values()) for f in exposition.read(self.scrape()).values() if f.type != "histogram"}
        before = sums["quire_completion_tokens_total"]
        answer = self.server.post("/v1/chat/completions", HELLO)[1]["usage"]
        families = exposition.read(self.scrape())
        self.assertEqual(sum(families["quire_completion_tokens_total"].samples.values()) - before, answer["completion_tokens"])
        requests = families["quire_requests_total"].samples
        self.assertEqual(requests["quire_requests_total", (("route", "other"), ("status", "404"))], 1)
        self.assertEqual(requests["quire_requests_total", (("route", "/v1/chat/completions"), ("status", "400"))], 1)
        memory = families["quire_memory_bytes"].samples
        self.assertGreater(sum(v for (_, labels), v in memory.items() if ("place", "host") in labels), 0)

    def test_under_load_every_scrape_is_whole_and_no_counter_falls(self):
        threads = [threading.Thread(target=self.server.post, args=("/v1/chat/completions", {**HELLO, "max_tokens": 200}))
                   for _ in range(8)]
        for thread in threads:
            thread.start()
        last = {}
        for _ in range(50):
            for family in exposition.read(self.scrape()).values():
                if family.type == "gauge":
                    continue
                for key, value in family.samples.items():
                    self.assertGreaterEqual(value, last.get(key, 0), key)
                    last[key] = value
        for thread in threads:
            thread.join()

    def test_documentation_names_every_metric_and_no_other(self):
        told = set(re.findall(r"`((?:quire|process)_[a-z_]+)", text_of("docs", "operations.md")))
        self.assertEqual(told, set(exposition.read(self.scrape())))

    def test_the_dashboard_asks_for_what_there_is(self):
        asked = set(re.findall(r"\b(?:quire|process)_[a-z_]+", text_of("deploy", "grafana-dashboard.json")))
        there = {name for f in exposition.read(self.scrape()).values() for name, _ in f.samples}
        self.assertLessEqual(asked, there)
        self.assertGreater(len(asked), 15)


class Reader(unittest.TestCase):
    """The reader of this test refuses what it should."""

    def test_mistakes_are_found(self):
        good = "# HELP a_total x\n# TYPE a_total counter\na_total{b=\"c\"} 1\n"
        exposition.read(good)
        for wrong in (good[:-1], good + "a_total{b=\"c\"} 2\n", good.replace("a_total", "a"), good.replace(" 1", " one"),
                      good.replace('"c"', "c"), good.replace("counter", "summary"), good + good, good.replace("} 1", ",} 1"),
                      "# HELP h x\n# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n"):
            with self.assertRaises(AssertionError, msg=wrong):
                exposition.read(wrong)


if __name__ == "__main__":
    unittest.main(argv=["metrics_test"], verbosity=1)
