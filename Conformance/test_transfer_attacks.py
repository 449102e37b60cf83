"""Tests `apus receive` with malicious senders: names with a leading dot, existing files, hashes of unknown contents, a missing code."""
import os
import pathlib
import re
import subprocess
import time

import pytest

from support.framed import RawSender, chunk, sha256
from support.process import BINARY, ServerProcess

SECRET = b"API_TOKEN=31415926\n"


@pytest.fixture(autouse=True)
def own_identity(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("http_proxy", raising=False)


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


class Receiver(ServerProcess):
    def __init__(self, home: pathlib.Path, *arguments: str, listen: str = "127.0.0.1:0"):
        super().__init__("receive", "--into", ".", "--listen", listen, *arguments, cwd=home)


@pytest.fixture
def receiver(home):
    receiver = Receiver(home, "--plain")
    yield receiver
    receiver.stop()


def tree(folder: pathlib.Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def wait_until(condition, what: str, seconds: float = 20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"no {what} within {seconds} s"
        time.sleep(0.01)


def snapshot(path: pathlib.Path) -> tuple:
    """Returns the content, mode, owner and times of a file, including the access time."""
    status = path.stat()
    times = (status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns)
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOATIME", 0)), "rb") as file:
        return file.read(), status.st_mode, status.st_uid, status.st_ino, *times


def existing(home: pathlib.Path, name: str, content: bytes) -> tuple[pathlib.Path, tuple]:
    path = home / name
    path.write_bytes(content)
    path.chmod(0o600)
    # The access time precedes the modification time, so that relatime records the next access.
    os.utime(path, ns=(1_000_000_000_000_000_000, 1_600_000_000_000_000_000))
    return path, snapshot(path)


# Names


@pytest.mark.parametrize("name", [".ssh/authorized_keys", ".bashrc", "a/.git/config", ".hidden/x", "..x", ".\u0308x", "\u200d.bashrc"])
@pytest.mark.parametrize("whole", [False, True])
def test_names_with_leading_dots_are_refused(receiver, home, name, whole):
    with RawSender(receiver.port) as sender:
        kind, _, header = sender.offer(name, b"ssh-ed25519 AAAA attacker\n", whole=whole)
        assert (kind, header["code"]) == ("error", "name-refused") and "--allow-hidden" in header["message"]
        kind, _, header = sender.offer(name, b"", stream=3, folder=True)
        assert (kind, header["code"]) == ("error", "name-refused")
    assert tree(home) == []


def test_hidden_names_are_accepted_if_allowed(home):
    receiver = Receiver(home, "--plain", "--allow-hidden")
    try:
        with RawSender(receiver.port) as sender:
            assert sender.offer(".config/app", b"a=1", whole=True)[0] == "complete"
            assert sender.offer(".apus-00.part", b"a=1", stream=3, whole=True)[2]["code"] == "name-refused"
        assert tree(home) == [".config", ".config/app"]
    finally:
        receiver.stop()


def test_apus_send_reports_the_refusal(receiver, home, tmp_path):
    album = tmp_path / "album"
    album.mkdir()
    for name in ("a.jpg", ".DS_Store"):
        (album / name).write_bytes(b"x")
    process = subprocess.run(
        [str(BINARY), "send", str(album), f"127.0.0.1:{receiver.port}", "--plain"], capture_output=True, text=True, timeout=30)
    assert process.returncode == 77
    assert "album/.DS_Store: the other side reported: " in process.stderr and "--allow-hidden" in process.stderr
    assert tree(home) == ["album", "album/a.jpg"]


# Existing files


@pytest.mark.parametrize("size", [len(SECRET), 40_000, 2_000_000])
@pytest.mark.parametrize("whole", [True, False])
def test_an_existing_file_is_not_touched(receiver, home, size, whole):
    """An offer of the same content with mode 0777 and time 0 is complete at once, and does not change the file."""
    if whole and size > 16_384:
        pytest.skip("only small files go with their offers")
    content = (SECRET * (size // len(SECRET) + 1))[:size]
    path, before = existing(home, "token", content)
    with RawSender(receiver.port) as sender:
        kind, _, header = sender.offer("token", content, whole=whole, permissions=0o777, modified=0)
        if not whole:
            assert (kind, header) == ("accept", {"offset": size})
            shown = {"bytes": size, "sha256": sha256(content)}
            assert sender.offer("token", content, shown=shown, permissions=0o777, modified=0)[::2] == ("accept", {"offset": size})
            sender.send("done", 1, {"sha256": sha256(content)})
            kind, _, header = sender.next()
        assert kind == "complete" and header["size"] == size
        assert snapshot(path) == before
    assert tree(home) == ["token"]


@pytest.mark.parametrize("whole", [True, False])
def test_a_differing_file_gets_another_name(receiver, home, whole):
    path, before = existing(home, "token", SECRET)
    other = bytes(len(SECRET))
    with RawSender(receiver.port) as sender:
        kind, _, header = sender.offer("token", other, whole=whole, permissions=0o777, modified=0)
        if not whole:
            assert (kind, header) == ("accept", {"offset": len(SECRET)})
            shown = {"bytes": len(SECRET), "sha256": sha256(other)}
            assert sender.offer("token", other, shown=shown, permissions=0o777, modified=0)[::2] == ("accept", {"offset": 0})
            sender.send("data", 1, None, chunk(0, other))
            sender.send("done", 1, {"sha256": sha256(other)})
            kind, _, header = sender.next()
            while kind == "ack":
                kind, _, header = sender.next()
        assert (kind, header) == ("complete", {"size": len(SECRET)})
    assert snapshot(path) == before
    assert tree(home) == ["token", "token (2)"]
    copy = (home / "token (2)").stat()
    assert (home / "token (2)").read_bytes() == other and copy.st_mode & 0o777 == 0o777 and copy.st_mtime == 0


# Disclosure


@pytest.mark.parametrize("size", [1, len(SECRET) - 1, len(SECRET), len(SECRET) + 1, 1 << 30])
def test_name_and_size_alone_disclose_nothing_of_an_existing_file(receiver, home, size):
    """The answer is the same for any offered size, and contains nothing of the file."""
    path, before = existing(home, "token", SECRET)
    with RawSender(receiver.port) as sender:
        sender.send("offer", 1, {"id": "guess", "name": "token", "size": size})
        assert sender.next() == ("accept", 1, {"offset": size})
        # A wrong guess gets the same answer as a file of another size: the whole file is requested.
        sender.send("offer", 1, {"id": "guess", "name": "token", "size": size, "shown": {"bytes": size, "sha256": "0" * 64}})
        assert sender.next() == ("accept", 1, {"offset": 0})
        sender.send("cancel", 1)
        assert sender.next()[0] == "cancelled"
    assert snapshot(path) == before


def test_the_hash_of_a_partial_file_is_not_disclosed(receiver, home):
    """A sender with the id of an upload receives its length, and must send its hash to resume it."""
    content = os.urandom(3 << 20)
    with RawSender(receiver.port) as sender:
        header = {"id": "mine", "name": "film", "size": len(content)}
        sender.send("offer", 1, header)
        assert sender.next() == ("accept", 1, {"offset": 0})
        for offset in range(0, 1 << 20, 1 << 18):
            sender.send("data", 1, None, chunk(offset, content[offset:offset + (1 << 18)]))
        assert sender.next() == ("ack", 1, {"offset": 1 << 20})
        sender.send("cancel", 1)
        assert sender.next()[0] == "cancelled"

        def accepted(stream: int, header: dict) -> dict:
            while True:
                sender.send("offer", stream, header)
                kind, _, fields = sender.next()
                if kind == "accept":
                    return fields
                assert fields["code"] == "busy"  # the file is not closed yet

        # With another id there is no partial file.
        assert accepted(3, {**header, "id": "theirs"}) == {"offset": 0}
        # With its own id it receives the length and no hash.
        assert accepted(5, header) == {"offset": 1 << 20}
        sender.send("offer", 5, {**header, "shown": {"bytes": 1 << 20, "sha256": sha256(content[:1 << 20])}})
        assert sender.next() == ("accept", 5, {"offset": 1 << 20})
        sender.send("cancel", 5)
        assert sender.next()[0] == "cancelled"
        # With a wrong hash, the transfer starts from the beginning.
        assert accepted(7, header) == {"offset": 1 << 20}
        sender.send("offer", 7, {**header, "shown": {"bytes": 1 << 20, "sha256": "0" * 64}})
        assert sender.next() == ("accept", 7, {"offset": 0})


# Partial files


def test_empty_parts_are_removed(receiver, home):
    with RawSender(receiver.port) as sender:
        for number in range(8):
            kind, _, header = sender.offer(f"file-{number}", b"x" * 100_000, stream=2 * number + 1)
            assert (kind, header) == ("accept", {"offset": 0})
        sender.send("cancel", 1)
        assert sender.next()[0] == "cancelled"
        wait_until(lambda: len(tree(home)) == 7, "removal of what was given up")
    wait_until(lambda: tree(home) == [], "removal of what was abandoned")


def test_empty_parts_of_a_killed_receiver_are_removed(home):
    receiver = Receiver(home, "--plain")
    try:
        with RawSender(receiver.port) as sender:
            assert sender.offer("file", b"x" * 100_000)[0] == "accept"
            receiver.kill()
        assert len(tree(home)) == 1
        receiver = Receiver(home, "--plain")
        assert tree(home) == []
    finally:
        receiver.stop()


# Authorization


def send(path, address: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(BINARY), "send", str(path), address, *arguments], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0"])
def test_off_loopback_a_code_is_required(home, tmp_path, listen):
    receiver = Receiver(home, listen=listen)
    try:
        text = "".join(receiver.lines)
        code = re.search(r"--code (\S+)", text)
        assert code, text
        fingerprint = re.search(r"certificate sha256 (\w+)", text).group(1)
        file = tmp_path / "a"
        file.write_bytes(b"a")
        address = f"127.0.0.1:{receiver.port}"
        process = send(file, address, "--pin", fingerprint)
        assert process.returncode == 77 and "requires the code" in process.stderr
        assert tree(home) == []
        assert send(file, address, "--code", code.group(1)).returncode == 0
        assert tree(home) == ["a"]
    finally:
        receiver.stop()


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "localhost:0"])
def test_on_loopback_no_code_is_required(home, listen):
    receiver = Receiver(home, listen=listen)
    try:
        assert "--code" not in "".join(receiver.lines)
    finally:
        receiver.stop()


def test_plain_accepts_files_from_any_sender(home, tmp_path):
    receiver = Receiver(home, "--plain", listen="0.0.0.0:0")
    try:
        file = tmp_path / "a"
        file.write_bytes(b"a")
        assert send(file, f"127.0.0.1:{receiver.port}", "--plain").returncode == 0
    finally:
        receiver.stop()
