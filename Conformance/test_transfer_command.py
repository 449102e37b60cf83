"""Tests `apus receive` and `apus send` as two processes: files and folders, kill -9 of either side, Ctrl-C, codes and fingerprints."""
import contextlib
import hashlib
import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import time

import pytest

from support.process import ADDRESS, BINARY, ServerProcess, free_port, stop

MEGABYTE = 1_000_000
# A rate at which a process can be killed in the middle of a file on any machine.
SLOW = ["--rate-limit", "8MB"]


@pytest.fixture(autouse=True)
def own_identity(tmp_path, monkeypatch):
    """Keeps the tests from using the user's own certificate."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("http_proxy", raising=False)


class Receiver(ServerProcess):
    def __init__(self, folder: pathlib.Path, *arguments: str, port: int = 0):
        self.folder = folder
        is_ready = (lambda line: '"listening"' in line) if "--json" in arguments else ADDRESS.search
        super().__init__("receive", "--into", str(folder), "--listen", f"127.0.0.1:{port}", *arguments, is_ready=is_ready)
        self.port = self.port or port

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def proof(self) -> list[str]:
        """The options in the printed `apus send` command."""
        line = next(line for line in self.lines if line.startswith("send with: "))
        return line.split(self.address)[1].split()

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def part(self) -> pathlib.Path | None:
        return next(iter(self.folder.glob(".apus-*.part")), None)

    def wait_for_part(self, least: int = 3 * MEGABYTE):
        wait_until(lambda: (part := self.part()) is not None and part.stat().st_size >= least, "an unfinished file")


@pytest.fixture
def receiver(tmp_path):
    receiver = Receiver(tmp_path / "inbox", "--plain")
    yield receiver
    receiver.stop()


def wait_until(condition, what: str, seconds: float = 20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"no {what} within {seconds} s"
        time.sleep(0.01)


def start(*arguments, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [str(BINARY), "send", *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "SWIFT_BACKTRACE": "enable=no"}, **options)


def send(*arguments, code: int = 0, timeout: float = 60) -> str:
    """Runs `apus send` and returns the text of both output streams."""
    process = start(*arguments)
    try:
        output, errors = process.communicate(timeout=timeout)
    finally:
        process.kill()
    assert process.returncode == code, f"exit {process.returncode}: {output}{errors}"
    return output + errors


def make_file(path: pathlib.Path, count: int) -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(os.urandom(count))
    return path


def digest(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# Files and folders


def test_a_file_and_a_folder(receiver, tmp_path):
    big = make_file(tmp_path / "big.bin", 5 * MEGABYTE)
    album = tmp_path / "album"
    for number in range(30):
        make_file(album / f"{number}.jpg", number * 1000)
    (album / "empty").mkdir()
    (album / "link").symlink_to("/etc/passwd")
    output = send(big, album, receiver.address, "--plain")
    assert "32 files, 5.43 MB" in output and "1 skipped" in output
    assert "album/link: skipped: symbolic link, not followed" in output
    assert digest(receiver.folder / "big.bin") == digest(big)
    assert sorted(path.name for path in (receiver.folder / "album").iterdir()) == sorted([f"{n}.jpg" for n in range(30)] + ["empty"])
    assert (receiver.folder / "album" / "29.jpg").read_bytes() == (album / "29.jpg").read_bytes()
    # A second run transfers and duplicates nothing.
    output = send(big, album, receiver.address, "--plain")
    assert "(5.43 MB already there)" in output and "big.bin  already there" in output
    assert len(list(receiver.folder.rglob("*"))) == 33


def test_what_cannot_be_read_does_not_stop_the_rest(receiver, tmp_path):
    folder = tmp_path / "folder"
    for name in ("a", "b\x1b[31mred", "c"):
        make_file(folder / name, 10)
    output = send(folder, receiver.address, "--plain", code=77)
    assert "\x1b" not in output and "the file name is refused" in output and "2 files" in output
    assert sorted(path.name for path in (receiver.folder / "folder").iterdir()) == ["a", "c"]
    assert "does not exist" in send(tmp_path / "none", receiver.address, "--plain", code=66)


def test_attributes_are_preserved_on_request(receiver, tmp_path):
    file = make_file(tmp_path / "a", 10)
    file.chmod(0o750)
    os.utime(file, (1_000_000_000, 1_000_000_000))
    send(file, receiver.address, "--plain", "--preserve")
    status = (receiver.folder / "a").stat()
    assert status.st_mode & 0o777 == 0o750 and status.st_mtime == 1_000_000_000


def test_the_limit_is_reported(tmp_path):
    receiver = Receiver(tmp_path / "inbox", "--plain", "--max-bytes", "1MB")
    try:
        output = send(make_file(tmp_path / "a", MEGABYTE + 1), receiver.address, "--plain", code=77)
        assert "has 1000001 bytes" in output
        send(make_file(tmp_path / "b", MEGABYTE), receiver.address, "--plain")
    finally:
        receiver.stop()


def test_the_rate_limit_is_applied(receiver, tmp_path):
    begin = time.monotonic()
    send(make_file(tmp_path / "a", 2 * MEGABYTE), receiver.address, "--plain", "--rate-limit", "1MB")
    assert time.monotonic() - begin > 1.7


# Interruptions


def test_the_sender_is_killed_and_runs_again(receiver, tmp_path):
    file = make_file(tmp_path / "a", 20 * MEGABYTE)
    process = start(file, receiver.address, "--plain", *SLOW)
    receiver.wait_for_part()
    process.kill()
    process.communicate()
    kept = receiver.part().stat().st_size
    output = send(file, receiver.address, "--plain")
    resumed = re.search(r"a: resumes at ([\d.]+) MB of 20.0 MB", output)
    assert resumed and float(resumed.group(1)) * MEGABYTE >= kept - 1.1 * MEGABYTE, output
    assert digest(receiver.folder / "a") == digest(file) and receiver.part() is None


def test_the_receiver_is_killed_and_the_sender_reconnects(tmp_path):
    port = free_port()
    receiver = Receiver(tmp_path / "inbox", "--plain", port=port)
    file = make_file(tmp_path / "a", 20 * MEGABYTE)
    process = start(file, receiver.address, "--plain", *SLOW)
    try:
        receiver.wait_for_part()
        receiver.kill()
        time.sleep(1)  # attempts to reconnect fail
        receiver = Receiver(tmp_path / "inbox", "--plain", port=port)
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 0, output + errors
        assert "the connection was lost" in errors and "reconnected" in errors and "a: resumes at" in output
        assert digest(receiver.folder / "a") == digest(file)
    finally:
        process.kill()
        receiver.stop()


def test_the_receiver_is_killed_and_both_run_again_with_tls(tmp_path):
    port = free_port()
    receiver = Receiver(tmp_path / "inbox", "--code", port=port)
    proof = receiver.proof
    file = make_file(tmp_path / "a", 20 * MEGABYTE)
    process = start(file, receiver.address, *proof, *SLOW, "--wait", "0")
    receiver.wait_for_part()
    receiver.kill()
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 69 and "apus send: " in errors, errors
    receiver = Receiver(tmp_path / "inbox", "--code", port=port)
    try:
        assert receiver.proof == proof, "the code must be valid in the next run"
        assert "a: resumes at" in send(file, receiver.address, *proof)
        assert digest(receiver.folder / "a") == digest(file)
    finally:
        receiver.stop()


def test_control_c_at_the_sender(receiver, tmp_path):
    file = make_file(tmp_path / "a", 20 * MEGABYTE)
    process = start(file, receiver.address, "--plain", *SLOW)
    receiver.wait_for_part()
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130 and "run the same command again to resume" in errors
    assert time.monotonic() - begin < 5
    wait_until(lambda: "the sender cancelled the transfer" in receiver.text, "the cancellation at the receiver")
    assert "kept for resumption" in receiver.text and receiver.part() is not None
    assert "resumes at" in send(file, receiver.address, "--plain")
    assert digest(receiver.folder / "a") == digest(file)


def test_control_c_at_the_receiver(tmp_path):
    receiver = Receiver(tmp_path / "inbox", "--plain")
    file = make_file(tmp_path / "a", 20 * MEGABYTE)
    process = start(file, receiver.address, "--plain", *SLOW)
    receiver.wait_for_part()
    receiver.process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 75, errors
    assert receiver.process.wait(20) == 130
    receiver = Receiver(tmp_path / "inbox", "--plain")
    try:
        assert "resumes at" in send(file, receiver.address, "--plain")
        assert digest(receiver.folder / "a") == digest(file)
        receiver.process.send_signal(signal.SIGINT)
        assert receiver.process.wait(20) == 0, "the receiver was idle"
    finally:
        receiver.stop()


def test_a_second_control_c_exits_at_once(receiver, tmp_path):
    process = start(make_file(tmp_path / "a", 20 * MEGABYTE), receiver.address, "--plain", *SLOW)
    receiver.wait_for_part()
    stop(receiver.process)  # the cancellation is not acknowledged
    try:
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        assert process.returncode == 130 and time.monotonic() - begin < 2
    finally:
        os.kill(receiver.process.pid, signal.SIGCONT)


def test_the_sender_waits_for_a_file_in_use(receiver, tmp_path):
    file = make_file(tmp_path / "a", 16 * MEGABYTE)
    first = start(file, receiver.address, "--plain", "--rate-limit", "4MB")
    receiver.wait_for_part()
    second = start(file, receiver.address, "--plain", "--json")
    try:
        output, errors = second.communicate(timeout=40)
        assert second.returncode == 0, errors
        events = [json.loads(line)["event"] for line in output.splitlines()]
        assert "busy" in events and events[-1] == "summary"
        assert "another connection is sending this file" in errors
        assert first.wait(20) == 0
        assert [path.name for path in receiver.folder.iterdir()] == ["a"]
    finally:
        first.kill()
        first.communicate()
        second.kill()


# Authentication


def test_a_fingerprint(tmp_path):
    receiver = Receiver(tmp_path / "inbox")
    file = make_file(tmp_path / "a", 1000)
    try:
        assert receiver.proof[0] == "--pin" and re.fullmatch("[0-9a-f]{64}", receiver.proof[1])
        output = send(file, receiver.address, "--pin", "0" * 64, code=77)
        assert "is not the expected receiver" in output
        output = send(file, receiver.address, code=77)
        assert receiver.proof[1] in output and "no terminal to confirm" in output
        assert "requires TLS" in send(file, receiver.address, "--plain", code=69)
        assert not list(receiver.folder.iterdir())
        send(file, receiver.address, *receiver.proof)
        assert digest(receiver.folder / "a") == digest(file)
        assert (tmp_path / "data/apus/receive/key.pem").stat().st_mode & 0o777 == 0o600
    finally:
        receiver.stop()


def test_a_code(tmp_path):
    receiver = Receiver(tmp_path / "inbox", "--code")
    other = Receiver(tmp_path / "other", "--code", "--identity", str(tmp_path / "identity"))
    file = make_file(tmp_path / "a", 1000)
    try:
        fingerprint = receiver.lines[0].split()[-1]
        code = receiver.proof[1]
        assert "the receiver refused: it requires the code" in send(file, receiver.address, "--pin", fingerprint, code=77)
        assert "is not the expected receiver" in send(file, receiver.address, *other.proof, code=77)
        send(file, receiver.address, "--code", code.replace("-", "")[:-1] + "!", code=64)
        assert not list(receiver.folder.iterdir())
        send(file, receiver.address, "--code", code.lower())
        assert digest(receiver.folder / "a") == digest(file)
        # A code from a pipe is not shown by `ps`.
        process = subprocess.run(
            [str(BINARY), "send", str(file), receiver.address, "--code", "-"], input=code + "\n", capture_output=True, text=True, timeout=30)
        assert process.returncode == 0, process.stderr
        # The next run has another code with --renew.
        receiver.stop()
        receiver = Receiver(tmp_path / "inbox", "--code", "--renew")
        assert receiver.proof[1] != code
        assert "is not the expected receiver" in send(file, receiver.address, "--code", code, code=77)
    finally:
        receiver.stop()
        other.stop()


# Output


def test_once(tmp_path):
    receiver = Receiver(tmp_path / "inbox", "--plain", "--once")
    file = make_file(tmp_path / "a", 20 * MEGABYTE)
    process = start(file, receiver.address, "--plain", *SLOW)
    try:
        receiver.wait_for_part()
        process.kill()
        process.communicate()
        time.sleep(0.5)
        assert receiver.is_alive, "the receiver must wait after an interruption"
        send(file, receiver.address, "--plain")
        assert receiver.process.wait(20) == 0
    finally:
        receiver.stop()


def test_json(tmp_path):
    receiver = Receiver(tmp_path / "inbox", "--plain", "--json", "--once", port=free_port())
    file = make_file(tmp_path / "a", 4 * MEGABYTE)
    output = send(file, receiver.address, "--plain", "--json", "--rate-limit", "4MB")
    receiver.process.wait(20)
    sent = [json.loads(line) for line in output.splitlines()]
    assert [event["event"] for event in sent if event["event"] != "progress"] == ["began", "completed", "summary"]
    assert any(event["event"] == "progress" and 0 < event["bytes"] < 4 * MEGABYTE for event in sent)
    assert sent[-1]["bytes"] == sent[-1]["moved"] == 4 * MEGABYTE
    wait_until(lambda: '"session"' in receiver.text, "end of the session")
    received = [json.loads(line) for line in receiver.lines]
    assert [event["event"] for event in received if event["event"] != "progress"] == ["listening", "began", "completed", "session"]
    assert received[0]["address"] == receiver.address


def test_quiet(receiver, tmp_path):
    assert send(make_file(tmp_path / "a", 10), receiver.address, "--plain", "--quiet") == ""


class Terminal:
    """A process with its own pseudo-terminal. Its output is kept."""

    def __init__(self, *arguments, columns: int = 80):
        self.output = b""
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.execve(str(BINARY), [str(BINARY), *map(str, arguments)], {**os.environ, "TERM": "xterm", "COLUMNS": str(columns)})
        import fcntl
        import struct
        import termios

        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read_until(self, text: str, seconds: float = 30):
        deadline = time.monotonic() + seconds
        while text.encode() not in self.output:
            assert time.monotonic() < deadline, f"no {text!r} in {self.output!r}"
            self._read(0.1)

    def type(self, text: str):
        os.write(self.terminal, text.encode())

    def _read(self, seconds: float) -> bool:
        if not select.select([self.terminal], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.terminal, 65536)
        except OSError:  # raised by Linux when the other side is closed
            return False
        self.output += data
        return bool(data)

    def end(self, seconds: float = 30) -> int:
        """Reads to the end and returns the exit code."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self._read(0.1):
            pass
        if time.monotonic() >= deadline:
            os.kill(self.process, signal.SIGKILL)
        status = os.waitpid(self.process, 0)[1]
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(status)


