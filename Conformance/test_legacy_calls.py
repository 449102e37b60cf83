"""The negotiation of video calls with the events of FLSocketIM: between two apps, and with a client of the chat's own wire.

The server forwards the session descriptions without reading them, so the tests need no WebRTC.
"""
import asyncio

import pytest

from support import chat, matrix
from support.chat import ChatPeer
from support.legacy import LegacyApp, LegacyHost

pytestmark = pytest.mark.skipif(not matrix.PYTHON_4.exists(), reason="python-socketio 4.6 is not installed")
OFFER = {"type": "offer", "sdp": "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\n"}
ANSWER = {"type": "answer", "sdp": "v=0\r\no=- 3 4 IN IP4 127.0.0.1\r\n"}
CANDIDATE = "candidate:1 1 udp 1 127.0.0.1 5000 typ host"


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = LegacyHost(tmp_path_factory.mktemp("legacy"), "--limits", "off")
    yield host
    host.stop()


class Users:
    def __init__(self, host, number):
        self.host = host
        self.caller, self.callee = f"caller{number}", f"callee{number}"
        self.tokens = {name: host.register(name) for name in [self.caller, self.callee]}

    def app(self, name):
        return LegacyApp(self.host.legacy, self.tokens[name])

    def start(self, caller, callee):
        """Calls, and joins on both sides. Returns the ids of both sockets."""
        room = caller.call("videoChat", {"from_user": self.caller, "to_user": self.callee, "chat_type": 0})
        assert callee.next("videoChat") == {"from_user": self.caller, "room": room}
        caller.emit("__join", {"room": room})
        first = caller.next("_peers")
        assert first["connections"] == []
        callee.emit("__join", {"room": room})
        second = callee.next("_peers")
        assert second["connections"] == [first["you"]]
        assert caller.next("_new_peer") == {"socketId": second["you"]}
        return room, first["you"], second["you"]


@pytest.fixture
def users(host, serial=[0]):
    serial[0] += 1
    return Users(host, serial[0])


def test_two_apps_negotiate_a_call_and_end_it(users):
    with users.app(users.caller) as caller, users.app(users.callee) as callee:
        _, first, second = users.start(caller, callee)
        # The device that joins last sends the offer.
        callee.emit("__offer", {"sdp": OFFER, "socketId": first})
        assert caller.next("_offer") == {"sdp": OFFER, "socketId": second}
        caller.emit("__answer", {"sdp": ANSWER, "socketId": second})
        assert callee.next("_answer") == {"sdp": ANSWER, "socketId": first}
        for sender, receiver, source, target in [(caller, callee, first, second), (callee, caller, second, first)]:
            sender.emit("__ice_candidate", {"id": "audio", "label": 1, "candidate": CANDIDATE, "socketId": target})
            assert receiver.next("_ice_candidate") == {"id": "audio", "label": 1, "candidate": CANDIDATE, "socketId": source}
        caller.emit("closeRoom")
        assert callee.next("_remove_peer") == {"socketId": first}
        # The next call can use the room.
        users.start(caller, callee)


def test_a_declined_call(users):
    with users.app(users.caller) as caller, users.app(users.callee) as callee:
        room = caller.call("videoChat", {"from_user": users.caller, "to_user": users.callee, "chat_type": 0})
        caller.emit("__join", {"room": room})
        caller.next("_peers")
        callee.next("videoChat")
        callee.emit("cancelVideoChat", {"room": room})
        assert caller.next("cancelVideoChat") == {}


def test_a_caller_that_hangs_up_before_the_answer(users):
    with users.app(users.caller) as caller, users.app(users.callee) as callee:
        room = caller.call("videoChat", {"from_user": users.caller, "to_user": users.callee, "chat_type": 0})
        caller.emit("__join", {"room": room})
        caller.next("_peers")
        callee.next("videoChat")
        caller.emit("closeRoom")
        assert callee.next("cancelVideoChat") == {}


def test_a_lost_connection_ends_the_call(users):
    with users.app(users.callee) as callee:
        with users.app(users.caller) as caller:
            _, first, _ = users.start(caller, callee)
        assert callee.next("_remove_peer") == {"socketId": first}


def test_a_missed_call_is_a_message(users):
    with users.app(users.caller) as caller:
        room = caller.call("videoChat", {"from_user": users.caller, "to_user": users.callee, "chat_type": 0})
        caller.emit("__join", {"room": room})
        caller.next("_peers")
        caller.emit("closeRoom")
        assert caller.send(users.caller, users.callee, {"type": "txt", "msg": "call me"})
    with users.app(users.callee) as callee:
        assert [callee.next("chat")["bodies"]["msg"] for _ in range(2)] == ["[Missed call]", "call me"]
        assert not callee.has("videoChat")


