#!/usr/bin/env python3
"""Builds llama-server for this processor, from the source that llama-cpp-python carries, for burst.py; with --prebuilt
it installs the one that PyPI has, which knows AVX2 but not what came after.

    bench/peers/install_server.py [--jobs N] [--prebuilt]      into ${QUIRE_HOME:-~/.cache/quire}/peers/llama-server
"""

import argparse
import os
import shlex
import subprocess
import sys
import tarfile
import venv

import peers

VERSION = "0.3.36"  # of llama-cpp-python; that of the peer "llama.cpp"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--prebuilt", action="store_true")
    args = parser.parse_args()
    home = peers.home() / "llama-server"
    python, source = home / "bin" / "python", home / "src"
    if not python.exists():
        venv.create(home, with_pip=True)
    pip = [python, "-m", "pip", "-q"]
    if args.prebuilt:
        return subprocess.run([*pip, "install", "--only-binary", ":all:", "xllamacpp"]).returncode
    subprocess.run([*pip, "install", "scikit-build-core"], check=True)  # pip asks it for the version
    subprocess.run([*pip, "download", "--no-deps", "--no-build-isolation", "--no-binary", "llama-cpp-python",
                    "llama-cpp-python==" + VERSION, "-d", source], check=True)
    with tarfile.open(next(source.glob("llama_cpp_python-*.tar.gz"))) as archive:
        archive.extractall(source)
    options = [o for o in shlex.split(peers.ggml_options(amx=False)) if "TOOLS" not in o]
    subprocess.run(["cmake", "-G", "Ninja", "-S", source / f"llama_cpp_python-{VERSION}" / "vendor" / "llama.cpp",
                    "-B", source / "build", *options, "-DCMAKE_BUILD_TYPE=Release", "-DLLAMA_BUILD_TESTS=OFF",
                    "-DLLAMA_BUILD_EXAMPLES=OFF", "-DLLAMA_BUILD_UI=OFF", "-DLLAMA_OPENSSL=OFF"], check=True)
    subprocess.run(["cmake", "--build", source / "build", "--target", "llama-server", "--parallel", str(args.jobs)], check=True)
    link = home / "bin" / "llama-server"
    link.unlink(missing_ok=True)
    link.symlink_to(source / "build" / "bin" / "llama-server")
    print(subprocess.run([link, "--version"], capture_output=True, text=True).stderr.strip())


if __name__ == "__main__":
    sys.exit(main())
