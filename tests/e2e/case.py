"""What the end-to-end tests share: running the program, and what a failure must look like.

Each script takes the path of the program as its first argument and the folder tests/data as its second."""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

QUIRE, DATA = sys.argv[1], sys.argv[2]
SANITIZED = "QUIRE_SANITIZED" in os.environ


def model_path(case, file="model-f32.gguf"):
    return os.path.join(DATA, "models", case, file)


class Case(unittest.TestCase):
    ADDRESS_SPACE = 256 << 20  # so that taking memory on the word of a file shows

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="quire-e2e-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.models = os.path.join(self.folder, "models")
        os.mkdir(self.models)

    def limit_memory(self):
        resource.setrlimit(resource.RLIMIT_AS, (self.ADDRESS_SPACE, self.ADDRESS_SPACE))

    def quire(self, *args, stdout=subprocess.PIPE, input=None, text=True):
        env = dict(os.environ, QUIRE_HOME=self.folder)
        # A sanitizer reserves terabytes of address space, so a limit on it cannot be tested there.
        return subprocess.run([QUIRE, *args], stdout=stdout, stderr=subprocess.PIPE, text=text, timeout=120, env=env,
                              input=input, stdin=None if input is not None else subprocess.DEVNULL,
                              preexec_fn=None if SANITIZED else self.limit_memory)

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def assert_fails(self, result, code, *words):
        """The exit code, one line on standard error that holds the words, and nothing on standard output."""
        self.assertEqual(result.stdout, "")
        self.assert_one_error(result, code, *words)

    def assert_one_error(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("quire"), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def assert_works(self, result):
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def json(self, *args, **kwargs):
        return json.loads(self.assert_works(self.quire(*args, "--json", **kwargs)))

    def json_lines(self, *args, **kwargs):
        return [json.loads(line) for line in self.assert_works(self.quire(*args, "--json", **kwargs)).splitlines()]


def main():
    unittest.main(argv=sys.argv[:1])
