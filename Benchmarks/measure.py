"""The measuring part of `Benchmarks/run`: every row of the table, ours beside the peers that are here, as Markdown."""
import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from bench import (APUS, CORES, HERE, RAW, SOCKETIO, Missing, Server, apus_raw, apus_socketio, headline, note, pinned, setup)

# name of the row, options of `apus bench`
RAW_LOADS = [
    ("raw echo 64 B, 50 × 4", ["--connections", 50, "--in-flight", 4]),
    ("raw echo 64 B, 100 × 16", ["--connections", 100, "--in-flight", 16]),
    ("raw echo 64 B, 50 × 1", ["--connections", 50, "--in-flight", 1]),
    ("raw echo 64 B, 1 × 1", ["--connections", 1, "--in-flight", 1]),
    ("raw echo 1 KiB, 50 × 4", ["--connections", 50, "--in-flight", 4, "--size", 1024]),
]
SOCKETIO_LOADS = [
    ("Socket.IO echo 64 B, 50 × 4", ["--connections", 50, "--in-flight", 4]),
    ("Socket.IO ack 64 B, 50 × 4", ["--ack", "--connections", 50, "--in-flight", 4]),
    ("Socket.IO echo 1 KiB, 50 × 4", ["--connections", 50, "--in-flight", 4, "--size", 1024]),
    ("Socket.IO ack 64 B, 100 × 16", ["--ack", "--connections", 100, "--in-flight", 16]),
    ("Socket.IO ack 64 B, 1 × 1", ["--ack", "--connections", 1, "--in-flight", 1]),
    ("Socket.IO broadcast to 1,000, 4 in flight, deliveries", ["--broadcast", "--connections", 1000, "--in-flight", 4]),
    ("polling echo 64 B, 50 × 4", ["--polling", "--connections", 50, "--in-flight", 4]),
    ("polling ack 64 B, 50 × 1", ["--polling", "--ack", "--connections", 50, "--in-flight", 1]),
    ("polling echo 64 B, 50 × 16", ["--polling", "--connections", 50, "--in-flight", 16]),
]


class Table:
    def __init__(self, servers):
        self.servers = list(servers)
        self.rows = []
        self.missing = {}
        self.doubts = []

    def row(self, name):
        self.rows.append((name, {}))
        return self.rows[-1][1]

    def print(self):
        names = [name for name in self.servers if name not in self.missing]
        print("\n| | " + " | ".join(names) + " |")
        print("|---|" + "---|" * len(names))
        for name, cells in self.rows:
            print(f"| {name} | " + " | ".join(cells.get(server, "") for server in names) + " |")
        for server, reason in self.missing.items():
            print(f"\nNot here: {server} ({reason}).")
        if self.doubts:
            print("\nWhat to doubt: " + "; ".join(self.doubts) + ".")


def text(result, as_latency=False):
    return (
        f"{result.rate:,.0f}/s, {result.per_cpu:,.0f} a CPU-second, "
        f"p50 {duration(result.latency['p50'])}, p99 {duration(result.latency['p99'])}")


def duration(microseconds):
    return f"{microseconds:,.0f} µs" if microseconds < 10_000 else f"{microseconds / 1000:,.1f} ms"


def shapes(table, kind, servers, loads, seconds, only):
    rows = {name: table.row(name) for name, _ in loads if only in name}
    for server_name, (command, environment) in servers.items():
        try:
            with Server(server_name, command, environment) as server:
                for name, options in loads:
                    if name not in rows:
                        continue
                    note(f"{server_name}: {name}")
                    result = server.load(kind, *options, seconds=seconds)
                    rows[name][server_name] = text(result)
                    table.doubts += [f"{server_name}, {name}: {doubt}" for doubt in result.doubts]
        except Missing as missing:
            table.missing[server_name] = str(missing)


def idle(table, kind, servers, count, label, only):
    """Memory of connections that say nothing, on a fresh server, and how fast they came. A few are opened before, so that what is made once is there."""
    if only not in f"{label} set-ups idle memory":
        return
    memory, set_ups = table.row(f"{label}: memory of one of {count:,} idle connections"), table.row(f"{label}: set-ups")
    for server_name, (command, environment) in servers.items():
        if server_name in table.missing:
            continue
        note(f"{server_name}: {count} idle connections")
        try:
            with Server(server_name, command, environment) as server:
                server.load(kind, "--connections", 10, "--in-flight", 0, seconds=0.5)
                result = server.load(kind, "--connections", count, "--in-flight", 0, seconds=3)
                memory[server_name] = f"{result.bytes_of_a_connection / 1000:,.1f} kB"
                set_ups[server_name] = f"{result.set_ups:,.0f}/s, {result.set_ups_per_cpu:,.0f} a CPU-second"
                table.doubts += [f"{server_name}, idle: {doubt}" for doubt in result.doubts]
        except Missing as missing:
            table.missing[server_name] = str(missing)


