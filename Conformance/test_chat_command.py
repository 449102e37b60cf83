"""Tests `apus chat` in a terminal (tmux), while a second user sends messages, and in a pipe."""
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time

import pytest
import requests

from support.process import BINARY, ServerProcess

PASSWORD = "apus-demo"
WAIT = 20  # seconds


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    process = ServerProcess("serve", "--demo", "--port", "0", "--no-tls", "--data", str(tmp_path_factory.mktemp("chat")))
    yield process
    process.stop()


def until(condition, what):
    deadline = time.monotonic() + WAIT
    while not (found := condition()):
        assert time.monotonic() < deadline, what() if callable(what) else what
        time.sleep(0.05)
    return found


class Account:
    """A user with a store; `command` is the `apus chat` command for both."""

    def __init__(self, server, folder: pathlib.Path, name: str, password: str = PASSWORD):
        self.password_file = folder / f"{name}.password"
        self.password_file.write_text(password + "\n")
        self.command = [
            str(BINARY), "chat", "--server", server.url, "--user", name, "--password-file", str(self.password_file), "--store", str(folder / f"{name}.sqlite"),
        ]


class Piped:
    """`apus chat` with its lines from a pipe: the second user."""

    def __init__(self, account: Account, *options: str):
        self.process = subprocess.Popen(
            [*account.command, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
        self.output = ""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.output += line

    def write(self, *lines: str):
        self.process.stdin.write("".join(line + "\n" for line in lines))
        self.process.stdin.flush()

    def shows(self, text: str):
        until(lambda: text in self.output, lambda: f"no {text!r} in\n{self.output}")

    def end(self) -> str:
        """Ends its input and returns its output."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.wait(WAIT)
        self._reader.join(WAIT)
        self.process.stdout.close()
        return self.output


class Terminal:
    """A separate tmux server with one shell, 80 × 24."""

    def __init__(self, folder: pathlib.Path):
        self._socket = str(folder / "tmux")
        environment = {**os.environ, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "screen-256color", "SWIFT_BACKTRACE": "enable=no"}
        environment.pop("TMUX", None)
        subprocess.run(
            ["tmux", "-u", "-S", self._socket, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "bash --norc --noprofile"],
            env=environment, check=True)
        self.run("PS1='$ '; clear")
        self.shows("$", last=True)

    def _tmux(self, *arguments: str) -> str:
        return subprocess.run(["tmux", "-u", "-S", self._socket, *arguments], check=True, capture_output=True, text=True).stdout

    def type(self, text: str):
        self._tmux("send-keys", "-l", text)

    def press(self, *keys: str):
        self._tmux("send-keys", *keys)

    def run(self, command):
        self.type(command if isinstance(command, str) else " ".join(command))
        self.press("Enter")

    def resize(self, columns: int):
        self._tmux("resize-window", "-x", str(columns))

    def lines(self) -> list[str]:
        return [line for line in self._tmux("capture-pane", "-p", "-J").splitlines() if line]

    @property
    def cursor(self) -> int:
        return int(self._tmux("display-message", "-p", "#{cursor_x}"))

    @property
    def device(self) -> str:
        return self._tmux("display-message", "-p", "#{pane_tty}").strip()

    @property
    def foreground(self) -> int:
        """The ID of the shell's foreground process."""
        shell = self._tmux("display-message", "-p", "#{pane_pid}").strip()
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", shell], capture_output=True, text=True, check=True).stdout.split()
        assert len(children) == 1
        return int(children[0])

    def shows(self, text: str, last: bool = False):
        """Waits until a line contains the text; with `last`, until the text is the entire last line."""
        def found():
            lines = self.lines()
            return lines and lines[-1].rstrip() == text.rstrip() if last else any(text in line for line in lines)
        until(found, lambda: f"no {text!r} in\n" + "\n".join(self.lines()))

    def close(self):
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], check=False, capture_output=True)


@pytest.fixture()
def terminal(tmp_path):
    if not shutil.which("tmux"):
        pytest.skip("no tmux on this machine")
    terminal = Terminal(tmp_path)
    yield terminal
    terminal.close()


