"""Messages between an app of FLSocketIM and a user of the chat's own wire, in both directions."""
import asyncio
import contextlib
import shutil
import subprocess
import time

import pytest
import requests

from support import chat, matrix
from support.chat import ChatPeer
from support.legacy import PASSWORD, LegacyApp, LegacyHost, raw
from test_legacy_accounts import png

pytestmark = pytest.mark.skipif(not matrix.PYTHON_4.exists(), reason="python-socketio 4.6 is not installed")

# AMR data without a frame that a decoder accepts.
AMR = b"#!AMR\n" + b"\xff" * 64
SPOKEN = b"#!AMR\n" + (b"\x04" + bytes(12)) * 50
FILM = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + b"\0" * 100
M4A = b"\0\0\0\x18ftypM4A \0\0\0\0M4A mp42" + b"\0" * 100


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = LegacyHost(tmp_path_factory.mktemp("legacy"), "--limits", "off")
    yield host
    host.stop()


class Pair:
    """A user of an app and a user of the chat's own wire."""

    def __init__(self, host, number):
        self.host = host
        self.old, self.new = f"olduser{number}", f"newuser{number}"
        self.token = host.register(self.old)
        self.account = chat.register(host.url, self.new)
        self.conversation = self.ask("conversation.open", id="open", user=self.old)["head"]["conv"]

    def ask(self, verb, **body):
        return chat.ask(self.host.url, self.account, verb, body)

    def app(self, transport="websocket", *more):
        return LegacyApp(self.host.legacy, self.token, transport, *more)

    def messages(self):
        return [event for event in self.ask("history", conv=self.conversation, limit=200)["events"] if event.get("n")]

    def write(self, kind="text", serial=[0], **body):
        serial[0] += 1
        return self.ask("send", conv=self.conversation, id=f"send-{serial[0]}", kind=kind, body=body)

    def download(self, blob):
        response = requests.get(f"{self.host.url}/api/blobs/{blob}", headers=chat.bearer(self.account), timeout=30)
        assert response.status_code == 200
        return response.content


@pytest.fixture
def pair(host, serial=[0]):
    serial[0] += 1
    return Pair(host, serial[0])


@pytest.mark.parametrize("transport", ["websocket", "polling", "upgrade"])
@pytest.mark.parametrize("bodies", [{"type": "txt", "msg": "在吗？"}, '{"type": "txt", "msg": "在吗？"}'])
def test_a_text_of_the_app(pair, transport, bodies):
    with pair.app(transport) as app:
        ack = app.send(pair.old, pair.new, bodies, type=0)
        # The ack contains the sent message and the fields that the server adds.
        assert ack["to_user"] == pair.new and ack["sendStatus"] == 0 and ack["type"] == 0
        assert ack["bodies"] == {"type": "txt", "msg": "在吗？"} and ack["msg_id"] and abs(ack["timestamp"] - time.time() * 1000) < 60_000
    [message] = pair.messages()
    assert (message["sender"], message["kind"], message["body"]) == (pair.old, "text", {"text": "在吗？"})


@pytest.mark.parametrize("transport", ["websocket", "polling"])
def test_a_text_for_the_app(pair, transport):
    with pair.app(transport) as app:
        sent = pair.write(text="你好 <b>")
        message = app.next("chat")
        assert message["from_user"] == pair.new and message["to_user"] == pair.old and message["chat_type"] == "chat"
        assert message["timestamp"] == message["sendtime"] == message["sendTime"] == sent["at"]
        assert message["bodies"] == {"type": "txt", "msg": "你好 <b>"} and message["msg_id"]


def test_the_new_user_is_pushed_the_message(pair):
    async def run():
        peer = ChatPeer(pair.host.url, pair.account)
        await peer.open()
        try:
            with await asyncio.to_thread(pair.app) as app:
                await asyncio.to_thread(app.send, pair.old, pair.new, {"type": "txt", "msg": "now"})
                while not any(event["kind"] == "text" for event in peer.events):
                    await asyncio.sleep(0.05)
        finally:
            await peer.close()

    asyncio.run(asyncio.wait_for(run(), 60))


