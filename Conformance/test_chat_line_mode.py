"""Runs every command of `apus chat` in line mode with a server, and checks its effects on the other users."""
import base64
import hmac
import re
import struct
import subprocess
import time
import zipfile

import pytest

from support.chathost import ChatHost
from test_chat_command import Account, Piped, sign_up, until

COMMANDS = set()


class Chat(Piped):
    """`apus chat` that reads its lines from a pipe. It records the commands."""

    def do(self, line: str, *shown: str):
        """Runs a command and waits until its output has each text."""
        if line.startswith("/") and not line.startswith("//"):
            COMMANDS.add(re.match(r"/([a-z]+)", line)[1])
        before = len(self.output)
        self.write(line)
        for text in shown:
            until(lambda: text in self.output[before:], lambda: f"no {text!r} after {line!r} in\n{self.output}")

    def repeat(self, line: str, shown: str):
        """Repeats a command until its output has a text of a head, which the server pushes at most once a second."""
        until(lambda: shown in self.after(line, "xrepeat"), lambda: f"no {shown!r} after {line!r} in\n{self.output}")

    def after(self, line: str, marker: str) -> str:
        """Runs a command and returns its output, which ends before that of `marker`, a refused command."""
        before = len(self.output)
        self.do(line)
        self.do(f"/{marker}", f"unknown command /{marker}")
        return self.output[before:self.output.index(f"unknown command /{marker}", before)]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    host = ChatHost(tmp_path_factory.mktemp("chat"), options=["--limits", "off"])
    yield host
    host.stop()


@pytest.fixture
def chats(server, tmp_path):
    """Yields a function that starts `apus chat` for a user with a separate store. All are ended afterwards."""
    started = []

    def start(name: str) -> Chat:
        chat = Chat(Account(server, tmp_path, name))
        started.append(chat)
        return chat

    yield start
    for chat in started:
        if not chat.process.stdin.closed:
            chat.process.stdin.close()
        try:
            chat.process.wait(20)
        except subprocess.TimeoutExpired:
            chat.process.kill()


def head(server, user: str, conv: str) -> dict:
    """Returns a user's head of a conversation."""
    return next((head for head in server.ask(user, "sync", {})["heads"] if head["conv"] == conv), None)


def event(server, user: str, conv: str, seq: int) -> dict:
    return next(event for event in server.log(conv, user) if event["seq"] == seq)


def eventually(server, user, conv, fits):
    return until(lambda: next((event for event in server.log(conv, user) if fits(event)), None), lambda: str(server.log(conv, user)))


