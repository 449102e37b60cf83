#!/usr/bin/env python3
"""Draws the figures of `Benchmarks/growth --data` as SVG: plot.py DATA.json FOLDER. Requires only Python."""
import json
import math
import pathlib
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 430, 80, 190, 46, 56
# Distinguishable with colour vision deficiency, on white and on dark pages (Okabe and Ito).
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


class Axis:
    def __init__(self, low, high, start, end, is_log):
        self.low, self.high, self.start, self.end, self.is_log = low, high, start, end, is_log

    def __call__(self, value):
        low, high, value = (math.log10(v) for v in (self.low, self.high, max(value, self.low))) if self.is_log else (self.low, self.high, value)
        return self.start + (self.end - self.start) * (value - low) / ((high - low) or 1)

    def ticks(self):
        if self.is_log:
            return [10**e for e in range(math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1)]
        step = 10 ** math.floor(math.log10(self.high / 4))
        step *= next(factor for factor in (1, 2, 5, 10) if self.high / (step * factor) <= 6)
        return [step * index for index in range(int(self.high / step + 1e-9) + 1)]


def short(value):
    for bound, unit in ((1e6, "M"), (1e3, "k")):
        if value >= bound:
            return f"{value / bound:g}{unit}"
    return f"{value:g}"


def chart(title, run, x_name, y_name, lines, log_x=False, log_y=False):
    """`lines`: pairs of a name and points (x, y)."""
    points = [point for _, line in lines for point in line]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    low_y = 10 ** math.floor(math.log10(min(y for y in ys if y > 0))) if log_y else 0
    high_y = 10 ** math.ceil(math.log10(max(ys))) if log_y else max(ys) * 1.08
    x = Axis(min(xs) if log_x else 0, max(xs), LEFT, WIDTH - RIGHT, log_x)
    y = Axis(low_y, high_y, HEIGHT - BOTTOM, TOP, log_y)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="20" font-size="15" fill="#222">{escaped(title)}</text>',
        f'<text x="{LEFT}" y="36" font-size="10" fill="#666">{escaped(run)}</text>',
    ]
    for tick in y.ticks():
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end" fill="#444">{short(tick)}</text>')
    for tick in x.ticks():
        out.append(f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{HEIGHT - BOTTOM}" y2="{HEIGHT - BOTTOM + 5}" stroke="#444"/>')
        out.append(f'<text x="{x(tick):.1f}" y="{HEIGHT - BOTTOM + 19}" text-anchor="middle" fill="#444">{short(tick)}</text>')
    out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{HEIGHT - BOTTOM}" y2="{HEIGHT - BOTTOM}" stroke="#444"/>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 14}" text-anchor="middle" fill="#222">{escaped(x_name)}</text>')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    out.append(f'<text x="18" y="{middle}" text-anchor="middle" transform="rotate(-90 18 {middle})" fill="#222">{escaped(y_name)}</text>')
    # Names are at the ends of their lines, moved apart where they would overlap.
    ends = sorted((y(line[-1][1]), index) for index, (_, line) in enumerate(lines))
    places, last = {}, -math.inf
    for place, index in ends:
        last = max(place, last + 15)
        places[index] = last
    for index, (name, line) in enumerate(lines):
        colour = COLOURS[index % len(COLOURS)]
        path = " ".join(f"{x(px):.1f},{y(py):.1f}" for px, py in line)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x(px):.1f}" cy="{y(py):.1f}" r="3" fill="{colour}"/>' for px, py in line]
        out.append(f'<text x="{WIDTH - RIGHT + 10}" y="{places[index] + 4:.1f}" fill="{colour}">{escaped(name)}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def draw(data, folder):
    folder.mkdir(parents=True, exist_ok=True)
    lines = [(name, [(row["size"], row["per_cpu"]) for row in rows]) for name, rows in data.get("connections", {}).items()]
    if lines:
        title = "Round trips a CPU-second of the server, 64 B, one in flight on each connection"
        (folder / "throughput.svg").write_text(chart(title, data["run"], "connections", "a CPU-second", lines, log_x=True, log_y=True), encoding="utf-8")
    lines = [(name, [(row["size"], row["megabytes"]) for row in rows]) for name, rows in data.get("memory", {}).items()]
    if lines:
        title = "Memory of the server with idle connections"
        (folder / "memory.svg").write_text(chart(title, data["run"], "connections", "MB resident", lines), encoding="utf-8")


if __name__ == "__main__":
    draw(json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")), pathlib.Path(sys.argv[2]))