def test_two_devices_of_a_user_get_each_message(pair):
    other = pair.host.post("/mobileLogin", {"userName": pair.old, "password": PASSWORD})["data"]["auth_token"]
    with pair.app() as app, LegacyApp(pair.host.legacy, other) as second:
        pair.write(text="for both")
        for device in (app, second):
            assert device.next("chat")["bodies"]["msg"] == "for both"


def test_two_apps(pair):
    other = pair.host.register("other" + pair.old)
    with pair.app() as app, LegacyApp(pair.host.legacy, other) as second:
        first = app.send(pair.old, "other" + pair.old, {"type": "txt", "msg": "one"})
        got = second.next("chat")
        assert got["from_user"] == pair.old and got["msg_id"] == first["msg_id"] and got["timestamp"] == first["timestamp"]
        assert second.send("other" + pair.old, pair.old, {"type": "txt", "msg": "two"})
        assert app.next("chat")["bodies"]["msg"] == "two"


def test_a_message_that_is_sent_again_is_one_message(pair):
    with pair.app() as app:
        message = app.message(pair.old, pair.new, {"type": "txt", "msg": "once"})
        first = app.call("chat", message)
        again = app.call("chat", {**message, "sendStatus": 2})
        assert again["msg_id"] == first["msg_id"] and again["timestamp"] == first["timestamp"]
        picture = app.message(pair.old, pair.new, {"type": "img", "fileName": "a.png", "fileData": raw(png())})
        assert app.call("chat", picture)["msg_id"] == app.call("chat", picture)["msg_id"]
    assert len(pair.messages()) == 2


def test_a_forged_sender_is_refused(pair):
    with pair.app() as app:
        app.emit("chat", app.message(pair.new, pair.new, {"type": "txt", "msg": "forged"}))
        assert app.send(pair.old, pair.new, {"type": "txt", "msg": "own"})
        assert app.call("videoChat", {"from_user": pair.new, "to_user": pair.new, "chat_type": 0}, wait=2) is None
    assert [message["body"] for message in pair.messages()] == [{"text": "own"}]


def test_what_is_no_message_is_ignored(pair):
    with pair.app() as app:
        for argument in [None, 5, "text", [], {}, {"to_user": pair.new}, {"to_user": pair.new, "bodies": {"type": "what"}}]:
            app.emit("chat", argument)
        app.emit("chat", app.message(pair.old, "no such user", {"type": "txt", "msg": "a"}))
        app.emit("chat", app.message(pair.old, "nosuchuser", {"type": "txt", "msg": "a"}))
        assert app.send(pair.old, pair.new, {"type": "txt", "msg": "last"})
    assert len(pair.messages()) == 1


def test_a_blocked_user_learns_and_achieves_nothing(pair):
    pair.ask("block", id="block", user=pair.old)
    with pair.app() as app:
        app.send(pair.old, pair.new, {"type": "txt", "msg": "unwanted"}, wait=5)
    assert all(event["kind"] == "hidden" for event in pair.messages())


def test_a_chat_with_oneself_comes_back(pair):
    with pair.app() as app:
        ack = app.send(pair.old, pair.old, {"type": "txt", "msg": "note"})
        got = app.next("chat")
        assert got["msg_id"] == ack["msg_id"] and got["from_user"] == got["to_user"] == pair.old


def test_offline_messages_come_at_the_connection_and_once(pair):
    for number in range(45):
        pair.write(text=f"offline {number}")
    with pair.app() as app:
        assert [app.next("chat")["bodies"]["msg"] for _ in range(45)] == [f"offline {number}" for number in range(45)]
        # The acks of the app move the read position.
        while pair.read() < 45:
            time.sleep(0.05)
    with pair.app() as app:
        pair.write(text="new")
        assert app.next("chat")["bodies"]["msg"] == "new" and not app.has("chat")