def test_messages(server, chats, tmp_path):
    alice, bob = chats("alice"), chats("bob")
    pair = server.pair("alice", "bob")
    alice.do("/open bob", "— Bob Marsh —")
    bob.do("/open alice", "— Alice Lindqvist —")

    def text(words: str, by=alice) -> int:
        by.do(words)
        plain = re.sub(r"^/reply #\d+ |^/silent |^//|\*", "", words)
        return eventually(server, "bob", pair, lambda event: plain in event["body"].get("text", ""))["seq"]

    # Texts with Markdown, and lines that begin with a slash.
    first = text("hello **bold** world")
    assert event(server, "bob", pair, first)["body"]["entities"][0]["type"] == "bold"
    bob.shows("hello bold world")
    slash = text("//etc is a folder")
    assert event(server, "bob", pair, slash)["body"]["text"] == "/etc is a folder"
    # A text without a notification.
    silent = text("/silent a silent word", alice)
    assert event(server, "bob", pair, silent)["body"]["text"] == "a silent word"
    # A reply, an edit, which keeps the number, and the removal of a reaction.
    answer = text(f"/reply #{first} an answer", bob)
    assert event(server, "alice", pair, answer)["ref"] == first
    alice.shows("an answer")
    alice.do(f"/edit #{first} hello *again*")
    eventually(server, "bob", pair, lambda event: event["body"].get("text") == "hello again")
    bob.shows("hello again")
    bob.do(f"/versions #{first}", "hello bold world", "hello again")
    # `@all` is text where all cannot be mentioned.
    assert "entities" not in event(server, "bob", pair, text("@all of us"))["body"]
    bob.do(f"/react #{first} 👍")
    until(lambda: event(server, "alice", pair, first).get("reactions"), "no reaction")
    alice.do(f"/reactions #{first}", "👍", "bob")
    bob.do(f"/unreact #{first} 👍")
    until(lambda: not event(server, "alice", pair, first).get("reactions"), "the reaction stays")
    until(lambda: head(server, "bob", pair)["read"] >= 2, "bob has read nothing")
    alice.do(f"/readers #{first}", "bob")
    # Pins.
    alice.do(f"/pin #{slash}")
    bob.shows("pinned")
    until(lambda: head(server, "bob", pair).get("pins") == [slash], "no pin")
    bob.do("/pins", "/etc is a folder")
    bob.do(f"/unpin #{slash}")
    until(lambda: not head(server, "bob", pair).get("pins"), "the pin stays")
    # A thread.
    alice.do(f"/thread #{first} in the thread")
    eventually(server, "bob", pair, lambda event: event.get("thread") == first)
    bob.do(f"/thread #{first}", "in the thread", "thread of")
    bob.do("/thread")
    # Search, jump and earlier messages.
    bob.do("/search folder", "/etc is a folder")
    assert "No messages found." in bob.after("/search from:bob in:alice folder", "xfrom")
    bob.do("/search from:alice in:. kind:text after:1d folder", "/etc is a folder")
    assert "No messages found." in bob.after("/search before:2020-01-01 folder", "xbefore")
    bob.do(f"/jump #{first}", f"around #{first}")
    bob.do("/history", "earlier messages")
    # A poll.
    alice.do("/poll* Tea or coffee? | tea | coffee", "[poll]")
    poll = eventually(server, "bob", pair, lambda event: event["kind"] == "poll")["seq"]
    bob.shows("Tea or coffee?")
    bob.do(f"/vote #{poll} 1 2")
    until(lambda: event(server, "alice", pair, poll).get("votes") == [1, 1], lambda: str(event(server, "alice", pair, poll)))
    alice.do(f"/votes #{poll}", "@bob: tea, coffee")
    bob.do("/votes", "you: tea, coffee")
    bob.do(f"/vote #{poll} 0")
    until(lambda: not any(event(server, "alice", pair, poll).get("votes") or []), "the votes stay")
    assert "No votes." in alice.after(f"/votes #{poll}", "xvotes")
    alice.do(f"/closepoll #{poll}")
    until(lambda: event(server, "bob", pair, poll)["body"].get("closed"), lambda: str(event(server, "bob", pair, poll)))
    alice.do("/poll --anonymous --until +30m Six or seven? | six | seven", "Six or seven?")
    secret = eventually(server, "bob", pair, lambda event: event["kind"] == "poll" and event["seq"] != poll)["body"]
    assert secret["anonymous"] and 0 < secret["closes_at"] - time.time() * 1000 <= 1_800_000 and not secret.get("multiple")
    # Messages that are sent later.
    alice.do("/schedule +30m a later word", "/scheduled")
    alice.do("/scheduled", "a later word")
    assert server.ask("alice", "scheduled", {})["scheduled"][0]["conv"] == pair
    alice.do("/unschedule 1", "no longer scheduled")
    assert not server.ask("alice", "scheduled", {})["scheduled"]
    # Messages are forwarded one by one and as a bundle.
    alice.do(f"/forward #{first} carol")
    with_carol = server.pair("alice", "carol")
    until(lambda: head(server, "carol", with_carol), "the pair has no message")
    eventually(server, "carol", with_carol, lambda event: event["body"].get("text") == "hello again")
    alice.do(f"/forward #{first},#{slash} carol: Two words")
    eventually(server, "carol", with_carol, lambda event: event["kind"] == "bundle")
    # A message is hidden for its user, and another is recalled for all.
    alice.do(f"/hide #{answer}")
    until(lambda: all(event["seq"] != answer or event["kind"] == "hidden" for event in server.log(pair, "alice")), "still shown")
    assert event(server, "bob", pair, answer)["body"]["text"] == "an answer"
    alice.do(f"/recall #{slash}")
    until(lambda: not event(server, "bob", pair, slash).get("body"), "the text stays")
    alice.do("/unpreview", "there is no own text with a preview on the screen")
    # Files, with a caption in Markdown.
    source = tmp_path / "voyage.txt"
    source.write_text("to the lighthouse\n")
    alice.do(f"/file {source} the **plan**")
    file = eventually(server, "bob", pair, lambda event: event["kind"] == "file")
    assert file["body"]["name"] == "voyage.txt" and file["body"]["size"] == 18
    assert file["body"]["text"] == "the plan" and file["body"]["entities"][0]["type"] == "bold"
    bob.shows("voyage.txt")
    bob.do(f"/save #{file['seq']} {tmp_path}/saved.txt", "saved.txt")
    until(lambda: (tmp_path / "saved.txt").exists(), "no file")
    assert (tmp_path / "saved.txt").read_text() == "to the lighthouse\n"
    # The files of the conversation.
    bob.repeat("/search in:. kind:file", "voyage.txt")  # the index of the server follows the log
    # The operator receives a report.
    bob.do(f"/report #{first} spam a word to the operator", f"The report of #{first} was sent to the operator.")
    bob.do("/report chat other the title", "The report of the conversation was sent to the operator.")


