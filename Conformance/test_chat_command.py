"""Tests `apus chat` in a terminal (tmux), while a second user sends messages, and in a pipe."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time
from types import SimpleNamespace

import pytest

from support.authenticator import code_of
from support.chathost import PASSWORD, ChatHost
from support.process import BINARY, ServerProcess, free_port

WAIT = 20  # seconds


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    host = ChatHost(tmp_path_factory.mktemp("chat"), options=["--limits", "off"])  # the tests create many accounts from one address
    yield host
    host.stop()


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
            str(BINARY), "chat", "--server", server.url, "--user", name, "--password-file", str(self.password_file), "--store", str(folder / f"{name}.store"),
        ]


class Piped:
    """`apus chat` that reads its lines from a pipe."""

    def __init__(self, account: Account, *options: str):
        self.process = subprocess.Popen(
            [*account.command, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
        self.output = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
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
        """Closes its input, waits for its end, and returns its output."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.wait(WAIT)
        self._reader.join(WAIT)
        self.process.stdout.close()
        return self.output


def run(account: Account, *options: str, lines: str = "") -> subprocess.CompletedProcess:
    """Runs `apus chat` with lines from a pipe until it ends."""
    return subprocess.run([*account.command, *options], input=lines, capture_output=True, text=True, timeout=60)


def sign_up(server, folder: pathlib.Path, name: str, nick: str | None = None) -> Account:
    body = {"name": name, "password": PASSWORD, "device": {"name": "Test", "platform": "test"}, **({"nick": nick} if nick else {})}
    server.tokens[name] = server.post("/api/register", body)["access"]
    return Account(server, folder, name)


