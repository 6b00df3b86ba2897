"""What `quire inspect` and `quire models` do with good files, bad files and wrong usage."""

import json
import os
import shutil
import struct

from case import DATA, Case, main

GOOD = os.path.join(DATA, "gguf", "moe-mxfp4.gguf")


class BadFiles(Case):
    def test_missing(self):
        self.assert_fails(self.quire("inspect", "/no/such/file.gguf"), 1, "/no/such/file.gguf", "no such file")

    def test_directory(self):
        self.assert_fails(self.quire("inspect", self.folder), 1, self.folder, "directory")

    def test_pipe_and_device(self):
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        self.assert_fails(self.quire("inspect", fifo), 1, fifo)
        self.assert_fails(self.quire("inspect", "/dev/null"), 1, "/dev/null")

    def test_empty(self):
        self.assert_fails(self.quire("inspect", self.write("empty.gguf", b"")), 1, "empty")

    def test_wrong_magic(self):
        self.assert_fails(self.quire("inspect", self.write("a.gguf", b"not a model, just text\n")), 1, "magic")

    def test_truncated(self):
        with open(GOOD, "rb") as file:
            whole = file.read()
        cuts = list(range(1, 40, 3)) + list(range(40, len(whole), len(whole) // 25)) + [len(whole) - 32]
        for size in cuts:
            with self.subTest(size=size):
                path = self.write("cut.gguf", whole[:size])
                self.assert_fails(self.quire("inspect", path, "--tensors"), 1, "cut.gguf")

    def test_giant_counts(self):
        huge = 1 << 40
        header = lambda tensors, keys: b"GGUF" + struct.pack("<Iqq", 3, tensors, keys)
        key = lambda name, kind: struct.pack("<Q", len(name)) + name + struct.pack("<I", kind)
        cases = {
            "key count": header(0, huge),
            "tensor count": header(huge, 0),
            "string": header(0, 1) + key(b"a", 8) + struct.pack("<Q", huge),
            "array count": header(0, 1) + key(b"a", 9) + struct.pack("<IQ", 0, huge),
            "dimension count": header(1, 0) + struct.pack("<Q", 1) + b"t" + struct.pack("<I", 1 << 31) + b"x" * 24,
        }
        for field, data in cases.items():
            with self.subTest(field=field):
                self.assert_fails(self.quire("inspect", self.write("huge.gguf", data)), 1, field)

    def test_hostile_names_stay_on_one_line(self):
        name = b"a\n\x1b[2J\xff"
        data = b"GGUF" + struct.pack("<Iqq", 3, 0, 1) + struct.pack("<Q", len(name)) + name + struct.pack("<I", 99)
        result = self.quire("inspect", self.write("names.gguf", data))
        self.assert_fails(result, 1, "\\n", "\\x1b")
        self.assertNotIn("\x1b", result.stderr)

    def test_full_disk(self):
        with open("/dev/full", "w") as full:
            result = self.quire("inspect", GOOD, stdout=full)
        self.assertEqual(result.returncode, 1)
        self.assertIn("standard output", result.stderr)


class Usage(Case):
    def test_wrong_usage_exits_2(self):
        self.assert_fails(self.quire("frobnicate"), 2, "frobnicate", "inspect")
        self.assert_fails(self.quire("inspect"), 2, "FILE")
        self.assert_fails(self.quire("inspect", GOOD, "--bad"), 2, "--bad")
        self.assert_fails(self.quire("inspect", GOOD, "more"), 2, "more")
        self.assert_fails(self.quire("models", "--log-level", "loud"), 2, "loud", "debug")
        self.assert_fails(self.quire("--json"), 2, "--json")
        self.assertEqual(self.quire().returncode, 2)

    def test_help_fits_a_page_and_has_an_example(self):
        commands = []
        listing = self.quire("--help")
        self.assertEqual(listing.returncode, 0)
        in_commands = False
        for line in listing.stdout.splitlines():
            if in_commands and line.startswith("  "):
                commands.append(line.split()[0])
            in_commands = line == "Commands:" or (in_commands and line.startswith("  "))
        self.assertIn("inspect", commands)
        for command in commands:
            with self.subTest(command=command):
                result = self.quire(command, "--help")
                self.assertEqual(result.returncode, 0)
                self.assertIn(f"  quire {command}", result.stdout)
                self.assertLessEqual(result.stdout.count("\n"), 60)
                self.assertEqual(result.stderr, "")

    def test_version(self):
        result = self.quire("--version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"^quire \d+\.\d+\.\d+\n$")


class Inspect(Case):
    def test_json(self):
        result = self.quire("inspect", GOOD, "--tensors", "--json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        out = json.loads(result.stdout)
        self.assertEqual(out["bytes"], os.path.getsize(GOOD))
        self.assertEqual(out["version"], 3)
        metadata = {row["key"]: row for row in out["metadata"]}
        self.assertEqual(metadata["general.architecture"],
                         {"key": "general.architecture", "type": "string", "value": out["architecture"]})
        tokens = metadata["tokenizer.ggml.tokens"]
        self.assertEqual(tokens["type"], f"string[{tokens['value']['count']}]")
        self.assertLessEqual(len(tokens["value"]["first"]), 16)
        self.assertEqual(len(out["tensors"]), out["tensor_count"])
        self.assertEqual(sum(out["tensor_types"].values()), out["tensor_count"])
        self.assertIn("MXFP4", out["tensor_types"])
        embedding = next(t for t in out["tensors"] if t["name"] == "token_embd.weight")
        self.assertEqual(embedding["shape"][1], tokens["value"]["count"])
        last = out["tensors"][-1]
        self.assertLessEqual(last["offset"] + last["bytes"], out["bytes"])
        self.assertNotIn("tensors", json.loads(self.quire("inspect", GOOD, "--json").stdout))

    def test_text(self):
        plain = self.quire("inspect", GOOD)
        self.assertEqual((plain.returncode, plain.stderr), (0, ""))
        self.assertIn("general.architecture", plain.stdout)
        self.assertNotIn("token_embd.weight", plain.stdout)
        full = self.quire("inspect", GOOD, "--tensors")
        self.assertTrue(full.stdout.startswith(plain.stdout))
        self.assertIn("token_embd.weight", full.stdout)


class Models(Case):
    def test_empty_folder(self):
        result = self.quire("models")
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertIn(self.models, result.stderr)
        self.assertEqual(json.loads(self.quire("models", "--json").stdout), {"folder": self.models, "models": []})

    def test_lists_what_is_there(self):
        shutil.copy(GOOD, os.path.join(self.models, "tiny.gguf"))
        self.write("models/broken.gguf", b"GGUF")
        result = self.quire("models", "--json")
        self.assertEqual(result.returncode, 0)
        self.assertIn("broken.gguf", result.stderr)
        [entry] = json.loads(result.stdout)["models"]
        self.assertEqual(entry["name"], "tiny")
        self.assertEqual(entry["bytes"], os.path.getsize(GOOD))
        self.assertTrue(entry["architecture"] and entry["type"])
        self.assertIn("tiny", self.quire("models").stdout)
        self.assertEqual(self.quire("models", "--quiet").stderr, "")

    def test_architectures(self):
        names = [row["name"] for row in self.json("models", "--architectures")["architectures"]]
        self.assertEqual(names, sorted(names))
        self.assertIn("llama", names)
        self.assertIn("SmolLM", self.assert_works(self.quire("models", "--architectures")))

    def test_names_stand_for_paths(self):
        shutil.copy(GOOD, os.path.join(self.models, "tiny.gguf"))
        self.assertEqual(self.quire("inspect", "tiny").returncode, 0)
        self.assert_fails(self.quire("inspect", "small"), 1, "small", "tiny", self.models)


if __name__ == "__main__":
    main()