def test_earlier_messages(server, chats):
    pair = server.pair("bob", "carol")
    for number in range(1, 91):
        server.do("carol", "send", conv=pair, kind="text", body={"text": f"row {number:02}."})
    server.ask("bob", "mark", {"conv": pair, "read": 90})  # unread messages are all shown
    bob = chats("bob")
    rows = lambda output: [int(number) for number in re.findall(r"row (\d+)\.", output)]
    opened = lambda: rows(bob.output.partition("— Carol Okafor —")[2])
    bob.do("/open carol", "— Carol Okafor —")
    until(lambda: 90 in opened(), lambda: bob.output)
    shown = opened()
    assert 1 < shown[0] and shown == list(range(shown[0], 91))
    first = shown[0]
    while first > 1:
        page = bob.after("/history", "xhistory")
        assert "— earlier messages —" in page and "— end of the earlier messages" in page
        assert rows(page) == list(range(rows(page)[0], first)), page
        first = rows(page)[0]
        assert ("; /history shows more" in page) or first == 1, page
    bob.repeat("/history", "There are no earlier messages.")


def test_refused_messages_are_sent_again_or_removed(server, chats):
    group = server.do("alice", "conversation.create", kind="group", title="Quay", users=["bob"])["head"]["conv"]
    words = lambda: [event["body"]["text"] for event in server.log(group) if event["kind"] == "text"]
    bob = chats("bob")
    bob.do("/open Quay", "— Quay —", "(added @bob)")
    assert not bob.after("/retry", "xretry").strip() and not bob.after("/discard", "xdiscard").strip()
    server.do("alice", "conversation.set", conv=group, settings={"write": "admins"})
    bob.do("one", "(one); /retry or /discard")
    bob.do("/discard")
    bob.do("two", "(two); /retry or /discard")
    bob.do("three", "(three); /retry or /discard")
    bob.do("/retry", "(two); /retry or /discard", "(three); /retry or /discard")
    server.do("alice", "conversation.set", conv=group, settings={"write": "members"})
    bob.do("/retry", "✓ sent: two", "✓ sent: three")
    assert words() == ["two", "three"]
    assert not bob.after("/retry", "xretry").strip()