class Terminal:
    """A separate tmux server with one shell."""

    def __init__(self, folder: pathlib.Path, columns: int = 80, rows: int = 24):
        self._socket = str(folder / "tmux")
        environment = {**os.environ, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "screen-256color", "SWIFT_BACKTRACE": "enable=no"}
        environment.pop("TMUX", None)
        environment.pop("NO_COLOR", None)
        subprocess.run(
            ["tmux", "-u", "-S", self._socket, "-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "bash --norc --noprofile"],
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

    def resize(self, columns: int, rows: int = 24):
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def paste(self, text: str):
        """Pastes a text as a terminal does, with the marks of a bracketed paste if the program has enabled it."""
        self._tmux("set-buffer", "-b", "pasted", text)
        self._tmux("paste-buffer", "-p", "-d", "-b", "pasted")

    def screen(self) -> list[str]:
        """Returns all rows of the screen."""
        return self._tmux("capture-pane", "-p").split("\n")[:-1]

    def hides(self, text: str):
        until(lambda: not any(text in line for line in self.lines()), lambda: f"{text!r} in\n" + "\n".join(self.lines()))

    @property
    def is_alternate(self) -> bool:
        return self._tmux("display-message", "-p", "#{alternate_on}").strip() == "1"

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
def bob(server, tmp_path):
    person = Piped(Account(server, tmp_path, "bob"), "--open", "alice")
    yield person
    person.end()


def test_an_incoming_line_keeps_the_edited_line(terminal, alice, bob):
    terminal.run([*alice.command, "--lines", "--open", "bob"])
    terminal.shows("Bob Marsh>", last=True)
    terminal.type("Halb getippt 你好")
    terminal.shows("Bob Marsh> Halb getippt 你好", last=True)
    bob.write("dazwischen 🐦")
    terminal.shows("bob: dazwischen 🐦")
    terminal.shows("Bob Marsh> Halb getippt 你好", last=True)
    assert terminal.cursor == len("Bob Marsh> Halb getippt ") + 4

    # The cursor can edit the middle of the line.
    terminal.press("BSpace")
    terminal.press("Home")
    terminal.type("在")
    bob.write("noch eine")
    terminal.shows("bob: noch eine")
    terminal.shows("Bob Marsh> 在Halb getippt 你", last=True)
    assert terminal.cursor == len("Bob Marsh> ") + 2
    terminal.press("Right", "DC", "End", "Left")
    terminal.type("!")
    terminal.shows("Bob Marsh> 在Hlb getippt !你", last=True)
    terminal.press("C-e", "C-w", "C-a", "C-d")
    terminal.shows("Bob Marsh> Hlb getippt", last=True)
    terminal.press("C-k", "x", "C-u")
    terminal.type("Was ankommt 你好")
    terminal.press("Enter")
    terminal.shows("✓ sent")
    assert any(line.strip() == "Bob Marsh> Was ankommt 你好" for line in terminal.lines())
    terminal.shows("Bob Marsh>", last=True)

    terminal.press("Up")
    terminal.shows("Bob Marsh> Was ankommt 你好", last=True)
    terminal.press("Down")
    terminal.shows("Bob Marsh>", last=True)
    terminal.type("verworfen")
    terminal.press("C-c")
    terminal.shows("Bob Marsh> verworfen^C")
    terminal.shows("Bob Marsh>", last=True)
    terminal.run("/quit")
    terminal.shows("$", last=True)
    assert "Was ankommt 你好" in bob.end()


def test_a_text_wider_than_the_terminal(terminal, alice, bob):
    terminal.run([*alice.command, "--lines", "--open", "bob"])
    terminal.shows("Bob Marsh>", last=True)
    text = " ".join(f"{number:03d}字" for number in range(40))
    terminal.type(text)
    until(lambda: terminal.lines()[-1].endswith("039字"), lambda: "\n".join(terminal.lines()))
    assert sum("字" in line for line in terminal.lines()) == 1
    bob.write("above")
    terminal.shows("bob: above")
    until(lambda: terminal.lines()[-1].startswith("Bob Marsh> ") and terminal.lines()[-1].endswith("039字"), lambda: "\n".join(terminal.lines()))
    terminal.press("Home")
    until(lambda: terminal.lines()[-1].startswith("Bob Marsh> 000字 001字"), lambda: "\n".join(terminal.lines()))
    terminal.resize(40)
    until(lambda: len(terminal.lines()[-1]) < 40 and terminal.lines()[-1].startswith("Bob Marsh> 000字"), lambda: "\n".join(terminal.lines()))
    terminal.resize(80)
    terminal.press("Enter")
    terminal.shows("✓ sent")
    assert text in bob.end()


@pytest.mark.parametrize("mode", ["lines", "full"])
@pytest.mark.parametrize("way", ["quit", "end", "interrupt", "TERM", "INT", "HUP", "SEGV", "wrong"])
def test_the_terminal_mode_is_restored(terminal, alice, tmp_path, way, mode):
    before, after, code = (tmp_path / name for name in ("before", "after", "code"))
    options = ["--store", str(alice.password_file / "x")] if way == "wrong" else []
    terminal.run(f"stty -g > {before}; echo st''arted")
    terminal.shows("started")
    terminal.run([*alice.command, *(["--lines"] if mode == "lines" else ["--open", "bob"]), *options])
    if way != "wrong":
        terminal.shows("> " if mode == "lines" else "❯", last=mode == "lines")
        now = subprocess.run(["stty", "-g", "-F", terminal.device], capture_output=True, text=True, check=True).stdout
        assert now != before.read_text()
        assert terminal.is_alternate == (mode == "full")
    if way == "quit":
        terminal.run("/quit")
    elif way == "end":
        terminal.press("C-d")
    elif way == "interrupt":
        terminal.press("C-c")
    elif way != "wrong":
        os.kill(terminal.foreground, getattr(signal, "SIG" + way))
    until(lambda: not terminal.is_alternate, "the screen is not given back")
    if way == "SEGV":
        terminal.shows("fault")
    else:
        terminal.shows("$", last=True)
    terminal.run(f"echo $? > {code}; stty -g > {after}; echo do''ne")
    terminal.shows("done")
    assert after.read_text() == before.read_text()
    expected = {"quit": 0, "end": 0, "interrupt": 130 if mode == "lines" else 0, "INT": 130, "TERM": 143, "HUP": 129, "SEGV": 139, "wrong": 74}
    assert int(code.read_text()) == expected[way]
    if mode == "full" and way != "wrong":
        assert any("started" in line for line in terminal.lines())  # the previous screen is restored


def test_tab_completes_commands_and_names(terminal, alice):
    terminal.run([*alice.command, "--lines", "--open", "bob"])
    terminal.shows("Bob Marsh>", last=True)
    terminal.type("/his\t")
    terminal.shows("Bob Marsh> /history", last=True)
    terminal.press("C-u")
    terminal.type("hi @bo\t你好")
    terminal.shows("Bob Marsh> hi @bob 你好", last=True)
    terminal.press("C-c", "C-d")
    terminal.shows("$", last=True)


def test_a_stopped_chat_continues(terminal, alice, bob):
    terminal.run([*alice.command, "--lines", "--open", "bob"])
    terminal.shows("Bob Marsh>", last=True)
    terminal.type("vor der Pause")
    terminal.press("C-z")
    terminal.shows("Stopped")
    terminal.run("echo the shell$((1 + 1))")
    terminal.shows("the shell2")
    terminal.run("fg")
    terminal.shows("Bob Marsh> vor der Pause", last=True)
    terminal.type(", danach")
    terminal.press("Enter")
    terminal.shows("✓ sent")
    terminal.run("/quit")
    terminal.shows("$", last=True)
    bob.shows("vor der Pause, danach")
    bob.end()


def test_a_new_user_signs_up_and_talks(server, tmp_path):
    dora, emil = (Account(server, tmp_path, name) for name in ("dora", "emil"))
    first = run(dora, "--register", lines="/users emil\n")
    assert first.returncode == 0 and "Recovery codes" in first.stdout and "No users found." in first.stdout, first
    again = run(dora, "--register", "--store", str(tmp_path / "other"))
    assert again.returncode == 64 and "omit --register" in again.stderr
    listener = Piped(emil, "--register", "--open", "dora")
    listener.shows("— dora —")
    assert run(dora, "--open", "emil", lines="你好, 世界 🐦\n").stdout.splitlines()[-1] == "✓ sent: 你好, 世界 🐦"
    listener.shows("dora: 你好, 世界 🐦")
    listener.write("zurück")
    listener.shows("✓ sent: zurück")
    assert "\x1b" not in listener.end()


def test_an_invitation_admits_a_new_user(tmp_path):
    process = ServerProcess("serve", "--port", "0", "--no-tls", "--data", str(tmp_path / "data"), "--registration", "invitation")
    try:
        server = SimpleNamespace(url=f"http://127.0.0.1:{process.port}")
        made = subprocess.run(
            [BINARY, "admin", "--data", tmp_path / "data", "invite"], capture_output=True, text=True, check=True, timeout=60)
        code = made.stdout.split()[0]
        vera = Account(server, tmp_path, "vera")
        for options in (["--register"], ["--register", "--invitation", "no-such-code"]):
            refused = run(vera, *options)
            assert refused.returncode != 0 and "invitation" in refused.stderr, refused
        admitted = run(vera, "--register", "--invitation", code, lines="/notes\n")
        assert admitted.returncode == 0 and "— Notes —" in admitted.stdout, admitted
    finally:
        process.stop()


def test_a_contact_request_is_told_and_accepted(server, tmp_path):
    fritz, grete = (sign_up(server, tmp_path, name) for name in ("fritz", "grete"))
    listener = Piped(grete)
    listener.shows("No conversations yet")
    assert "A contact request was sent to @grete." in run(fritz, lines="/contact grete vom Verein\n").stdout
    listener.shows('@fritz asks to become a contact: "vom Verein". /accept fritz or /decline fritz')
    listener.write("/requests", "/accept fritz", "/requests")
    listener.shows("1. @fritz asks to become a contact")
    listener.shows("@fritz is now a contact.")
    listener.shows("No requests.")
    assert "✓ sent: hello" in run(fritz, "--open", "grete", lines="hello\n").stdout
    listener.shows("[fritz] fritz: hello")
    listener.end()


def test_a_group_by_invitation(server, tmp_path):
    hanna, ivo = (sign_up(server, tmp_path, name) for name in ("hanna", "ivo"))
    listener = Piped(ivo)
    listener.shows("No conversations yet")
    host = Piped(hanna)
    host.write("/group Bootsfahrt: @ivo", "wer kommt? @all")
    host.shows("✓ sent: wer kommt? @all")
    listener.shows('@hanna invites you to "Bootsfahrt"')
    listener.write("/accept bootsfahrt", "/open Bootsfahrt")
    listener.shows("You joined Bootsfahrt")
    listener.shows("— Bootsfahrt —")
    listener.write("ich", "/members", "/leave")
    host.shows("ivo: ich")
    host.shows("ivo: (left)")
    host.end()
    output = listener.end()
    assert "hanna  (owner)" in output and "ivo  (member)" in output


def test_messages_are_answered_changed_and_recalled(server, tmp_path):
    alice, bob = (Account(server, tmp_path, name) for name in ("alice", "carol"))
    listener = Piped(bob, "--open", "alice")
    listener.shows("— Alice Lindqvist —")
    writer = Piped(alice, "--open", "carol")
    writer.write("erst", "/edit zweitens", "dritt", "/recall")
    listener.shows("alice: zweitens (edited)")
    listener.shows("alice: (recalled)")
    listener.write("/react 👍", "/reply ja")
    writer.shows("zweitens (edited)  [👍 1]")
    writer.shows("carol: ↩ #")
    listener.end()
    writer.end()
    found = run(alice, lines="/search zweitens\n/search erst\n").stdout
    assert ": zweitens" in found and "No messages found." in found


def test_a_file_is_sent_and_saved(server, tmp_path):
    alice, bob = (Account(server, tmp_path, name) for name in ("alice", "bob"))
    file = tmp_path / "a file 文.txt"
    file.write_bytes(os.urandom(300_000))
    sent = run(alice, "--open", "bob", lines=f'/file "{file}" a caption\n')
    assert "✓ sent: [file a file 文.txt, 300 kB] a caption" in sent.stdout, sent
    saved = tmp_path / "saved"
    reader = Piped(bob, "--open", "alice")
    reader.shows("a caption")
    reader.write(f"/save {saved}", f"/save {saved}")
    reader.shows("already exists; name another one")
    assert "Saved" in reader.end() and saved.read_bytes() == file.read_bytes()


def test_messages_of_an_unreachable_server_are_sent_later(tmp_path):
    host = ChatHost(tmp_path / "server", free_port())
    try:
        alice, bob = (Account(host, tmp_path, name) for name in ("alice", "bob"))
        assert run(alice, "--open", "bob", lines="before\n").returncode == 0
        host.process.kill()
        late = run(alice, "--open", "bob", "--wait", "1", lines="während des Ausfalls 一\nund zwei\n")
        assert late.returncode == 75 and "2 messages are stored and not sent yet" in late.stderr, late
        listener = Piped(alice, "--open", "bob")  # connects as soon as the server has restarted
        host.process = host._start(host.port)
        listener.shows("✓ sent: und zwei")
        listener.end()
        reader = Piped(bob, "--open", "alice")
        reader.shows("alice: und zwei")
        output = reader.end()
        assert [output.count(f"alice: {text}") for text in ("before", "während des Ausfalls 一", "und zwei")] == [1, 1, 1]
    finally:
        host.stop()


def test_exit_codes(server, tmp_path):
    alice = Account(server, tmp_path, "alice")
    wrong = tmp_path / "wrong"
    wrong.write_text("not the password\n")
    assert run(alice, "--password-file", str(wrong)).returncode == 77
    assert run(alice, "--password-file", str(tmp_path / "absent")).returncode == 66
    assert run(alice, "--server", f"http://127.0.0.1:{free_port()}", "--wait", "1").returncode == 69
    assert run(alice, "--server", "gopher://127.0.0.1").returncode == 64
    assert run(alice, "--store", str(wrong / "x")).returncode == 74
    assert run(alice, "--wait", "-1").returncode == 64


def test_a_sign_in_asks_for_the_code_of_the_authenticator(server, terminal, tmp_path):
    vera = sign_up(server, tmp_path, "vera")
    token = server.tokens["vera"]
    secret = server.post("/api/totp", {"password": PASSWORD}, token)["secret"]
    server.post("/api/totp/confirm", {"code": code_of(secret)}, token)
    codes = server.post("/api/recovery", {"password": PASSWORD}, token)["recovery"]
    refused = run(vera)
    assert refused.returncode == 64 and "--code" in refused.stderr, refused
    refused = run(vera, "--code", "123456")
    assert refused.returncode == 77 and "The code is wrong" in refused.stderr and "--register" not in refused.stderr, refused
    terminal.run(vera.command)
    terminal.shows("Code of the authenticator, or a recovery code:")
    terminal.type(codes[0])
    terminal.press("Enter")
    terminal.shows("vera online")


def test_an_ended_session_is_renewed_by_the_password(server, tmp_path):
    karl = sign_up(server, tmp_path, "karl")
    assert run(karl).returncode == 0
    server.ask("karl", "device.remove", {"id": "others", "others": True})
    renewed = run(karl, "--open", "alice", lines="ich bin es\n")
    assert renewed.returncode == 0 and "sign in again" in renewed.stdout and "✓ sent: ich bin es" in renewed.stdout, renewed
    assert run(karl, lines="/logout\n").returncode == 0
    accounts = json.loads((tmp_path / "karl.store" / "accounts.json").read_text())
    assert accounts["accounts"] == [] and not list((tmp_path / "karl.store").glob("*.sqlite"))


def test_unread_messages_are_shown_before_they_are_read(server, tmp_path):
    lena, moritz = (sign_up(server, tmp_path, name, f"{name.title()} Fisch") for name in ("lena", "moritz"))
    assert "✓ sent: zero" in run(lena, "--open", "moritz", lines="zero\n").stdout
    assert "— unread messages —" in run(moritz, "--open", "lena").stdout
    run(lena, "--open", "moritz", lines="".join(f"line {number}\n" for number in range(1, 61)))
    assert "(60 new)" in run(moritz).stdout  # without a conversation, only the list is shown
    output = run(moritz, "--open", "lena").stdout
    assert "\x1b" not in output
    lines = output[output.index("— Lena"):].splitlines()
    place = lines.index("— unread messages —")
    assert lines[place - 1].endswith("lena: zero") and lines[place + 1].endswith("lena: line 1") and lines[-1].endswith("lena: line 60")
    assert "new)" not in run(moritz).stdout


def test_users_are_found_by_any_part_of_a_name(server, tmp_path):
    for name, nick in [("zhang_wei1", "张伟"), ("jfisher", "Jane Mary Fisher")]:
        sign_up(server, tmp_path, name, nick)
    output = run(Account(server, tmp_path, "alice"), lines="/users 伟\n/users fisher\n/users @jfi\n/users absent\n/open fisher\n").stdout
    assert output.count("zhang_wei1  张伟") == 1
    assert output.count("jfisher  Jane Mary Fisher") == 2
    assert "No users found." in output
    assert "there is no user named fisher; similar names: jfisher (Jane Mary Fisher)" in output
