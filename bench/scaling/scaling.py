#!/usr/bin/env python3
"""Measures how cost grows with context and with the number of sequences, and draws both beside the expected line.

    bench/scaling/scaling.py --quire build/release/bin/quire --model smollm2-135m-q4_1

What a token costs grows with the positions its attention reads, and what a step costs with its rows: each is a constant and
a slope. The line is fitted to the measured points (relative least squares); a point far above it is a cliff. Writes
docs/scaling.md and two charts.
"""

import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parent.parent / "docs"

sys.path.insert(0, str(HERE))
from line_chart import line_chart  # noqa: E402

DEPTHS = (0, 1024, 2048, 4096, 8192, 16384, 32768)
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PROMPT, ANSWER = 64, 16


def measure(quire, model, *arguments):
    """quire bench -> its rows, without the first, which describes the run."""
    command = [quire, "bench", "-m", model, "-p", str(PROMPT), "-n", str(ANSWER), "--json", "-q", *map(str, arguments)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines[1:]]


def fit(points):
    """(x, y) -> (constant, slope), with every point weighing by its relative error."""
    weights = [1 / (y * y) for _, y in points]
    s = sum(weights)
    sx = sum(w * x for w, (x, _) in zip(weights, points))
    sy = sum(w * y for w, (_, y) in zip(weights, points))
    sxx = sum(w * x * x for w, (x, _) in zip(weights, points))
    sxy = sum(w * x * y for w, (x, y) in zip(weights, points))
    slope = (s * sxy - sx * sy) / (s * sxx - sx * sx)
    return (sy - slope * sx) / s, slope


def by_context(quire, model, depths, reps):
    """Microseconds per token of a prompt and of an answer, by positions that were there before."""
    curves = {"prompt token": [], "answer token": []}
    for depth in depths:
        for row in measure(quire, model, "-d", depth, "-r", reps, "--ctx", depths[-1] + 1024):
            name, n = ("prompt token", PROMPT) if row["test"].startswith("pp") else ("answer token", ANSWER)
            curves[name].append((depth + n / 2, 1e6 / row["tps_median"]))
    return curves


def by_batch(quire, model, batches, reps):
    """Milliseconds of a step in which every sequence gets one token."""
    rows = measure(quire, model, "-r", reps, "--ctx", 512, "--batch", ",".join(map(str, batches)))
    return {"step": [(row["batch"], 1e3 * row["batch"] / row["tps_median"]) for row in rows if row["test"].startswith("tg")]}


def section(title, unit, x_title, curves, picture):
    lines = [f"## {title}", "", f"![{title}](images/{picture})", "",
             "| | " + " | ".join(f"{x:g}" for x, _ in next(iter(curves.values()))) + " | fitted |",
             "|---" * (len(next(iter(curves.values()))) + 2) + "|"]
    worst = []
    for name, points in curves.items():
        constant, slope = fit(points)
        lines.append(f"| {name}, {unit} | " + " | ".join(f"{y:.4g}" for _, y in points) + f" | {constant:.4g} + {slope:.3g} × {x_title} |")
        x, ratio = max(((x, y / (constant + slope * x)) for x, y in points), key=lambda item: item[1])
        worst.append(f"{name}: at most {100 * (ratio - 1):.0f}% above the line, at {x:g}")
    return "\n".join([*lines, "", *[f"- {line}" for line in worst], ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quire", default=str(HERE.parent.parent / "build/release/bin/quire"))
    parser.add_argument("--model", default="smollm2-135m-q4_1", help="for the numbers of sequences (default: %(default)s)")
    parser.add_argument("--context-model", default=str(HERE.parent.parent / "tests/data/models/llama/model-f32.gguf"),
                        help="for the lengths of context; a small one, or filling the longest takes minutes (default: %(default)s)")
    parser.add_argument("--max-depth", type=int, default=DEPTHS[-1])
    parser.add_argument("--max-batch", type=int, default=BATCHES[-1])
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--docs", type=pathlib.Path, default=DOCS)
    options = parser.parse_args()
    depths = [depth for depth in DEPTHS if depth <= options.max_depth]
    batches = [batch for batch in BATCHES if batch <= options.max_batch]

    context = by_context(options.quire, options.context_model, depths, options.reps)
    batch = by_batch(options.quire, options.model, batches, options.reps)
    images = options.docs / "images"
    images.mkdir(exist_ok=True)
    for picture, title, x_title, y_title, curves in (
            ("scaling-context.svg", "Cost of a token by context", "positions before it", "µs", context),
            ("scaling-batch.svg", "Cost of a step by sequences", "sequences", "ms", batch)):
        lines = {name: fit(points) for name, points in curves.items()}
        (images / picture).write_text(line_chart(title, x_title, y_title, curves, lines))
    head = (HERE / "scaling.head.md").read_text().strip()
    parts = [head, section("Cost of a token by context", "µs", "positions", context, "scaling-context.svg"),
             section("Cost of a step by sequences", "ms", "sequences", batch, "scaling-batch.svg")]
    (options.docs / "scaling.md").write_text("\n\n".join(part.strip() for part in parts) + "\n")


if __name__ == "__main__":
    main()