def test_conversations(server, chats, tmp_path):
    alice, bob = chats("alice"), chats("bob")
    alice.do("/chats", "Notes")
    alice.do("/notes", "— Notes —")
    alice.do("a note to myself", "a note to myself")
    alice.do("/group Rowers: bob carol", "— Rowers —")
    group = until(lambda: next((head["conv"] for head in server.ask("bob", "sync", {})["heads"] if head.get("title") == "Rowers"), None), "no group")
    bob.do("/open Rowers", "— Rowers —")

    alice.do("/title Rowing club")
    until(lambda: head(server, "bob", group)["title"] == "Rowing club", "another title")
    bob.shows("Rowing club")
    alice.do("/about We row at six")
    bob.repeat("/info", "We row at six")
    alice.do("/add weilin")
    until(lambda: head(server, "weilin", group), "no invitation")
    assert head(server, "weilin", group)["state"] == "invited"
    weilin = chats("weilin")
    weilin.do("/requests", "Rowing club")
    weilin.do("/accept Rowing club")
    until(lambda: head(server, "weilin", group).get("state", "joined") == "joined", "not joined")
    alice.do("/members", "weilin", "carol")
    alice.do("/members weil", "weilin")
    # Rights.
    member = lambda name: next((m for m in server.ask("alice", "members", {"conv": group})["members"] if m["user"]["name"] == name), None)
    alice.do("/role bob admin")
    until(lambda: member("bob")["role"] == "admin", "no admin")
    alice.do("/silence weilin 1")
    until(lambda: member("weilin").get("muted_until", 0) > 0, "not silenced")
    with pytest.raises(AssertionError, match="403"):
        server.do("weilin", "send", conv=group, kind="text", body={"text": "may I?"})
    alice.shows("you: (silenced @weilin)")
    alice.do("/unsilence weilin", "you: (lets @weilin write again)")
    until(lambda: not member("weilin").get("muted_until"), lambda: str(member("weilin")))
    server.do("weilin", "send", conv=group, kind="text", body={"text": "I may"})
    bob.shows("I may")
    settings = lambda: head(server, "bob", group).get("settings", {})
    for line, key, value in [
        ("/slow 5", "slow", 5), ("/slow 0", "slow", 0), ("/write admins", "write", "admins"), ("/write members", "write", "members"),
        ("/joining approval", "join", "approval"), ("/listed yes", "listed", True), ("/expire 7d", "expire", 604_800), ("/expire 0", "expire", 0),
        ("/set invite admins", "invite", "admins"), ("/set manage admins", "manage", "admins"), ("/set manage members", "manage", "members"),
        ("/set pin members", "pin", "members"), ("/set mention_all members", "mention_all", "members"), ("/set history join", "history", "join"),
        ("/set receipts no", "receipts", False),
    ]:
        alice.do(line)
        until(lambda: settings().get(key) == value, lambda: f"{line}: {settings()}")
    # Links and requests to join.
    alice.do("/link 24 5", "The code is ")
    code = re.findall(r"The code is (\S+)", alice.output)[-1]
    alice.do("/links", code)
    ruth = sign_up(server, tmp_path, "ruth")
    joining = Chat(ruth)
    joining.do(f"/join {code}", "— Rowing club —")
    alice.shows("ruth: (joined by a link)")
    alice.do(f"/revoke {code}")
    until(lambda: code not in alice.after("/links", "xlinks"), "the link is listed")
    joining.do("/leave")
    until(lambda: not member("ruth"), "still a member")
    alice.do("/approve", "There are no requests to join.")
    joining.do("/directory rowing", "Rowing club")
    joining.do("/join 1")
    until(lambda: "ruth" in alice.after("/approve", "xapprove"), lambda: alice.output)
    assert not member("ruth")
    alice.do("/reject ruth")
    until(lambda: "ruth" not in alice.after("/approve", "xreject"), "the request stays")
    # A request is withdrawn by its sender. A link with an approval makes one too.
    alice.do("/link 24 reader approval", "for a reader", "An admin approves them with /approve.")
    code = re.findall(r"The code is (\S+)", alice.output)[-1]
    alice.do("/joining open")
    until(lambda: settings().get("join") == "open", lambda: str(settings()))
    joining.do(f"/join {code}", "has to approve the request")
    until(lambda: "ruth" in alice.after("/approve", "xapprove"), lambda: alice.output)
    joining.repeat("/requests", "You asked to join Rowing club.")
    joining.do("/withdraw Rowing club", "The request to join Rowing club is withdrawn.")
    until(lambda: "ruth" not in alice.after("/approve", "xwithdraw"), "the request stays")
    joining.do(f"/join {code}", "has to approve the request")
    until(lambda: "ruth" in alice.after("/approve", "xapprove"), lambda: alice.output)
    alice.do("/approve ruth")
    until(lambda: member("ruth"), "not admitted")
    assert member("ruth")["role"] == "reader"
    alice.do("/remove ruth")
    until(lambda: not member("ruth"), "still a member")
    joining.end()
    # Removal and bans.
    alice.do("/remove carol")
    until(lambda: not member("carol"), "still a member")
    alice.do("/ban weilin 2")
    until(lambda: not member("weilin"), "still a member")
    alice.do("/banned", "weilin")
    alice.do("/unban weilin")
    until(lambda: not server.ask("alice", "members", {"conv": group, "state": "banned"})["members"], "still banned")
    # Own settings.
    own = lambda: head(server, "bob", group).get("own", {})
    for line, key in [("/mute 2", "muted_until"), ("/top", "pinned_at"), ("/unread", "marked_unread"), ("/archive", "archived")]:
        bob.do(line)
        until(lambda: own().get(key), lambda: f"{line}: {own()}")
    bob.do("/archived", "Rowing club")
    bob.do("/mute mentions", "mention you")
    until(lambda: own().get("notify") == "mentions" and not own().get("muted_until"), lambda: str(own()))
    bob.do("/mute 2")
    for line, key in [("/unmute", "muted_until"), ("/unmute", "notify"), ("/untop", "pinned_at"), ("/unarchive", "archived")]:
        bob.do(line)
        until(lambda: not own().get(key), lambda: f"{line}: {own()}")
    # Folders.
    bob.do("/folders", "No folders.")
    bob.do("/folder Sport", "is in the folder")
    bob.do("/folders", "Sport  (1 conversation)")
    bob.do("/chats sport", "1. Rowing club")
    bob.do("/folder Club")
    until(lambda: own().get("folders") == ["Sport", "Club"], lambda: str(own()))
    bob.do("/unfolder sport", "no longer in the folder")
    until(lambda: own().get("folders") == ["Club"], lambda: str(own()))
    bob.do("/folders delete Sport", "is deleted")
    assert "Club  (1 conversation)" in bob.after("/folders", "xfolders") and own().get("folders") == ["Club"]
    bob.do("/chats Sport", 'there is no folder "Sport"')
    # A channel, and the end.
    alice.do("/channel News of the river", "— News of the river —")
    bob.do("/directory news", "News of the river")
    bob.do("/join 1", "News of the river")
    listed = lambda name: any(head.get("title") == "News of the river" and not head.get("gone") for head in server.ask(name, "sync", {})["heads"])
    bob.do("/delete", "News of the river no longer exists")
    assert listed("alice") and not listed("bob") and "News of the river" not in bob.after("/chats", "xchats")
    bob.do("/directory news", "News of the river")
    bob.do("/join 1", "— News of the river —")
    before = bob.output.count("News of the river no longer exists")
    alice.do("/delete all", "News of the river no longer exists")
    until(lambda: bob.output.count("News of the river no longer exists") > before, lambda: bob.output)
    assert not listed("alice") and not listed("bob")


