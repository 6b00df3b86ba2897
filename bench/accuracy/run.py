#!/usr/bin/env python3
"""What int8 activations cost in accuracy: quire against its exact path, and llama.cpp against its F32 model.

    bench/accuracy/run.py --quire build/release/bin/quire --out accuracy.json

Both on the same windows of the same text (make_text.py), every token but the first of each window scored. llama.cpp is taken
from bench/peers/install.py; where it is missing its figure is, too, with the reason. Takes long: --threads 1 under nice lets
others work. Results are written after every model; --resume goes on.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "peers")]

import make_text
import peers
from cells import MODELS

WINDOW = 512


def quire_json(options, *args):
    done = subprocess.run([options.quire, *args, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def quire_run(options, model, text, folder):
    base = os.path.join(folder, "base.qlp")
    common = ["perplexity", "-m", model, "-f", text, "--ctx", str(WINDOW), "--threads", str(options.threads)]
    quire_json(options, *common, "--activations", "f32", "--save-logits", base)
    found = quire_json(options, *common, "--kld", base)
    os.remove(base)
    return {"name": "quire", **found}


def windows(options, model, text):
    """The windows that `quire perplexity` makes."""
    with open(text, "rb") as file:
        content = file.read()

    def tokenize(data, *args):
        done = subprocess.run([options.quire, "tokenize", "-m", model, "--no-special", "--json", *args], input=data,
                              capture_output=True, check=True)
        return json.loads(done.stdout)["ids"]

    ids = tokenize(content, "--no-bos")
    begin = tokenize(b"x")[:-len(tokenize(b"x", "--no-bos"))]
    step = WINDOW - len(begin)
    cut = [begin + ids[i:i + step] for i in range(0, len(ids), step)]
    return [window for window in cut if len(window) > 1]


def llama_run(options, model, text, folder):
    python = peers.python_of(peers.peer_named("llama.cpp"))
    if not python.exists():
        return {"name": "llama.cpp", "trouble": "not installed"}
    exact, listed = os.path.join(folder, "exact.gguf"), os.path.join(folder, "windows.json")
    with open(listed, "w") as file:
        json.dump(windows(options, model, text), file)
    try:
        for args in ([HERE / "to_f32.py", model, exact],
                     [HERE / "llama_divergence.py", model, exact, listed, str(options.threads)]):
            done = subprocess.run([python, *args], capture_output=True, text=True)
            if done.returncode != 0:
                return {"name": "llama.cpp", "trouble": (done.stderr.strip().splitlines() or ["failed"])[-1][:300]}
        return {"name": "llama.cpp", **json.loads(done.stdout.splitlines()[-1])}
    finally:
        pathlib.Path(exact).unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    home = os.environ.get("QUIRE_HOME") or os.path.expanduser("~/.cache/quire")
    parser.add_argument("--quire", default="build/release/bin/quire", help="the program (default: %(default)s)")
    parser.add_argument("--models-folder", default=os.path.join(home, "models"), help="default: %(default)s")
    parser.add_argument("--out", default="build/accuracy.json", help="results (default: %(default)s)")
    parser.add_argument("--models", nargs="+", choices=[model.key for model in MODELS], help="default: all")
    parser.add_argument("--threads", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--scratch", help="folder for large files (default: the system's)")
    parser.add_argument("--resume", action="store_true", help="keep what --out holds already")
    options = parser.parse_args()
    results = {"format": 1, "window": WINDOW, "models": []}
    if options.resume and os.path.exists(options.out):
        with open(options.out) as file:
            results = json.load(file)
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        text = os.path.join(folder, "text.txt")
        with open(text, "w", encoding="utf-8") as file:
            file.write(make_text.build())
        for model in MODELS:
            if options.models and model.key not in options.models:
                continue
            path = os.path.join(options.models_folder, model.name + ".gguf")
            entry = next((entry for entry in results["models"] if entry["model"] == model.name), None)
            if entry is None:
                entry = {"model": model.name, "runs": []}
                results["models"].append(entry)
            for name, run in (("quire", quire_run), ("llama.cpp", llama_run)):
                if any(done["name"] == name and "trouble" not in done for done in entry["runs"]):
                    continue
                entry["runs"] = [done for done in entry["runs"] if done["name"] != name] + [run(options, path, text, folder)]
                print(json.dumps(entry["runs"][-1]), flush=True)
                with open(options.out, "w") as file:
                    json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
