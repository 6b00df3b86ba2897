"""A chart of ratios as SVG: one group of bars per cell, one bar per model, on a logarithmic scale around 1.

Colours and text follow the reader's light or dark mode; no script, no font but the reader's own.
"""

import math
from xml.sax.saxutils import escape

STYLE = """
    text { font: 12px system-ui, sans-serif; fill: #333 }
    .title { font-weight: 600; font-size: 14px }
    .grid { stroke: #8884 } .one { stroke: #888; stroke-width: 1.5 }
    .m0 { fill: #4c78a8 } .m1 { fill: #e0853b } .m2 { fill: #54a24b }
    @media (prefers-color-scheme: dark) { text { fill: #ddd } .m0 { fill: #7aa6d8 } .m1 { fill: #f0a35e } .m2 { fill: #7cc674 } }
"""

LABEL_WIDTH, PLOT_WIDTH, BAR, GAP, TOP = 150, 520, 12, 12, 58
TICKS = (0.25, 0.5, 1, 2, 4, 8, 16)


def ratio_chart(title, rows, models):
    """rows: (label, [ratio or None per model]); models: their titles. Bars right of 1 are cells where quire is ahead."""
    values = [value for _, ratios in rows for value in ratios if value]
    low, high = min(values + [0.5]), max(values + [2])
    low_tick = max(tick for tick in TICKS if tick <= max(low, TICKS[0]))
    high_tick = min(tick for tick in TICKS if tick >= min(high, TICKS[-1]))

    def x(ratio):
        share = math.log(min(max(ratio, low_tick), high_tick) / low_tick) / math.log(high_tick / low_tick)
        return LABEL_WIDTH + PLOT_WIDTH * share

    group = BAR * len(models) + GAP
    height = TOP + group * len(rows) + 24
    width = LABEL_WIDTH + PLOT_WIDTH + 60
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             f'role="img">', f"  <title>{escape(title)}</title>", f"  <style>{STYLE}  </style>",
             f'  <text class="title" x="8" y="20">{escape(title)}</text>']
    for i, model in enumerate(models):
        left = 8 + i * 200
        parts.append(f'  <rect class="m{i}" x="{left}" y="32" width="10" height="10"/>')
        parts.append(f'  <text x="{left + 15}" y="41">{escape(model)}</text>')
    for tick in TICKS:
        if low_tick <= tick <= high_tick:
            parts.append(f'  <line class="{"one" if tick == 1 else "grid"}" x1="{x(tick):.1f}" x2="{x(tick):.1f}" '
                         f'y1="{TOP - 6}" y2="{height - 20}"/>')
            parts.append(f'  <text x="{x(tick):.1f}" y="{height - 6}" text-anchor="middle">{tick:g}x</text>')
    for row, (label, ratios) in enumerate(rows):
        top = TOP + row * group
        parts.append(f'  <text x="{LABEL_WIDTH - 10}" y="{top + BAR * len(models) / 2 + 4:.0f}" text-anchor="end">{escape(label)}</text>')
        for i, ratio in enumerate(ratios):
            if not ratio:
                continue
            left, right = sorted((x(1), x(ratio)))
            parts.append(f'  <rect class="m{i}" x="{left:.1f}" y="{top + i * BAR}" width="{max(right - left, 1):.1f}" height="{BAR - 2}"/>')
            # The figure stands outside the bar, on the side where it ends.
            anchor, at = ("start", right + 4) if ratio >= 1 else ("end", left - 4)
            parts.append(f'  <text x="{at:.1f}" y="{top + i * BAR + 9}" text-anchor="{anchor}" font-size="10">{ratio:.2f}</text>')
    return "\n".join(parts + ["</svg>", ""])