def two_cores(table, seconds, only):
    """Two event loops in one server beside two servers of one loop each, which share nothing and so are twice one core by nature. In both runs two loads
    of one core each run on the same two cores, so all that differs is what two loops of one process take from each other: half of "times one core" is that ratio.
    """
    if only not in "two cores" or CORES < 2:
        return
    for name, kind, command, options in [
        ("raw echo 64 B, 100 × 16", "ws", apus_raw, ["--connections", 100, "--in-flight", 16]),
        ("Socket.IO ack 64 B, 100 × 16", "socketio", apus_socketio, ["--ack", "--connections", 100, "--in-flight", 16]),
    ]:
        cores = ["0", "1"]

        def both(servers):
            """A load from each core at a time; what they did a second, and a CPU-second of all servers."""
            with ThreadPoolExecutor(len(cores)) as pool:
                loads = [pool.submit(server.load, kind, *options, seconds=seconds, cores=core) for server, core in zip(servers, cores)]
                results = [load.result() for load in loads]
            rate = sum(result.rate for result in results)
            # A server that both loads watch is measured twice.
            spent = sum(result["server"]["cpuSeconds"] / result["seconds"] for result in results) / (len(results) / len(set(servers)))
            return rate, rate / max(spent, 0.01)

        note(f"Apus on two cores: {name}")
        with Server("Apus", command(1), cores=cores[0]) as first, Server("Apus", command(1), cores=cores[1]) as second:
            apart = both([first, second])
        with Server("Apus", command(2), cores=",".join(cores)) as server:
            together = both([server, server])
        table.row(f"two cores: {name}")["Apus"] = (
            f"two loops {together[0]:,.0f}/s, {together[1]:,.0f} a CPU-second; two servers of one loop {apart[0]:,.0f}/s, {apart[1]:,.0f} a CPU-second: "
            f"{2 * together[0] / apart[0]:.2f} × one core by the clock, {2 * together[1] / apart[1]:.2f} × by CPU-seconds (loads on the same cores)")


def receive(table, seconds, only):
    """Events a second on one connection. The server is ours for both clients."""
    if only not in "client receive":
        return
    row = table.row("client: events received on one connection")
    with Server("Apus", apus_socketio()) as server:
        url = f"http://127.0.0.1:{server.port}"
        for name, command in {
            "Apus": [APUS, "bench", "receive", url, "--duration", str(seconds), "--json"],
            "python-socketio": [sys.executable, str(HERE / "receive_python_socketio.py"), url, str(seconds)],
        }.items():
            note(f"{name}: client receiving")
            done = subprocess.run(pinned("0", command), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds + 60)
            if done.returncode:
                table.missing.setdefault(f"{name} (client)", done.stderr.strip()[-300:])
                continue
            result = json.loads(done.stdout.strip().splitlines()[-1])
            row[name] = f"{result['events'] / result['seconds']:,.0f}/s, {result['events'] / max(result['cpuSeconds'], 0.01):,.0f} a CPU-second of the client"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=3, help="of measuring each load, after one second of warming up")
    options.add_argument("--idle", type=int, default=5000)
    options.add_argument("--only", default="", help="rows whose name holds this")
    arguments = options.parse_args()
    setup()
    print(f"{headline()}; `Benchmarks/run`, {arguments.seconds:g} s each; connections × messages in flight on each.")
    raw, socketio = Table(RAW), Table(SOCKETIO)
    try:
        shapes(raw, "ws", RAW, RAW_LOADS, arguments.seconds, arguments.only)
        idle(raw, "ws", RAW, arguments.idle, "raw", arguments.only)
        shapes(socketio, "socketio", SOCKETIO, SOCKETIO_LOADS, arguments.seconds, arguments.only)
        idle(socketio, "socketio", SOCKETIO, arguments.idle, "Socket.IO", arguments.only)
        receive(socketio, arguments.seconds, arguments.only)
        two_cores(socketio, arguments.seconds, arguments.only)
    finally:
        raw.print()
        socketio.print()


if __name__ == "__main__":
    main()
