"""What plan, tokenize, detokenize, logits and bench print: keys that scripts rely on, and numbers that agree."""

import json
import os
import subprocess

from case import QUIRE, SANITIZED, Case, main, model_path
import npy

LLAMA = model_path("llama")


class ModelCase(Case):
    ADDRESS_SPACE = 2 << 30


def case_json(name):
    with open(os.path.join(os.path.dirname(model_path(name)), "case.json")) as file:
        return json.load(file)


class Tokens(ModelCase):
    def test_ids_are_the_reference_ones(self):
        for name in ("llama", "qwen2"):
            for probe in case_json(name)["probes"]:
                if not probe["agreed"] or not probe["text"]:
                    continue
                with self.subTest(model=name, text=probe["text"]):
                    out = self.json("tokenize", "-m", model_path(name), "--no-bos", input=probe["text"])
                    self.assertEqual(list(out), ["ids", "pieces"])
                    self.assertEqual(out["ids"], probe["ids"])
                    self.assertEqual(len(out["pieces"]), len(out["ids"]))

    def test_forms(self):
        ids = self.json("tokenize", "-m", LLAMA, "-p", "Hello")["ids"]
        self.assertEqual(self.assert_works(self.quire("tokenize", "-m", LLAMA, "-p", "Hello")),
                         " ".join(map(str, ids)) + "\n")
        self.assertEqual(self.json("tokenize", "-m", LLAMA, "--no-bos", "-p", "Hello")["ids"], ids[1:])
        pieces = self.assert_works(self.quire("tokenize", "-m", LLAMA, "-p", "Hello", "--pieces"))
        self.assertEqual(len(pieces.splitlines()), len(ids))

    def test_special_tokens(self):
        parsed = self.json("tokenize", "-m", LLAMA, "-p", "</s>")["ids"]
        plain = self.json("tokenize", "-m", LLAMA, "-p", "</s>", "--no-special")["ids"]
        self.assertIn(2, parsed)
        self.assertNotIn(2, plain)

    def test_round_trip_of_any_bytes(self):
        for data in (b"Hello wor\xff\xfeld\n\n", "Gr\u00fc\u00dfe \u6cb3\u6c34".encode(), b"a\x00b"):
            with self.subTest(data=data):
                ids = self.quire("tokenize", "-m", LLAMA, input=data, text=False).stdout
                text = self.quire("detokenize", "-m", LLAMA, "--no-bos", input=ids, text=False).stdout
                self.assertEqual(text, data)

    def test_detokenize_forms(self):
        ids = [str(i) for i in self.json("tokenize", "-m", LLAMA, "-p", "Hello", "--no-bos")["ids"]]
        for args, stdin in ((ids, None), (["--tokens", ",".join(ids)], None), ([], json.dumps([int(i) for i in ids]))):
            self.assertEqual(self.assert_works(self.quire("detokenize", "-m", LLAMA, *args, input=stdin)), "Hello")
        self.assertEqual(self.json("detokenize", "-m", LLAMA, *ids), {"text": "Hello"})
        self.assertEqual(self.assert_works(self.quire("detokenize", "-m", LLAMA, "1", *ids, "2", "--no-special")), "Hello")


class LogitsOutput(ModelCase):
    def test_equal_the_reference_whatever_the_chunk(self):
        case = case_json("llama")
        shape, expected = npy.read(os.path.join(os.path.dirname(LLAMA), "logits.npy"))
        tokens = (case["tokens"] + case["greedy"])[:shape[0]]
        first = None
        for chunk in ("64", "7", "1"):
            path = os.path.join(self.folder, "logits.npy")
            out = self.json("logits", "-m", LLAMA, "--tokens", ",".join(map(str, tokens)), "--chunk", chunk, "--out", path)
            self.assertEqual(out, {"out": path, "shape": list(shape)})
            got_shape, values = npy.read(path)
            self.assertEqual(got_shape, shape)
            self.assertLess(max(abs(a - b) for a, b in zip(values, expected)), 1e-3)
            first = first or values
            self.assertEqual(values, first)

    def test_summary(self):
        rows = self.json_lines("logits", "-m", LLAMA, "--tokens", "1,93,78")
        self.assertEqual([(row["position"], row["token"]) for row in rows], [(0, 1), (1, 93), (2, 78)])
        for row in rows:
            self.assertEqual(list(row), ["position", "token", "top"])
            self.assertEqual([list(top) for top in row["top"]], [["id", "piece", "logit", "logprob"]] * 5)
            logits = [top["logit"] for top in row["top"]]
            self.assertEqual(logits, sorted(logits, reverse=True))
        text = self.assert_works(self.quire("logits", "-m", LLAMA, "--tokens", "1,93,78"))
        self.assertEqual(len(text.splitlines()), 3)
        self.assertIn(str(rows[0]["top"][0]["id"]), text.splitlines()[0])

    def test_half_precision_keys_and_values_differ(self):
        tokens = ["--tokens", "1,93,78,96,52,223"]
        exact = self.json_lines("logits", "-m", LLAMA, *tokens)
        self.assertEqual(self.json_lines("logits", "-m", LLAMA, *tokens, "--kv-type", "f32"), exact)
        self.assertNotEqual(self.json_lines("logits", "-m", LLAMA, *tokens, "--kv-type", "f16"), exact)