def read_position(pair):
    token = requests.post(
        f"{pair.host.url}/api/login", json={"name": pair.old, "password": chat.PASSWORD, "device": chat.DEVICE}, timeout=30).json()
    return lambda: chat.ask(pair.host.url, token, "conversation.info", {"conv": pair.conversation})["head"].get("read", 0)


@pytest.fixture(autouse=True)
def with_read_position(request):
    if "pair" in request.fixturenames:
        pair = request.getfixturevalue("pair")
        ask = []
        pair.read = lambda: (ask or ask.append(read_position(pair)) or ask)[0]()


def test_a_message_without_an_answer_comes_again(pair):
    pair.write(text="first")
    with pair.app("websocket", "mute") as app:
        assert app.next("chat")["bodies"]["msg"] == "first"
        # The read position has not moved, so that other devices are notified.
        assert pair.read() == 0
    with pair.app() as app:
        assert app.next("chat")["bodies"]["msg"] == "first"
        while pair.read() < 1:
            time.sleep(0.05)


def test_changes_are_not_sent(pair):
    with pair.app() as app:
        first = pair.write(text="first")
        assert app.next("chat")["bodies"]["msg"] == "first"
        pair.ask("edit", id="edit", conv=pair.conversation, ref=first["seq"], body={"text": "changed"})
        pair.ask("recall", id="recall", conv=pair.conversation, ref=first["seq"])
        pair.write(text="second")
        assert app.next("chat")["bodies"]["msg"] == "second" and not app.has("chat")


# MARK: Files and places


def test_a_picture_of_the_app(pair):
    with pair.app() as app:
        ack = app.send(pair.old, pair.new, {"type": "img", "fileName": "a.jpg", "fileData": raw(png()), "size": {"width": 8, "height": 6}})
        path = ack["bodies"]["fileRemotePath"]
        assert "fileData" not in ack["bodies"] and ack["bodies"]["thumbnailRemotePath"] and not path.startswith("/")
    [message] = pair.messages()
    assert message["kind"] == "image" and (message["body"]["width"], message["body"]["height"]) == (8, 6)
    kept = pair.download(message["body"]["blob"])
    assert b"secret place" not in kept
    # The apps send no credentials.
    shown = pair.host.file(path)
    assert shown.content == kept and shown.headers["Content-Type"] == "image/png" and path.endswith(".png")
    assert "sandbox" in shown.headers["Content-Security-Policy"] and shown.headers["X-Content-Type-Options"] == "nosniff"


def test_a_picture_for_the_app(pair):
    blob = chat.upload(pair.host.url, pair.account, png())
    with pair.app() as app:
        pair.write("image", blob=blob, width=8, height=6, size=1, type="image/png", text="Look")
        bodies = app.next("chat")["bodies"]
        assert (bodies["type"], bodies["size"]) == ("img", {"width": 8, "height": 6})
        assert pair.host.file(bodies["fileRemotePath"]).content == pair.download(blob)
        assert bodies["fileData"] == raw(pair.download(blob))
        assert app.next("chat")["bodies"] == {"type": "txt", "msg": "Look"}


@pytest.mark.parametrize("content", [b"no picture", png()[:50], b"\xff\xd8\xff\xe0" + b"\0" * 50, b"<svg onload=alert(1)>"])
def test_a_picture_that_cannot_be_read_is_acknowledged_and_is_a_file(pair, content):
    other = pair.host.register("x" + pair.old)
    with pair.app() as app, LegacyApp(pair.host.legacy, other) as second:
        ack = app.send(pair.old, "x" + pair.old, {"type": "img", "fileName": "page.html", "fileData": raw(content)})
        path = ack["bodies"]["fileRemotePath"]
        # The file name of the sender does not determine the type of the file in a browser.
        served = pair.host.file(path)
        assert path.endswith(".bin") and served.headers["Content-Disposition"] == "attachment" and served.content == content
        bodies = second.next("chat")["bodies"]
        assert bodies["type"] == "txt" and bodies["msg"].startswith("[File] page.html\nimages/")


