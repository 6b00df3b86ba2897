"""A strict reader of Prometheus' text format 0.0.4: everything the format only recommends is demanded.
Source: prometheus.io/docs/instrumenting/exposition_formats, .../writing_exporters."""

import math
import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(r"(%s)(?:\{(.*)\})? (\S+)" % NAME)
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)')
VALUE = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|NaN|[+-]Inf")


class Family:
    def __init__(self, name, help_text):
        self.name, self.help, self.type = name, help_text, None
        self.samples = {}  # (name, labels as sorted pairs) -> value


def read_labels(text):
    labels, at = [], 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, "bad labels: " + text
        labels.append((match[1], match[2]))
        at = match.end()
        assert match[3] == "," or at == len(text), text
    assert not text.endswith(","), text
    assert len({name for name, _ in labels}) == len(labels), "a label twice: " + text
    return labels


def read(text):
    """{name: Family}. Raises AssertionError on whatever is not as it should be."""
    assert text.endswith("\n") and "\r" not in text
    families, current = {}, None
    for line in text.splitlines():
        assert line == line.strip() and line, repr(line)
        if line.startswith("# HELP "):
            _, _, name, help_text = line.split(" ", 3)
            assert name not in families, "two families " + name
            assert re.fullmatch(NAME, name) and help_text
            current = families[name] = Family(name, help_text)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert current and name == current.name and current.type is None and not current.samples, line
            assert kind in ("counter", "gauge", "histogram"), line
            current.type = kind
        else:
            match = SAMPLE.fullmatch(line)
            assert match and VALUE.fullmatch(match[3]), line
            allowed = [current.name + s for s in ("_bucket", "_sum", "_count")] if current.type == "histogram" else [current.name]
            assert match[1] in allowed, line + " stands under " + current.name
            labels = read_labels(match[2]) if match[2] is not None else []
            key = (match[1], tuple(sorted(labels)))
            assert key not in current.samples, "twice: " + line
            current.samples[key] = float(match[3])
    for family in families.values():
        check(family)
    return families


def check(family):
    assert family.type, family.name
    assert family.type != "counter" or family.name.endswith("_total"), family.name
    assert family.type == "counter" or not family.name.endswith("_total"), family.name
    if family.type == "counter":
        assert all(value >= 0 for value in family.samples.values()), family.name
    if family.type == "histogram":
        check_histogram(family)


def check_histogram(family):
    buckets = {}
    for (name, labels), value in family.samples.items():
        if name.endswith("_bucket"):
            (bound,) = [v for n, v in labels if n == "le"]
            series = tuple(pair for pair in labels if pair[0] != "le")
            buckets.setdefault(series, []).append((math.inf if bound == "+Inf" else float(bound), value))
    series_with = lambda suffix: {labels for name, labels in family.samples if name == family.name + suffix}
    assert set(buckets) == series_with("_sum") == series_with("_count"), family.name
    for series, pairs in buckets.items():
        bounds, counts = [b for b, _ in pairs], [c for _, c in pairs]
        assert bounds == sorted(set(bounds)) and bounds[-1] == math.inf, (family.name, bounds)
        assert counts == sorted(counts), (family.name, counts)
        assert counts[-1] == family.samples[family.name + "_count", series]
