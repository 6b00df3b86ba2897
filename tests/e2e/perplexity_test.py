"""What `quire perplexity` prints, the base files it writes and reads, and its gate."""

import json
import math
import os

from case import Case, main, model_path
import npy

LLAMA = model_path("llama")
TEXT = "The quick brown fox jumps over the lazy dog. " * 12


class Perplexity(Case):
    ADDRESS_SPACE = 1 << 30

    def setUp(self):
        super().setUp()
        self.text = self.write("text.txt", TEXT.encode())
        self.base = os.path.join(self.folder, "base.qlp")

    def perplexity(self, *args, model=LLAMA, text=None):
        return self.json("perplexity", "-m", model, "-f", text or self.text, *args)

    def refuse(self, code, *args, words=(), model=LLAMA, text=None):
        self.assert_fails(self.quire("perplexity", "-m", model, "-f", text or self.text, *args), code, *words)

    def test_is_that_of_the_logits(self):
        ids = self.json("tokenize", "-m", LLAMA, "--no-bos", input=TEXT)["ids"][:15]
        text = self.quire("detokenize", "-m", LLAMA, input=json.dumps(ids).encode(), text=False).stdout
        self.write("text.txt", text)
        self.assertEqual(self.json("tokenize", "-m", LLAMA, "--no-bos", input=text.decode())["ids"], ids)
        bos = self.json("tokenize", "-m", LLAMA, "-p", "x")["ids"][0]
        logprobs = []
        for begin in (0, 7, 14):  # windows of 8 hold 7 tokens of the text
            window = [bos] + ids[begin:begin + 7]
            path = os.path.join(self.folder, "logits.npy")
            self.json("logits", "-m", LLAMA, "--tokens", ",".join(map(str, window)), "--kv-type", "f16", "--out", path)
            (rows, n_vocab), values = npy.read(path)
            for i in range(rows - 1):
                row = values[i * n_vocab:(i + 1) * n_vocab]
                logprobs.append(row[window[i + 1]] - math.log(math.fsum(map(math.exp, row))))
        mean = math.fsum(logprobs) / len(logprobs)
        error = math.sqrt(math.fsum((x - mean) ** 2 for x in logprobs) / (len(logprobs) - 1) / len(logprobs))
        out = self.perplexity("--ctx", "8")
        self.assertEqual(list(out), ["tokens", "window", "perplexity", "perplexity_error", "seconds", "tps"])
        self.assertEqual((out["tokens"], out["window"]), (15, 8))
        self.assertAlmostEqual(out["perplexity"] / math.exp(-mean), 1, places=5)
        self.assertAlmostEqual(out["perplexity_error"] / (math.exp(-mean) * error), 1, places=4)

    def test_against_itself_nothing_differs(self):
        first = self.perplexity("--save-logits", self.base)
        again = self.perplexity("--kld", self.base, "--gate", "mean=1e-6,max=1e-6,top=1")
        self.assertEqual(again["perplexity"], first["perplexity"])
        self.assertEqual(again["base_perplexity"], first["perplexity"])
        self.assertEqual((again["difference"], again["difference_error"], again["same_top"]), (0, 0, 1))
        self.assertLess(again["kld"]["max"], 1e-6)
        self.assertEqual(list(again["kld"]), ["mean", "mean_error", "median", "p99", "max"])
        self.assertTrue(all(gate["passed"] for gate in again["gate"].values()))

    def test_gate(self):
        self.perplexity("--save-logits", self.base, "--kv-type", "f32")
        out = self.perplexity("--kld", self.base, "--kv-type", "bf16")
        mean = out["kld"]["mean"]
        self.assertGreater(mean, 0)
        args = ["perplexity", "-m", LLAMA, "-f", self.text, "--kld", self.base, "--kv-type", "bf16", "--json", "--gate"]
        self.assertEqual(self.quire(*args, f"mean={mean * 1.01}").returncode, 0)
        failed = self.quire(*args, f"mean={mean * 0.99},top=0.1")
        self.assertEqual(failed.returncode, 4)
        self.assertIn("mean", failed.stderr)
        self.assertNotIn("top", failed.stderr)
        gates = json.loads(failed.stdout)["gate"]
        self.assertEqual([(name, gate["passed"]) for name, gate in gates.items()], [("mean", False), ("top", True)])

    def test_forms(self):
        self.quire("perplexity", "-m", LLAMA, "-f", self.text, "--save-logits", self.base)
        text = self.assert_works(self.quire("perplexity", "-m", LLAMA, "-f", self.text, "--kld", self.base, "--gate", "top=1"))
        for word in ("perplexity", "base perplexity", "KL divergence", "same first token  100.000%", "passed"):
            self.assertIn(word, text)

    def test_a_base_of_something_else(self):
        self.perplexity("--save-logits", self.base)
        self.refuse(1, "--kld", self.base, "--ctx", "64", words=("base.qlp", "--ctx 512"))
        self.refuse(1, "--kld", self.base, text=self.write("other.txt", b"Another text. " * 40), words=("another text",))
        self.refuse(1, "--kld", self.base, model=model_path("qwen2"), words=("vocabulary",))

    def test_damaged_bases(self):
        self.perplexity("--save-logits", self.base)
        with open(self.base, "rb") as file:
            whole = file.read()
        for size in (0, 4, 20, 30, 200, len(whole) // 2, len(whole) - 1):
            with self.subTest(size=size):
                self.refuse(1, "--kld", self.write("cut.qlp", whole[:size]), words=("cut.qlp",))
        self.refuse(1, "--kld", self.text, words=("magic",))
        self.refuse(1, "--kld", "/no/such/base", words=("/no/such/base",))

    def test_texts_and_places(self):
        self.refuse(1, text="/no/such/text", words=("/no/such/text",))
        self.refuse(1, text=self.write("empty.txt", b""), words=("empty.txt", "found 0 tokens", "expected at least 1"))
        self.refuse(1, "--save-logits", "/no/such/folder/base", words=("/no/such/folder/base",))
        self.refuse(1, "--save-logits", "/dev/full", words=("/dev/full",))
        self.perplexity(text=self.write("bytes.txt", bytes(range(256))))

    def test_usage(self):
        self.refuse(2, "--gate", "mean=1", words=("--kld",))
        self.refuse(2, "--kld", "a", "--save-logits", "b", words=("--save-logits",))
        self.refuse(2, "--kld", "a", "--gate", "speed=1", words=("speed",))
        self.refuse(2, "--ctx", "1", words=("--ctx",))
        self.assert_fails(self.quire("perplexity", "-m", LLAMA), 2, "--file")


if __name__ == "__main__":
    main()
