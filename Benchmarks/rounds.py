"""Rows that are measured in rounds, and the tables of them.

A machine that others use slows down any single measurement, so a row is the median of its rounds with their spread, and a ratio is taken within a round,
of measurements that stand next to each other in time.
"""
import contextlib
import statistics
import subprocess
from dataclasses import dataclass, field

from bench import Doubts, Missing, note

OURS = "Apus"


@dataclass
class Figure:
    """What one round gave for one server."""

    value: float  # what rounds are compared by
    rest: str = ""  # the round's other figures, as text
    more: dict = field(default_factory=dict)  # the round's other figures, by name


class Row:
    """A row of a table: for each server the figures of its rounds."""

    def __init__(self, name, unit="a CPU-second", form="{:,.0f}", ours=OURS):
        self.name, self.unit, self.form, self.ours = name, unit, form, ours
        self.figures = {}

    def add(self, number, server, figure):
        self.figures.setdefault(server, {})[number] = figure

    def median(self, server=None):
        """The round in the middle; of an even number the lower one of the two. `None` when there is none."""
        rounds = sorted(self.figures.get(server or self.ours, {}).values(), key=lambda figure: figure.value)
        return rounds[(len(rounds) - 1) // 2] if rounds else None

    def values(self, name=None, server=None) -> dict:
        """By round: the value, or one of the other figures."""
        return {number: figure.more[name] if name else figure.value for number, figure in self.figures.get(server or self.ours, {}).items()}

    def ratio(self, server, name=None):
        """Ours to a peer's: the median of the ratios within a round."""
        return median_ratio(self.values(name), self.values(name, server))

    def cell(self, server) -> str:
        median = self.median(server)
        if not median:
            return ""
        values = self.values(server=server).values()
        spread = f" ({self.form.format(min(values))}–{self.form.format(max(values))})" if len(values) > 1 else ""
        parts = [f"{self.form.format(median.value)} {self.unit}{spread}"] + ([median.rest] if median.rest else [])
        ratio = self.ratio(server) if server != self.ours else None
        return ", ".join(parts) + (f"; ours {times(ratio)}" if ratio else "")


def median_ratio(ours: dict, others: dict):
    """The median of the ratios of the rounds that both have."""
    ratios = [ours[number] / others[number] for number in ours.keys() & others.keys() if others[number]]
    return statistics.median(ratios) if ratios else None


class Table:
    """Rows of the same servers."""

    def __init__(self, servers):
        self.servers = list(servers)
        self.rows = {}
        self.missing = {}
        self.doubts = Doubts()

    def row(self, name, **form) -> Row:
        return self.rows.setdefault(name, Row(name, **form))

    @contextlib.contextmanager
    def attempt(self, number, server, name):
        """Around one measurement. A peer that is not here is named under the table, a load that failed is doubted; the others go on."""
        note(f"round {number + 1}, {server}: {name}")
        try:
            yield
        except Missing as missing:
            self.missing.setdefault(server, str(missing))
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            note(str(error))
            self.doubts.add(f"{server}, {name}", ["failed"])

    def print(self, rounds):
        names = [name for name in self.servers if any(name in row.figures for row in self.rows.values())]
        if names:
            print("\n| | " + " | ".join(names) + " |")
            print("|---|" + "---|" * len(names))
        for row in self.rows.values():
            if row.figures:
                print(f"| {row.name} | " + " | ".join(row.cell(name) for name in names) + " |")
        for server, reason in self.missing.items():
            print(f"\nNot here: {server} ({reason}).")
        if self.doubts.places:
            print("\n" + self.doubts.sentence(rounds))


def throughput(rate, per_cpu, latency) -> Figure:
    """`latency`: microseconds by name, empty where they are not measured."""
    rest = [f"{rate:,.0f}/s"] + [f"{name} {duration(latency[name])}" for name in ("p50", "p99") if name in latency]
    return Figure(per_cpu, ", ".join(rest), {"rate": rate, **latency})


def idle_rows(table, label):
    """The two rows that connections which say nothing give: their memory, and how fast they came."""
    return table.row(f"{label}: memory of an idle connection", unit="kB", form="{:,.1f}"), table.row(f"{label}: set-ups")


def times(ratio):
    return f"{ratio:.2f} ×" if ratio < 10 else f"{ratio:.1f} ×"


def duration(microseconds):
    return f"{microseconds:,.0f} µs" if microseconds < 10_000 else f"{microseconds / 1000:,.1f} ms"
