// Drawings on canvases: lines over time, and the pool's pages as a grid.

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A context in CSS pixels, sharp on every screen. */
function prepare(canvas, height) {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  return { context, width, height };
}

/** The next of 1, 2, 4, 6, 10, ..., of which a half reads well. */
function roundUp(value) {
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 10].map((m) => m * unit).find((v) => v >= value * 0.999);
}

const plain = (value) => value >= 10 || value === 0 ? value.toFixed(0) : value.toPrecision(1);

/** series: [{values, color}], the newest value last; null where there is none. `least`: of what the axis shows. */
export function drawLines(canvas, series, { length, least, format = plain }) {
  const { context, width, height } = prepare(canvas, 150);
  const left = 48, bottom = height - 8, room = bottom - 12;
  const top = roundUp(Math.max(least, ...series.flatMap((s) => s.values.map((v) => v ?? 0))));
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const share of [0, 0.5, 1]) {
    const y = Math.round(bottom - share * room) + 0.5;
    context.strokeStyle = color("--line");
    context.beginPath();
    context.moveTo(left, y);
    context.lineTo(width, y);
    context.stroke();
    context.fillStyle = color("--dim");
    context.fillText(format(share * top), left - 6, y);
  }
  const x = (i, values) => left + (i + length - values.length) * (width - left - 2) / (length - 1);
  const y = (value) => bottom - value / top * room;
  context.lineJoin = "round";
  series.forEach(({ values, color: name }, which) => {
    context.strokeStyle = context.fillStyle = color(name);
    context.lineWidth = 2;
    let points = [];
    const flush = () => {
      if (points.length === 0) return;
      context.beginPath();
      points.forEach(([px, py]) => context.lineTo(px, py));
      if (points.length === 1) context.lineTo(points[0][0] + 2, points[0][1]);
      context.stroke();
      if (which === 0) {
        context.globalAlpha = 0.12;
        context.lineTo(points.at(-1)[0], bottom);
        context.lineTo(points[0][0], bottom);
        context.fill();
        context.globalAlpha = 1;
      }
      points = [];
    };
    values.forEach((value, i) => value === null ? flush() : points.push([x(i, values), y(value)]));
    flush();
  });
}

/** Colours of slots: hues as far apart as they come, whatever their number. */
export const slotColor = (slot) => `hsl(${(slot * 137.5 + 205) % 360} ${60 + slot % 3 * 10}% ${color("--back").startsWith("#1") ? 62 : 50}%)`;

/** runs: [[owner, holders, n], ...] of one group. A shared page is gold, with its owner's colour in a corner. */
export function drawPool(canvas, runs) {
  const n = runs.reduce((sum, run) => sum + run[2], 0);
  const width = canvas.clientWidth;
  const cell = Math.max(3, Math.min(14, Math.floor(Math.sqrt(width * 260 / Math.max(1, n)))));
  const columns = Math.max(1, Math.floor(width / cell));
  const height = Math.ceil(n / columns) * cell;
  canvas.style.height = height + "px";
  const { context } = prepare(canvas, height);
  const free = color("--free"), cached = color("--cached"), shared = color("--shared");
  const size = cell - (cell > 4 ? 1 : 0.5);
  let i = 0;
  for (const [owner, holders, count] of runs) {
    const own = owner >= 0 ? slotColor(owner) : null;
    for (let end = i + count; i < end; ++i) {
      const x = i % columns * cell, y = Math.floor(i / columns) * cell;
      context.fillStyle = owner === -1 ? free : owner === -2 ? cached : holders > 1 ? shared : own;
      context.fillRect(x, y, size, size);
      if (own && holders > 1 && cell > 5) {
        context.fillStyle = own;
        context.beginPath();
        context.moveTo(x + size, y + size * 0.35);
        context.lineTo(x + size, y + size);
        context.lineTo(x + size * 0.35, y + size);
        context.fill();
      }
    }
  }
}
