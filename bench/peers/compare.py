#!/usr/bin/env python3
"""Measures quire and its peers side by side: same model file, same threads, same prompt ids, one after the other.

    bench/peers/compare.py --quire build/release/bin/quire --out results.json
    bench/peers/report.py results.json            writes docs/performance.md and its chart

Every cell is repeated in rounds, and in a round everybody has a turn, so that what else the machine does meets all of
them alike; medians count. Before that each peer is tried in its variants, and the fastest one takes part. A peer whose
greedy continuation degenerates is not measured: wrong can be fast.

Results are written after every cell; --resume goes on where an interrupted run stopped.
"""

import argparse
import contextlib
import datetime
import fcntl
import json
import os
import statistics
import subprocess
import sys
import time

import peers
from cells import CELLS, MODELS

GREEDY_PROMPT = "The capital of France is Paris. The capital of Italy is"
GREEDY_TOKENS = 24


class Trouble(Exception):
    """A measurement that failed; the message says why."""


class Quire:
    name = "quire"

    def __init__(self, program, threads):
        self.program, self.threads = program, threads

    def _json_lines(self, *args):
        done = subprocess.run([self.program, *args, "--threads", str(self.threads), "--json"], capture_output=True, text=True)
        if done.returncode != 0:
            raise Trouble(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit code {done.returncode}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def version(self):
        return subprocess.run([self.program, "--version"], capture_output=True, text=True).stdout.split()[-1]

    def tokenize(self, model, text):
        return json.loads(subprocess.run([self.program, "tokenize", "-m", model, "-p", text, "--json"], capture_output=True,
                                         text=True, check=True).stdout)["ids"]

    def greedy(self, model, text, n_tokens):
        return self._json_lines("run", "-m", model, "-p", text, "--raw", "--temp", "0", "--ignore-eos", "-n",
                                str(n_tokens))[-1]["tokens"]

    def measure(self, model, cell):
        """(seconds, what the machine allowed in the same run)."""
        if cell.kind == "load":
            start = time.perf_counter()
            self._json_lines("logits", "-m", model, "--tokens", "1", "--chunk", "1", "--ctx", "512")
            return time.perf_counter() - start, {}
        prompt, gen = (cell.n_tokens, 0) if cell.kind == "prefill" else (0, cell.n_tokens)
        row = self._json_lines("bench", "-m", model, "-p", str(prompt), "-n", str(gen), "-d", str(cell.depth), "--batch",
                               str(cell.batch), "-r", "1", "--limits")[-1]
        shares = {key: row[key] for key in ("compute_share", "memory_share", "gops", "gbps") if key in row}
        return cell.n_tokens * cell.batch / row["tps_median"], shares


class PeerProcess:
    """A running driver."""

    def __init__(self, peer, threads):
        self.peer, self.threads, self.name = peer, threads, peer.name
        self.opened = None
        self.process = subprocess.Popen([peers.python_of(peer), peers.HERE / "drivers" / peer.driver], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=open(peers.home() / peer.name / "driver.log", "w"),
                                        env=dict(os.environ, OMP_NUM_THREADS=str(threads)))

    def ask(self, op, **request):
        try:
            self.process.stdin.write(json.dumps({"op": op, **request}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Trouble(f"the driver ended with {self.process.wait()}; see {peers.home() / self.name / 'driver.log'}")
        answer = json.loads(line)
        if "error" in answer:
            raise Trouble(answer["error"])
        return answer

    def open(self, path, variant, n_ctx, n_seq):
        wanted = (path, json.dumps(variant), n_ctx, n_seq)
        if self.opened == wanted:
            return None
        self.opened = None
        seconds = self.ask("open", model=path, n_ctx=n_ctx, n_seq=n_seq, threads=self.threads, variant=variant)["seconds"]
        self.opened = wanted
        return seconds

    def measure(self, path, cell, variant):
        if cell.kind == "load":
            self.opened = None
            return self.open(path, variant, 512, 1)
        # A little more than the cell needs: some round up, some keep a slot free.
        self.open(path, variant, cell.context + 64, cell.batch)
        if cell.kind == "prefill":
            return self.ask("prefill", n_tokens=cell.n_tokens)["seconds"]
        return self.ask("decode", batch=cell.batch, depth=cell.depth, n_tokens=cell.n_tokens)["seconds"]

    def warm(self, path, cell, variant):
        """Every shape of the cell once. A long prompt is made of steps like a short one's."""
        if cell.kind == "prefill" and cell.long:
            self.open(path, variant, cell.context + 64, cell.batch)
            self.ask("prefill", n_tokens=1024)
        else:
            self.measure(path, cell, variant)

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # the driver has ended by itself
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()


def sane(ids):
    """Neither empty nor one phrase over and over."""
    return len(ids) >= GREEDY_TOKENS // 2 and len(set(ids)) >= max(4, len(ids) // 4)


def common_prefix(a, b):
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return n


def pick_variant(process, path, cell):
    """The fastest variant in a short form of the cell, for prefill and for decoding."""
    best, trouble = None, None
    for variant in process.peer.variants:
        try:
            process.open(path, variant, 1024, 1)
            seconds = []
            for _ in range(3):
                if cell.kind == "decode":
                    answer = process.ask("decode", batch=1, depth=512, n_tokens=16)
                else:
                    answer = process.ask("prefill", n_tokens=512)
                seconds.append(answer["seconds"])
            if best is None or min(seconds[1:]) < best[0]:
                best = (min(seconds[1:]), variant)
        except Trouble as problem:
            trouble = problem
    if best is None:
        raise Trouble(str(trouble))
    return best[1]


class Comparison:
    def __init__(self, options, results):
        self.options, self.results = options, results
        self.quire = Quire(options.quire, options.threads)
        self.processes = {}  # by peer, of the current model
        self.variants = {}  # by model, peer and kind of cell
        self.unusable = {}  # why, by model and peer: what could not open a file is not asked for the next cell

    @contextlib.contextmanager
    def quiet(self):
        """Holds the lock files that other heavy work on this machine respects, for as long as something is timed."""
        with contextlib.ExitStack() as stack:
            for path in self.options.lock:
                fcntl.flock(stack.enter_context(open(path, "a")), fcntl.LOCK_EX)
            yield

    def process(self, peer):
        if peer.name not in self.processes:
            if not peers.python_of(peer).exists():
                raise Trouble("not installed (bench/peers/install.py)")
            self.processes[peer.name] = PeerProcess(peer, self.options.threads)
        return self.processes[peer.name]

    def check_sanity(self, peer, model, path):
        """Raises Trouble when the peer cannot run the model or its continuation is not one. Remembers what was found."""
        key = f"{model.key}/{peer.name}"
        if key in self.unusable:
            raise Trouble(self.unusable[key])
        if key in self.results["sanity"]:
            found = self.results["sanity"][key]
        else:
            ids = self.quire.tokenize(path, GREEDY_PROMPT)
            try:
                process = self.process(peer)
                process.open(path, peer.variants[0], 512, 1)
                answer = process.ask("greedy", ids=ids, n_tokens=GREEDY_TOKENS)["ids"]
            except Trouble as problem:
                self.unusable[key] = str(problem)
                raise
            found = {"sane": sane(answer), "ids": answer,
                     "same_as_quire": common_prefix(answer, self.quire.greedy(path, GREEDY_PROMPT, GREEDY_TOKENS))}
            self.results["sanity"][key] = found
        if not found["sane"]:
            raise Trouble(f"the greedy continuation degenerates: {found['ids'][:12]}")

    def prepare(self, peer, model, path, cell):
        """The peer ready and warm for the cell, and the variant it runs in."""
        process = self.process(peer)
        kind = "decode" if cell.kind == "decode" else "prefill"
        chosen = (model.key, peer.name, kind)
        if chosen not in self.variants:
            alone = len(peer.variants) == 1
            self.variants[chosen] = peer.variants[0] if alone else pick_variant(process, path, cell)
        if cell.kind != "load":
            process.warm(path, cell, self.variants[chosen])
        return process, self.variants[chosen]

    def run_cell(self, model, path, cell):
        rounds = self.options.long_rounds if cell.long else self.options.rounds
        seconds = {"quire": []}
        shares, troubles, ready, sound = [], {}, {}, []
        for peer in self.options.peers:
            try:
                if cell.name in peer.cells:
                    self.check_sanity(peer, model, path)
                    sound.append(peer)
            except Trouble as problem:
                troubles[peer.name] = str(problem)
        with self.quiet():
            for peer in sound:
                try:
                    ready[peer.name] = self.prepare(peer, model, path, cell)
                    seconds[peer.name] = []
                except Trouble as problem:
                    troubles[peer.name] = str(problem)
            for _ in range(rounds):
                taken, share = self.quire.measure(path, cell)
                seconds["quire"].append(taken)
                shares.append(share)
                for name, (process, variant) in list(ready.items()):
                    try:
                        seconds[name].append(process.measure(path, cell, variant))
                    except Trouble as problem:
                        troubles[name] = str(problem)
                        del ready[name], seconds[name]
        tokens = cell.n_tokens * cell.batch
        result = {"model": model.key, "cell": cell.name, "rounds": rounds, "seconds": seconds, "troubles": troubles,
                  "variants": {name: variant for name, (_, variant) in ready.items()},
                  "limits": {key: statistics.median(share[key] for share in shares) for key in shares[0]}}
        quire = statistics.median(seconds["quire"])
        result["ratios"] = {name: statistics.median(list_) / quire for name, list_ in seconds.items() if name != "quire"}
        if tokens:
            result["tps"] = {name: tokens / statistics.median(list_) for name, list_ in seconds.items()}
        return result

    def run(self):
        done = {(cell["model"], cell["cell"]) for cell in self.results["cells"]}
        for model in MODELS:
            path = os.path.join(self.options.models_folder, model.name + ".gguf")
            for cell in CELLS:
                wanted = self.options.models in (None, []) or model.key in self.options.models
                wanted &= self.options.cells in (None, []) or cell.name in self.options.cells
                if not wanted or model.key not in cell.models or (model.key, cell.name) in done:
                    continue
                start = time.perf_counter()
                result = self.run_cell(model, path, cell)
                self.results["cells"].append(result)
                write(self.options.out, self.results)
                ratios = ", ".join(f"{name} {ratio:.2f}x" for name, ratio in result["ratios"].items())
                troubles = "".join(f"; {name}: {why}" for name, why in result["troubles"].items())
                print(f"{model.key} {cell.name}: {ratios}{troubles}  ({time.perf_counter() - start:.0f} s)", flush=True)
            self.close()  # some peers never give a model's memory back

    def close(self):
        for process in self.processes.values():
            process.close()
        self.processes.clear()


def write(path, results):
    with open(path + ".part", "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    os.replace(path + ".part", path)


def header(options):
    from install import installed_version
    versions = {"quire": Quire(options.quire, options.threads).version()}
    missing = {}
    for peer in options.peers:
        version = installed_version(peer)
        if version:
            versions[peer.name] = f"{peer.package} {version}"
        else:
            missing[peer.name] = "not installed; bench/peers/install.py says why"
    return {"format": 1, "date": datetime.date.today().isoformat(), "machine": peers.machine(), "threads": options.threads,
            "versions": versions, "missing": missing, "sanity": {}, "cells": []}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    home = os.environ.get("QUIRE_HOME") or os.path.expanduser("~/.cache/quire")
    parser.add_argument("--quire", default="build/release/bin/quire", help="the program (default: %(default)s)")
    parser.add_argument("--models-folder", default=os.path.join(home, "models"), help="default: %(default)s")
    parser.add_argument("--out", default="build/peers.json", help="results (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--long-rounds", type=int, default=3, help="rounds of the cells that take long (default: %(default)s)")
    parser.add_argument("--peers", nargs="+", metavar="PEER", help="default: all")
    parser.add_argument("--models", nargs="+", choices=[model.key for model in MODELS], help="default: all")
    parser.add_argument("--cells", nargs="+", choices=[cell.name for cell in CELLS], metavar="CELL", help="default: all")
    parser.add_argument("--lock", action="append", default=[], metavar="FILE",
                        help="lock this file while measuring (flock), for other work that waits on it; repeatable")
    parser.add_argument("--resume", action="store_true", help="go on with the results in --out")
    options = parser.parse_args()
    options.peers = [peers.peer_named(name) for name in options.peers] if options.peers else list(peers.PEERS)
    if options.resume and os.path.exists(options.out):
        with open(options.out) as file:
            results = json.load(file)
    else:
        results = header(options)
    comparison = Comparison(options, results)
    try:
        comparison.run()
    finally:
        comparison.close()
    write(options.out, results)


if __name__ == "__main__":
    sys.exit(main())
