"""Tests `apus connect` in a pipe with python-socketio servers: versions, binary data, and exit codes at the end of a connection."""
import contextlib
import queue
import re
import subprocess
import sys
import threading
import time

import pytest

from support import matrix
from support.peers import LISTENING, PEERS, end
from support.process import BINARY, ServerProcess, free_port


class Peer:
    """A python-socketio server that can be killed and restarted on its port."""

    def __init__(self, python=sys.executable, *arguments: str, port: int = 0):
        self.process = subprocess.Popen(
            [str(python), str(PEERS / "python_socketio_server.py"), str(port), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert LISTENING.search(line), line
        self.port = int(LISTENING.search(line).group(1))
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill(self):
        self.process.kill()
        self.process.wait(10)


@pytest.fixture
def peer():
    peer = Peer()
    yield peer
    peer.kill()


@pytest.fixture
def old_peer():
    if not matrix.PYTHON_4_SERVER.exists():
        pytest.skip("no Python 3.9 with python-socketio 4.6 (scripts/bootstrap)")
    # Like Node's Socket.IO 2.x, whose version is visible only in its first packets.
    peer = Peer(matrix.PYTHON_4_SERVER, "--any-version")
    yield peer
    peer.kill()


class Connect:
    """A run of the command. Lines are written one at a time; its output is kept."""

    def __init__(self, url: str, *arguments: str):
        self.process = subprocess.Popen(
            [str(BINARY), "connect", url, "--timeout", "10", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        self.texts = {"out": "", "err": ""}
        self.readers = []
        for name, stream in (("out", self.process.stdout), ("err", self.process.stderr)):
            reader = threading.Thread(target=self._read, args=(name, stream), daemon=True)
            reader.start()
            self.readers.append(reader)

    def _read(self, name: str, stream):
        for line in stream:
            self.texts[name] += line

    @property
    def output(self) -> str:
        return self.texts["out"]

    @property
    def errors(self) -> str:
        return self.texts["err"]

    def type(self, *lines: str):
        self.process.stdin.write("".join(line + "\n" for line in lines))
        self.process.stdin.flush()

    def wait_for(self, text: str, seconds: float = 15):
        deadline = time.monotonic() + seconds
        while text not in self.errors + self.output:
            assert time.monotonic() < deadline and self.process.poll() is None, f"no {text!r}:\n{self.output}\n{self.errors}"
            time.sleep(0.01)

    def end(self, seconds: float = 20) -> int:
        """Closes its input and returns the exit code."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            return self.process.wait(seconds)
        finally:
            end(self.process)
            for reader in self.readers:
                reader.join(10)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def run(url: str, lines: list[str], *arguments: str) -> Connect:
    """Runs the command with all lines at once, as from a file."""
    connect = Connect(url, *arguments)
    with contextlib.suppress(OSError):
        connect.type(*lines)
    connect.code = connect.end()
    return connect


# Versions


@pytest.mark.parametrize("transport", ["auto", "polling", "websocket"])
@pytest.mark.parametrize("version", [[], ["--engineio", "auto"], ["--engineio", "3"]])
def test_a_server_of_socketio_2_is_reached(old_peer, transport, version):
    done = run(old_peer.url, ['ack ack 1 "two"', "ack transport"], "--transport", transport, *version)
    assert done.code == 0, done.errors
    assert '✓ "ack" [1,"two"]' in done.output
    assert transport == "auto" or f'✓ "transport" ["{transport}"]' in done.output
    assert done.errors.count("\n") == 1, "connected, and nothing else"


def test_an_unsupported_version_is_named(peer, old_peer):
    begin = time.monotonic()
    done = run(old_peer.url, ["ack ack 1"], "--transport", "websocket", "--engineio", "4")
    assert done.code == 69 and done.errors.count("\n") == 1, done.errors
    assert "Socket.IO 2.x" in done.errors and "--engineio 3" in done.errors
    for transport in ("websocket", "polling"):
        done = run(peer.url, ["ack ack 1"], "--transport", transport, "--engineio", "3")
        assert done.code == 69 and done.errors.count("\n") == 1, done.errors
        assert "Engine.IO 3" in done.errors and "--engineio 4" in done.errors
    assert time.monotonic() - begin < 10, "the failure must not wait for the timeout"


def test_our_server_names_the_version_too():
    server = ServerProcess("conformance", "server", "--port", "0")
    try:
        done = run(server.url, ["ack ack 1"], "--transport", "websocket", "--engineio", "3")
        assert done.code == 69 and "--engineio 4" in done.errors
        assert run(server.url, ["ack ack 1"], "--transport", "websocket").code == 0
    finally:
        server.stop()


# Output


def test_binary_is_distinguished_from_text(peer, tmp_path):
    (tmp_path / "three").write_bytes(b"\x01\x02\xff")
    (tmp_path / "long").write_bytes(bytes(range(256)))
    (tmp_path / "nothing").write_bytes(b"")
    three, long, nothing = (f"@{tmp_path / name}" for name in ("three", "long", "nothing"))
    done = run(peer.url, [f'ack ack {three} "AQL/" "<binary 3 bytes: 01 02 ff>"', f"ack ack {long}", f"ack ack {nothing}", f"emit echo {three}", "ack ack 0"])
    assert done.code == 0, done.errors
    lines = done.output.splitlines()
    assert any('✓ "ack" [<binary 3 bytes: 01 02 ff>,"AQL/","<binary 3 bytes: 01 02 ff>"]' in line for line in lines), lines
    assert any(re.search(r"\[<binary 256 bytes: 00 01 02 [0-9a-f ]+ …>\]", line) for line in lines), lines
    assert any("[<binary 0 bytes>]" in line for line in lines), lines
    assert '← "echo" [<binary 3 bytes: 01 02 ff>]' in lines


# Failures


def test_a_failure_is_printed_once():
    """The attempts of four seconds all fail in the same way."""
    url = f"http://127.0.0.1:{free_port()}"
    done = run(url, ["ack ack 1"], "--timeout", "4")
    lines = done.errors.splitlines()
    assert done.code == 69 and len(lines) == 2, done.errors
    assert lines[0].startswith(f"no connection to {url}: could not connect to 127.0.0.1:"), done.errors
    assert lines[0].endswith("(Connection refused); retrying for 4.0 seconds"), done.errors
    assert lines[1].startswith(f"no connection to {url} within 4.0 seconds; check"), done.errors


def test_a_failure_that_cannot_be_retried_is_one_line():
    done = run(f"https://localhost:{free_port()}/", [], "--timeout", "0.3")
    assert done.code == 69 and done.errors.count("\n") == 1 and "Connection refused" in done.errors, done.errors


def test_a_failure_of_reconnection_is_printed_once(peer):
    with Connect(peer.url) as connect:
        connect.wait_for("connected to")
        peer.kill()
        connect.wait_for("Connection refused")
        time.sleep(5)
        lines = connect.errors.splitlines()
        assert len(lines) == 3 and "connection lost" in lines[1] and "Connection refused" in lines[2], connect.errors


# Ends


def test_the_server_disconnects(peer):
    begin = time.monotonic()
    done = run(peer.url, ["emit leave-me", "wait 8", 'emit echo "never"', 'ack ack "never"'])
    assert done.code == 69
    assert "the server closed the connection (io server disconnect)" in done.errors
    assert time.monotonic() - begin < 5, "the wait continues after the end of the connection"


def test_a_pending_ack_when_the_server_disconnects(peer):
    with Connect(peer.url, "--timeout", "30") as connect:
        connect.wait_for("connected to")
        begin = time.monotonic()
        connect.type("emit leave-me", "ack silent")
        assert connect.end() == 69
        assert time.monotonic() - begin < 5
        assert "io server disconnect" in connect.errors and "may have no handler for the event" not in connect.errors


def test_a_server_that_dies_fails_the_ack_at_once(peer):
    with Connect(peer.url, "--timeout", "30") as connect:
        connect.type("ack ack 1", "ack silent")
        connect.wait_for("✓")
        begin = time.monotonic()
        peer.kill()
        connect.wait_for("connection lost (transport")
        connect.wait_for("no ack for \"silent\"")
        # Later requests fail immediately.
        connect.type("ack ack 2", 'emit echo "never"', "state")
        connect.wait_for("no ack for \"ack\"")
        connect.wait_for('"echo" was not sent')
        assert time.monotonic() - begin < 5
        assert connect.end() == 69
        assert "may have no handler for the event" not in connect.errors
        assert connect.errors.count("connection was lost") == 3, "each message must contain the reason"


def test_a_connection_that_is_re_established(tmp_path):
    port = free_port()
    peer = Peer(port=port)
    try:
        with Connect(peer.url) as connect:
            connect.type("ack ack 1", "listen")
            connect.wait_for("✓")
            peer.kill()
            connect.wait_for("connection lost (transport")
            peer = Peer(port=port)
            connect.wait_for("connected again")
            connect.type("ack ack 2")
            connect.wait_for('✓ "ack" [2]')
            connect.type("quit")
            assert connect.end() == 0, "all lines must succeed"
    finally:
        peer.kill()


def test_the_exit_code_reports_failures(peer):
    assert run(peer.url, ["ack ack 1", "emit echo 1", "quit"]).code == 0
    done = run(peer.url, ["ack silent"], "--timeout", "1")
    assert done.code == 1 and "no ack for \"silent\" within 1.0 seconds" in done.errors and "may have no handler for the event" in done.errors
    assert run(peer.url, ["nonsense"]).code == 1
    assert run(f"http://127.0.0.1:{free_port()}", ["ack ack 1"], "--timeout", "1").code == 69
    assert run(peer.url + "/private", []).code == 77