def test_a_stranger_takes_no_part(users):
    stranger = users.host.register("str" + users.caller)
    with users.app(users.caller) as caller, users.app(users.callee) as callee, LegacyApp(users.host.legacy, stranger) as other:
        room, first, second = users.start(caller, callee)
        for event, argument in [
            ("__join", {"room": room}), ("__join", {"room": "x"}), ("__join", None), ("__offer", {"sdp": OFFER, "socketId": first}),
            ("__ice_candidate", {"id": "a", "label": 0, "candidate": CANDIDATE, "socketId": second}), ("cancelVideoChat", {"room": room}),
            ("closeRoom", None),
        ]:
            other.emit(event, argument)
        # The server has performed the earlier events when it answers this one.
        assert other.send("str" + users.caller, "str" + users.caller, {"type": "txt", "msg": "done"})
        callee.emit("__offer", {"sdp": OFFER, "socketId": first})
        assert caller.next("_offer")["socketId"] == second
        assert not other.has("_peers") and not any(caller.has(event) for event in ["_new_peer", "cancelVideoChat", "_remove_peer"])


def test_a_call_with_a_client_of_the_own_wire(users):
    """The client of the own wire uses `signal` with the data that the documentation describes."""
    host = users.host
    account = chat.register(host.url, "own" + users.caller)
    conversation = chat.ask(host.url, account, "conversation.open", {"id": "open", "user": users.caller})["head"]["conv"]

    async def run():
        peer, signals = ChatPeer(host.url, account), asyncio.Queue()
        peer.sio.on("signal", signals.put, namespace="/chat")
        await peer.open()
        app = await asyncio.to_thread(users.app, users.caller)

        async def signal(data, device):
            await peer.request("signal", {"conv": conversation, "call": call, "to": users.caller, "device": device, "data": data})

        try:
            # The app calls.
            room = await asyncio.to_thread(
                app.call, "videoChat", {"from_user": users.caller, "to_user": "own" + users.caller, "chat_type": 0})
            while not any(event["kind"] == "call" for event in peer.events):
                await asyncio.sleep(0.05)
            call = next(event["seq"] for event in peer.events if event["kind"] == "call")
            app.emit("__join", {"room": room})
            you = (await asyncio.to_thread(app.next, "_peers"))["you"]
            assert (await signals.get())["data"] == {"type": "join"}
            await peer.request("call.update", {"id": "accept", "conv": conversation, "call": call, "state": "accepted"})
            await signal({"type": "join"}, you)
            device = (await asyncio.to_thread(app.next, "_new_peer"))["socketId"]
            await signal(OFFER, you)
            assert await asyncio.to_thread(app.next, "_offer") == {"sdp": OFFER, "socketId": device}
            app.emit("__answer", {"sdp": ANSWER, "socketId": device})
            answer = await signals.get()
            assert answer["data"] == ANSWER and answer["from"] == users.caller and answer["device"] == you
            app.emit("__ice_candidate", {"id": "0", "label": 0, "candidate": CANDIDATE, "socketId": device})
            assert (await signals.get())["data"] == {
                "type": "candidate", "candidate": {"candidate": CANDIDATE, "sdpMid": "0", "sdpMLineIndex": 0}}
            await peer.request("call.update", {"id": "end", "conv": conversation, "call": call, "state": "ended"})
            assert await asyncio.to_thread(app.next, "cancelVideoChat") == {}

            # The other side calls. The app joins last, and sends its offer to the devices of `_peers`.
            call = (await peer.request("call.start", {"id": "call", "conv": conversation, "media": "video"}))["call"]
            ring = await asyncio.to_thread(app.next, "videoChat")
            assert ring["from_user"] == "own" + users.caller
            app.emit("__join", {"room": ring["room"]})
            assert (await asyncio.to_thread(app.next, "_peers"))["connections"] == []
            assert (await signals.get())["data"] == {"type": "join"}
            await signal({"type": "join", "reply": True}, you)
            assert await asyncio.to_thread(app.next, "_peers") == {"connections": [device], "you": you}
            assert not app.has("_new_peer")
            app.emit("__offer", {"sdp": OFFER, "socketId": device})
            assert (await signals.get())["data"] == OFFER
            app.emit("closeRoom")
            assert (await signals.get())["data"] == {"type": "leave"}
        finally:
            await asyncio.to_thread(app.close)
            await peer.close()

    asyncio.run(asyncio.wait_for(run(), 120))