@pytest.fixture()
def alice(server, tmp_path):
    return Account(server, tmp_path, "alice")


@pytest.fixture()
def bobby(server, tmp_path):
    person = Piped(Account(server, tmp_path, "bobby"), "--open", "alice")
    yield person
    person.end()


def test_an_incoming_line_keeps_the_edited_line(terminal, alice, bobby):
    terminal.run([*alice.command, "--open", "bobby"])
    terminal.shows("Bobby>", last=True)
    terminal.type("Halb getippt 你好")
    terminal.shows("Bobby> Halb getippt 你好", last=True)
    bobby.write("dazwischen 🐦")
    terminal.shows("bobby: dazwischen 🐦")
    terminal.shows("Bobby> Halb getippt 你好", last=True)
    assert terminal.cursor == len("Bobby> Halb getippt ") + 4

    # Editing continues at the cursor, also in the middle of the line.
    terminal.press("BSpace")
    terminal.press("Home")
    terminal.type("在")
    bobby.write("noch eine")
    terminal.shows("bobby: noch eine")
    terminal.shows("Bobby> 在Halb getippt 你", last=True)
    assert terminal.cursor == len("Bobby> ") + 2
    terminal.press("Right", "DC", "End", "Left")
    terminal.type("!")
    terminal.shows("Bobby> 在Hlb getippt !你", last=True)
    terminal.press("C-e", "C-w", "C-a", "C-d")
    terminal.shows("Bobby> Hlb getippt", last=True)
    terminal.press("C-k", "x", "C-u")
    terminal.type("Was ankommt 你好")
    terminal.press("Enter")
    terminal.shows("✓ sent")
    assert any(line.strip() == "Bobby> Was ankommt 你好" for line in terminal.lines())
    terminal.shows("Bobby>", last=True)

    terminal.press("Up")
    terminal.shows("Bobby> Was ankommt 你好", last=True)
    terminal.press("Down")
    terminal.shows("Bobby>", last=True)
    terminal.type("verworfen")
    terminal.press("C-c")
    terminal.shows("Bobby> verworfen^C")
    terminal.shows("Bobby>", last=True)
    terminal.run("/quit")
    terminal.shows("$", last=True)
    assert "Was ankommt 你好" in bobby.end()


def test_a_text_wider_than_the_terminal(terminal, alice, bobby):
    terminal.run([*alice.command, "--open", "bobby"])
    terminal.shows("Bobby>", last=True)
    text = " ".join(f"{number:03d}字" for number in range(40))
    terminal.type(text)
    until(lambda: terminal.lines()[-1].endswith("039字"), lambda: "\n".join(terminal.lines()))
    assert sum("字" in line for line in terminal.lines()) == 1
    bobby.write("above")
    terminal.shows("bobby: above")
    until(lambda: terminal.lines()[-1].startswith("Bobby> ") and terminal.lines()[-1].endswith("039字"), lambda: "\n".join(terminal.lines()))
    terminal.press("Home")
    until(lambda: terminal.lines()[-1].startswith("Bobby> 000字 001字"), lambda: "\n".join(terminal.lines()))
    terminal.resize(40)
    until(lambda: len(terminal.lines()[-1]) < 40 and terminal.lines()[-1].startswith("Bobby> 000字"), lambda: "\n".join(terminal.lines()))
    terminal.resize(80)
    terminal.press("Enter")
    terminal.shows("✓ sent")
    assert text in bobby.end()