class Embeddings(ModelCase):
    def setUp(self):
        super().setUp()
        case = case_json("llama")
        shape, values = npy.read(os.path.join(os.path.dirname(LLAMA), "hidden.npy"))
        _, n_rows, n = shape
        states = values[-n_rows * n:]  # after the last norm
        self.states = [states[i * n:(i + 1) * n] for i in range(n_rows)]
        self.input = ["--kv-type", "f32", "--tokens", ",".join(map(str, case["tokens"][:n_rows]))]

    def assert_close(self, values, expected):
        self.assertEqual(len(values), len(expected))
        self.assertLess(max(abs(a - b) for a, b in zip(values, expected)), 1e-3)

    def test_equal_the_reference_whatever_the_chunk(self):
        n = len(self.states)
        expected = {"mean": [sum(column) / n for column in zip(*self.states)], "cls": self.states[0], "last": self.states[-1]}
        for pooling, values in expected.items():
            with self.subTest(pooling=pooling):
                out = self.json("embed", "-m", LLAMA, *self.input, "--pooling", pooling)
                self.assertEqual(list(out), ["pooling", "tokens", "embedding"])
                self.assertEqual((out["pooling"], out["tokens"]), (pooling, n))
                self.assert_close(out["embedding"], values)
                for chunk in ("1", "7"):
                    self.assertEqual(self.json("embed", "-m", LLAMA, *self.input, "--pooling", pooling,
                                               "--chunk", chunk), out)
        self.assertEqual(self.json("embed", "-m", LLAMA, *self.input)["pooling"], "last")

    def test_a_state_for_each_token(self):
        rows = self.json_lines("embed", "-m", LLAMA, *self.input, "--pooling", "none")
        self.assertEqual([row["position"] for row in rows], list(range(len(self.states))))
        for row, state in zip(rows, self.states):
            self.assert_close(row["embedding"], state)
        path = os.path.join(self.folder, "states.npy")
        out = self.json("embed", "-m", LLAMA, *self.input, "--pooling", "none", "--out", path)
        self.assertEqual(out, {"out": path, "shape": [len(self.states), len(self.states[0])]})
        self.assert_close(npy.read(path)[1], [value for state in self.states for value in state])

    def test_usage(self):
        self.assert_fails(self.quire("embed", "-m", LLAMA), 2, "--tokens")
        self.assert_fails(self.quire("embed", "-m", LLAMA, "-p", "a", "--pooling", "max"), 2, "max", "mean")
        self.assertIn("values", self.assert_works(self.quire("embed", "-m", LLAMA, "-p", "Hello")))


class PlanOutput(ModelCase):
    KINDS = {"weights", "kv", "state", "activations", "logits", "tables", "scratch", "answers"}

    def check(self, plan):
        self.assertEqual(list(plan)[:4], ["total_bytes", "rows", "max_sequences", "max_context"])
        for row in plan["rows"]:
            self.assertEqual(list(row), ["kind", "place", "bytes", "detail"])
            self.assertIn(row["kind"], self.KINDS)
            self.assertIn(row["place"], ("host", "file", "device"))
        self.assertEqual(sum(row["bytes"] for row in plan["rows"] if row["place"] != "file"), plan["total_bytes"])
        return plan

    def plan(self, *args):
        return self.check(self.json("plan", "-m", LLAMA, *args))

    def kv(self, plan):
        return sum(row["bytes"] for row in plan["rows"] if row["kind"] == "kv")

    def test_keys_and_growth(self):
        plan = self.plan()
        self.assertEqual((plan["max_sequences"], plan["max_context"]), (1, 512))
        self.assertEqual(self.kv(self.plan("--parallel", "4")), 4 * self.kv(plan))
        self.assertEqual(self.kv(self.plan("--ctx", "256")) * 2, self.kv(plan))
        self.assertEqual(self.kv(self.plan("--kv-type", "f32")), 2 * self.kv(plan))
        scratch = lambda p: sum(row["bytes"] for row in p["rows"] if row["kind"] == "scratch")
        self.assertGreater(scratch(self.plan("--threads", "8")), scratch(self.plan("--threads", "1")))
        text = self.assert_works(self.quire("plan", "-m", LLAMA))
        self.assertIn(str(plan["total_bytes"]), text)

    def test_budget(self):
        total = self.plan("--ctx", "512")["total_bytes"]
        self.plan("--ctx", "512", "--budget", str(total))
        result = self.quire("plan", "-m", LLAMA, "--ctx", "512", "--budget", str(total - 1), "--json")
        self.assert_one_error(result, 3, "weights", "kv", "--ctx 256 would fit")
        self.assertEqual(json.loads(result.stdout)["total_bytes"], total)
        self.plan("--ctx", "256", "--budget", str(total - 1))  # the advice holds
        self.assert_one_error(self.quire("plan", "-m", LLAMA, "--budget", "1kB"), 3, "smaller model")

    def test_fit(self):
        total = self.plan("--ctx", "512")["total_bytes"]
        fit = self.plan("--fit", "--budget", str(total))
        self.assertEqual((fit["fit"]["ctx"], fit["fit"]["parallel"], fit["fit"]["kv_type"]), (512, 1, "f16"))
        self.assertEqual(fit["total_bytes"], total)
        less = self.plan("--fit", "--budget", str(total - 1))
        self.assertEqual(less["max_context"], 256)
        self.assertIn("256", less["fit"]["reason"])
        more = self.plan("--fit", "--budget", "20MB")
        self.assertGreater(more["max_sequences"], 1)
        self.assertLessEqual(more["total_bytes"], 20_000_000)
        self.assertEqual(self.plan("--fit", "--budget", "20MB", "--parallel", "2")["max_sequences"], 2)
        self.assert_fails(self.quire("plan", "-m", LLAMA, "--fit", "--budget", "1kB"), 3, "256")
        self.assertGreaterEqual(self.plan("--fit")["budget"], 1 << 20)


