"""The measuring part of `Benchmarks/websocket/run`: servers in turn, several rounds, medians.

The server has one core, the load another. Machines share their cores: compare within one run, and prefer the rates per CPU-second of the server.
"""
import argparse
import os
import pathlib
import platform
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
LOAD = ROOT / ".build" / "benchmark" / "wsload"
APUS = os.environ.get("APUS_BINARY", str(ROOT / ".build" / "release" / "apus"))
# bytes, connections, in flight on each
SHAPES = [(64, 1, 1), (64, 50, 1), (64, 50, 4), (64, 100, 16), (1024, 1, 1), (1024, 50, 4)]
SERVERS = {
    "apus": ("Apus", lambda port: [APUS, "ws", "--listen", f"127.0.0.1:{port}"], {}),
    "node": ("node ws", lambda port: ["node", str(HERE / "node_ws.js"), str(port)], {"NODE_PATH": "/usr/share/nodejs:/usr/lib/node_modules"}),
    "python": ("python websockets (uvloop)", lambda port: [sys.executable, str(HERE / "python_websockets.py"), str(port)], {}),
}
RESULT = re.compile(r"([0-9.]+) msgs/s .*p50=([0-9.]+)us p99=([0-9.]+)us .*?(?:=> ([0-9.]+) msgs per server-CPU-second)?$", re.M)
CONNECTED = re.compile(r"connected (\d+) in ([0-9.]+)s")


def pinned(core: int, command: list) -> list:
    return ["taskset", "-c", str(core), *command] if shutil.which("taskset") and (os.cpu_count() or 1) > 1 else command


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, key: str):
        self.name, command, environment = SERVERS[key]
        self.port = free_port()
        self.process = subprocess.Popen(
            pinned(1, command(self.port)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, **environment})
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    sys.exit(f"{self.name} ended at once")
                time.sleep(0.05)
        self.end()
        sys.exit(f"{self.name} does not listen")

    def cpu(self) -> float:
        fields = open(f"/proc/{self.process.pid}/stat").read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self) -> int:
        return int(open(f"/proc/{self.process.pid}/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def load(self, *arguments, seconds: float) -> subprocess.Popen:
        command = [str(LOAD), "-p", str(self.port), "-P", str(self.process.pid), *map(str, arguments)]
        return subprocess.Popen(pinned(0, ["timeout", str(seconds), *command]), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)


def echo(server: Server, shape: tuple, seconds: int) -> dict:
    size, connections, depth = shape
    load = server.load("-s", size, "-c", connections, "-d", depth, "-t", seconds, seconds=seconds + 20)
    output, trouble = load.communicate()
    match = RESULT.search(output)
    if not match:
        sys.exit(f"{server.name}: {output}{trouble}")
    rate, p50, p99, per_cpu = match.groups()
    return {"rate": float(rate), "p50": float(p50), "p99": float(p99), "per_cpu": float(per_cpu or 0)}


def connects(server: Server, count: int) -> dict:
    """Connections opened one after the other by one client: TCP and handshake."""
    before = server.cpu()
    load = server.load("-m", "idle", "-c", count, "-t", 1, seconds=60)
    _, trouble = load.communicate()
    match = CONNECTED.search(trouble)
    if not match:
        sys.exit(f"{server.name}: {trouble}")
    seconds = float(match.group(2))
    time.sleep(1)  # the closing is part of a connection's cost
    return {"rate": count / max(seconds, 0.01), "per_cpu": count / max(server.cpu() - before, 0.01)}


def idle_bytes(server: Server, count: int) -> float:
    """What a connection that says nothing holds of the server's memory, after ten were opened and closed as a warm-up."""
    server.load("-m", "idle", "-c", 10, "-t", 0, seconds=30).communicate()
    time.sleep(1)
    before = server.resident()
    load = server.load("-m", "idle", "-c", count, "-t", 12, seconds=90)
    try:
        deadline = time.monotonic() + 60
        while not CONNECTED.search(load.stderr.readline()):
            if time.monotonic() > deadline or load.poll() is not None:
                sys.exit(f"{server.name}: {count} connections could not be opened")
        time.sleep(5)
        return (server.resident() - before) / count
    finally:
        load.terminate()
        load.wait(30)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=int, default=4)
    options.add_argument("--idle", type=int, default=5000)
    options.add_argument("--connects", type=int, default=3000)
    options.add_argument("--only", default=",".join(SERVERS))
    arguments = options.parse_args()
    keys = arguments.only.split(",")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    results: dict = {key: {} for key in keys}

    def note(key, what, value):
        results[key].setdefault(what, []).append(value)

    for turn in range(arguments.rounds):
        for key in keys:
            print(f"round {turn + 1} of {arguments.rounds}: {SERVERS[key][0]}", file=sys.stderr)
            server = Server(key)
            try:
                for shape in SHAPES:
                    note(key, shape, echo(server, shape, arguments.seconds))
                note(key, "connects", connects(server, arguments.connects))
            finally:
                server.end()
            server = Server(key)  # a fresh one: what the load left behind is no idle connection's
            try:
                note(key, "idle", idle_bytes(server, arguments.idle))
            finally:
                server.end()

    def median(key, what, field):
        return statistics.median(value[field] for value in results[key][what])

    print(f"<!-- {time.strftime('%F', time.gmtime())}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, medians of {arguments.rounds} rounds of {arguments.seconds} s -->")
    print("| | " + " | ".join(SERVERS[key][0] for key in keys) + " |")
    print("|---|" + "---|" * len(keys))
    for shape in SHAPES:
        size, connections, depth = shape
        label = f"echo {size} B, {connections} × {depth}"
        print(f"| {label}, messages a second | " + " | ".join(f"{median(key, shape, 'rate'):,.0f}" for key in keys) + " |")
        print(f"| {label}, per CPU-second of the server | " + " | ".join(f"{median(key, shape, 'per_cpu'):,.0f}" for key in keys) + " |")
        print(f"| {label}, p50 / p99 µs | " + " | ".join(f"{median(key, shape, 'p50'):.0f} / {median(key, shape, 'p99'):.0f}" for key in keys) + " |")
    print("| connections a second | " + " | ".join(f"{median(key, 'connects', 'rate'):,.0f}" for key in keys) + " |")
    print("| connections per CPU-second of the server | " + " | ".join(f"{median(key, 'connects', 'per_cpu'):,.0f}" for key in keys) + " |")
    print(f"| memory per idle connection ({arguments.idle}), kB | " + " | ".join(f"{statistics.median(results[key]['idle']) / 1000:.1f}" for key in keys) + " |")


if __name__ == "__main__":
    main()
