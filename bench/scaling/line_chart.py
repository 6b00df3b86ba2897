"""A chart of measured points and fitted lines as SVG, both axes logarithmic.

Colours and text follow the reader's light or dark mode; no script, no font but the reader's own.
"""

import math
from xml.sax.saxutils import escape

STYLE = """
    text { font: 12px system-ui, sans-serif; fill: #333 }
    .title { font-weight: 600; font-size: 14px }
    .grid { stroke: #8884 } .line { fill: none; stroke-width: 1.5 }
    .c0 { fill: #4c78a8; stroke: #4c78a8 } .c1 { fill: #e0853b; stroke: #e0853b }
    @media (prefers-color-scheme: dark) { text { fill: #ddd } .c0 { fill: #7aa6d8; stroke: #7aa6d8 } .c1 { fill: #f0a35e; stroke: #f0a35e } }
"""

LEFT, TOP, WIDTH, HEIGHT = 70, 60, 560, 280


def powers(low, high, base):
    return [base**n for n in range(math.floor(math.log(low, base)), math.ceil(math.log(high, base)) + 1)]


def line_chart(title, x_title, y_title, curves, lines):
    """curves: name -> [(x, y)], all above 0; lines: name -> (constant, slope), drawn through the same range."""
    xs = [x for points in curves.values() for x, _ in points]
    ys = [y for points in curves.values() for _, y in points]
    x_ticks, y_ticks = powers(min(xs), max(xs), 4), powers(min(ys), max(ys), 10)

    def at(value, ticks, start, size):
        return start + size * math.log(value / ticks[0]) / math.log(ticks[-1] / ticks[0])

    def x_at(x):
        return at(x, x_ticks, LEFT, WIDTH)

    def y_at(y):
        return at(y, y_ticks, TOP + HEIGHT, -HEIGHT)

    width, height = LEFT + WIDTH + 30, TOP + HEIGHT + 50
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
             f"  <title>{escape(title)}</title>", f"  <style>{STYLE}  </style>",
             f'  <text class="title" x="8" y="20">{escape(title)}</text>',
             f'  <text x="{LEFT - 10}" y="{TOP - 8}" text-anchor="end">{escape(y_title)}</text>',
             f'  <text x="{LEFT + WIDTH / 2}" y="{height - 10}" text-anchor="middle">{escape(x_title)}</text>']
    for tick in x_ticks:
        parts.append(f'  <line class="grid" x1="{x_at(tick):.1f}" x2="{x_at(tick):.1f}" y1="{TOP}" y2="{TOP + HEIGHT}"/>')
        parts.append(f'  <text x="{x_at(tick):.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{tick:g}</text>')
    for tick in y_ticks:
        parts.append(f'  <line class="grid" x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y_at(tick):.1f}" y2="{y_at(tick):.1f}"/>')
        parts.append(f'  <text x="{LEFT - 8}" y="{y_at(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for i, (name, points) in enumerate(curves.items()):
        constant, slope = lines[name]
        first, last = points[0][0], points[-1][0]
        steps = [first * (last / first) ** (k / 40) for k in range(41)]
        path = " ".join(f"{x_at(x):.1f},{y_at(max(constant + slope * x, y_ticks[0])):.1f}" for x in steps)
        parts.append(f'  <polyline class="line c{i}" style="fill: none" points="{path}"/>')
        parts += [f'  <circle class="c{i}" cx="{x_at(x):.1f}" cy="{y_at(y):.1f}" r="3.5"/>' for x, y in points]
        parts.append(f'  <rect class="c{i}" x="{LEFT + 160 * i}" y="32" width="10" height="10"/>')
        parts.append(f'  <text x="{LEFT + 160 * i + 15}" y="41">{escape(name)}</text>')
    return "\n".join(parts + ["</svg>", ""])
