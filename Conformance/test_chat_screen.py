"""Tests the full screen of `apus chat` in a terminal (tmux), and its commands for scripts, with two users and a server."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import unicodedata

import pytest

from support.chathost import ChatHost
from support.process import free_port
from test_chat_command import Account, Piped, Terminal, run, server, sign_up, until  # noqa: F401 (server is a fixture)

SIZES = [(80, 24), (160, 50)]
CHINESE = "你好，世界！今天天气很好"


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def size(request):
    return request.param


@pytest.fixture()
def terminal(tmp_path, size):
    if not shutil.which("tmux"):
        pytest.skip("no tmux on this machine")
    terminal = Terminal(tmp_path, *size)
    yield terminal
    terminal.close()


@pytest.fixture()
def people(server, tmp_path, request):
    """Two contacts with a conversation, new for each test."""
    ending = re.sub("[^a-z0-9]", "", request.node.name.lower())[-24:]
    names = [f"{letter}{ending}" for letter in "uv"]
    users = [sign_up(server, tmp_path, name, nick) for name, nick in zip(names, ["Uwe Ufer", "Vera 王芳"])]
    server.ask(names[0], "contact.request", {"id": "ask", "user": names[1]})
    server.ask(names[1], "contact.answer", {"id": "answer", "user": names[0], "accept": True})
    return [(name, user) for name, user in zip(names, users)]


def cells(text: str) -> int:
    """Returns the number of columns in tmux, which shows characters with a zero-width joiner in the cell of the first one."""
    text = re.sub("\u200d.", "", text)
    return sum(0 if unicodedata.combining(c) or c == "\ufe0f" else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def check_layout(terminal, columns, rows):
    """Checks the columns of the list, the separator and the messages, which wide characters must not move."""
    def is_laid_out():
        screen = terminal.screen()
        places = {cells(line[: line.index("│")]) for line in screen if "│" in line}
        return len(screen) == rows and len(places) == 1 and all(cells(line) <= columns for line in screen)

    until(is_laid_out, lambda: "\n".join(terminal.screen()))


def test_two_users_talk(terminal, people, size):
    (me, mine), (other, others) = people
    terminal.run(mine.command)
    terminal.shows("Chats")
    terminal.shows(f"{me} online")
    listener = Piped(others, "--open", me)
    listener.write("hi")
    terminal.shows("Vera 王芳")
    terminal.type("/open " + other[:-1] + "\t")
    terminal.press("Enter")
    terminal.shows("▸ Vera 王芳")
    terminal.type(CHINESE + " 👍")
    terminal.shows("❯ " + CHINESE + " 👍", last=True)
    assert terminal.cursor == 2 + cells(CHINESE + " 👍")
    terminal.press("Enter")
    listener.shows(f"{me}: {CHINESE} 👍")
    terminal.shows("✓✓ read")

    # A received message does not change the input.
    terminal.type("half typed")
    listener.write("answer **bold** 👨‍👩‍👧 🇨🇳 ❤️")
    terminal.shows("answer bold")
    terminal.shows("❯ half typed", last=True)
    if size[0] > 100:  # the list is wide enough for the emojis
        until(lambda: any("👨‍👩‍👧" in line.split("│")[0] for line in terminal.screen()), lambda: "\n".join(terminal.screen()))
    check_layout(terminal, *size)
    terminal.press("C-u")

    # History, several lines and a paste.
    terminal.press("C-p")
    terminal.shows("❯ " + CHINESE + " 👍", last=True)
    terminal.press("C-c")
    terminal.paste("first\nsecond")
    terminal.shows("second", last=False)
    terminal.press("Enter")
    listener.shows("first\n    second")

    # The keys of a selected message: reply, reaction and edit.
    listener.write("a question")
    terminal.shows("a question")
    terminal.press("Up", "r")
    terminal.shows("❯ /reply #")
    terminal.type("an answer")
    terminal.press("Enter")
    terminal.shows("┃ Vera 王芳: a question")
    terminal.type("/react 👍")
    terminal.press("Enter")
    terminal.shows("[👍 1]")
    terminal.type("/edit an edited answer")
    terminal.press("Enter")
    terminal.shows("an edited answer (edited)")
    terminal.type("/nothing")
    terminal.press("Enter")
    terminal.shows("unknown command /nothing")

    # Polls, search and the members.
    terminal.type("/poll When? | Mon | Tue")
    terminal.press("Enter")
    terminal.shows("◉ When?")
    terminal.shows("✓")
    terminal.type("/vote 2")
    terminal.press("Enter")
    terminal.shows("2 ● Tue")
    terminal.type("/search 天气")
    terminal.press("Enter")
    terminal.shows(f"] #")
    terminal.press("Enter")
    terminal.shows("▌")
    terminal.press("Escape")
    terminal.press("F1")
    terminal.shows("Help")
    terminal.press("Escape")
    terminal.hides("Help")
    check_layout(terminal, *size)

    # Other users' control characters do not reach the terminal.
    listener.write("evil \x1b[2J\x1b]0;title\x07 end")
    terminal.shows("end")
    check_layout(terminal, *size)
    terminal.run("/quit")
    terminal.shows("$", last=True)
    listener.end()


def test_typing_drafts_and_unread_messages(terminal, people, size):
    (me, mine), (other, others) = people
    run(others, "--open", me, lines="".join(f"line {number}\n" for number in range(1, 81)))
    terminal.run(mine.command)
    terminal.shows("Chats (1)")
    terminal.shows("80 │")  # unread
    terminal.press("Down", "Home")
    terminal.shows("Vera")
    terminal.press("Enter")
    terminal.shows("unread messages")
    terminal.shows("line 1 ")
    assert not any("line 80 " in line.split("│", 1)[-1] for line in terminal.screen())
    terminal.shows("new below")
    terminal.press("Escape")
    terminal.shows("line 80 ")
    conversation = server_conversation(others, me)
    subprocess.run([*others.command[:2], "send", *others.command[2:], me, "x"], check=True, capture_output=True)
    terminal.shows(" x")
    # A draft survives the end of the program.
    terminal.type("a draft 草稿")
    terminal.press("Escape", "q")
    terminal.shows("$", last=True)
    terminal.run([*mine.command, "--open", other])
    terminal.shows("❯ a draft 草稿", last=True)
    assert conversation
    terminal.press("C-c", "C-c")
    terminal.shows("$", last=True)


def server_conversation(account, name) -> str:
    output = subprocess.run([*account.command[:2], "list", *account.command[2:], "--json"], check=True, capture_output=True, text=True).stdout
    return next(line["conv"] for line in map(json.loads, output.splitlines()) if line.get("peer") == name)


def test_the_other_user_types(terminal, people, tmp_path):
    (me, mine), (other, others) = people
    (tmp_path / "second").mkdir()
    second = Terminal(tmp_path / "second")
    try:
        terminal.run([*mine.command, "--open", other])
        terminal.shows("❯", last=False)
        second.run([*others.command, "--open", me])
        second.shows("❯", last=False)
        second.type("thinking")
        terminal.shows("is typing…")
        second.press("Enter")
        terminal.shows("thinking")
        terminal.hides("is typing…")
    finally:
        second.close()


def test_the_screen_follows_the_size(terminal, people, size):
    (me, mine), (other, others) = people
    run(others, "--open", me, lines=f"{CHINESE * 4}\n")
    terminal.run([*mine.command, "--open", other])
    terminal.shows("今天天气很好")
    for columns, rows in [(100, 30), (71, 12), (200, 60), size]:
        terminal.resize(columns, rows)
        check_layout(terminal, columns, rows)
    # A narrow screen shows either the list or the messages.
    terminal.resize(40, 10)
    until(lambda: not any("│" in line for line in terminal.screen()), lambda: "\n".join(terminal.screen()))
    terminal.shows("Vera 王芳")
    terminal.press("Escape")
    terminal.shows("Chats")
    terminal.resize(12, 4)
    terminal.resize(1, 1)
    terminal.resize(*size)
    terminal.shows("Chats")
    check_layout(terminal, *size)
    terminal.press("q")
    terminal.shows("$", last=True)


def test_files_are_sent_saved_and_opened(terminal, people, tmp_path):
    (me, mine), (other, others) = people
    file = tmp_path / "文件.txt"
    file.write_bytes(os.urandom(30_000))
    # A program in place of that of the desktop records the opened files.
    tools = tmp_path / "tools"
    tools.mkdir()
    opened = tmp_path / "opened"
    (tools / "xdg-open").write_text(f"#!/bin/sh\ncat \"$1\" > {opened}.part; mv {opened}.part {opened}\n")
    (tools / "xdg-open").chmod(0o755)
    terminal.run(f"export PATH={tools}:$PATH")
    terminal.run([*mine.command, "--open", other])
    terminal.shows("❯", last=False)
    terminal.type(f"/file {file} the caption")
    terminal.press("Enter")
    terminal.shows("文件.txt, 30 kB")
    terminal.shows("✓")
    terminal.press("Up", "s")
    terminal.shows("❯ /save #")
    terminal.type(f" {tmp_path / 'saved'}")
    terminal.press("Enter")
    terminal.shows("Saved")
    assert (tmp_path / "saved").read_bytes() == file.read_bytes()
    assert not opened.exists()
    # An answer of several lines is shown in a panel over the messages.
    if any("Esc close" in line for line in terminal.screen()):
        terminal.press("Escape")
        terminal.hides("Esc close")
    terminal.hides("▌")
    terminal.press("Up")
    terminal.shows("▌")
    terminal.press("o")
    until(opened.exists, lambda: "\n".join(terminal.lines()))
    assert opened.read_bytes() == file.read_bytes()


def test_a_stopped_screen_continues(terminal, people):
    (me, mine), (other, _) = people
    terminal.run([*mine.command, "--open", other])
    terminal.shows("❯", last=False)
    terminal.type("before the pause")
    terminal.press("C-z")
    terminal.shows("Stopped")
    assert not terminal.is_alternate
    terminal.run("fg")
    terminal.shows("❯ before the pause", last=True)
    assert terminal.is_alternate
    terminal.press("C-c", "C-c")
    terminal.shows("$", last=True)


def test_a_killed_server_comes_back(terminal, tmp_path):
    host = ChatHost(tmp_path / "server", free_port())
    try:
        alice, bob = (Account(host, tmp_path, name) for name in ("alice", "bob"))
        terminal.run([*alice.command, "--open", "bob"])
        terminal.shows("alice online")
        terminal.shows("│ Bob Marsh")
        host.process.kill()
        terminal.shows("offline")
        terminal.type("written without a server 一")
        terminal.press("Enter")
        terminal.shows("… waiting")
        host.process = host._start(host.port)
        terminal.shows("alice online")
        terminal.hides("… waiting")
        reader = Piped(bob, "--open", "alice")
        reader.shows("alice: written without a server 一")
        reader.end()
        terminal.shows("✓✓ read")
        terminal.press("C-c")
        terminal.shows("$", last=True)
    finally:
        host.stop()


@pytest.mark.parametrize("size", [(80, 24)], indirect=True)
def test_a_simple_terminal_gets_lines(terminal, people):
    (me, mine), (other, _) = people
    terminal.run(["TERM=dumb", *mine.command, "--open", other])
    terminal.shows("— Vera 王芳 —")
    assert not terminal.is_alternate


# Commands for scripts.


def script(account: Account, command: str, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess:
    full = [*account.command[:2], command, *account.command[2:], *arguments]
    return subprocess.run(full, input=text, capture_output=True, text=True, timeout=60)


def test_scripts_send_and_read(people, tmp_path):
    (me, mine), (other, others) = people
    sent = script(mine, "send", other, "hello **you**")
    assert sent.returncode == 0 and re.fullmatch(r"✓ sent #\d+\n", sent.stdout) and sent.stderr == "", sent
    number = sent.stdout.split("#")[1].strip()
    piped = script(mine, "send", other, "--reply", number, text="from a pipe\nsecond line 你好\n")
    assert piped.returncode == 0, piped
    assert script(mine, "send", other, text="\n").returncode == 64
    absent = script(mine, "send", other, "--file", str(tmp_path / "absent"))
    assert absent.returncode == 66 and absent.stdout == "" and "cannot read the file" in absent.stderr
    (tmp_path / "a.txt").write_text("content")
    assert json.loads(script(mine, "send", other, "--file", str(tmp_path / "a.txt"), "--json").stdout)["kind"] == "file"
    nobody = script(mine, "send", "nosuchuser", "x")
    assert nobody.returncode == 66 and "there is no user" in nobody.stderr, nobody

    rows = [json.loads(line) for line in script(others, "history", me, "--json").stdout.splitlines()]
    texts = [row["text"] for row in rows if row["kind"] == "text"]
    assert texts == ["hello you", "from a pipe\nsecond line 你好"]
    plain = script(others, "history", me, "-n", "1").stdout
    assert re.fullmatch(rf"\S+\t\d+\t\d{{4}}-\d\d-\d\dT\S+Z\t{me}\t\[file a\.txt, 7 bytes\]\n", plain), plain
    heads = [json.loads(line) for line in script(others, "list", "--json", "--unread").stdout.splitlines()]
    assert [(head["peer"], head["unread"]) for head in heads] == [(me, 3)]  # `history` does not move the read position
    assert script(others, "list").stdout.split("\t")[2] == "Uwe Ufer"
    found = script(others, "search", "second", "你好")
    assert found.returncode == 0 and "from a pipe second line 你好" in found.stdout, found
    assert script(others, "search", "absent").returncode == 1


def test_the_account_is_known_after_the_first_command(people, tmp_path):
    (me, mine), (other, _) = people
    assert run(mine).returncode == 0
    known = [mine.command[0], "chat", "send", "--store", mine.command[-1], other, "short"]
    assert subprocess.run(known, capture_output=True, text=True, timeout=60).stdout.startswith("✓ sent")
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    short = [mine.command[0], "chat", "list"]
    unknown = subprocess.run(short, capture_output=True, text=True, timeout=60, env=environment)
    assert unknown.returncode == 64 and "--server" in unknown.stderr
    named = [*mine.command[:-2]]
    assert subprocess.run(named, input="", capture_output=True, text=True, timeout=60, env=environment).returncode == 0
    again = subprocess.run(short, capture_output=True, text=True, timeout=60, env=environment)
    assert again.returncode == 0 and "Vera 王芳" in again.stdout, again


def test_tail_prints_what_arrives(people):
    (me, mine), (other, others) = people
    for name in (None, me):
        arguments = [*others.command[:2], "tail", *others.command[2:], *([name] if name else []), "--json"]
        tail = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            # The first lines may be sent before the command listens.
            for number in range(100):
                script(mine, "send", other, f"message {number}")
                if select_line(tail):
                    break
            line = json.loads(tail.stdout.readline())
            assert line["sender"] == me and line["text"].startswith("message ")
        finally:
            tail.send_signal(signal.SIGINT)
            tail.wait(20)
            tail.stdout.close()
            tail.stderr.close()


def select_line(process) -> bool:
    import select

    return bool(select.select([process.stdout], [], [], 0.5)[0])


def test_options_may_stand_before_the_subcommand(people):
    (me, mine), (other, _) = people
    sent = subprocess.run([*mine.command, "send", other, "either way"], capture_output=True, text=True, timeout=60)
    assert sent.returncode == 0 and sent.stdout.startswith("✓ sent"), sent
