"""The interop matrix: runs every check for each pair of a server and a client over every transport.

A column is one server process and one client process for each transport, all in parallel. Each client performs the checks in sequence
(`peers/matrix_client.py`, `peers/matrix_client.js`, `ApusConformance client`) and prints a line of JSON for each. When all clients are
ready, the server is killed (SIGKILL) and restarted on its port for the last check.
"""
import dataclasses
import json
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import threading
import time

from .peers import PEERS, end
from .process import ROOT, ServerProcess, free_port, program

TRANSPORTS = ["polling", "websocket", "upgrade"]
# In the order of the reports. A check that is not reported before its client ends has failed.
ROWS = {
    "text": "text",
    "binary": "nested binary",
    "acks": "acks both ways",
    "namespaces": "namespaces",
    "refusal": "auth refused",
    "rooms": "broadcast to rooms",
    "megabyte": "1 MB message",
    "restart": "reconnects after a restart",
    "server-disconnect": "server disconnects",
}
# Seconds for one client and its checks.
PATIENCE = 100
PYTHON = pathlib.Path(sys.executable)
PYTHON_4 = ROOT / ".venv-socketio4" / "bin" / "python"
PYTHON_4_SERVER = pathlib.Path(os.environ.get("APUS_PYTHON_SOCKETIO4", ROOT / ".venv-socketio4-server" / "bin" / "python"))
JAVASCRIPT = ROOT / ".venv-js" / "socket.io.min.js"
OURS = ["conformance", "server", "--allow-eio3", "--max-payload", "5000000"]


def chromium() -> str | None:
    names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
    paths = ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium"]
    found = [os.environ.get("APUS_CHROMIUM")] + [shutil.which(name) for name in names] + [path for path in paths if os.path.exists(path)]
    return next((path for path in found if path), None)


def missing(*needs) -> str | None:
    """Returns the reason why a column cannot run here, or None."""
    for path, what in needs:
        if not path or not pathlib.Path(path).exists():
            return what
    return None


@dataclasses.dataclass
class Column:
    """One server and one client."""

    server: str
    client: str
    # Starts the server on a port.
    start: "callable"
    # The client's command for the given transports; `at_once` is true if one process runs all of them.
    command: "callable"
    at_once: bool = False
    # Whether each transport has its own server.
    apart: bool = False
    absent: str | None = None

    @property
    def name(self) -> str:
        return f"{self.server} × {self.client}"


