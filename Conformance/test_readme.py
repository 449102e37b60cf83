"""Runs the code and the commands of both READMEs: the Swift blocks with the server of `make run`, with each other and with Python peers."""
import contextlib
import os
import pathlib
import pty
import re
import shlex
import subprocess
import sys
import threading
import time

import pytest
import requests
import socketio

from support.peers import LISTENING, PEERS, end
from support.process import BINARY, ROOT, ServerProcess

EXAMPLES = BINARY.parent / "ReadmeExamples"
PAGES = ["README.md", "README.zh-CN.md"]

needs_examples = pytest.mark.skipif(not EXAMPLES.exists(), reason=f"{EXAMPLES} is not built (swift build --build-tests)")


def text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str) -> list[str]:
    return re.findall(r"^```swift\n(.*?)^```", text(page), re.S | re.M)


def commands(page: str) -> list[str]:
    """Returns the commands of the indented blocks, one on each line, without comments."""
    return [line.partition("#")[0].strip() for line in re.findall(r"^    (\S.*)$", re.sub(r"^```.*?^```", "", text(page), flags=re.S | re.M), re.M)]


def code(block: str) -> list[str]:
    """Returns the lines without imports, indentation and trailing comments."""
    lines = (re.sub(r"\s+// .*$", "", line).strip() for line in block.splitlines())
    return [line for line in lines if line and not line.startswith("import ")]


class Example:
    """A run of one of the blocks at a pseudo-terminal, so that `print` is line-buffered."""

    def __init__(self, name: str, address: str = ""):
        terminal, other = pty.openpty()
        self.output = ""
        self.process = subprocess.Popen(
            [str(EXAMPLES), name], stdin=subprocess.DEVNULL, stdout=other, stderr=other, env={**os.environ, "APUS_EXAMPLE_ADDRESS": address})
        os.close(other)
        threading.Thread(target=self._read, args=(terminal,), daemon=True).start()

    def _read(self, terminal: int):
        data = b""
        with contextlib.suppress(OSError):  # raised by Linux when the other side is closed
            while piece := os.read(terminal, 65536):
                data += piece
                self.output = data.decode(errors="replace")
        os.close(terminal)

    def wait_for(self, pattern: str, seconds: float = 20) -> re.Match:
        deadline = time.monotonic() + seconds
        while not (match := re.search(pattern, self.output)):
            assert time.monotonic() < deadline and self.process.poll() is None, f"no {pattern!r} in {self.output!r}"
            time.sleep(0.01)
        return match

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end(self.process)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Starts the command of `make run` on free ports."""
    own = f"--port 0 --no-tls --data {tmp_path_factory.mktemp('demo')}"
    recipe = subprocess.run(["make", "--no-print-directory", "-n", "run", f"ARGS={own}"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    program, *arguments = shlex.split(recipe.splitlines()[-1].removeprefix("exec "))
    assert program == ".build/debug/apus"
    server = ServerProcess(*arguments)
    yield server
    server.stop()


@contextlib.contextmanager
def python_client(url: str):
    client = socketio.SimpleClient()
    client.connect(url)
    try:
        yield client
    finally:
        client.disconnect()


def event(client: socketio.SimpleClient, name: str):
    while True:
        received = client.receive(timeout=20)
        if received[0] == name:
            return received[1:]


# The code


@pytest.mark.parametrize("page", PAGES)
def test_the_files_contain_the_code_of_the_page(page):
    def file(path):
        return code((ROOT / "Examples" / path).read_text(encoding="utf-8"))

    # Each of these files contains a block as a function. The others contain a block that is compiled, but not run.
    run = {name: file(f"README/{name}.swift") for name in ("Client", "Server", "Feed")}
    compiled = ["\n".join(file(path)) for path in ("README/ChatView.swift", "SocketIOServer/YourFirstServer.swift")]
    rest = [code(block) for block in blocks(page)]
    for name, lines in run.items():
        block = next((block for block in rest if lines == [f"func run{name}() async throws {{", *block, "}"]), None)
        assert block, f"the page has no block equal to Examples/README/{name}.swift"
        rest.remove(block)
    assert len(rest) == len(compiled), "a block that no test runs or compiles: add it to Examples/README"
    for block in rest:
        assert any("\n".join(block) in text for text in compiled), block


@needs_examples
def test_the_client_with_the_server_of_make_run(demo):
    with python_client(demo.url) as other, Example("client", f"127.0.0.1:{demo.port}") as client:
        client.wait_for("Welcome to Apus")
        assert event(other, "chat message") == ["在吗？"]
        other.emit("chat message", "在的")
        client.wait_for(r"在的 3\r\n")


@needs_examples
def test_two_clients_talk(demo):
    with Example("client", f"127.0.0.1:{demo.port}") as first:
        first.wait_for("Welcome to Apus")
        with Example("client", f"127.0.0.1:{demo.port}"):
            first.wait_for(r"在吗？ 3\r\n")


@needs_examples
def test_the_server():
    with Example("server") as server:
        address = server.wait_for(r"listening on (127\.0\.0\.1:\d+)").group(1)
        with python_client(f"http://{address}") as other:
            assert event(other, "welcome") == ["Hello"]
            assert other.call("add", (1, 2)) == 3
            assert isinstance(other.call("add", (2**63 - 1, 1)), int), "large integers must be preserved"
            with Example("client", address) as client:
                client.wait_for('"Hello"')
                assert event(other, "chat message") == ["在吗？"]
                other.emit("chat message", "在的")
                client.wait_for(r"在的 3\r\n")


FEED = """
import asyncio
from websockets.asyncio.server import serve

