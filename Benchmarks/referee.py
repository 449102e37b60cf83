"""The tables of `Benchmarks/run --referee FOLDER`: the same servers under the load generator sioload.cpp
in that folder, which is not part of this repository.

The generator has one thread with epoll and costs less than `apus bench`, whose own speed may limit the
figures of a fast server.
"""
import os
import pathlib
import re
import subprocess
import tempfile

from bench import HERE, RAW, SOCKETIO, Server, at_the_limit, pinned
from rounds import Figure, Table, idle_rows, throughput


def shaped(mode, connections, depth, size=64):
    return ["-m", mode, "-c", connections, "-d", depth, "-s", size]


# The name of the row and the options of the generator.
RAW_SHAPES = [
    ("raw echo 64 B, 50 × 4", shaped("ws", 50, 4)),
    ("raw echo 64 B, 100 × 16", shaped("ws", 100, 16)),
    ("raw echo 1 KiB, 50 × 4", shaped("ws", 50, 4, 1024)),
    ("raw echo 64 B, 50 × 1", shaped("ws", 50, 1)),
    ("raw echo 64 B, 1 × 1", shaped("ws", 1, 1)),
]
SOCKETIO_SHAPES = [
    ("Socket.IO ack 64 B, 1 × 1", shaped("ack", 1, 1)),
    ("Socket.IO echo 64 B, 50 × 4", shaped("echo", 50, 4)),
    ("Socket.IO ack 64 B, 50 × 4", shaped("ack", 50, 4)),
    ("Socket.IO echo 1 KiB, 50 × 4", shaped("echo", 50, 4, 1024)),
    ("Socket.IO ack 64 B, 100 × 16", shaped("ack", 100, 16)),
    ("Socket.IO broadcast to 1,000, 4 in flight, deliveries", shaped("bcast", 1001, 4)),
]


def build(compiler, program, source):
    subprocess.run([compiler, "-O2", "-w", "-o", program, source], check=True, stdin=subprocess.DEVNULL)


class Referee:
    def __init__(self, arguments, servers):
        self.seconds, self.idle_count, self.only = arguments.seconds, arguments.idle, arguments.only
        self.servers = servers
        folder = pathlib.Path(servers.enter_context(tempfile.TemporaryDirectory()))
        self.load, floor = folder / "sioload", str(folder / "floor")
        build("g++", self.load, pathlib.Path(arguments.referee) / "sioload.cpp")
        build("gcc", floor, HERE / "websocket" / "floor.c")
        self.raw = {"Apus": RAW["Apus"], "node ws": RAW["node ws"], "the kernel's floor, in C": (lambda port: [floor, str(port)], {})}
        self.tables = [Table(self.raw), Table(SOCKETIO)]

    @property
    def rows(self):
        return self.tables[0].rows | self.tables[1].rows

    def once(self, number):
        """Measures a round. Apus is the last raw server and the first Socket.IO server, as in `measure.py`."""
        raw, socketio = self.tables
        peers = [(name, self.raw[name], "/") for name in reversed(raw.servers)]
        for name, options in RAW_SHAPES:
            self.shape(number, raw, peers, name, options)
        self.idle(number, raw, peers, "raw")
        peers = [(name, SOCKETIO[name], "/socket.io/?EIO=4&transport=websocket") for name in socketio.servers]
        for name, options in SOCKETIO_SHAPES:
            self.shape(number, socketio, peers, name, options)
        self.idle(number, socketio, peers, "Socket.IO")

    def shape(self, number, table, peers, name, options):
        if self.only not in name:
            return
        row = table.row(name)
        for server, command, path in peers:
            with table.attempt(number, server, name):
                result = self.run(self.servers.get(server, *command), path, *options, "-t", self.seconds)
                rate, per_cpu = result["rate"], result.get("msg/srvcpu-s") or result["deliv/srvcpu-s"]
                row.add(number, server, throughput(rate, per_cpu, {name: result[name] * 1000 for name in ("p50", "p99") if name in result}))
                table.doubts.add(f"{server}, {name}", result["doubts"])

    def idle(self, number, table, peers, label):
        if self.only not in f"{label} set-ups idle memory":
            return
        memory, set_ups = idle_rows(table, label)
        for name, command, path in peers:
            with table.attempt(number, name, f"{label}, idle"), Server(name, *command) as server:
                # No connection was opened before, so the memory includes one-time allocations.
                result = self.run(server, path, "-m", "conn", "-c", self.idle_count, "-k", 50, "-hold", 3)
                memory.add(number, name, Figure(result["perconn"]))
                set_ups.add(number, name, Figure(result["conns"] / max(result["srvcpu"], 0.01), f"{result['rate']:,.0f}/s"))
                table.doubts.add(f"{name}, {label}, idle", result["doubts"])

    def run(self, server, path, *options) -> dict:
        """Runs the generator, and returns the figures that it prints as `name=figure` and `figure msg/s`."""
        command = [self.load, "-p", server.port, "-u", path, "-pid", server.process.pid, *options]
        done = subprocess.run(
            pinned("0", [str(part) for part in command]), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90,
            env={**os.environ, **({"RAW": "1"} if path == "/" else {})})  # idle connections without Engine.IO
        if done.returncode or not done.stdout.strip():
            raise RuntimeError(f"{server.name}: {(done.stdout + done.stderr).strip()[-300:] or done.returncode}")
        result = {name: float(figure) for name, figure in re.findall(r"([\w/-]+)=([\d.]+)", done.stdout)}
        if rate := re.search(r"([\d.]+) (?:msg|deliveries)/s", done.stdout):
            result["rate"] = float(rate[1])
        is_idle = "conns" in result  # both CPU figures are in seconds
        result["doubts"] = [] if is_idle else at_the_limit(result["gencpu"] / 100, result["srvcpu"] / 100)
        if result.get("errs") or "only" in done.stdout:
            result["doubts"].append("the load reported errors")
        return result

    def print(self, rounds):
        print("\nThe same servers under the load generator sioload.cpp:")
        for table in self.tables:
            table.print(rounds)
