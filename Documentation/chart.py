#!/usr/bin/env python3
"""Draws the chart of the benchmarks from the table that they print.

    swift run -c release --package-path Tests/Benchmarks benchmarks > results.md
    Documentation/chart.py results.md > Documentation/Deferred.docc/Resources/performance.svg

Takes any Markdown file with that table in it. The chart is that of the figures in the article Performance, which the build
of the documentation checks.
"""

import math
import re
import sys
from html import escape

COLOURS = {
    "Deferred": "#0b57d0",
    "EventLoopFuture": "#d9730d",
    "OpenCombine": "#2e7d32",
    "_Concurrency": "#8e24aa",
    "floor": "#5f6368",
}
LEFT, RIGHT, TOP, ROW, WIDTH = 268, 96, 78, 27, 860
LOW, HIGH = 0.2, 100
TICKS = [0.25, 0.5, 1, 2, 5, 10, 20, 50, 100]


def number(cell):
    """The time at the start of a cell, in nanoseconds; None for a dash."""
    match = re.match(r"[\d.]+", cell)
    return float(match[0]) if match else None


def rows(text):
    """The columns' names, and for each operation its name and times."""
    lines = [line for line in text.split("\n") if line.startswith("|")]
    start = next(index for index, line in enumerate(lines) if line.startswith("| operation, ns"))
    cells = lambda line: [cell.strip() for cell in line.strip("| ").split("|")]
    names = cells(lines[start])[1:]
    body = []
    for line in lines[start + 2 :]:
        operation, *times = cells(line)
        if operation.startswith("memory"):
            break
        body.append((operation, {name: number(time) for name, time in zip(names, times) if name in COLOURS}))
    return [name for name in names if name in COLOURS], body


def readable(nanoseconds):
    for unit, size in (("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def draw(names, body):
    scale = (WIDTH - LEFT - RIGHT) / math.log(HIGH / LOW)
    at = lambda ratio: LEFT + scale * math.log(ratio / LOW)
    bottom = TOP + ROW * len(body)
    height = bottom + 44
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="-apple-system, \'Segoe UI\', \'DejaVu Sans\', Helvetica, Arial, sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#ffffff"/>',
        f'<text x="24" y="32" font-size="16" font-weight="600" fill="#202124">How many times the time of Deferred, '
        "on a logarithmic scale</text>",
    ]
    x = 24
    for name in names:
        out.append(mark(name, x + 6, 53))
        out.append(f'<text x="{x + 18}" y="58" fill="#202124">{escape(name)}</text>')
        x += 44 + 8 * len(name)
    for tick in TICKS:
        weight = 'stroke="#0b57d0" stroke-width="1.5"' if tick == 1 else 'stroke="#dadce0"'
        out.append(f'<line x1="{at(tick):.1f}" y1="{TOP}" x2="{at(tick):.1f}" y2="{bottom}" {weight}/>')
        out.append(f'<text x="{at(tick):.1f}" y="{bottom + 20}" text-anchor="middle" fill="#5f6368">{tick:g} ×</text>')
    for index, (operation, times) in enumerate(body):
        y = TOP + ROW * (index + 0.5)
        ours = times["Deferred"]
        out.append(f'<text x="{LEFT - 12}" y="{y + 4.5}" text-anchor="end" fill="#202124">{escape(operation)}</text>')
        out.append(f'<text x="{WIDTH - 16}" y="{y + 4.5}" text-anchor="end" fill="#0b57d0">{readable(ours)}</text>')
        ratios = {name: time / ours for name, time in times.items() if time}
        span = [at(ratio) for ratio in ratios.values()]
        out.append(f'<line x1="{min(span):.1f}" y1="{y}" x2="{max(span):.1f}" y2="{y}" stroke="#dadce0"/>')
        for name in sorted(ratios, key=lambda name: name == "Deferred"):
            title = f"{operation}, {name}: {readable(times[name])}, {ratios[name]:.3g} ×"
            out.append(f"<g><title>{escape(title)}</title>{mark(name, at(ratios[name]), y)}</g>")
    return "\n".join([*out, "</svg>", ""])


def mark(name, x, y):
    if name == "floor":
        return f'<line x1="{x:.1f}" y1="{y - 8}" x2="{x:.1f}" y2="{y + 8}" stroke="{COLOURS[name]}" stroke-width="3"/>'
    return f'<circle cx="{x:.1f}" cy="{y}" r="5.5" fill="{COLOURS[name]}" stroke="#ffffff"/>'


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(draw(*rows(file.read())), end="")