async def talk(connection):
    assert connection.request.path == "/feed"
    await connection.send("first")
    await connection.send(b"second")
    await asyncio.sleep(3600)

async def main():
    async with serve(talk, "127.0.0.1", 0) as server:
        print(f"listening on 127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        await asyncio.sleep(3600)

asyncio.run(main())
"""


@needs_examples
def test_the_feed():
    process = subprocess.Popen([sys.executable, "-c", FEED], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        port = LISTENING.search(process.stdout.readline()).group(1)
        with Example("feed", f"127.0.0.1:{port}") as feed:
            feed.wait_for("first")
            feed.wait_for("second|6 bytes")
    finally:
        end(process)


# The commands


@pytest.mark.parametrize("page", PAGES)
def test_every_command_is_tested_here(page):
    names = [" ".join(command.split()[:2]) for command in commands(page)]
    assert names == ["make run", "make test", "apus receive", "apus send"], "a new command: add a test below"


@pytest.mark.parametrize("page", PAGES)
def test_the_page_of_make_run(demo, page):
    assert "/test.html" in text(page) and requests.get(f"{demo.url}/test.html", timeout=20).status_code == 200
    for name in ("alice", "bobby"):
        assert name in text(page) and "apus-demo" in text(page)
        answer = requests.post(f"{demo.url}/api/login", timeout=20,
            json={"name": name, "password": "apus-demo", "device": {"name": "Test", "platform": "test"}})
        assert answer.ok and answer.json()["access"], answer.text


def test_make_test_is_a_target():
    recipe = subprocess.run(["make", "--no-print-directory", "-n", "test"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert os.access(ROOT / recipe.strip(), os.X_OK)


@pytest.mark.parametrize("page", PAGES)
def test_files_arrive(page, tmp_path, monkeypatch):
    """Runs the two commands of the page with other ports, addresses and the receiver's code."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "identity"))
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    (here / "album").mkdir(parents=True)
    (here / "film.mp4").write_bytes(os.urandom(100_000))
    (here / "album" / "1.jpg").write_bytes(os.urandom(1000))
    receive, send = (shlex.split(command) for command in commands(page) if command.startswith("apus "))
    assert receive[-1] == "0.0.0.0:2787" and "10.0.0.5:2787" in send
    receiver = ServerProcess(*receive[1:-1], "0.0.0.0:0", cwd=there)
    try:
        printed = next(line for line in receiver.lines if line.startswith("send with: "))
        code = re.search(r"--code (\S+)", printed).group(1)
        assert send[-2] == "--code" and code.startswith("") and len(send[-1].partition("-")[0]) == len(code.partition("-")[0])
        own = [f"127.0.0.1:{receiver.port}" if word == "10.0.0.5:2787" else word for word in send[1:-1]] + [code]
        done = subprocess.run([str(BINARY), *own], cwd=here, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        for name in ("film.mp4", "album/1.jpg"):
            assert (there / "inbox" / name).read_bytes() == (here / name).read_bytes()
    finally:
        receiver.stop()


@pytest.mark.parametrize("page", PAGES)
def test_the_table_of_commands(page):
    """Each command exists, and its help contains the options in the table."""
    rows = re.findall(r"^\| `apus (\w+)(.*)$", text(page), re.M)
    assert {"serve", "chat", "connect", "ws", "receive", "send"} <= {name for name, _ in rows}
    for name, rest in rows:
        done = subprocess.run([str(BINARY), name, "--help"], capture_output=True, text=True, timeout=30)
        assert done.returncode == 0
        for option in re.findall(r"--[a-z-]+", rest):
            assert option in done.stdout, f"apus {name} {option}"
