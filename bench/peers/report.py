#!/usr/bin/env python3
"""Writes docs/performance.md and its charts from what compare.py and bench/accuracy measured.

    bench/peers/report.py results.json [--accuracy accuracy.json]

Text that does not depend on figures is in performance.head.md and performance.limits.md beside this script.
"""

import argparse
import json
import pathlib
import re
import statistics

import peers
from cells import CELLS, MODELS
from chart import ratio_chart

DOCS = peers.HERE.parent.parent / "docs"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def by_cell(results):
    return {(cell["model"], cell["cell"]): cell for cell in results["cells"]}


def target_of(cell, peer, model_index):
    targets = cell.targets.get(peer)
    return targets[model_index] if targets else None


def ratio_text(ratio, target):
    if ratio is None:
        return "–"
    if target is None:
        return f"{ratio:.2f}"
    return f"**{ratio:.2f}** (≥ {target:g})" if ratio >= target else f"{ratio:.2f} (≥ {target:g}, missed)"


def machine_text(results):
    machine = results["machine"]
    rows = [("processor", f"{machine['cpu']}, {machine['logical_cpus']} logical CPUs, cache {machine['cache']}"),
            ("instruction sets", ", ".join(machine["flags"])), ("memory", f"{machine['memory_bytes'] / 2**30:.1f} GiB"),
            ("system", machine["system"]), ("threads", str(results["threads"])), ("date", results["date"]),
            ("rounds", " or ".join(str(n) for n in sorted({cell["rounds"] for cell in results["cells"]})))]
    rows += [(name, version + about(name)) for name, version in results["versions"].items()]
    rows += [(name, f"not measured: {why}") for name, why in results["missing"].items()]
    known = results["versions"].keys() | results["missing"].keys()
    rows += [(peer.name, "not part of this run") for peer in peers.PEERS if peer.name not in known]
    return table(("", ""), rows)


def about(name):
    return "" if name == "quire" else f" ({peers.peer_named(name).about})"


def ratio_table(results):
    cells, rows = by_cell(results), []
    names = [name for name in results["versions"] if name != "quire"]
    for cell in CELLS:
        for i, model in enumerate(MODELS):
            found = cells.get((model.key, cell.name))
            if not found:
                continue
            row = [cell.title if i == 0 or (MODELS[0].key, cell.name) not in cells else "", model.title]
            for name in names:
                row.append(ratio_text(found["ratios"].get(name), target_of(cell, name, i)))
            rows.append(row)
    return table(["cell", "model"] + names, rows)


def speed_table(results):
    cells, rows = by_cell(results), []
    names = list(results["versions"])
    for cell in CELLS:
        for model in MODELS:
            found = cells.get((model.key, cell.name))
            if not found:
                continue
            if cell.kind == "load":
                figures = [f"{statistics.median(found['seconds'][name]):.2f} s" if name in found["seconds"] else "–"
                           for name in names]
            else:
                figures = [f"{found['tps'][name]:.0f}" if name in found["tps"] else "–" for name in names]
            limits = found["limits"]
            shares = [f"{100 * limits[key]:.0f}%" if key in limits else "–" for key in ("compute_share", "memory_share")]
            rows.append([cell.title, model.title, *figures, *shares])
    return table(["cell", "model"] + names + ["of dot-product peak", "of memory bandwidth"], rows)


def troubles_text(results):
    # What a peer says first about a model is the cause; paths in it are of its builders' machines.
    first = {}
    for cell in results["cells"]:
        for name, why in cell["troubles"].items():
            title = next(m.title for m in MODELS if m.key == cell["model"])
            first.setdefault((name, title), re.sub(r"/\S*/", "", why))
    if not first:
        return ""
    seen = [(name, title, why) for (name, title), why in sorted(first.items())]
    return "Not measured, and why:\n\n" + "\n".join(f"- {name}, {model}: {why}" for name, model, why in seen) + "\n"


def sanity_text(results):
    rows = []
    for key, found in sorted(results["sanity"].items()):
        model, name = key.split("/", 1)
        title = next(m.title for m in MODELS if m.key == model)
        rows.append((name, title, "yes" if found["sane"] else "NO", f"{found['same_as_quire']} of {len(found['ids'])}"))
    return table(("peer", "model", "sane", "leading tokens equal to quire's"), rows)


def variants_text(results):
    lines = set()
    for cell in results["cells"]:
        kind = "load" if cell["cell"] == "load" else cell["cell"].split("-")[0]
        for name, variant in cell["variants"].items():
            if variant:
                words = ", ".join(f"{key} {str(value).lower()}" for key, value in variant.items())
                lines.add(f"- {name}, {next(m.title for m in MODELS if m.key == cell['model'])}, {kind}: {words}")
    return "\n".join(sorted(lines))


def accuracy_text(accuracy):
    rows = []
    for entry in accuracy["models"]:
        title = next((m.title for m in MODELS if m.name == entry["model"]), entry["model"])
        for run in entry["runs"]:
            if "trouble" in run:
                rows.append((title, run["name"], "–", "–", "–", run["trouble"]))
                continue
            kld = run["kld"]
            rows.append((title, run["name"], f"{run['tokens']:,}", f"{kld['mean']:.6f} ± {kld['mean_error']:.6f}",
                         f"{100 * run['difference']:+.3f}% ± {100 * run['difference_error']:.3f}%",
                         f"{100 * run['same_top']:.2f}%"))
    return table(("model", "run against its exact form", "tokens", "mean KL divergence", "perplexity", "same first token"), rows)


def charts(results):
    """name of the peer -> SVG."""
    cells = by_cell(results)
    drawn = {}
    for name in results["versions"]:
        rows = []
        for cell in CELLS:
            ratios = [cells.get((model.key, cell.name), {"ratios": {}})["ratios"].get(name) for model in MODELS]
            if any(ratios):
                rows.append((cell.title, ratios))
        if rows:
            drawn[name] = ratio_chart(f"Speed of quire over {name}", rows, [model.title for model in MODELS])
    return drawn


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results")
    parser.add_argument("--accuracy", help="results of bench/accuracy/run.py")
    parser.add_argument("--docs", type=pathlib.Path, default=DOCS, help="folder to write to (default: %(default)s)")
    options = parser.parse_args()
    with open(options.results) as file:
        results = json.load(file)
    head = (peers.HERE / "performance.head.md").read_text()
    limits = (peers.HERE / "performance.limits.md").read_text()
    images = options.docs / "images"
    images.mkdir(exist_ok=True)
    pictures = []
    for name, svg in charts(results).items():
        (images / f"speed-{name}.svg").write_text(svg)
        pictures.append(f"![Speed of quire over {name}](images/speed-{name}.svg)")
    parts = [head.strip(), "## Machine and versions\n\n" + machine_text(results),
             "## Ratios\n\nSpeed of quire over the peer's, above 1 when quire is faster; for loading, the peer's time over "
             "quire's. In brackets what is aimed at; bold where it is reached.\n\n" + ratio_table(results), *pictures,
             "## Speeds\n\nTokens per second, all sequences together; seconds for loading.\n\n" + speed_table(results),
             limits.strip(), "## Peers' settings\n\nThe fastest of each peer's variants:\n\n" + variants_text(results),
             "Greedy continuations, checked before anything is timed:\n\n" + sanity_text(results)]
    troubles = troubles_text(results)
    if troubles:
        parts.append(troubles.strip())
    if options.accuracy:
        with open(options.accuracy) as file:
            parts.append((peers.HERE / "performance.accuracy.md").read_text().strip() + "\n\n" + accuracy_text(json.load(file)))
    (options.docs / "performance.md").write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
