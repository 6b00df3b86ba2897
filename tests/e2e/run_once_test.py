"""`quire run` with one prompt: results for scripts, errors, interruption; on tiny models and the default one."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

QUIRE, DATA = sys.argv[1], sys.argv[2]
TINY = os.path.join(DATA, "models", "llama", "model-f32.gguf")
HOME = os.environ.get("QUIRE_HOME") or os.path.expanduser("~/.cache/quire")
DEFAULT_MODEL = os.path.join(HOME, "models", "smollm2-135m-q4_1.gguf")


def quire(*args, stdin="", timeout=120):
    return subprocess.run([QUIRE, "run", "--threads", "1", *args], input=stdin, capture_output=True, text=True,
                          timeout=timeout)


class Case(unittest.TestCase):
    def answer(self, *args, **options):
        result = quire("-m", TINY, "--json", "-q", *args, **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)

    def assert_fails(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)


class Results(Case):
    def test_json_has_the_keys_of_the_contract(self):
        out = self.answer("-p", "Hello", "-n", "12", "--temp", "0", "--ignore-eos")
        self.assertEqual(set(out), {"text", "tokens", "prompt_tokens", "completion_tokens", "finish_reason",
                                    "prefill_tps", "decode_tps", "seed"})
        self.assertEqual(out["completion_tokens"], 12)
        self.assertEqual(len(out["tokens"]), 12)
        self.assertEqual(out["finish_reason"], "length")
        self.assertGreater(out["prompt_tokens"], 5)
        self.assertGreater(out["prefill_tps"], 0)
        self.assertGreater(out["decode_tps"], 0)

    def test_text_is_the_json_text(self):
        options = ("-p", "Hello", "-n", "20", "--seed", "3", "--ignore-eos")
        plain = quire("-m", TINY, "-q", *options)
        self.assertEqual((plain.returncode, plain.stderr), (0, ""))
        text = self.answer(*options)["text"]
        self.assertEqual(plain.stdout, text if text.endswith("\n") else text + "\n")

    def test_the_seed_decides(self):
        options = ("-p", "Hello", "-n", "30", "--temp", "1.5", "--ignore-eos")
        first = self.answer(*options)
        again = self.answer(*options, "--seed", str(first["seed"]))
        self.assertEqual(first["tokens"], again["tokens"])
        others = {tuple(self.answer(*options)["tokens"]) for _ in range(3)}
        self.assertGreater(len(others | {tuple(first["tokens"])}), 1)

    def test_standard_input_is_a_prompt(self):
        options = ("-n", "8", "--temp", "0", "--ignore-eos")
        given = self.answer("-p", "Hello you", *options)
        for args in ((), ("-p", "-")):
            self.assertEqual(self.answer(*args, *options, stdin="Hello you")["tokens"], given["tokens"])

    def test_a_missing_template_is_said(self):
        self.assertIn("no chat template", quire("-m", TINY, "-p", "Hello", "-n", "1").stderr)
        self.assertEqual(quire("-m", TINY, "-p", "Hello", "-n", "1", "--raw").stderr, "")

    def test_raw_has_no_template(self):
        raw = self.answer("-p", "Hello", "--raw", "-n", "1")
        chat = self.answer("-p", "Hello", "-n", "1")
        self.assertLess(raw["prompt_tokens"], chat["prompt_tokens"])
        with_system = self.answer("-p", "Hello", "--system", "Be brief", "-n", "1")
        self.assertGreater(with_system["prompt_tokens"], chat["prompt_tokens"])

    def test_stop_strings(self):
        options = ("-p", "Hello", "-n", "40", "--seed", "5", "--ignore-eos")
        text = self.answer(*options)["text"]
        stop = text[10:13]
        out = self.answer(*options, "--stop", stop)
        self.assertEqual(out["text"], text[:text.index(stop)])
        self.assertEqual(out["finish_reason"], "stop")

    def test_the_context_ends_the_answer(self):
        out = self.answer("-p", "Hello", "--raw", "--ctx", "32", "--ignore-eos")
        self.assertEqual(out["prompt_tokens"] + out["completion_tokens"], 32)
        self.assertEqual(out["finish_reason"], "length")


class Trouble(Case):
    def test_prompt_longer_than_the_context(self):
        result = quire("-m", TINY, "-q", "--ctx", "32", "-p", "word " * 200)
        self.assert_fails(result, 1, "32", "tokens", "context")

    def test_usage(self):
        self.assert_fails(quire("-m", TINY, "-p", "x", "--temp", "hot"), 2, "--temp")
        self.assert_fails(quire("-m", TINY, "-p", "x", "--top-p", "2"), 2, "--top-p")
        self.assert_fails(quire("-p", "x"), 2, "--model")
        self.assert_fails(quire("-m", TINY, "-p", "x", "-n", "-5"), 2, "-n")

    def test_bad_files(self):
        self.assert_fails(quire("-m", "/no/such/model.gguf", "-p", "x"), 1, "/no/such/model.gguf")
        self.assert_fails(quire("-m", os.path.dirname(TINY), "-p", "x"), 1)

    def test_invalid_utf8_is_a_prompt_like_any_other(self):
        result = subprocess.run([QUIRE, "run", "-m", TINY, "-n", "4", "--json"], input=b"\xff\xfe caf\xc3",
                                capture_output=True, timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        json.loads(result.stdout)

    def test_a_full_disk(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([QUIRE, "run", "-m", TINY, "-p", "x", "-n", "4"], stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=120)
        self.assertEqual(result.returncode, 1)
        self.assertIn("standard output", result.stderr)

    def test_interrupt(self):
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen([QUIRE, "run", "-m", TINY, "-p", "x", "--ctx", "200000", "--ignore-eos"],
                                       stdout=out, stderr=subprocess.PIPE)
            deadline = time.monotonic() + 60
            while os.fstat(out.fileno()).st_size < 100 and time.monotonic() < deadline:
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, errors)
            out.seek(0)
            self.assertTrue(out.read().endswith(b"\n"))


@unittest.skipUnless(os.path.exists(DEFAULT_MODEL), "the default model is not installed")
class DefaultModel(unittest.TestCase):
    def test_the_capital_of_france(self):
        result = quire("-m", DEFAULT_MODEL, "-p",
                       "What is the capital of France? Answer in one sentence.", "--temp", "0", "-n", "40")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("Paris", result.stdout)

    def test_greedy_is_the_same_every_time(self):
        args = ("-m", DEFAULT_MODEL, "-p", "Name three colours.", "--temp", "0", "-n", "24", "--json")
        first, second = (json.loads(quire(*args, *more).stdout) for more in ((), ("--off", "row-phases")))
        self.assertEqual(first["tokens"], second["tokens"])
        self.assertEqual(first["text"], second["text"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