class PythonServer:
    """The server of python-socketio, in the given Python."""

    def __init__(self, python, port, *more):
        self.process = subprocess.Popen(
            [python, PEERS / "python_socketio_server.py", str(port), *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert "listening" in line, f"python-socketio's server printed {line!r}"
        # Reads all output, so that the server never blocks on a full pipe.
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def kill(self):
        self.process.kill()
        self.process.wait(10)

    stop = kill


def our_server(*more):
    return lambda port: ServerProcess(*OURS, "--port", str(port), *more)


def our_client(eio, *more):
    return lambda url, transports: program("conformance", "client", url, *transports, "--eio", str(eio), *more)


def columns() -> list[Column]:
    python_client = lambda python, *more: lambda url, transports: [str(python), str(PEERS / "matrix_client.py"), url, *transports, *more]
    browser = lambda url, transports: [
        str(PYTHON), str(PEERS / "matrix_browser.py"), url, *transports, "--client", str(JAVASCRIPT), "--chromium", chromium()]
    no_2 = f"no {PYTHON_4.parent.parent.name} (scripts/bootstrap makes it)"
    no_2_server = "no Python 3.9 with python-socketio 4.6 (scripts/bootstrap)"
    no_browser = missing((chromium(), "no Chromium on this machine"), (JAVASCRIPT, "no JavaScript client (scripts/bootstrap fetches it)"))
    python_server = lambda python, *more: lambda port: PythonServer(python, port, *more)
    return [
        Column("our server", "python-socketio 5.18", our_server(), python_client(PYTHON)),
        Column("our server", "python-socketio 4.6", our_server(), python_client(PYTHON_4), absent=missing((PYTHON_4, no_2))),
        Column("our server", "JavaScript 4.8", our_server(), browser, at_once=True, absent=no_browser),
        Column("our server", "our client", our_server(), our_client(4)),
        Column("our server", "our client, EIO 3", our_server(), our_client(3)),
        Column("our server, msgpack", "python-socketio 5.18", our_server("--msgpack"), python_client(PYTHON, "msgpack")),
        # Separate servers: python-engineio caches a packet in its first encoding, and a binary broadcast to a WebSocket then breaks poll
        # answers ("can only concatenate str").
        Column("python-socketio 5.18", "our client", python_server(PYTHON), our_client(4), apart=True),
        Column(
            "python-socketio, msgpack", "our client", python_server(PYTHON, "--msgpack"), our_client(4, "--msgpack"), apart=True),
        Column(
            "python-socketio 4.6", "our client", python_server(PYTHON_4_SERVER), our_client(3, "--python4"), apart=True,
            absent=missing((PYTHON_4_SERVER, no_2_server))),
    ]


class Client:
    """A client process and its reports."""

    def __init__(self, command, transports, news):
        self.transports = transports
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
            env={**os.environ, "SWIFT_BACKTRACE": "enable=no"})
        self.complaints: list[str] = []
        threading.Thread(target=self._complain, daemon=True).start()
        threading.Thread(target=self._read, args=(news,), daemon=True).start()

    def _complain(self):
        for line in self.process.stderr:
            self.complaints.append(line)

    def _read(self, news):
        for line in self.process.stdout:
            try:
                report = json.loads(line)
            except ValueError:
                report = {"trouble": line.strip()}
            news.put((report.get("transport", self.transports[0]), report))
        self.process.wait()
        for transport in self.transports:
            news.put((transport, None))


def run_column(column: Column, times: list) -> dict:
    """Returns {(row, transport): None or the failure} and adds (seconds, row and transport) to the times."""
    cells: dict = {}
    parts = [[transport] for transport in TRANSPORTS] if column.apart else [TRANSPORTS]
    threads = [threading.Thread(target=run_part, args=(column, part, cells, times)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return cells


def run_part(column: Column, transports: list, cells: dict, times: list):
    """Runs one server and its clients and adds the results to the cells. If the server does not start, only these cells fail."""
    try:
        reasons = talk(column, transports, cells, times)
    except Exception as error:
        reasons = {transport: f"{type(error).__name__}: {error}" for transport in transports}
    for transport in transports:
        for row in ROWS:
            cells.setdefault((row, transport), reasons[transport])


def talk(column: Column, transports: list, cells: dict, times: list) -> dict:
    """Runs the clients to their end. Returns for each transport why a row may be missing."""
    port = free_port()
    server = column.start(port)
    groups = [transports] if column.at_once else [[transport] for transport in transports]
    news: queue.Queue = queue.Queue()
    clients = [Client(column.command(f"http://127.0.0.1:{port}", group), group, news) for group in groups]
    trouble: dict = {transport: [] for transport in transports}
    waiting, running = set(), set(transports)
    last = dict.fromkeys(transports, time.monotonic())
    deadline = time.monotonic() + PATIENCE
    try:
        while running:
            try:
                transport, report = news.get(timeout=max(0.1, deadline - time.monotonic()))
            except queue.Empty:
                break
            if report is None:
                running.discard(transport)
            elif "check" in report:
                cells[report["check"], transport] = report["failure"]
                now = time.monotonic()
                times.append((now - last[transport], f"{ROWS[report['check']]}, {transport}"))
                last[transport] = now
            elif "ready" in report:
                waiting.add(transport)
            else:
                trouble[transport].append(report.get("trouble", ""))
            # Clients that have ended need no restart.
            if waiting and waiting >= running:
                waiting = set()
                server.kill()
                server = column.start(port)
    finally:
        for client in clients:
            end(client.process)
        server.stop()
    for client in clients:
        for transport in client.transports:
            trouble[transport] += [line.strip() for line in client.complaints[-3:]] + ["the client ended before this check"]
    return {transport: "; ".join(lines) for transport, lines in trouble.items()}


def run(progress=lambda text: None) -> dict:
    """Returns {column's name: {(row, transport): None or the failure}}, with a text for a column that cannot run here."""
    result = {}
    for column in columns():
        begin = time.monotonic()
        times: list = []
        result[column.name] = column.absent or run_column(column, times)
        longest = "; longest: {1}, {0:.1f} s".format(*max(times)) if times else ""
        progress(f"{column.name}: {time.monotonic() - begin:.0f} s{longest}")
    return result


def failures(result: dict) -> list[str]:
    """Returns one line for each reason, with its cells."""
    lines = []
    for name, cells in result.items():
        reasons: dict = {}
        for row in ROWS if isinstance(cells, dict) else ():
            for transport in TRANSPORTS:
                if (failure := cells[row, transport]) is not None:
                    reasons.setdefault(failure, []).append(f"{ROWS[row]} ({transport})")
        lines += [f"{name}, {', '.join(places)}: {' '.join(reason.split())[:600]}" for reason, places in reasons.items()]
    return lines


def table(result: dict) -> str:
    """Returns the table: a line for each row and transport, a column for each pair, with ✓, ✗, or – and the reason below."""
    names = [name.split(" × ") for name in result]
    widths = [max(len(server), len(client) + 2, 9) for server, client in names]
    head = " " * 33
    lines = [
        head + "  ".join(server.ljust(width) for (server, _), width in zip(names, widths)).rstrip(),
        head + "  ".join(f"× {client}".ljust(width) for (_, client), width in zip(names, widths)).rstrip(),
    ]
    for row, title in ROWS.items():
        for transport in TRANSPORTS:
            marks = ["–" if isinstance(cells, str) else "✓" if cells[row, transport] is None else "✗" for cells in result.values()]
            line = f"{title if transport == TRANSPORTS[0] else '':<21}{transport:<12}" + "  ".join(mark.center(width) for mark, width in zip(marks, widths))
            lines.append(line.rstrip())
    cells = [failure for column in result.values() if isinstance(column, dict) for failure in column.values()]
    lines.append(f"{len(cells)} cells, {sum(failure is None for failure in cells)} passed, {sum(failure is not None for failure in cells)} failed")
    lines += [f"– {name}: {reason}" for name, reason in result.items() if isinstance(reason, str)]
    lines += [f"✗ {failure}" for failure in failures(result)]
    return "\n".join(lines)
