#!/usr/bin/env python3
"""Installs the peers that quire is measured against, each into its own virtual environment outside the repository.

    bench/peers/install.py                 all of them, into ${QUIRE_HOME:-~/.cache/quire}/peers
    bench/peers/install.py llama.cpp       one
    bench/peers/install.py --list          what is there

A peer that cannot be installed is reported with the reason, and the others go on. Building from source takes a while;
--jobs says with how many compilers.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import venv

import peers

VERSION = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"


def requirements_of(package, python):
    """What the installed package asks for, without extras and without what has no build on PyPI."""
    script = "import importlib.metadata as m, sys; print('\\n'.join(m.requires(sys.argv[1]) or []))"
    lines = subprocess.run([python, "-c", script, package], capture_output=True, text=True, check=True).stdout.splitlines()
    kept = []
    for line in lines:
        name = re.match(r"[A-Za-z0-9_.-]+", line).group(0)
        if "extra ==" not in line and name not in peers.VLLM_WITHOUT:
            kept.append(line)
    return kept


def completed_source(package, python, folder, completions, log):
    """Unpacks a package's source below folder and writes the files that it lacks; the path to install from, or None."""
    fetched = subprocess.run([python, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--no-binary", package,
                              "--dest", folder, package], stdout=log, stderr=subprocess.STDOUT)
    archives = list(folder.glob("*.tar.gz"))
    if fetched.returncode != 0 or not archives:
        return None
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder, filter="data")
    source = next(path for path in folder.iterdir() if path.is_dir())
    for name, text in completions.items():
        path = source / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(f"wrote {name}, which the package lacks", file=log, flush=True)
    return source


def pip_arguments(peer, step, python, folder, log):
    """The step with its marks replaced: @requirements:NAME by what NAME asks for, @source:NAME by its completed source."""
    arguments = []
    for word in step:
        mark, _, package = word.partition(":")
        if mark == "@requirements":
            arguments += requirements_of(package, python)
        elif mark == "@source":
            source = completed_source(package, python, folder, peer.completions, log)
            if source is None:
                return None
            arguments.append(source)
        else:
            arguments.append(word)
    return arguments


def installed_version(peer):
    python = peers.python_of(peer)
    if not python.exists():
        return None
    found = subprocess.run([python, "-c", VERSION, peer.package], capture_output=True, text=True)
    return found.stdout.strip() if found.returncode == 0 else None


def reason(log_path):
    """The line of pip's output that says most."""
    with open(log_path, errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    for pattern in (r"fatal error: ", r"\berror: ", r"^ERROR: ", r"CMake Error"):
        for line in lines:
            if re.search(pattern, line):
                return line[:300]
    return lines[-1][:300] if lines else "no output"


def install(peer, jobs):
    folder = peers.home() / peer.name
    log_path = folder / "install.log"
    if not peers.python_of(peer).exists():
        venv.create(folder, with_pip=True)
    environment = dict(os.environ, CMAKE_BUILD_PARALLEL_LEVEL=str(jobs), **peer.environment)
    python = peers.python_of(peer)
    with open(log_path, "w") as log, tempfile.TemporaryDirectory(prefix="quire-peer-") as unpacked:
        for step in peer.steps:
            arguments = pip_arguments(peer, step, python, pathlib.Path(unpacked), log)
            if arguments is None:
                break
            # pip's own resolver complains about "+cpu" of torch although the other build works: only its exit counts.
            done = subprocess.run([python, "-m", "pip", "install", "--no-cache-dir", *arguments], stdout=log,
                                  stderr=subprocess.STDOUT, env=environment)
            if done.returncode != 0:
                break
    version = installed_version(peer)
    return version, None if version else f"{reason(log_path)} (see {log_path})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="PEER", help=", ".join(peer.name for peer in peers.PEERS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at once (default: all processors)")
    parser.add_argument("--list", action="store_true", help="only say what is installed")
    options = parser.parse_args()
    chosen = [peers.peer_named(name) for name in options.names] or peers.PEERS
    failed = False
    for peer in chosen:
        version, trouble = installed_version(peer), "not installed"
        if version is None and not options.list:
            print(f"{peer.name}: installing {peer.package} ...", flush=True)
            version, trouble = install(peer, options.jobs)
        failed |= version is None
        print(f"{peer.name}: {version or 'cannot be used: ' + trouble}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
