#!/usr/bin/env python3
"""Checks every #include "..." under src/ against the layer table.

usage: check_layers.py SRC_FOLDER LAYER_TABLE

Project includes are written from src/ ("folder/file.h"). Exit status 1 when a folder includes one that its row
of the table does not name, when an include does not exist, or when a folder has no row.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def read_table(path):
    table = {}
    for line in path.read_text().splitlines():
        line = line.split("#", 1)[0].strip()
        if not line:
            continue
        folder, allowed = line.split(":", 1)
        rows_above = set(table)
        table[folder] = set(allowed.split())
        for name in table[folder]:
            if name.split("/")[0] not in rows_above:
                sys.exit(f"{path}: row '{folder}' names '{name}', which is not in a row above it")
    return table


def problems_of(path, src, table):
    folder = path.relative_to(src).parts[0]
    if folder not in table:
        yield f"folder '{folder}' has no row in the layer table"
        return
    for target in INCLUDE.findall(path.read_text()):
        if not (src / target).is_file():
            yield f'"{target}" is not a file under src/ (project includes are written from src/)'
        elif target.split("/")[0] != folder and not {target.split("/")[0], target} & table[folder]:
            yield f'{folder} may not include "{target}"'


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    src, table = pathlib.Path(sys.argv[1]), read_table(pathlib.Path(sys.argv[2]))
    files = sorted(p for p in src.rglob("*") if p.suffix in (".h", ".cc") and p.parent != src)
    if not files:
        sys.exit(f"{src}: no sources found")
    found = [f"{path}: {problem}" for path in files for problem in problems_of(path, src, table)]
    print("\n".join(found) if found else f"{len(files)} files keep the layer rule")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