def test_people_and_account(server, chats, tmp_path):
    alice, weilin = chats("alice"), chats("weilin")
    alice.do("/contacts", "bob")
    alice.do("/users weilin", "陈维林")
    alice.do("/contact weilin shall we row?", "was sent")
    weilin.do("/requests", "alice", "shall we row?")
    weilin.do("/accept alice")
    contacts = lambda: {contact["user"]["name"]: contact for contact in server.ask("alice", "contacts", {})["contacts"]}
    until(lambda: contacts()["weilin"]["state"] == "friend", lambda: str(contacts()))
    alice.do("/alias weilin Captain")
    until(lambda: contacts()["weilin"].get("alias") == "Captain", "no alias")
    alice.do("/uncontact weilin")
    until(lambda: contacts().get("weilin", {}).get("state") != "friend", "still a contact")
    alice.do("/block weilin", "is blocked")
    assert contacts()["weilin"]["state"] == "blocked"
    alice.do("/blocked", "weilin")
    alice.do("/unblock weilin", "no longer blocked")
    alice.do("/contact weilin again")
    weilin.repeat("/requests", "alice")
    weilin.do("/decline alice")
    until(lambda: "alice" not in weilin.after("/requests", "xrequests"), "the request stays")
    profile = lambda: server.ask("bob", "users", {"names": ["alice"]})["users"][0]
    alice.do("/nick Alice of the River")
    until(lambda: profile()["nick"] == "Alice of the River", lambda: str(profile()))
    alice.do("/status on the water")
    until(lambda: profile().get("status") == "on the water", lambda: str(profile()))
    # The privacy settings.
    privacy = lambda: server.ask("alice", "settings", {})["settings"]
    for line, key, value in [("/privacy messages contacts", "messages", "contacts"), ("/privacy typing no", "typing", False)]:
        alice.do(line)
        until(lambda: privacy().get(key) == value, lambda: f"{line}: {privacy()}")
    alice.do("/privacy", "messages: contacts", "typing: no")
    alice.do("/privacy messages nobody", '"messages nobody" is not valid', "all|contacts|none")
    alice.do("/privacy messages all")
    # Quiet hours are entered in local time and stored in UTC.
    settings = lambda: server.ask("alice", "settings", {})["settings"]
    alice.do("/quiet", "No quiet hours.")
    alice.do("/quiet 22:30 07:00", "from 22:30 to 07:00")
    offset = int(time.localtime().tm_gmtoff) // 60
    assert [settings()["quiet_from"], settings()["quiet_until"]] == [(1_350 - offset) % 1_440, (420 - offset) % 1_440]
    alice.do("/quiet", "No notifications from 22:30 to 07:00.")
    alice.do("/quiet 25:00 7:00", "two times are required")
    alice.do("/quiet off", "No quiet hours.")
    until(lambda: "quiet_from" not in settings(), lambda: str(settings()))
    # The data of the account.
    alice.do(f"/export {tmp_path}/data.zip", "The data was written to")
    with zipfile.ZipFile(tmp_path / "data.zip") as data:
        assert "README.txt" in data.namelist()
    alice.do(f"/export {tmp_path}/data.zip", "already exists; name a new file")
    (tmp_path / "second").mkdir()
    script = Account(server, tmp_path / "second", "alice").command
    exported = subprocess.run([*script[:2], "export", *script[2:], f"{tmp_path}/again.zip"], capture_output=True, text=True, timeout=60)
    assert exported.returncode == 0 and zipfile.is_zipfile(tmp_path / "again.zip"), exported
    alice.do("/sessions", "this one")
    alice.do("/signout others")
    until(lambda: len(re.findall(r"^\d+\. ", alice.after("/sessions", "xsessions"), re.M)) == 1, "others stay")
    server.tokens["alice"] = server.post("/api/login", {
        "name": "alice", "password": "apus-demo", "device": {"name": "Test", "platform": "test"}})["access"]
    alice.do("/nick Alice Lindqvist")
    alice.do("/help", "/quit", "show earlier messages", "send refused messages again")
    weilin.do("/quit")
    weilin.process.wait(20)
    assert weilin.process.returncode == 0
    alice.do("/logout")
    alice.process.wait(20)
    assert alice.process.returncode == 0
    assert not list((tmp_path / "alice.store").rglob("*.sqlite")), "the store stays"


