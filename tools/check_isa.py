#!/usr/bin/env python3
"""Checks that instruction-set specifics stay in the vector layer (src/kernels/vec).

usage: check_isa.py SRC_FOLDER EXCEPTIONS

Everywhere else there are no intrinsics, no intrinsic headers and no preprocessor conditions on an instruction
set or architecture. Files named in EXCEPTIONS (path, then the reason) may differ; a name there that no longer
needs its exception is an error too.
"""
import pathlib
import re
import sys

VECTOR_LAYER = "kernels/vec/"
RULES = (
    ("condition on an instruction set", re.compile(
        r"^\s*#\s*(?:el)?if.*(?:__(?:AVX|SSE|FMA|F16C|BMI|x86_64|i386|aarch64|ARM|arm)\w*|QUIRE_ISA_IS_\w+)")),
    ("intrinsic header", re.compile(r"^\s*#\s*include\s*<(?:\w*intrin|arm_neon|arm_sve|cpuid)\.h>")),
    ("intrinsic", re.compile(r"\b(?:_mm\d*_\w+|__m(?:128|256|512)\w*|__builtin_ia32_\w+|v\w+q_[fsu]\d+)\b")),
    ("inline assembly", re.compile(r"\b(?:asm|__asm__)\b\s*(?:volatile\s*)?\(")),
)


def read_exceptions(path):
    names = set()
    for line in path.read_text().splitlines():
        fields = line.split("#", 1)[0].split(None, 1)
        if len(fields) == 1:
            sys.exit(f"{path}: '{fields[0]}' gives no reason")
        names.update(fields[:1])
    return names


def findings(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        code = line.split("//", 1)[0]
        for what, pattern in RULES:
            match = pattern.search(code)
            if match:
                yield number, what, match.group(0).strip()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    src, exceptions = pathlib.Path(sys.argv[1]), read_exceptions(pathlib.Path(sys.argv[2]))
    files = sorted(p for p in src.rglob("*") if p.suffix in (".h", ".cc"))
    if not files:
        sys.exit(f"{src}: no sources found")
    found, used = [], set()
    for path in files:
        name = path.relative_to(src).as_posix()
        if name.startswith(VECTOR_LAYER):
            continue
        for number, what, text in findings(path):
            if name in exceptions:
                used.add(name)
            else:
                found.append(f"{path}:{number}: {what} outside {VECTOR_LAYER}: {text}")
    found += [f"{sys.argv[2]}: {name} needs no exception" for name in sorted(exceptions - used)]
    print("\n".join(found) if found else f"{len(files)} files keep instruction sets inside {VECTOR_LAYER}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