class BenchOutput(ModelCase):
    ROW = ["test", "depth", "batch", "tps_median", "tps_min", "tps_max", "gops", "gbps"]

    def bench(self, *args):
        return self.json_lines("bench", "-m", LLAMA, "-r", "2", *args)

    def test_rows(self):
        head, *rows = self.bench("-p", "24", "-n", "6", "-d", "10")
        self.assertEqual(head["threads"] > 0, True)
        self.assertEqual(head["kv_type"], "f16")
        self.assertEqual([(row["test"], row["depth"], row["batch"]) for row in rows], [("pp24", 10, 1), ("tg6", 10, 1)])
        for row in rows:
            self.assertEqual(list(row), self.ROW)
            self.assertLessEqual(row["tps_min"], row["tps_median"])
            self.assertLessEqual(row["tps_median"], row["tps_max"])
            self.assertGreater(row["gops"], 0)
            self.assertGreater(row["gbps"], 0)
        text = self.assert_works(self.quire("bench", "-m", LLAMA, "-p", "8", "-n", "2", "-r", "1"))
        self.assertIn("oracle", text)
        self.assertIn("pp8", text)

    def test_batches(self):
        _, *rows = self.bench("--batch", "1,3", "--prompt", "16", "--gen", "4", "--max-batch-tokens", "20")
        self.assertEqual([(row["test"], row["batch"]) for row in rows], [("pp16", 1), ("tg4", 1), ("pp16", 3), ("tg4", 3)])

    def test_profile(self):
        lines = self.bench("-p", "16", "-n", "0", "--profile")
        [profile] = [line for line in lines if "profile" in line]
        self.assertEqual(profile["profile"], "pp16")
        self.assertAlmostEqual(sum(op["share"] for op in profile["ops"]), 1, places=6)
        self.assertEqual([list(op) for op in profile["ops"]],
                         [["op", "label", "calls", "ms", "share", "gops", "gbps"]] * len(profile["ops"]))
        layers = {op["label"]: op["calls"] for op in profile["ops"] if op["op"] == "attention"}
        self.assertEqual(len(layers), 1)

    def test_limits(self):
        head, *rows = self.bench("-p", "16", "-n", "2", "--limits")
        self.assertEqual(sorted(head["limits"]), ["dot_gops", "fma_gops", "read_gbps"])
        for row in rows:
            self.assertEqual(list(row), self.ROW + ["compute_share", "memory_share"])


class InstalledModel(ModelCase):
    """With the default model where it is installed: what plan says is what a process then holds."""

    ADDRESS_SPACE = 8 << 30

    @staticmethod
    def find():
        home = os.environ.get("QUIRE_HOME") or os.path.expanduser("~/.cache/quire")
        path = os.path.join(home, "models", "smollm2-135m-q4_1.gguf")
        return path if os.path.exists(path) else None

    def test_a_loaded_model_holds_what_was_planned(self):
        path = self.find()
        if path is None or SANITIZED:
            self.skipTest("the default model is not installed, or a sanitizer needs memory of its own")
        args = ["-m", path, "--ctx", "2048"]
        total = self.json("plan", *args)["total_bytes"]
        # Long enough to be looked at, and ended as soon as it has been.
        process = subprocess.Popen([QUIRE, "run", *args, "--raw", "-p", "Once upon a time", "-n", "1900", "--ignore-eos",
                                    "--temp", "0"], stdout=subprocess.PIPE)
        try:
            self.assertTrue(process.stdout.read(1))
            with open(f"/proc/{process.pid}/status") as file:
                status = dict(line.split(":", 1) for line in file)
        finally:
            process.terminate()
            process.communicate()
        held = int(status["RssAnon"].split()[0]) * 1024
        self.assertGreater(held, total * 0.97)
        self.assertLess(held, total + (12 << 20))


if __name__ == "__main__":
    main()
