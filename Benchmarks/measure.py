"""The measurements of `Benchmarks/run`: every row of the tables for Apus and the installed peers, in
rounds, as Markdown."""
import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import referee
import wanted
from bench import APUS, CORES, HERE, RAW, SOCKETIO, Missing, Server, Servers, apus_raw, apus_socketio, headline, pinned, setup
from rounds import OURS, Figure, Table, idle_rows, throughput

# The name of the row and the options of `apus bench`.
RAW_LOADS = [
    ("raw echo 64 B, 50 × 4", ["--connections", 50, "--in-flight", 4]),
    ("raw echo 64 B, 100 × 16", ["--connections", 100, "--in-flight", 16]),
    ("raw echo 64 B, 50 × 1", ["--connections", 50, "--in-flight", 1]),
    ("raw echo 1 KiB, 50 × 4", ["--connections", 50, "--in-flight", 4, "--size", 1024]),
    ("raw echo 64 B, 1 × 1", ["--connections", 1, "--in-flight", 1]),
]
SOCKETIO_LOADS = [
    ("Socket.IO ack 64 B, 1 × 1", ["--ack", "--connections", 1, "--in-flight", 1]),
    ("Socket.IO echo 64 B, 50 × 4", ["--connections", 50, "--in-flight", 4]),
    ("Socket.IO ack 64 B, 50 × 4", ["--ack", "--connections", 50, "--in-flight", 4]),
    ("Socket.IO echo 1 KiB, 50 × 4", ["--connections", 50, "--in-flight", 4, "--size", 1024]),
    ("Socket.IO ack 64 B, 100 × 16", ["--ack", "--connections", 100, "--in-flight", 16]),
    ("Socket.IO broadcast to 1,000, 4 in flight, deliveries", ["--broadcast", "--connections", 1000, "--in-flight", 4]),
    ("polling echo 64 B, 50 × 4", ["--polling", "--connections", 50, "--in-flight", 4]),
    ("polling ack 64 B, 50 × 1", ["--polling", "--ack", "--connections", 50, "--in-flight", 1]),
    ("polling echo 64 B, 50 × 16", ["--polling", "--connections", 50, "--in-flight", 16]),
]