@pytest.mark.parametrize("content, kind, extension", [(AMR, "audio/amr", "amr"), (M4A, "audio/mp4", "m4a")])
def test_voice(pair, content, kind, extension):
    other = pair.host.register("x" + pair.old)
    with pair.app() as app, LegacyApp(pair.host.legacy, other) as second:
        bodies = {"type": "audio", "fileName": "v." + extension, "fileData": raw(content), "duration": 3}
        assert app.send(pair.old, pair.new, bodies)["bodies"]["fileRemotePath"].endswith("." + extension)
        [message] = pair.messages()
        assert message["kind"] == "audio" and message["body"]["type"] == kind
        # ffprobe counts 64 frames in the AMR file.
        assert message["body"]["duration"] in (3_000, 1_280 if content == AMR else 3_000)
        assert message["body"]["voice"] and pair.download(message["body"]["blob"]) == content
        app.send(pair.old, "x" + pair.old, bodies)
        got = second.next("chat")["bodies"]
        assert (got["type"], got["fileName"]) == ("audio", "v." + extension)
        assert got["duration"] in (3, 1.28 if content == AMR else 3)
        assert pair.host.file(got["fileRemotePath"]).content == content


@pytest.mark.skipif(not shutil.which("ffmpeg"), reason="ffmpeg is not installed")
def test_voice_that_browsers_do_not_play_becomes_aac_and_back(pair):
    with pair.app() as app:
        bodies = {"type": "audio", "fileName": "v.amr", "fileData": raw(SPOKEN), "duration": 1}
        path = app.send(pair.old, pair.new, bodies)["bodies"]["fileRemotePath"]
        [message] = pair.messages()
        assert message["body"]["type"] == "audio/mp4" and 500 <= message["body"]["duration"] <= 1_500
        kept = pair.download(message["body"]["blob"])
        assert kept[4:8] == b"ftyp" and path.endswith(".m4a") and pair.host.file(path).content == kept
        # Audio in the format that a browser records.
        ogg = subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=duration=1", "-c:a", "libopus", "-f", "webm", "-"],
            capture_output=True, check=True, timeout=60).stdout
        blob = chat.upload(pair.host.url, pair.account, ogg)
        pair.write("audio", blob=blob, size=1, type="audio/webm", duration=1_000, voice=True)
        bodies = app.next("chat")["bodies"]
        assert bodies["fileRemotePath"].endswith(".m4a") and bodies["duration"] == 1
        played = pair.host.file(bodies["fileRemotePath"])
        assert played.headers["Content-Type"] == "audio/mp4" and played.content[4:8] == b"ftyp"


@pytest.mark.skipif(not shutil.which("vipsthumbnail"), reason="vipsthumbnail is not installed")
def test_a_large_picture_has_a_small_one_for_the_app(pair):
    blob = chat.upload(pair.host.url, pair.account, png(1_000, 500))
    with pair.app() as app:
        pair.write("image", blob=blob, width=1, height=1, size=1, type="image/png")
        bodies = app.next("chat")["bodies"]
        assert bodies["size"] == {"width": 1_000, "height": 500}
        small = pair.host.file(bodies["thumbnailRemotePath"])
        assert small.headers["Content-Type"] == "image/jpeg" and small.content.startswith(b"\xff\xd8\xff")
        start = small.content.index(b"\xff\xc0")
        assert small.content[start + 5:start + 9] == bytes([0, 150, 1, 44])


def test_voice_for_the_app(pair):
    blob = chat.upload(pair.host.url, pair.account, M4A)
    with pair.app() as app:
        pair.write("audio", blob=blob, size=1, type="audio/mp4", duration=1_500, voice=True)
        bodies = app.next("chat")["bodies"]
        assert (bodies["type"], bodies["duration"], bodies["fileName"]) == ("audio", 1.5, "voice.m4a")
        assert pair.host.file(bodies["fileRemotePath"]).content == M4A


