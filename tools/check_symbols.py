#!/usr/bin/env python3
"""Checks the objects that are compiled once per instruction set.

usage: check_symbols.py NM OBJECT_LIST

OBJECT_LIST has lines "ISA path/to/object". Whatever such an object defines for the linker must live in
namespace quire::kernels::ISA: a shared inline function or library template (a weak symbol) compiled with AVX
flags could be the copy that the linker keeps for code that runs on older processors. And none may call the C
library's mathematics, whose results differ between machines.
"""
import collections
import re
import subprocess
import sys

LIBM = re.compile(r"^(?:exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|sin|cos|sincos|tan|tanh|sinh|cosh|erf|cbrt)[fl]?$")
# Data that the address sanitizer adds for each global, named after it.
SANITIZER = re.compile(r"^(?:__odr_asan|___asan|__asan|__ubsan|__tsan|__sanitizer|DW\.ref\.|__sancov)")
PREFIXES = ("", "vtable for ", "guard variable for ", "typeinfo for ", "typeinfo name for ")


def symbols(nm, path):
    """(type letter, demangled name) of every external symbol."""
    output = subprocess.run([nm, "--demangle", "--extern-only", path], check=True, capture_output=True, text=True)
    for line in output.stdout.splitlines():
        match = re.match(r"^[0-9a-f]*\s+([A-Za-z])\s+(.*)$", line)
        if match:
            yield match.groups()


def problem(isa, letter, name):
    home = f"quire::kernels::{isa}::"
    if letter in "Uwv":
        return "calls" if LIBM.match(name.split("@")[0]) else None
    if SANITIZER.match(name) or any(name.startswith(prefix + home) for prefix in PREFIXES):
        return None
    # Function templates are demangled with their return type in front.
    if re.search(r"(?:^|[\s*&])" + re.escape(home), name.split("(")[0]):
        return None
    return "shares (weak)" if letter in "VWu" else "exports"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    nm, objects = sys.argv[1], [line.split(None, 1) for line in open(sys.argv[2]).read().splitlines() if line.strip()]
    if not objects:
        sys.exit(f"{sys.argv[2]}: no objects listed")
    found, defined = [], collections.Counter()
    for isa, path in objects:
        for letter, name in symbols(nm, path):
            what = problem(isa, letter, name)
            if what:
                found.append(f"{path}: {what} {name}")
            elif letter not in "Uwv":
                defined[isa] += 1
    found += [f"{isa}: its objects define nothing at all" for isa in {i for i, _ in objects} if not defined[isa]]
    print("\n".join(found) if found else f"{len(objects)} objects keep to their namespace: {dict(defined)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