def test_password_and_authenticator(server, tmp_path):
    vera = sign_up(server, tmp_path, "vera")

    def account(command: str, *arguments: str, store: str = "", typed: str = "") -> subprocess.CompletedProcess:
        options = [*vera.command[2:-1], str(tmp_path / store)] if store else vera.command[2:]
        return subprocess.run([*vera.command[:2], command, *options, *arguments], input=typed, capture_output=True, text=True, timeout=60)

    assert account("list").returncode == 0
    (tmp_path / "new").write_text("another long password\n")
    changed = account("password", "--new-password-file", str(tmp_path / "new"))
    assert changed.returncode == 0 and "The password was changed" in changed.stdout, changed
    vera.password_file.write_text("another long password\n")

    assert account("authenticator", "status").stdout == "A sign-in requires no code.\n"
    # The secret is printed before the code is read.
    process = subprocess.Popen(
        [*vera.command[:2], "authenticator", *vera.command[2:], "on"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    secret = process.stdout.readline().removeprefix("Secret: ").strip()
    first = totp(secret)
    output, _ = process.communicate(first + "\n", timeout=60)
    assert process.returncode == 0 and "Each sign-in now requires a code." in output, output
    codes = output.split("Write them down:")[1].split()
    assert len(codes) == 8
    assert account("list", store="second").returncode != 0, "a sign-in without a code"
    assert account("list", "--code", first, store="second").returncode == 77, "a code counts once"
    assert account("list", "--code", codes[0], store="second").returncode == 0
    assert account("authenticator", "status").stdout == "Each sign-in requires a code.\n"
    assert account("authenticator", "off").returncode == 0
    assert account("list", store="third").returncode == 0


def totp(secret: str) -> str:
    """Returns the code for the current time (RFC 6238)."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    mac = hmac.digest(key, struct.pack(">Q", int(time.time()) // 30), "sha1")
    number = struct.unpack(">I", mac[mac[-1] & 15:][:4])[0] & 0x7FFF_FFFF
    return f"{number % 1_000_000:06}"


# Commands that no test can run here: `/view` starts a program of the desktop.
NOT_RUN = {"view"}


def test_every_command_ran(server, chats):
    """Needs the tests above: a new command needs a line in one of them."""
    bob = chats("bob")
    bob.do("/help", "a line that begins with //".capitalize())
    listed = set(re.findall(r"^  /([a-z]+)", bob.output, re.M))
    assert len(listed) > 80 and listed - COMMANDS == NOT_RUN
