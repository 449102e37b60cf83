"""Rows measured in rounds, and their tables.

Other programs may disturb a single measurement. A row is therefore the median of its rounds with their
spread, and a ratio compares measurements of one round.
"""
import contextlib
import statistics
import subprocess
from dataclasses import dataclass, field

from bench import Doubts, Missing, note

OURS = "Apus"


@dataclass
class Figure:
    """The result of one round for one server."""

    value: float  # the figure by which rounds are ordered
    rest: str = ""  # the round's other figures, as text
    more: dict = field(default_factory=dict)  # the round's other figures, by name


class Row:
    """A row of a table: the figures of the rounds of each server."""

    def __init__(self, name, unit="a CPU-second", form="{:,.0f}", ours=OURS):
        self.name, self.unit, self.form, self.ours = name, unit, form, ours
        self.figures = {}

    def add(self, number, server, figure):
        self.figures.setdefault(server, {})[number] = figure

    def median(self, server=None):
        """The median round, the lower one of an even number; `None` without rounds."""
        rounds = sorted(self.figures.get(server or self.ours, {}).values(), key=lambda figure: figure.value)
        return rounds[(len(rounds) - 1) // 2] if rounds else None

    def values(self, name=None, server=None) -> dict:
        """The value of each round, or another of its figures, by the number of the round."""
        return {number: figure.more[name] if name else figure.value for number, figure in self.figures.get(server or self.ours, {}).items()}

    def ratio(self, server, name=None):
        """The ratio of Apus to a peer: the median of the ratios within a round."""
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
    """The median of the ratios in the rounds that both have."""
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
        """Wraps one measurement. A missing peer is named below the table, and a failed load is a caveat. The
        other measurements continue."""
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
            print(f"\nNot measured: {server} ({reason}).")
        if self.doubts.places:
            print("\n" + self.doubts.sentence(rounds))


def throughput(rate, per_cpu, latency) -> Figure:
    """Returns a figure. `latency` has microseconds by name, and is empty if not measured."""
    rest = [f"{rate:,.0f}/s"] + [f"{name} {duration(latency[name])}" for name in ("p50", "p99") if name in latency]
    return Figure(per_cpu, ", ".join(rest), {"rate": rate, **latency})


def idle_rows(table, label):
    """Returns the two rows of idle connections: memory and set-up rate."""
    return table.row(f"{label}: memory of an idle connection", unit="kB", form="{:,.1f}"), table.row(f"{label}: set-ups")


def times(ratio):
    return f"{ratio:.2f} ×" if ratio < 10 else f"{ratio:.1f} ×"


def duration(microseconds):
    return f"{microseconds:,.0f} µs" if microseconds < 10_000 else f"{microseconds / 1000:,.1f} ms"
