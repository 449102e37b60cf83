"""Restarts a server with many Apus clients in one process (`ApusConformance server`, `ApusConformance clients`).

All clients must reconnect, and everything acknowledged must be in the server's journal.
"""
import collections
import json
import pathlib
import queue
import resource
import subprocess
import threading
import time

from .peers import end
from .process import ServerProcess, free_port, program


class Clients:
    def __init__(self, url: str, clients: int, acked: pathlib.Path, transport: str, pause: int):
        self.news: queue.Queue = queue.Queue()
        self.complaints: collections.deque = collections.deque(maxlen=20)
        self.process = subprocess.Popen(
            program("conformance", "clients", url, "--clients", str(clients), "--acked", str(acked), "--transport", transport, "--pause", str(pause)),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=lambda: self.complaints.extend(self.process.stderr), daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.news.put(json.loads(line))
        self.news.put(None)

    def wait(self, is_it, seconds: float) -> dict:
        deadline = time.monotonic() + seconds
        seen = collections.deque(maxlen=5)
        while True:
            try:
                report = self.news.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"not within {seconds} s; the last news: {list(seen)}") from None
            assert report is not None, "the clients' process ended: " + "".join(self.complaints)
            seen.append(report)
            if is_it(report):
                return report


def resident(pid: int) -> int:
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()


def live_through_a_restart(folder: pathlib.Path, clients: int, *, transport: str = "websocket", graceful: bool = False, pause: int = 1000,
                           before: float = 2, after: float = 2, patience: float = 60) -> dict:
    """Returns the figures. Raises AssertionError if a client does not reconnect or something acknowledged is missing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # inherited by the child processes
    port, journal, acked = free_port(), folder / "journal", folder / "acknowledged"
    serve = lambda: ServerProcess("conformance", "server", "--port", str(port), "--journal", str(journal))
    server = serve()
    run = Clients(server.url, clients, acked, transport, pause)
    try:
        begin = time.monotonic()
        run.wait(lambda report: report.get("connected") == clients, patience)
        connected = time.monotonic() - begin
        time.sleep(before)
        memory = resident(server.process.pid), resident(run.process.pid)
        recorded = journal.read_bytes().count(b"\n")
        assert recorded > 0, "nothing was sent before the restart"
        server.stop() if graceful else server.kill()
        gone = time.time()
        server = serve()
        up = time.time()
        back = run.wait(lambda report: report.get("back", 0) >= clients, patience)
        time.sleep(after)
        run.process.stdin.close()
        total = run.wait(lambda report: "acknowledged" in report, patience)["acknowledged"]
        run.process.wait(30)
    finally:
        end(run.process)
        server.stop()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    written = collections.Counter(journal.read_text().split())
    texts = acked.read_text().split()
    lost = [text for text in texts if text not in written]
    assert not lost, f"{len(lost)} acknowledged messages are lost, for example {lost[:5]}"
    assert len(texts) == total == len(set(texts)) and total > recorded, f"{total} acknowledged, {recorded} of them before the restart"
    return {
        "clients": clients, "connected_seconds": connected, "down_seconds": up - gone, "back_seconds": back["at"] - up, "away_seconds": back["at"] - gone,
        "acknowledged": total, "recorded": written.total(), "sent_again": written.total() - len(written),
        "server_mib": memory[0] / 2**20, "clients_mib": memory[1] / 2**20,
    }
