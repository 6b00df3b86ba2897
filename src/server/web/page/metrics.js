// Prometheus' text format, read back: sums by name, and what histograms say of the time between two looks.

/** [{name, labels, value}] */
function parse(text) {
  const samples = [];
  for (const line of text.split("\n")) {
    const match = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) continue;
    const labels = Object.fromEntries([...(match[2] ?? "").matchAll(/(\w+)="((?:\\.|[^"\\])*)"/g)].map((m) => [m[1], m[2]]));
    samples.push({ name: match[1], labels, value: Number(match[3].replace("+Inf", "Infinity")) });
  }
  return samples;
}

/** The value below which a share of the observations lie, interpolated within its bucket; null without any. */
function quantile(buckets, share) {
  const total = buckets.at(-1)?.count ?? 0;
  if (total <= 0) return null;
  let below = 0, low = 0;
  for (const { bound, count } of buckets) {
    if (count >= share * total) return bound === Infinity ? low : low + (bound - low) * (share * total - below) / (count - below);
    below = count;
    low = bound;
  }
  return low;
}

export class Metrics {
  constructor(text) {
    this.samples = parse(text);
    this.time = performance.now() / 1000;
  }

  sum(name) {
    return this.samples.filter((s) => s.name === name).reduce((sum, s) => sum + s.value, 0);
  }

  /** Per second since an earlier look. */
  rate(name, before) {
    return before ? Math.max(0, this.sum(name) - before.sum(name)) / Math.max(0.1, this.time - before.time) : 0;
  }

  #buckets(name) {
    return this.samples.filter((s) => s.name === name + "_bucket")
      .map((s) => ({ bound: s.labels.le === "+Inf" ? Infinity : Number(s.labels.le), count: s.value }));
  }

  /** Of a histogram's observations since an earlier look, or of all. */
  quantile(name, share, before) {
    const old = before ? before.#buckets(name) : [];
    return quantile(this.#buckets(name).map(({ bound, count }, i) => ({ bound, count: count - (old[i]?.count ?? 0) })), share);
  }
}
