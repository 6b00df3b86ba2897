// The engine as it is now: pages, batch, queue, speed; read from /metrics once a second while it is shown.
import { headers } from "./settings.js";

const byId = (id) => document.getElementById(id);
const HISTORY = 120;
const MAX_CELLS = 2048;

/** [{name, labels, value}] of Prometheus' text format. */
function parse(text) {
  const samples = [];
  for (const line of text.split("\n")) {
    const match = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) continue;
    const labels = Object.fromEntries([...(match[2] ?? "").matchAll(/(\w+)="((?:\\.|[^"\\])*)"/g)].map((m) => [m[1], m[2]]));
    samples.push({ name: match[1], labels, value: Number(match[3]) });
  }
  return samples;
}

function drawPages(samples) {
  const groups = new Map();
  for (const { name, labels, value } of samples) {
    if (name === "quire_pages") groups.set(labels.group, { ...groups.get(labels.group), [labels.state]: value });
  }
  byId("pages").replaceChildren(...[...groups].flatMap(([group, counts]) => {
    const total = counts.held + counts.cached + counts.free;
    const perCell = Math.max(1, Math.ceil(total / MAX_CELLS));
    const title = document.createElement("div");
    title.textContent = `${group}: ${counts.held} held, ${counts.cached} cached, ${counts.free} free` + (perCell > 1 ? ` (a cell is ${perCell})` : "");
    const pool = document.createElement("div");
    pool.className = "pool";
    for (const state of ["held", "cached", "free"]) {
      for (let i = 0; i < Math.round(counts[state] / perCell); ++i) {
        const cell = document.createElement("i");
        cell.className = state;
        pool.append(cell);
      }
    }
    return [title, pool];
  }));
}

function drawLines(canvas, series) {
  const context = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const top = Math.max(1, ...series.flatMap((s) => s.values));
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = style.getPropertyValue("--fore");
  context.font = "12px system-ui";
  context.fillText(top >= 10 ? top.toFixed(0) : top.toFixed(1), 2, 12);
  context.lineWidth = 2;
  for (const { values, color } of series) {
    context.strokeStyle = style.getPropertyValue(color);
    context.beginPath();
    values.forEach((value, i) => context.lineTo((i + HISTORY - values.length) * canvas.width / (HISTORY - 1),
      canvas.height - 2 - value * (canvas.height - 20) / top));
    context.stroke();
  }
}

function push(list, value) {
  list.push(value);
  if (list.length > HISTORY) list.shift();
}

function mean(get, name, unit) {
  const count = get(name + "_count");
  return count > 0 ? (get(name + "_sum") / count * 1000).toFixed(1) + " " + unit : "-";
}

export function startLive() {
  const live = { active: false };
  const running = [], waiting = [], answers = [], prompts = [];
  let last = null;

  async function look() {
    const response = await fetch("metrics", { headers: headers() });
    if (!response.ok) return;
    const samples = parse(await response.text());
    const get = (name) => samples.filter((s) => s.name === name).reduce((sum, s) => sum + s.value, 0);
    const now = { time: performance.now(), answers: get("quire_step_stream_rows_total"), prompts: get("quire_step_prompt_rows_total") };
    push(running, get("quire_sequences_running"));
    push(waiting, get("quire_sequences_queued"));
    if (last) {
      const seconds = (now.time - last.time) / 1000;
      push(answers, (now.answers - last.answers) / seconds);
      push(prompts, (now.prompts - last.prompts) / seconds);
    }
    last = now;
    drawPages(samples);
    drawLines(byId("load"), [{ values: running, color: "--held" }, { values: waiting, color: "--cached" }]);
    drawLines(byId("speed"), [{ values: answers, color: "--held" }, { values: prompts, color: "--cached" }]);
    const rows = [
      ["Running, waiting", `${running.at(-1)}, ${waiting.at(-1)}`],
      ["Connections", get("quire_connections")],
      ["Time to first token, mean", mean(get, "quire_time_to_first_token_seconds", "ms")],
      ["Gap between tokens, mean", mean(get, "quire_token_gap_seconds", "ms")],
      ["Beginnings found", `${get("quire_prefix_hits_total")} of ${get("quire_prefix_lookups_total")}`],
      ["Preemptions", get("quire_preemptions_total")],
      ["Tokens answered", get("quire_completion_tokens_total")],
    ];
    byId("numbers").replaceChildren(...rows.flatMap(([name, value]) => {
      const term = document.createElement("dt"), number = document.createElement("dd");
      term.textContent = name;
      number.textContent = value;
      return [term, number];
    }));
  }

  setInterval(() => {
    if (live.active && !document.hidden) look().catch(() => {});
  }, 1000);
  return live;
}