def test_a_film_both_ways(pair):
    with pair.app() as app:
        app.send(pair.old, pair.new, {"type": "video", "fileName": "f.mp4", "fileData": raw(FILM), "duration": 4, "size": {"width": 640, "height": 480}})
        [message] = pair.messages()
        assert message["kind"] == "video" and message["body"]["width"] == 640 and message["body"]["duration"] == 4_000
        pair.write("video", **{key: message["body"][key] for key in ["blob", "size", "type", "width", "height", "duration"]})
        bodies = app.next("chat")["bodies"]
        assert bodies["type"] == "video" and pair.host.file(bodies["fileRemotePath"]).content == FILM


def test_a_place_both_ways(pair):
    with pair.app() as app:
        place = {"type": "loc", "latitude": 31.24, "longitude": 121.49, "locationName": "外滩", "detailLocationName": "上海"}
        ack = app.send(pair.old, pair.new, place)
        picture = pair.host.file(ack["bodies"]["fileRemotePath"])
        assert picture.content.startswith(b"\x89PNG") and picture.content[16:24] == bytes([0, 0, 1, 144, 0, 0, 0, 200])
        [message] = pair.messages()
        assert message["kind"] == "location" and message["body"] == {
            "latitude": 31.24, "longitude": 121.49, "name": "外滩", "address": "上海"}
        pair.write("location", latitude=1.5, longitude=2.5, name="Here")
        bodies = app.next("chat")["bodies"]
        assert (bodies["type"], bodies["latitude"], bodies["longitude"], bodies["locationName"]) == ("loc", 1.5, 2.5, "Here")


def test_other_kinds_are_texts(pair):
    blob = chat.upload(pair.host.url, pair.account, b"%PDF")
    with pair.app() as app:
        pair.write("poll", question="Tea?", options=["Yes", "No"])
        pair.write("card", user=pair.new)
        pair.write("file", blob=blob, name="r.pdf", size=4, type="application/pdf")
        assert app.next("chat")["bodies"] == {"type": "txt", "msg": "[Poll] Tea?\n- Yes\n- No"}
        assert app.next("chat")["bodies"]["msg"].startswith("[Contact] ")
        file = app.next("chat")["bodies"]
        assert file["msg"] == "[File] r.pdf\n" + file["fileRemotePath"] and pair.host.file(file["fileRemotePath"]).content == b"%PDF"


def test_a_message_refers_to_a_file_that_its_sender_may_read(pair):
    path = pair.host.post("/uploadFiles", files={"image": ("a.png", png(), "image/png")})["data"]["path"]
    secret = chat.upload(pair.host.url, pair.account, b"secret")
    with pair.app() as app:
        ack = app.send(pair.old, pair.new, {"type": "img", "fileRemotePath": path})
        [message] = pair.messages()
        assert message["kind"] == "image" and ack["bodies"]["fileRemotePath"] != path
        # A user cannot read the file of another user by its hash or by a forged path.
        for forged in [f"images/{secret}.bin", f"images/{secret}-{'0' * 32}.bin", "images/x", "../chat.key"]:
            app.emit("chat", app.message(pair.old, pair.new, {"type": "img", "fileRemotePath": forged}))
        assert app.send(pair.old, pair.new, {"type": "txt", "msg": "last"})
    assert len(pair.messages()) == 2


@pytest.mark.parametrize("transport", ["websocket", "polling"])
def test_a_large_file(pair, transport):
    content = b"#!AMR\n" + bytes(3 << 20)
    with pair.app(transport) as app:
        assert app.send(pair.old, pair.new, {"type": "audio", "fileName": "v.amr", "fileData": raw(content), "duration": 1})
    assert pair.messages()[0]["body"]["size"] == len(content)


def test_a_file_above_20_MB_is_refused_and_others_go_on(pair):
    with pair.app() as app:
        app.emit("chat", app.message(pair.old, pair.new, {"type": "audio", "fileName": "v.amr", "fileData": raw(bytes((20 << 20) + 1))}))
        assert app.send(pair.old, pair.new, {"type": "txt", "msg": "small"})
    assert [message["kind"] for message in pair.messages()] == ["text"]


# MARK: Groups and presence


