"""Compares the measured figures with the performance targets of the project.

The targets are per core: they are compared with the figures per CPU-second of the server (the client's
events: per second). Because machines differ, a target may also be a ratio to a peer in the same run,
with a separate verdict.
"""
from dataclasses import dataclass
from typing import Callable

from rounds import median_ratio


@dataclass
class Goal:
    wanted: float
    measured: Callable  # returns the figure from the rows by name, or `None` if it was not measured
    unit: str = ""
    of: str = ""  # the peer of a ratio, or the name of a latency
    at_most: bool = False

    def is_met(self, value):
        return value <= self.wanted if self.at_most else value >= self.wanted


def figure(row, wanted, name=None, unit="", at_most=False, scale=1):
    """A target for the median round of Apus: for its value, or for another of its figures."""
    def measured(rows):
        median = rows[row].median() if row in rows else None
        return (median.more[name] if name else median.value) / scale if median else None
    return Goal(wanted, measured, unit, at_most=at_most)


def times(row, peer, wanted, name=None):
    return Goal(wanted, lambda rows: rows[row].ratio(peer, name) if row in rows else None, " ×", f" {peer}")


def latency(name, row, other, wanted):
    """A target for the ratio of two rows' latencies within a round."""
    def measured(rows):
        return median_ratio(rows[row].values(name), rows[other].values(name)) if row in rows and other in rows else None
    return Goal(wanted, measured, " ×", f" in {name}", at_most=True)


BROADCAST = "Socket.IO broadcast to 1,000, 4 in flight, deliveries"

# The name, the goals, and whether one of them is sufficient.
WANTED = [
    ("raw echo 64 B, 50 × 4", [figure("raw echo 64 B, 50 × 4", 500_000), times("raw echo 64 B, 50 × 4", "node ws", 4)], True),
    ("raw echo 64 B, 100 × 16",
     [figure("raw echo 64 B, 100 × 16", 1_800_000), times("raw echo 64 B, 100 × 16", "node ws", 1_800_000 / 131_000)], False),
    ("raw echo 64 B, 50 × 1", [times("raw echo 64 B, 50 × 1", "node ws", 1.2)], False),
    ("Socket.IO echo 64 B, 50 × 4",
     [figure("Socket.IO echo 64 B, 50 × 4", 330_000), times("Socket.IO echo 64 B, 50 × 4", "python-socketio", 20)], False),
    ("Socket.IO ack 64 B, 50 × 4",
     [figure("Socket.IO ack 64 B, 50 × 4", 330_000), times("Socket.IO ack 64 B, 50 × 4", "python-socketio", 20)], False),
    ("Socket.IO echo 1 KiB, 50 × 4",
     [figure("Socket.IO echo 1 KiB, 50 × 4", 200_000), times("Socket.IO echo 1 KiB, 50 × 4", "python-socketio", 200_000 / 15_000)], False),
    ("Socket.IO ack 64 B, 100 × 16", [figure("Socket.IO ack 64 B, 100 × 16", 600_000)], False),
    ("broadcast to 1,000, deliveries",
     [figure(BROADCAST, 350_000), times(BROADCAST, "python-socketio", 350_000 / 19_000)], False),
    ("idle Socket.IO connection", [figure("Socket.IO: memory of an idle connection", 5, unit=" kB", at_most=True)], False),
    ("Socket.IO set-ups",
     [figure("Socket.IO: set-ups", 10_000), times("Socket.IO: set-ups", "python-socketio", 10_000 / 1_450)], False),
    ("one Socket.IO ack at a time, against the raw echo",
     [latency(name, "Socket.IO ack 64 B, 1 × 1", "raw echo 64 B, 1 × 1", 1.15) for name in ("p50", "p99")], False),
    ("two cores, raw echo", [figure("two cores: raw echo 64 B, 100 × 16", 1.8, unit=" ×")], False),
    ("two cores, Socket.IO ack", [figure("two cores: Socket.IO ack 64 B, 100 × 16", 1.8, unit=" ×")], False),
    ("client: events a second on one connection",
     [figure("client: events received on one connection", 400_000, name="rate"),
      times("client: events received on one connection", "python-socketio", 3, name="rate")], False),
]


def number(value):
    for bound, scale, digits, unit in ((1e6, 1e6, 2, "M"), (2e4, 1e3, 0, "k"), (100, 1, 0, "")):
        if value >= bound:
            break
    else:
        scale, digits, unit = 1, 2, ""
    text = f"{value / scale:,.{digits}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + unit


def verdict(met, is_one_enough):
    if all(met) or (is_one_enough and any(met)):
        return "met"
    return "; ".join("met" if one else "short" for one in met) if any(met) else "short"


def print_table(columns):
    """Prints the table. `columns` are pairs of a heading and the rows by name. A cell without a measurement
    is empty, and a row without measurements is omitted."""
    lines = []
    for name, goals, is_one_enough in WANTED:
        cells = []
        for _, rows in columns:
            values = [(goal, value) for goal in goals if (value := goal.measured(rows)) is not None]
            shown = ", ".join(number(value) + goal.unit for goal, value in values)
            cells += [shown, verdict([goal.is_met(value) for goal, value in values], is_one_enough) if values else ""]
        if any(cells):
            wanted = (" or " if is_one_enough else ", ").join(number(goal.wanted) + goal.unit + goal.of for goal in goals)
            lines.append(f"| {name} | {wanted} | " + " | ".join(cells) + " |")
    if not lines:
        return
    print("\nComparison with the targets: medians per CPU-second of the server, the client's events per second; "
          "\"×\" is the median of the ratios within a round.")
    print("\n| | target | " + " | ".join(f"{heading} | " for heading, _ in columns) + "|")
    print("|---|---|" + "---|---|" * len(columns))
    print("\n".join(lines))