@pytest.mark.parametrize("way", ["quit", "end", "interrupt", "TERM", "INT", "HUP", "wrong"])
def test_the_terminal_mode_is_restored(terminal, alice, tmp_path, way):
    before, after, code = (tmp_path / name for name in ("before", "after", "code"))
    options = ["--store", str(tmp_path / "nowhere" / "x")] if way == "wrong" else []
    terminal.run(f"stty -g > {before}")
    terminal.run([*alice.command, *options])
    if way != "wrong":
        terminal.shows(">", last=True)
        mode = subprocess.run(["stty", "-g", "-F", terminal.device], capture_output=True, text=True, check=True).stdout
        assert mode != before.read_text()
    if way == "quit":
        terminal.run("/quit")
    elif way == "end":
        terminal.press("C-d")
    elif way == "interrupt":
        terminal.press("C-c")
    elif way != "wrong":
        os.kill(terminal.foreground, getattr(signal, "SIG" + way))
    terminal.shows("$", last=True)
    terminal.run(f"echo $? > {code}; stty -g > {after}; echo do''ne")
    terminal.shows("done")
    assert after.read_text() == before.read_text()
    expected = {"quit": 0, "end": 0, "interrupt": 130, "INT": 130, "TERM": 143, "HUP": 129, "wrong": 74}
    assert int(code.read_text()) == expected[way]


def test_a_stopped_chat_continues(terminal, alice, bobby):
    terminal.run([*alice.command, "--open", "bobby"])
    terminal.shows("Bobby>", last=True)
    terminal.type("vor der Pause")
    terminal.press("C-z")
    terminal.shows("Stopped")
    terminal.run("echo the shell$((1 + 1))")
    terminal.shows("the shell2")
    terminal.run("fg")
    terminal.shows("Bobby> vor der Pause", last=True)
    terminal.type(", danach")
    terminal.press("Enter")
    terminal.shows("✓ sent")
    terminal.run("/quit")
    terminal.shows("$", last=True)
    assert "vor der Pause, danach" in bobby.end()


def test_unread_messages_are_shown_before_they_are_read(server, tmp_path, alice):
    for name in ("dora", "emil"):
        body = {"name": name, "password": PASSWORD, "display": f"{name.title()} Fisch"}
        assert requests.post(f"{server.url}/api/register", json=body, timeout=WAIT).status_code == 201
    dora, emil = (Account(server, tmp_path, name) for name in ("dora", "emil"))
    writer = Piped(dora, "--open", "emil")
    writer.write("zero")
    assert "✓ sent: zero" in writer.end()
    reader = Piped(emil, "--open", "dora")
    reader.shows("dora: zero")
    assert "— unread messages —" in reader.end()

    writer = Piped(dora, "--open", "emil")
    writer.write(*[f"line {number}" for number in range(1, 61)])
    writer.end()
    reader = Piped(emil)  # shows the list only
    assert "(60 new)" in reader.end()
    reader = Piped(emil, "--open", "dora")
    reader.shows("dora: line 60")
    output = reader.end()
    assert "\x1b" not in output
    lines = output[output.index("— Dora"):].splitlines()
    place = lines.index("— unread messages —")
    assert lines[place - 1].endswith("dora: zero") and lines[place + 1].endswith("dora: line 1") and lines[-1].endswith("dora: line 60")
    reader = Piped(emil)
    assert "new)" not in reader.end()


def test_users_are_found_by_any_part_of_a_name(server, tmp_path):
    people = [("zhang_wei1", "张伟"), ("jfisher", "Jane Mary Fisher")] + [(f"crowd{number}", f"Crowd Number {number}") for number in range(52)]
    for name, display in people:
        assert requests.post(f"{server.url}/api/register", json={"name": name, "password": PASSWORD, "display": display}, timeout=WAIT).status_code == 201
    asker = Piped(Account(server, tmp_path, "alice"))
    asker.write("/users 伟", "/users fisher", "/users MARY", "/users @jfi", "/users @mary", "/open fisher", "/more", "/users number", "/more", "/more")
    output = asker.end()
    assert output.count("zhang_wei1  张伟") == 1
    assert output.count("jfisher  Jane Mary Fisher") == 3
    assert "No users found." in output
    assert "there is no user named fisher; similar names: jfisher (Jane Mary Fisher)" in output
    assert output.count("there are no more") == 2  # after a list of one, and after the last page
    assert output.count("/more shows more users.") == 1
    assert [output.count(f"crowd{number}  ") for number in range(52)] == [1] * 52
