"""A reader that stops (SIGSTOP) during a broadcast: its queue is bounded, then it is closed; others are served (docs/hazards.md, 16)."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest
import websocket

from support.neighbour import Neighbour
from support.peers import PEERS, end
from support.process import ServerProcess, stop

MEBIBYTE = 1 << 20


@contextlib.contextmanager
def stopped_reader(url: str, kind: str):
    """Starts a process and stops it once it is ready."""
    process = subprocess.Popen([sys.executable, PEERS / "stopped_reader.py", url, kind], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        stop(process)
        yield process
    finally:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGCONT)
        end(process)


class Listener:
    """Reads every broadcast of `/custom` and keeps its number. (The neighbour is in `/` and receives only its echoes.)"""

    def __init__(self, port: int):
        self.numbers: list[int] = []
        self._connection = websocket.create_connection(f"ws://127.0.0.1:{port}/socket.io/?EIO=4&transport=websocket", timeout=60)
        assert self._connection.recv().startswith("0{")
        self._connection.send("40/custom,")
        assert self._connection.recv().startswith("40/custom,{")
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        with contextlib.suppress(websocket.WebSocketException, OSError):
            while True:
                text = self._connection.recv()
                if text == "2":
                    self._connection.send("3")
                elif text.startswith('42/custom,["bc"'):
                    self.numbers.append(json.loads(text[10:])[1]["number"])

    def broadcast(self, number: int, text: str):
        self._connection.send("42/custom," + json.dumps(["bc", {"number": number, "text": text}]))

    def close(self):
        self._connection.close()


def eventually(condition, seconds: float, what: str):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def peak_while(server, work) -> int:
    """Returns the peak resident memory of the server while `work` runs."""
    peak, done = [0], threading.Event()

    def watch():
        while not done.wait(0.02):
            peak[0] = max(peak[0], server.resident_bytes())

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    work()
    done.set()
    thread.join()
    return peak[0]


@pytest.mark.skipif(not pathlib.Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_socketio_server():
    server = ServerProcess("conformance", "server", "--port", "0")
    neighbour, listeners = Neighbour(server.port), [Listener(server.port) for _ in range(2)]
    url = f"ws://127.0.0.1:{server.port}/socket.io/?EIO=4&transport=websocket"
    text, count = "x" * 65_536, 700  # 44 MiB

    def fan_out():
        for number in range(count):
            listeners[0].broadcast(number, text)
            # Paced by a healthy reader, like an application.
            eventually(lambda: len(listeners[1].numbers) >= number - 32, 60, "the healthy reader waits")
        eventually(lambda: all(len(listener.numbers) == count for listener in listeners), 60, "a healthy reader missed something")

    try:
        before = server.sockets()
        with stopped_reader(url, "socketio") as reader:
            assert server.sockets() == before + 1
            start = server.resident_bytes()
            growth = peak_while(server, fan_out) - start
            # The queue's bound is 16 MiB; the rest is the allocator's overhead and data for the other clients.
            assert growth < 40 * MEBIBYTE, f"{growth / MEBIBYTE:.0f} MiB for one stopped reader"
            eventually(lambda: server.sockets() == before, 15, "the stopped reader's connection is still there")
            os.kill(reader.pid, signal.SIGCONT)
            assert reader.stdout.readline().startswith("closed")
        assert all(listener.numbers == list(range(count)) for listener in listeners), "a healthy reader's broadcasts are lost, duplicated or out of order"
        neighbour.finish()
        assert neighbour.longest_wait < 5, f"one echo took {neighbour.longest_wait:.1f} s"
        print(f"{growth / MEBIBYTE:.0f} MiB more, the neighbour's longest wait {neighbour.longest_wait * 1000:.0f} ms")
    finally:
        for listener in listeners:
            listener.close()
        server.stop()


@pytest.mark.skipif(not pathlib.Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_websocket_server():
    server = ServerProcess("ws", "--listen", "127.0.0.1:0")
    url = f"ws://127.0.0.1:{server.port}/"
    waits, done = [], threading.Event()

    def talk():
        connection = websocket.create_connection(url, timeout=30)
        while not done.is_set():
            begin = time.monotonic()
            connection.send("still here?")
            assert connection.recv() == "still here?"
            waits.append(time.monotonic() - begin)
            time.sleep(0.005)
        connection.close()

    thread = threading.Thread(target=talk, daemon=True)
    thread.start()
    eventually(lambda: waits, 10, "no echo")
    try:
        before, start = server.sockets(), server.resident_bytes()

        def stop_eight():
            with contextlib.ExitStack() as stack:
                readers = [stack.enter_context(stopped_reader(url, "echo")) for _ in range(8)]
                # Each queue holds at most 4 MiB. The connection is aborted if the Close frame cannot be sent either.
                eventually(lambda: server.sockets() == before, 40, "a stopped reader's connection is still there")
                for reader in readers:
                    os.kill(reader.pid, signal.SIGCONT)
                    assert reader.stdout.readline().startswith("closed")

        growth = peak_while(server, stop_eight) - start
        assert growth < 8 * 10 * MEBIBYTE, f"{growth / MEBIBYTE:.0f} MiB for eight stopped readers"
        done.set()
        thread.join(20)
        assert max(waits) < 5, f"one echo took {max(waits):.1f} s"
        print(f"{growth / MEBIBYTE:.0f} MiB more, the neighbour's longest wait {max(waits) * 1000:.0f} ms")
    finally:
        done.set()
        server.stop()
