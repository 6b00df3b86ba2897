"""Model files that cannot be run, and input that cannot be fed: one clear line each, and the right exit code."""

import os

from case import Case, main, model_path
from gguf_edit import Gguf

GOOD = model_path("llama")


class BadModels(Case):
    ADDRESS_SPACE = 1 << 30

    def refuse(self, path, *words):
        """Every command that runs a model says the same."""
        for args in (["logits", "--tokens", "1,2"], ["plan"], ["bench", "-p", "4", "-n", "2", "-r", "1"],
                     ["run", "-p", "hello", "-n", "2"]):
            with self.subTest(command=args[0]):
                self.assert_fails(self.quire(args[0], "-m", path, *args[1:]), 1, *words)

    def edited(self, change):
        gguf = Gguf(GOOD)
        change(gguf)
        return self.write("edited.gguf", gguf.bytes())

    def test_the_editor_changes_nothing_by_itself(self):
        path = self.edited(lambda gguf: None)
        with open(path, "rb") as edited, open(GOOD, "rb") as good:
            self.assertEqual(edited.read(), good.read())
        self.assert_works(self.quire("logits", "-m", path, "--tokens", "1,2"))

    def test_missing(self):
        self.refuse("/no/such/file.gguf", "/no/such/file.gguf", "no such file")

    def test_directory(self):
        self.refuse(self.folder, self.folder, "directory")

    def test_empty(self):
        self.refuse(self.write("empty.gguf", b""), "empty")

    def test_wrong_magic(self):
        self.refuse(self.write("text.gguf", b"not a model, just text\n"), "magic")

    def test_truncated(self):
        with open(GOOD, "rb") as file:
            whole = file.read()
        for size in list(range(1, 32, 6)) + list(range(40, len(whole), len(whole) // 12)) + [len(whole) - 32]:
            with self.subTest(size=size):
                path = self.write("cut.gguf", whole[:size])
                self.assert_fails(self.quire("logits", "-m", path, "--tokens", "1,2"), 1, "cut.gguf")
                self.assert_fails(self.quire("plan", "-m", path), 1, "cut.gguf")

    def test_unknown_architecture(self):
        self.refuse(self.edited(lambda gguf: gguf.set_string("general.architecture", "hal9000")), "hal9000", "llama")

    def test_missing_key(self):
        self.refuse(self.edited(lambda gguf: gguf.keys.pop("llama.block_count")), "llama.block_count")
        self.refuse(self.edited(lambda gguf: gguf.keys.pop("general.architecture")), "general.architecture")

    def test_key_of_the_wrong_type(self):
        self.refuse(self.edited(lambda gguf: gguf.set_string("llama.block_count", "two")), "llama.block_count", "string")

    def test_absurd_numbers(self):
        for key in ("llama.block_count", "llama.embedding_length", "llama.attention.head_count",
                    "llama.attention.head_count_kv", "llama.feed_forward_length", "llama.context_length"):
            for number in (0, 7, 0xFFFFFFFF):
                with self.subTest(key=key, number=number):
                    path = self.edited(lambda gguf: gguf.set_u32(key, number))
                    result = self.quire("logits", "-m", path, "--tokens", "1,2")
                    if key == "llama.context_length" and number != 0:
                        self.assertIn(result.returncode, (0, 1))  # a context may be of any length
                    else:
                        self.assert_fails(result, 1, "edited.gguf")

    def test_missing_tensor(self):
        self.refuse(self.edited(lambda gguf: gguf.tensors.pop("blk.1.attn_k.weight")), "blk.1.attn_k.weight")

    def test_wrong_shape(self):
        def widen(gguf):
            tensor = gguf.tensors["blk.0.ffn_down.weight"]
            tensor.dims[0] *= 2
            tensor.data *= 2
        self.refuse(self.edited(widen), "blk.0.ffn_down.weight")

        def shorten(gguf):
            tensor = gguf.tensors["output_norm.weight"]
            tensor.dims[0] -= 1
        self.refuse(self.edited(shorten), "output_norm.weight")

    def test_unknown_pretokenizer(self):
        gguf = Gguf(model_path("qwen2"))
        gguf.set_string("tokenizer.ggml.pre", "shears")
        path = self.write("edited.gguf", gguf.bytes())
        for args in (["run", "-p", "hello"], ["tokenize", "-p", "hello"], ["logits", "-p", "hello"]):
            with self.subTest(command=args[0]):
                self.assert_fails(self.quire(args[0], "-m", path, *args[1:]), 1, "shears")
        # Ids need no tokenizer.
        self.assertEqual(self.quire("logits", "-m", path, "--tokens", "1,2").returncode, 0)

    def test_split_without_its_other_part(self):
        with open(GOOD, "rb") as file:
            whole = file.read()
        gguf = Gguf(GOOD)
        gguf.keys["split.count"] = (2, b"\2\0")
        gguf.keys["split.no"] = (2, b"\0\0")
        path = self.write("model-00001-of-00002.gguf", gguf.bytes())
        self.refuse(path, "00002-of-00002")
        self.assertGreater(len(whole), 0)


class BadInput(Case):
    ADDRESS_SPACE = 1 << 30

    def test_longer_than_the_context(self):
        long = ",".join(["7"] * 33)
        self.assert_fails(self.quire("logits", "-m", GOOD, "--tokens", long, "--ctx", "32"), 1, "33", "32", "--ctx")
        self.assert_fails(self.quire("logits", "-m", GOOD, "-p", "hello " * 2000), 1, "512", "--ctx")
        self.assert_fails(self.quire("run", "-m", GOOD, "--raw", "-p", "hello " * 2000), 1, "512")
        self.assert_one_error(self.quire("bench", "-m", GOOD, "-p", "64", "-n", "0", "-r", "1", "--ctx", "32"), 1, "32")

    def test_ids_outside_the_vocabulary(self):
        self.assert_fails(self.quire("logits", "-m", GOOD, "--tokens", "1,384"), 1, "384")
        self.assert_fails(self.quire("logits", "-m", GOOD, "--tokens=-1"), 1, "-1")
        self.assert_fails(self.quire("detokenize", "-m", GOOD, "--tokens", "1,384"), 1, "384")

    def test_what_is_no_id(self):
        self.assert_fails(self.quire("logits", "-m", GOOD, "--tokens", "1,two"), 1, "two")
        self.assert_fails(self.quire("detokenize", "-m", GOOD, "1", "two"), 1, "two")

    def test_nothing(self):
        self.assert_fails(self.quire("logits", "-m", GOOD, "--tokens", ""), 1, "no tokens")
        self.assert_fails(self.quire("logits", "-m", GOOD), 2, "--tokens")
        self.assert_fails(self.quire("bench", "-m", GOOD, "-p", "0", "-n", "0"), 2, "--gen")

    def test_usage(self):
        self.assert_fails(self.quire("logits", "-m", GOOD, "-p", "a", "--tokens", "1"), 2, "--tokens")
        self.assert_fails(self.quire("plan"), 2, "--model")
        self.assert_fails(self.quire("plan", "-m", GOOD, "--budget", "lots"), 2, "lots")
        self.assert_fails(self.quire("plan", "-m", GOOD, "--kv-type", "f8"), 2, "f8")
        self.assert_fails(self.quire("bench", "-m", GOOD, "--batch", "1,none"), 2, "none")
        self.assert_fails(self.quire("verify", "-m", GOOD, "--ctx", "64"), 2, "--ctx")
        self.assert_fails(self.quire("plan", "-m", GOOD, "--off", "gravity"), 1, "gravity")
        self.assert_fails(self.quire("plan", "-m", GOOD, "--ctx", "99999999999"), 1, "99999999999")

    def test_output_that_cannot_be_written(self):
        path = os.path.join(self.folder, "no", "such", "folder.npy")
        self.assert_fails(self.quire("logits", "-m", GOOD, "--tokens", "1", "--out", path), 1, path)
        self.assert_fails(self.quire("logits", "-m", GOOD, "--tokens", "1", "--out", "/dev/full"), 1, "/dev/full")

    def test_output_that_is_read(self):
        with open(GOOD, "rb") as file:
            whole = file.read()
        model = self.write("copy.gguf", whole)
        link = os.path.join(self.folder, "link")
        os.symlink(model, link)
        text = self.write("text.txt", b"The quick brown fox")
        for args in (["logits", "--tokens", "1", "--out"], ["embed", "--tokens", "1", "--out"],
                     ["perplexity", "-f", text, "--save-logits"], ["serve", "--port", "0", "--trace"]):
            for output in (model, link):
                with self.subTest(command=args[0], output=output):
                    self.assert_fails(self.quire(*args, output, "-m", model), 1, output, "read", "expected")
        self.assert_fails(self.quire("perplexity", "-m", model, "-f", text, "--save-logits", text), 1, text)
        with open(model, "rb") as file:
            self.assertEqual(file.read(), whole)


if __name__ == "__main__":
    main()
