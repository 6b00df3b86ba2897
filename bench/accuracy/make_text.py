#!/usr/bin/env python3
"""Builds the text for accuracy figures: English and Python code, from files that Debian packages install.

    bench/accuracy/make_text.py text.txt

Half the characters are licences and package documentation, half the sources of the standard library, in pieces from the
middle of files, alternating. The same packages give the same text; its hash is printed.
"""

import argparse
import glob
import hashlib
import os

CHARACTERS = 86_000  # some 22,000 tokens
PIECE = 4_000

ENGLISH = ("/usr/share/common-licenses/*", "/usr/share/doc/*/README*", "/usr/share/doc/*/NEWS*", "/usr/share/doc/*/*.txt",
           "/usr/share/perl/*/pod/*.pod", "/usr/share/doc/*/FAQ*")
CODE = ("/usr/lib/python3.*/*.py", "/usr/lib/python3.*/email/*.py", "/usr/lib/python3.*/json/*.py")


def pieces(patterns):
    """A piece of each file that holds enough plain text, in the order of patterns and names."""
    seen = set()
    for pattern in patterns:
        for path in sorted(glob.glob(pattern)):
            real = os.path.realpath(path)
            if real in seen or not os.path.isfile(real) or os.path.getsize(real) < 2 * PIECE:
                continue
            seen.add(real)
            try:
                with open(real, encoding="utf-8") as file:
                    text = file.read()
            except UnicodeDecodeError:  # packed, or in another language's old encoding
                continue
            start = text.find("\n", len(text) // 3) + 1
            piece = text[start:start + PIECE]
            if len(piece) == PIECE:
                yield piece[:piece.rfind("\n") + 1]


def build():
    english, code = pieces(ENGLISH), pieces(CODE)
    parts, size = [], 0
    while size < CHARACTERS:
        pair = [next(english, None), next(code, None)]
        if None in pair:
            raise SystemExit(f"only {size} characters of text found; install base-files and the python3 standard library")
        for part in pair:
            parts.append(part)
            size += len(part)
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    text = build().encode()
    with open(parser.parse_args().out, "wb") as file:
        file.write(text)
    print(f"{len(text)} bytes, sha256 {hashlib.sha256(text).hexdigest()}")


if __name__ == "__main__":
    main()
