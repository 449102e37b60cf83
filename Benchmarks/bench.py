"""The common parts of `Benchmarks/run` and `Benchmarks/growth`: servers, loads of `apus bench`, and
caveats of their results.

The server runs on the last core, the load on the first. Compare figures within one run only, and prefer
the figures per CPU-second of the server. Linux, loopback.
"""
import contextlib
import json
import os
import pathlib
import platform
import resource
import shutil
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
HERE = ROOT / "Benchmarks"
APUS = os.environ.get("APUS_BINARY", str(ROOT / ".build" / "release" / "apus"))
CORES = os.cpu_count() or 1
NODE = {"NODE_PATH": "/usr/share/nodejs:/usr/lib/node_modules"}


def setup():
    """Raises the limit of descriptors for servers and loads."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def headline() -> str:
    def output(*command):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else "unknown"

    # APUS_COMMIT: the commit of a tree without its history.
    commit = os.environ.get("APUS_COMMIT") or output("git", "rev-parse", "--short", "HEAD")
    swift = output("swift", "--version").partition("(")[0].strip()
    return f"{time.strftime('%F', time.gmtime())}, commit {commit}, {CORES} cores, {platform.system()} {platform.release()}, {swift}"


def pinned(cores: str, command: list) -> list:
    return ["taskset", "-c", cores, *command] if shutil.which("taskset") and CORES > 1 else command


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Missing(Exception):
    """This peer is not installed."""


class Server:
    """A server in a separate process: `with Server(name, command) as server`. `command(port)` returns the
    command line."""

    def __init__(self, name, command, environment=None, cores=None):
        self.name, self.port = name, free_port()
        self.process = subprocess.Popen(
            pinned(cores or str(CORES - 1), command(self.port)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, env={**os.environ, **(environment or {})})
        for _ in range(400):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    raise Missing(f"{name}: {self.process.stderr.read().decode(errors='replace').strip()[-300:]}")
                time.sleep(0.05)
        self.end()
        raise Missing(f"{name} did not listen within 20 s")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)

    def load(self, kind, *options, seconds=2.0, warmup=0.5, cores="0") -> "Result":
        """Runs `apus bench ws` or `socketio`, and returns its `--json` output with derived figures."""
        scheme = "ws" if kind == "ws" else "http"
        command = [
            APUS, "bench", kind, f"{scheme}://127.0.0.1:{self.port}{'/' if kind == 'ws' else ''}", "--pid", str(self.process.pid),
            "--duration", str(seconds), "--warmup", str(warmup), "--json", "-", *map(str, options)]
        before = self.ticks()
        done = subprocess.run(pinned(cores, command), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds + 120)
        if done.returncode:
            raise RuntimeError(f"{self.name}: {' '.join(map(str, options))}: {done.stderr.strip()[-500:]}")
        user, kernel = (after - then for after, then in zip(self.ticks(), before))
        return Result(json.loads(done.stdout), kernelShare=kernel / max(user + kernel, 1))

    def ticks(self):
        """The processor ticks of the server in user and kernel mode; zeros without /proc."""
        try:
            fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            return int(fields[11]), int(fields[12])
        except OSError:
            return 0, 0


class Servers(contextlib.ExitStack):
    """The servers of a run. Each starts on first use and runs until the end, idle during other
    measurements."""

    def __init__(self):
        super().__init__()
        self.running, self.missing = {}, {}

    def get(self, name, command, environment) -> Server:
        if name in self.missing:
            raise Missing(self.missing[name])
        # One name may denote two servers with different commands.
        key = (name, command)
        if key not in self.running:
            try:
                self.running[key] = self.enter_context(Server(name, command, environment))
            except Missing as missing:
                self.missing[name] = str(missing)
                raise
        return self.running[key]


class Result(dict):
    """A result of `apus bench`, with the rates of its text output."""

    @property
    def rate(self):
        return self["messages"] / max(self["seconds"], 1e-9)

    @property
    def per_cpu(self):
        return self["messages"] / max(self["server"]["cpuSeconds"], 0.01)

    @property
    def cpu_of_a_message(self):
        """The server's CPU time per message, in microseconds."""
        return self["server"]["cpuSeconds"] / max(self["messages"], 1) * 1e6

    @property
    def kernel_of_a_message(self):
        """The kernel's part of it, approximately: the share includes the start of the load."""
        return self.cpu_of_a_message * self["kernelShare"]

    @property
    def latency(self):
        return self.get("latency") or {"p50": float("nan"), "p99": float("nan")}

    @property
    def set_ups(self):
        return self["setUp"]["opened"] / max(self["setUp"]["seconds"], 1e-9)

    @property
    def set_ups_per_cpu(self):
        return self["setUp"]["opened"] / max(self["setUp"].get("serverCPUSeconds") or 0, 0.01)

    @property
    def bytes_of_a_connection(self):
        return (self["server"]["residentAfter"] - self["server"]["residentBefore"]) / max(self["setUp"]["opened"], 1)

    @property
    def doubts(self) -> list:
        tool, server = self["toolCPUSeconds"] / self["toolCores"], (self.get("server") or {}).get("cpuSeconds", 0)
        doubts = at_the_limit(tool / self["seconds"], server / self["seconds"])
        if not doubts:
            doubts += self["toolLimits"]
        if self["unanswered"] or self["lost"] or self["setUp"]["failed"]:
            doubts.append(f"{self['unanswered']} unanswered, {self['lost']} lost, {self['setUp']['failed']} not opened")
        return doubts


def at_the_limit(load, server) -> list:
    """The caveats if load and server used these shares of their cores."""
    if load < 0.9:
        return []
    return ["the load and the server both used nine tenths of their cores or more" if server >= 0.9
            else "the load used nine tenths of its core or more, the server less: it may be faster"]


class Doubts:
    """The caveats of a table, each with the rows to which it applies."""

    def __init__(self):
        self.places = {}

    def add(self, place, doubts):
        for doubt in doubts:
            counts = self.places.setdefault(doubt, {})
            counts[place] = counts.get(place, 0) + 1

    def sentence(self, rounds=1) -> str:
        """Returns the caveats as one sentence, or an empty text. With several rounds, each row has its
        number of rounds."""
        def described(place, count):
            return f"{place} ({count} of {rounds})" if rounds > 1 else place

        reasons = [f"{doubt}: " + ", ".join(described(*place) for place in places.items()) for doubt, places in self.places.items()]
        return "Caveats: " + "; ".join(reasons) + "." if reasons else ""


def apus_raw(threads=1):
    return lambda port: [APUS, "bench", "server", "--raw", "--port", str(port), "--threads", str(threads)]


def apus_socketio(threads=1):
    return lambda port: [APUS, "bench", "server", "--port", str(port), "--threads", str(threads)]


RAW = {
    "Apus": (apus_raw(), {}),
    "node ws": (lambda port: ["node", str(HERE / "websocket" / "node_ws.js"), str(port)], NODE),
    "python websockets": (lambda port: [sys.executable, str(HERE / "websocket" / "python_websockets.py"), str(port)], {}),
}
SOCKETIO = {
    "Apus": (apus_socketio(), {}),
    "python-socketio": (lambda port: [sys.executable, str(HERE / "peer_python_socketio.py"), str(port)], {}),
}


def note(text):
    print(text, file=sys.stderr, flush=True)