def test_groups(pair):
    other, stranger = pair.host.register("x" + pair.old), pair.host.register("y" + pair.old)
    room = "Team " + pair.old
    with contextlib.ExitStack() as stack:
        app, second, third = (
            stack.enter_context(LegacyApp(pair.host.legacy, token)) for token in [pair.token, other, stranger])
        assert app.call("create", {"roomId": room}) == room
        assert app.next("GroupChat") == {"roomId": room}
        # A user who did not create the room joins.
        assert second.call("join", {"roomId": room}) == room
        assert second.next("GroupChat") == {"roomId": room} and app.next("GroupChat") == {"roomId": room}
        message = {"roomId": room, "bodies": {"type": "txt", "msg": "all"}, "sendtime": 1}
        second.emit("GroupChat", {**message, "from_user": "x" + pair.old})
        for member in [app, second]:
            got = member.next("GroupChat")
            assert (got["roomId"], got["from_user"], got["bodies"]["msg"]) == (room, "x" + pair.old, "all")
        # A user outside of the room neither sends nor receives.
        third.emit("GroupChat", {**message, "from_user": "y" + pair.old})
        assert third.call("join", {"roomId": "no such room"}, wait=3) is None
        assert third.call("create", {"roomId": room}, wait=3) is None
        assert not third.has("GroupChat") and not app.has("GroupChat")
        second.emit("leave", {"roomId": room})
        second.emit("GroupChat", {**message, "sendtime": 2})
        # The server handles the events of an app in their order.
        assert second.send("x" + pair.old, "x" + pair.old, {"type": "txt", "msg": "left"})
        app.emit("GroupChat", {**message, "sendtime": 3, "bodies": {"type": "txt", "msg": "after"}})
        assert app.next("GroupChat")["bodies"]["msg"] == "after" and not second.has("GroupChat")


def test_a_user_of_the_new_wire_joins_the_group_of_an_app(pair):
    room = "Mixed " + pair.old
    with pair.app() as app:
        app.call("create", {"roomId": room})
        app.next("GroupChat")
        [found] = pair.ask("directory", query=room)["conversations"]
        pair.ask("member.join", id="join", conv=found["conv"])
        assert app.next("GroupChat") == {"roomId": room}
        pair.ask("send", conv=found["conv"], id="hello", kind="text", body={"text": "from the page"})
        assert app.next("GroupChat")["bodies"] == {"type": "txt", "msg": "from the page"}
        app.emit("GroupChat", {"roomId": room, "sendtime": 1, "bodies": {"type": "txt", "msg": "from the app"}})
        app.next("GroupChat")
        texts = [event["body"]["text"] for event in pair.ask("history", conv=found["conv"])["events"] if event.get("n")]
        assert texts == ["from the page", "from the app"]


def test_an_invited_user_joins_a_closed_group_by_its_name(pair):
    room = "Closed " + pair.old
    pair.ask("conversation.create", id="closed", kind="group", title=room, users=[pair.old])
    stranger = pair.host.register("y" + pair.old)
    with pair.app() as app, LegacyApp(pair.host.legacy, stranger) as other:
        assert other.call("join", {"roomId": room}, wait=3) is None
        assert app.call("join", {"roomId": room}) == room


def test_presence(pair):
    other = pair.host.register("x" + pair.old)
    with pair.app() as app:
        with LegacyApp(pair.host.legacy, other):
            while app.next("onLine") != {"user": "x" + pair.old}:
                pass
        # Users of other tests may go offline at the same time.
        while app.next("offLine") != {"user": "x" + pair.old}:
            pass


def test_the_presence_of_users_that_do_not_show_it_is_not_told(pair):
    async def run():
        peer = ChatPeer(pair.host.url, pair.account)
        with await asyncio.to_thread(pair.app) as app:
            await peer.open()
            await peer.close()
            other = await asyncio.to_thread(pair.host.register, "x" + pair.old)
            with await asyncio.to_thread(LegacyApp, pair.host.legacy, other):
                assert await asyncio.to_thread(app.next, "onLine") == {"user": "x" + pair.old}  # and no earlier event of the other user
        assert pair.new not in pair.host.users()["onLineUsers"]

    asyncio.run(asyncio.wait_for(run(), 120))
