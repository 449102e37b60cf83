"""Helpers for the attack tests: connections that send and never read, the server's memory, and the latency of another client."""
import base64
import json
import os
import pathlib
import select
import socket
import struct
import threading
import time

from support.process import ROOT, ServerProcess

RESULTS = ROOT / ".build" / "test-results" / "attacks.jsonl"
CLIENT_BUFFER = 16 << 10  # a small window, so that unread data is queued at the server


class Memory:
    """Measures the growth of a server's resident memory while the block runs."""

    def __init__(self, server: ServerProcess):
        self._server = server
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.begin = self.peak = 0

    def _watch(self):
        while not self._stop.wait(0.01):
            self._look()

    def _look(self):
        self.peak = max(self.peak, self._server.resident_bytes())

    def __enter__(self) -> "Memory":
        self.begin = self.peak = self._server.resident_bytes()
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        self._look()

    @property
    def growth(self) -> int:
        return self.peak - self.begin


def cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def frame(payload: bytes, opcode: int = 1, final: bool = True) -> bytes:
    """Returns a client's frame with a zero masking key, because masking in Python would be too slow."""
    head = bytes([(0x80 if final else 0) | opcode])
    if len(payload) < 126:
        head += bytes([0x80 | len(payload)])
    elif len(payload) < 65536:
        head += bytes([0x80 | 126]) + struct.pack("!H", len(payload))
    else:
        head += bytes([0x80 | 127]) + struct.pack("!Q", len(payload))
    return head + bytes(4) + payload


def connect(port: int, receive_buffer: int = CLIENT_BUFFER) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.settimeout(20)
    connection.connect(("127.0.0.1", port))
    return connection


def open_websocket(port: int, path: str = "/socket.io/?EIO=4&transport=websocket", receive_buffer: int = CLIENT_BUFFER) -> socket.socket:
    connection = connect(port, receive_buffer)
    key = base64.b64encode(os.urandom(16)).decode()
    connection.sendall(
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    read_until(connection, b"\r\n\r\n")
    return connection


def read_until(connection: socket.socket, end: bytes) -> bytes:
    received = b""
    while end not in received:
        chunk = connection.recv(65536)
        if not chunk:
            raise ConnectionError(f"closed before {end!r}: {received[-200:]!r}")
        received += chunk
    return received


def open_socketio(port: int, connect_packet: str = "40", receive_buffer: int = CLIENT_BUFFER) -> socket.socket:
    connection = open_websocket(port, receive_buffer=receive_buffer)
    connection.sendall(frame(connect_packet.encode()))
    read_until(connection, b'{"sid":"' if connect_packet == "40" else connect_packet.split("{")[0].encode() + b"{")
    return connection


def send_all(payloads: dict[socket.socket, bytes], seconds: float) -> dict[socket.socket, int]:
    """Sends to all connections until everything is sent, no connection has accepted data for a second, or `seconds` have passed. Returns
    the bytes sent to each."""
    rest = {connection: memoryview(payload) for connection, payload in payloads.items()}
    sent = dict.fromkeys(payloads, 0)
    for connection in rest:
        connection.setblocking(False)
    deadline = time.monotonic() + seconds
    while rest and time.monotonic() < deadline:
        _, writable, _ = select.select([], list(rest), [], 1)
        if not writable:
            break
        for connection in writable:
            try:
                count = connection.send(rest[connection][: 256 << 10])
            except BlockingIOError:
                continue
            except OSError:  # the server has closed the connection
                del rest[connection]
                continue
            sent[connection] += count
            rest[connection] = rest[connection][count:]
            if not rest[connection]:
                del rest[connection]
    return sent


def settle(server: ServerProcess, seconds: float = 1.0, longest: float = 20):
    """Waits until the server has been idle for a quarter of `seconds`, or `longest` seconds have passed."""
    deadline = time.monotonic() + longest
    while time.monotonic() < deadline:
        before = cpu_seconds(server.process.pid)
        time.sleep(seconds / 4)
        if cpu_seconds(server.process.pid) - before <= 0.02:
            return


class Probe:
    """Another client: sends requests continuously and records the latencies."""

    def __init__(self, ask, close=lambda: None):
        self.waits: list[float] = []
        self.trouble: str | None = None
        self._ask, self._close = ask, close
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @staticmethod
    def websocket(port: int, path: str = "/", greet=lambda connection: None, text: str = "ping") -> "Probe":
        """Sends echoes on its own WebSocket."""
        connection = open_websocket(port, path, receive_buffer=1 << 20)
        greet(connection)

        def ask():
            connection.sendall(frame(text.encode()))
            read_until(connection, text.encode()[2:])

        return Probe(ask, connection.close)

    @staticmethod
    def socketio(port: int) -> "Probe":
        """Sends echoes in the namespace `/custom` of the conformance server."""

        def greet(connection):
            connection.sendall(frame(b"40/custom,"))
            read_until(connection, b'40/custom,{"sid":')

        return Probe.websocket(port, "/socket.io/?EIO=4&transport=websocket", greet, '42/custom,["echo",1]')

    @staticmethod
    def http(port: int, path: str = "/health") -> "Probe":
        connection = connect(port, 1 << 20)

        def ask():
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            head = read_until(connection, b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head

        return Probe(ask, connection.close)

    def _run(self):
        try:
            while not self._stop.is_set():
                begin = time.monotonic()
                self._ask()
                self.waits.append(time.monotonic() - begin)
                self._stop.wait(0.005)
        except Exception as error:  # any error is reported by the test
            self.trouble = f"{type(error).__name__}: {error} after {len(self.waits)} answers"

    def __enter__(self) -> "Probe":
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join(25)
        self._close()
        assert self.trouble is None, self.trouble

    @property
    def p99(self) -> float:
        return sorted(self.waits)[min(len(self.waits) - 1, len(self.waits) * 99 // 100)] if self.waits else float("inf")


def report(name: str, probe: Probe, **figures):
    """Prints the figures (pytest -rP shows them) and appends them to the results."""
    row = {"attack": name, **figures, "neighbour_p99_ms": round(probe.p99 * 1000, 1), "neighbour_max_ms": round(max(probe.waits, default=0) * 1000, 1), "neighbour_answers": len(probe.waits)}
    print(row)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with open(RESULTS, "a") as file:
        file.write(json.dumps(row) + "\n")


def megabytes(count: int) -> float:
    return round(count / 1e6, 1)
