#!/usr/bin/env python3
"""Shows every source check a small tree that breaks its rule, and one that keeps it."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"


def run(tool, *arguments):
    return subprocess.run([sys.executable, TOOLS / tool, *map(str, arguments)], capture_output=True, text=True)


class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.src = self.root / "src"

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def assert_fails(self, result, text):
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(text, result.stdout + result.stderr)

    def assert_passes(self, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


class Layers(Tree):
    def check(self):
        table = self.write("layers.txt", "low:\nmid: low\nhigh: mid/public.h  # one header only\n")
        return run("check_layers.py", self.src, table)

    def setUp(self):
        super().setUp()
        self.write("src/low/a.h", "#include <vector>\n")
        self.write("src/mid/public.h", '#include "low/a.h"\n')
        self.write("src/mid/private.h", '#include "mid/public.h"\n')

    def test_allowed(self):
        self.write("src/high/a.cc", '#include "mid/public.h"\n')
        self.assert_passes(self.check())

    def test_upward(self):
        self.write("src/low/b.cc", '  #  include "mid/public.h"\n')
        self.assert_fails(self.check(), 'low may not include "mid/public.h"')

    def test_skipping_a_row(self):
        self.write("src/high/a.cc", '#include "low/a.h"\n')
        self.assert_fails(self.check(), 'high may not include "low/a.h"')

    def test_private_header(self):
        self.write("src/high/a.cc", '#include "mid/private.h"\n')
        self.assert_fails(self.check(), 'high may not include "mid/private.h"')

    def test_relative_include(self):
        self.write("src/low/b.cc", '#include "a.h"\n')
        self.assert_fails(self.check(), "is not a file under src/")

    def test_unknown_folder(self):
        self.write("src/new/a.cc", "")
        self.assert_fails(self.check(), "has no row")

    def test_empty_tree(self):
        self.assert_fails(run("check_layers.py", self.root / "nothing", self.write("t.txt", "low:\n")), "no sources")

    def test_table_pointing_down(self):
        table = self.write("down.txt", "low: mid\nmid:\n")
        self.assert_fails(run("check_layers.py", self.src, table), "not in a row above")


class Isa(Tree):
    def check(self, text, exceptions=""):
        self.write("src/kernels/vec/vec.h", "#if defined(__AVX2__)\n#include <immintrin.h>\n__m256 x;\n#endif\n")
        self.write("src/base/a.cc", text)
        return run("check_isa.py", self.src, self.write("exceptions.txt", exceptions))

    def test_clean(self):
        self.assert_passes(self.check("// #if __AVX2__ in a comment\n#if defined(NDEBUG)\n#endif\n"))

    def test_findings(self):
        for text in ("#if defined(__AVX512F__)\n", "#ifdef __x86_64__\n", "#elif QUIRE_ISA_IS_AVX2\n",
                     "# include <immintrin.h>\n", "#include <arm_neon.h>\n", "x = _mm256_add_ps(a, b);\n",
                     "__m512i v;\n", "__builtin_ia32_pause();\n", 'asm volatile("nop");\n', "vaddq_f32(a, b);\n"):
            with self.subTest(text):
                self.assert_fails(self.check(text), "outside kernels/vec/")

    def test_exception(self):
        self.assert_passes(self.check("_mm_pause();\n", "base/a.cc  a reason\n"))
        self.assert_fails(self.check("_mm_pause();\n", "base/a.cc\n"), "gives no reason")
        self.assert_fails(self.check("int x;\n", "base/a.cc  a reason\n"), "needs no exception")


class Symbols(Tree):
    def check(self, source):
        path = self.write("kernel.cc", source)
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-O0", "-c", path, "-o", self.root / "kernel.o"], check=True)
        objects = self.write("objects.txt", f"avx2 {self.root / 'kernel.o'}\n")
        return run("check_symbols.py", os.environ.get("NM", "nm"), objects)

    HOME = "namespace quire::kernels::avx2 { %s }\n"

    def test_own_namespace(self):
        self.assert_passes(self.check(
            "namespace { int hidden() { return 1; } }\n" + self.HOME %
            "struct S { int x; }; template <typename T> S make(T x) { return S{x + hidden()}; }"
            "S table() { static S s = make(3); return s; } int data = 3;"))

    def test_other_namespace(self):
        self.assert_fails(self.check(self.HOME % "int f() { return 1; }" + "int leaked() { return 2; }"),
                          "exports leaked()")
        self.assert_fails(self.check("namespace quire::kernels::avx512 { int f() { return 1; } }"),
                          "exports quire::kernels::avx512::f()")

    def test_namespace_in_a_parameter_is_not_home(self):
        self.assert_fails(self.check(self.HOME % "struct S {};" + "void leaked(quire::kernels::avx2::S) {}"),
                          "exports leaked")

    def test_shared_inline_function(self):
        self.assert_fails(self.check("inline int shared(int x) { return x + 1; }\n" +
                                     self.HOME % "int f(int x) { return shared(x); }"), "shares (weak) shared(int)")

    def test_library_template(self):
        self.assert_fails(self.check("#include <vector>\n" + self.HOME %
                                     "int f() { std::vector<int> v(3); return v[1]; }"), "shares (weak)")

    def test_library_mathematics(self):
        self.assert_fails(self.check("#include <math.h>\n" + self.HOME % "float f(float x) { return expf(x); }"),
                          "calls expf")

    def test_empty(self):
        self.assert_fails(self.check("int x();"), "define nothing")


if __name__ == "__main__":
    unittest.main()
