// The engine as it is now, looked at once a second while it is shown: /metrics for numbers, /engine for pages.
import { drawLines, drawPool, slotColor } from "./charts.js";
import { Metrics } from "./metrics.js";
import { headers } from "./settings.js";

const byId = (id) => document.getElementById(id);
const HISTORY = 120; // looks
const WINDOW = 10;   // looks that a quantile is about

function element(name, text, className) {
  const node = document.createElement(name);
  node.textContent = text ?? "";
  if (className) node.className = className;
  return node;
}

const seconds = (value) => value === null ? "\u2013" : value < 0.9995 ? (value * 1000).toFixed(value < 0.01 ? 1 : 0) + " ms" : value.toFixed(2) + " s";
const bytes = (n) => n >= 2 ** 30 ? (n / 2 ** 30).toFixed(2) + " GiB" : n >= 2 ** 20 ? (n / 2 ** 20).toFixed(1) + " MiB" : (n / 1024).toFixed(0) + " KiB";
const count = (n) => n >= 1e6 ? (n / 1e6).toFixed(2) + " M" : n >= 1e4 ? (n / 1e3).toFixed(1) + " k" : String(Math.round(n));

function legendItem(dot, text) {
  const item = element("span");
  item.append(dot, " " + text);
  return item;
}

function drawPages(state) {
  const pools = byId("pages");
  while (pools.children.length > 2 * state.pages.length) pools.lastChild.remove();
  while (pools.children.length < 2 * state.pages.length) pools.append(element("p"), element("canvas"));
  state.pages.forEach(({ window, runs }, i) => {
    const pages = (fits) => runs.filter(fits).reduce((sum, run) => sum + run[2], 0);
    const [shared, cached, free] = [pages((r) => r[1] > 1), pages((r) => r[0] === -2), pages((r) => r[0] === -1)];
    const held = pages((r) => r[0] >= 0);
    pools.children[2 * i].textContent = `${window ? `Layers with a window of ${window}` : "Layers that see everything"}: ` +
      `${held} held, ${shared} of them shared, ${cached} cached, ${free} free`;
    drawPool(pools.children[2 * i + 1], runs);
  });
  const legend = [["shared", "shared"], ["cached", "cached"], ["free", "free"]].map(([name, text]) => legendItem(element("i", "", name), text));
  for (const sequence of state.sequences.slice(0, 24)) {
    const dot = element("i");
    dot.style.background = slotColor(sequence.slot);
    legend.push(legendItem(dot, `#${sequence.number}: ${sequence.positions} tokens` + (sequence.cached_tokens ? `, ${sequence.cached_tokens} found in memory` : "")));
  }
  if (state.sequences.length > 24) legend.push(`and ${state.sequences.length - 24} more`);
  byId("owners").replaceChildren(...legend);
}

/** The plan's rows by kind; of keys and values, what is in use. */
function drawMemory(state, metrics) {
  const kinds = new Map();
  for (const { kind, place, bytes: n } of state.memory)
    if (place === "host") kinds.set(kind, (kinds.get(kind) ?? 0) + n);
  const most = Math.max(...kinds.values(), 1);
  const pageBytes = new Map(metrics.samples.filter((s) => s.name === "quire_page_bytes").map((s) => [s.labels.group, s.value]));
  const used = (pageState) => metrics.samples.filter((s) => s.name === "quire_pages" && s.labels.state === pageState)
    .reduce((sum, s) => sum + s.value * (pageBytes.get(s.labels.group) ?? 0), 0);
  const rows = [...kinds].sort((a, b) => b[1] - a[1]).map(([kind, planned]) => {
    const parts = kind === "kv" ? [["one", used("held")], ["cached", used("cached")]] : [["one", planned]];
    const inUse = parts.reduce((sum, part) => sum + part[1], 0);
    const track = element("div");
    for (const [name, n] of [...parts, ["planned", planned - inUse]]) {
      const part = element("i", "", name);
      part.style.width = 100 * Math.max(0, n) / most + "%";
      track.append(part);
    }
    const row = element("div", "", "bar");
    row.append(element("span", kind === "kv" ? "keys, values" : kind), track,
      element("span", kind === "kv" ? `${bytes(inUse)} of ${bytes(planned)}` : bytes(planned)));
    return row;
  });
  const total = element("p", `Planned ${bytes(state.memory_bytes)}; resident ${bytes(state.resident_bytes)}, the mapped model file included.`, "legend");
  byId("memory").replaceChildren(...rows, total);
}

function drawNumbers(numbers) {
  byId("numbers").replaceChildren(...numbers.map(([name, value]) => {
    const tile = element("div");
    tile.append(element("b", value), element("span", name));
    return tile;
  }));
}

export function startLive() {
  const live = { active: false, look };
  const looks = [];
  const lines = { running: [], waiting: [], answers: [], prompts: [], first: [], firstSlow: [], gap: [], gapSlow: [] };
  const push = (name, value) => {
    lines[name].push(value);
    if (lines[name].length > HISTORY) lines[name].shift();
  };
  const chart = (id, one, two, least, format) =>
    drawLines(byId(id), [{ values: lines[one], color: "--one" }, { values: lines[two], color: "--two" }], { length: HISTORY, least, format });

  async function look() {
    const [text, state] = await Promise.all([
      fetch("metrics", { headers: headers() }).then((r) => r.ok ? r.text() : Promise.reject(r)),
      fetch("engine", { headers: headers() }).then((r) => r.ok ? r.json() : Promise.reject(r))]);
    if (state.pages.length === 0) setTimeout(() => look().catch(() => {}), 100);  // nobody had looked before
    const metrics = new Metrics(text), last = looks.at(-1), before = looks[0];
    push("running", metrics.sum("quire_sequences_running"));
    push("waiting", metrics.sum("quire_sequences_queued"));
    push("answers", metrics.rate("quire_step_stream_rows_total", last));
    push("prompts", metrics.rate("quire_step_prompt_rows_total", last));
    push("first", metrics.quantile("quire_time_to_first_token_seconds", 0.5, before));
    push("firstSlow", metrics.quantile("quire_time_to_first_token_seconds", 0.95, before));
    push("gap", metrics.quantile("quire_token_gap_seconds", 0.5, before));
    push("gapSlow", metrics.quantile("quire_token_gap_seconds", 0.95, before));
    looks.push(metrics);
    if (looks.length > WINDOW) looks.shift();

    const now = (name) => lines[name].at(-1);
    const lookups = metrics.sum("quire_prefix_lookups_total");
    drawNumbers([
      ["running", String(now("running"))],
      ["waiting", String(now("waiting"))],
      ["answer tokens / s", count(now("answers"))],
      ["prompt tokens / s", count(now("prompts"))],
      ["first token after", seconds(now("first"))],
      ["between tokens", seconds(now("gap"))],
      ["beginnings found", lookups ? Math.round(100 * metrics.sum("quire_prefix_hits_total") / lookups) + "%" : "\u2013"],
      ["tokens answered", count(metrics.sum("quire_completion_tokens_total"))],
    ]);
    drawPages(state);
    chart("load", "running", "waiting", 4);
    chart("speed", "answers", "prompts", 10, count);
    chart("first", "first", "firstSlow", 0.01, (v) => v === 0 ? "0" : seconds(v));
    chart("gaps", "gap", "gapSlow", 0.01, (v) => v === 0 ? "0" : seconds(v));
    drawMemory(state, metrics);
  }

  setInterval(() => {
    if (live.active && !document.hidden) look().catch(() => {});
  }, 1000);
  return live;
}