class Run:
    """The loads of `apus bench` and their tables."""

    def __init__(self, arguments, servers):
        self.seconds, self.idle_count, self.only = arguments.seconds, arguments.idle, arguments.only
        self.servers = servers
        self.raw, self.socketio = Table(RAW), Table(SOCKETIO)

    def once(self, number):
        """Measures a round. Apus is the last raw server and the first Socket.IO server, so that its raw echo
        and its ack with one in flight are measured one after the other."""
        for name, options in RAW_LOADS:
            self.shape(number, self.raw, "ws", reversed(RAW.items()), name, options)
        for name, options in SOCKETIO_LOADS:
            self.shape(number, self.socketio, "socketio", SOCKETIO.items(), name, options)
        self.idle(number, self.raw, "ws", RAW.items(), "raw")
        self.idle(number, self.socketio, "socketio", SOCKETIO.items(), "Socket.IO")
        self.receive(number)
        self.two_cores(number)

    def shape(self, number, table, kind, servers, name, options):
        if self.only not in name:
            return
        row = table.row(name)
        for server, (command, environment) in servers:
            with table.attempt(number, server, name):
                result = self.servers.get(server, command, environment).load(kind, *options, seconds=self.seconds)
                row.add(number, server, throughput(result.rate, result.per_cpu, result.latency))
                table.doubts.add(f"{server}, {name}", result.doubts)

    def idle(self, number, table, kind, servers, label):
        """Measures the memory and set-up rate of idle connections on a fresh server. Opens a few connections
        first, to exclude one-time allocations."""
        if self.only not in f"{label} set-ups idle memory":
            return
        memory, set_ups = idle_rows(table, label)
        for server_name, (command, environment) in servers:
            with table.attempt(number, server_name, f"{label}, idle"), Server(server_name, command, environment) as server:
                server.load(kind, "--connections", 10, "--in-flight", 0, seconds=0.5)
                result = server.load(kind, "--connections", self.idle_count, "--in-flight", 0, seconds=3)
                memory.add(number, server_name, Figure(result.bytes_of_a_connection / 1000))
                set_ups.add(number, server_name, Figure(result.set_ups_per_cpu, f"{result.set_ups:,.0f}/s"))
                table.doubts.add(f"{server_name}, {label}, idle", result.doubts)

    def receive(self, number):
        """Measures the events per second on one connection. Apus is the server of both clients."""
        name = "client: events received on one connection"
        if self.only not in name:
            return
        row = self.socketio.row(name, unit="a CPU-second of the client")
        url = f"http://127.0.0.1:{self.servers.get(OURS, *SOCKETIO[OURS]).port}"
        for client, command in {
            OURS: [APUS, "bench", "receive", url, "--duration", str(self.seconds), "--json"],
            "python-socketio": [sys.executable, str(HERE / "receive_python_socketio.py"), url, str(self.seconds)],
        }.items():
            with self.socketio.attempt(number, client, name):
                done = subprocess.run(
                    pinned("0", command), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=self.seconds + 60)
                if done.returncode:
                    raise Missing(done.stderr.strip()[-300:])
                result = json.loads(done.stdout.strip().splitlines()[-1])
                rate = result["events"] / result["seconds"]
                row.add(number, client, Figure(result["events"] / max(result["cpuSeconds"], 0.01), f"{rate:,.0f}/s", {"rate": rate}))

    def two_cores(self, number):
        """Compares one server of two event loops with two servers of one loop each, which share nothing and
        count as twice one core. In both runs, two loads share the two cores with the servers. The runs
        differ only in the interference between two loops of one process.
        """
        if CORES < 2:
            return
        for load, kind, command, options in [
            ("raw echo 64 B, 100 × 16", "ws", apus_raw, ["--connections", 100, "--in-flight", 16]),
            ("Socket.IO ack 64 B, 100 × 16", "socketio", apus_socketio, ["--ack", "--connections", 100, "--in-flight", 16]),
        ]:
            name = f"two cores: {load}"
            if self.only not in name:
                continue
            with self.socketio.attempt(number, OURS, name):
                with Server(OURS, command(1), cores="0") as first, Server(OURS, command(1), cores="1") as second:
                    apart = both_cores([first, second], kind, options, self.seconds)
                with Server(OURS, command(2), cores="0,1") as server:
                    together = both_cores([server, server], kind, options, self.seconds)
                self.socketio.row(name, unit="× one core by CPU-seconds", form="{:.2f}").add(number, OURS, Figure(
                    2 * together[1] / apart[1],
                    f"{2 * together[0] / apart[0]:.2f} × by the clock; two loops {together[0]:,.0f}/s, {together[1]:,.0f} a CPU-second; "
                    f"two servers of one loop {apart[0]:,.0f}/s, {apart[1]:,.0f} a CPU-second (loads on the same cores)"))


def both_cores(servers, kind, options, seconds):
    """Runs a load on each core concurrently; returns messages per second and per CPU-second of all servers."""
    with ThreadPoolExecutor(2) as pool:
        loads = [pool.submit(server.load, kind, *options, seconds=seconds, cores=str(core)) for core, server in enumerate(servers)]
        results = [load.result() for load in loads]
    rate = sum(result.rate for result in results)
    # Both loads measure a common server.
    spent = sum(result["server"]["cpuSeconds"] / result["seconds"] for result in results) / (len(results) / len(set(servers)))
    return rate, rate / max(spent, 0.01)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=3, help="the number of measurements of each row")
    options.add_argument("--seconds", type=float, default=2, help="the time of each measurement, after a warm-up of half a second")
    options.add_argument("--idle", type=int, default=5000, help="the number of idle connections")
    options.add_argument("--only", default="", help="measures only rows whose name contains this text")
    options.add_argument("--referee", default="", help="the folder of sioload.cpp: also measures with that load, which costs less than `apus bench`")
    arguments = options.parse_args()
    setup()
    print(
        f"{headline()}; `Benchmarks/run`, {arguments.rounds} round{'s' * (arguments.rounds != 1)} of {arguments.seconds:g} s each; connections × messages in flight on each, "
        f"{arguments.idle:,} idle connections. A cell is the median round by the figure per CPU-second (minimum–maximum); \"ours\" is the median of the ratios within a round.")
    with Servers() as servers:
        run = Run(arguments, servers)
        second = referee.Referee(arguments, servers) if arguments.referee else None
        try:
            for number in range(arguments.rounds):
                run.once(number)
                if second:
                    second.once(number)
        finally:
            run.raw.print(arguments.rounds)
            run.socketio.print(arguments.rounds)
            if second:
                second.print(arguments.rounds)
            columns = [("ours", run.raw.rows | run.socketio.rows)]
            wanted.print_table(columns + ([("ours, by the referee", second.rows)] if second else []))


if __name__ == "__main__":
    main()