def test_a_terminal(tmp_path):
    receiver = Receiver(tmp_path / "inbox")
    file = make_file(tmp_path / ("很长的名字 " + "x" * 60 + ".bin"), 8 * MEGABYTE)
    try:
        terminal = Terminal("send", file, receiver.address, "--rate-limit", "4MB", columns=70)
        terminal.read_until("[y/N] ")
        assert receiver.proof[1].encode() in terminal.output
        terminal.type("y\n")
        terminal.read_until("left")
        assert terminal.end() == 0
        text = terminal.output.decode()
        assert "很长" in text and "…" in text and "4.0" in text and "MB/s" in text
        lines = [line for line in re.split(r"\r\x1b\[K|\r\n", text) if "%" in line]
        assert len(lines) > 5 and all(len(line) + sum(c > "⺀" for c in line) < 70 for line in lines), "the line must not wrap"
        assert digest(receiver.folder / file.name) == digest(file)
        # Without a confirmation nothing is sent.
        terminal = Terminal("send", make_file(tmp_path / "b", 10), receiver.address)
        terminal.read_until("[y/N] ")
        terminal.type("\n")
        assert terminal.end() == 77 and not (receiver.folder / "b").exists()
        # Ctrl-C typed at the terminal.
        terminal = Terminal("send", make_file(tmp_path / "c", 20 * MEGABYTE), receiver.address, *receiver.proof, *SLOW)
        terminal.read_until("MB/s")
        terminal.type("\x03")
        assert terminal.end() == 130 and "run the same command again" in terminal.output.decode()
    finally:
        receiver.stop()
