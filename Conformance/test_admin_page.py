"""Tests the admin page's protocol with python-socketio in place of the page: the events and features of @socket.io/admin-ui 0.5.

The page itself is available on npm only. Each test covers one event that the page listens to or sends.
"""
import queue
import re

import pytest
import requests
import socketio
import websocket

from support.process import ServerProcess

WAIT = 15
FEATURES = ["EMIT", "JOIN", "LEAVE", "DISCONNECT", "MJOIN", "MLEAVE", "MDISCONNECT", "AGGREGATED_EVENTS", "ALL_EVENTS"]
TOLD = ["session", "config", "server_stats", "all_sockets", "socket_connected", "socket_updated", "socket_disconnected", "room_joined",
        "room_left", "event_received", "event_sent"]
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@pytest.fixture(scope="module")
def server():
    process = ServerProcess("conformance", "server", "--port", "0", "--admin")
    yield process
    process.stop()


class Page:
    def __init__(self, url, **auth):
        self.sio = socketio.Client(reconnection=False)
        self.events = {name: queue.Queue() for name in TOLD}
        for name in TOLD:
            self.sio.on(name, lambda *arguments, name=name: self.events[name].put(arguments), namespace="/admin")
        self.sio.connect(url, namespaces=["/admin"], auth=auth, transports=["websocket"], wait_timeout=WAIT)

    def next(self, name, where=lambda *arguments: True, wait=WAIT):
        """Returns the next event of this name that matches; skips other events of the name."""
        while True:
            arguments = self.events[name].get(timeout=wait)
            if where(*arguments):
                return arguments

    def emit(self, name, *arguments):
        self.sio.emit(name, arguments, namespace="/admin")


@pytest.fixture
def page(server):
    page = Page(server.url, username="admin", password="secret")
    yield page
    page.sio.disconnect()


@pytest.fixture
def client(server):
    sio = socketio.Client(reconnection=False)
    sio.heard = queue.Queue()
    sio.on("*", lambda *arguments: sio.heard.put(arguments))
    sio.connect(server.url, transports=["websocket"], wait_timeout=WAIT)
    yield sio
    sio.disconnect()


def test_login_brings_session_config_and_all_sockets(client, page):
    (session,) = page.next("session")
    assert re.fullmatch("[0-9a-f]{32}", session)
    assert page.next("config") == ({"supportedFeatures": FEATURES},)
    (sockets,) = page.next("all_sockets")
    socket = next(socket for socket in sockets if socket["id"] == client.get_sid())
    assert set(socket) == {"id", "clientId", "transport", "nsp", "data", "handshake", "rooms"}
    assert socket["nsp"] == "/" and socket["transport"] == "websocket" and socket["rooms"] == [client.get_sid()]
    assert set(socket["handshake"]) == {"address", "headers", "query", "issued", "secure", "time", "url", "xdomain"}
    assert len(socket["clientId"]) == 12  # the complete id would give access to the session


def test_the_session_replaces_the_password(server, page):
    (session,) = page.next("session")
    again = Page(server.url, sessionId=session)
    again.next("config")
    again.sio.disconnect()


@pytest.mark.parametrize("auth", [{}, {"username": "admin", "password": "wrong"}, {"sessionId": "0" * 32}, {"username": "root", "password": "secret"}])
def test_a_wrong_password_is_refused(server, auth):
    with pytest.raises(socketio.exceptions.ConnectionError):
        Page(server.url, **auth)


def test_statistics_are_sent_every_two_seconds(client, page):
    page.next("server_stats")
    client.emit("echo", "x")
    (stats,) = page.next("server_stats", lambda stats: any(event["type"] == "packetsIn" for event in stats["aggregatedEvents"]))
    assert {"serverId", "hostname", "pid", "uptime", "clientsCount", "pollingClientsCount", "aggregatedEvents", "namespaces"} == set(stats)
    assert stats["clientsCount"] >= 2 and stats["pollingClientsCount"] == 0 and stats["uptime"] > 0
    assert {"name": "/admin", "socketsCount": 1} in stats["namespaces"]
    for event in stats["aggregatedEvents"]:
        assert event["timestamp"] % 1000 == 0 and event["count"] > 0


def test_socket_events_are_reported(server, page):
    page.next("all_sockets")
    client = socketio.Client(reconnection=False)
    client.connect(server.url, transports=["polling"], wait_timeout=WAIT)
    sid = client.get_sid()
    socket, time = page.next("socket_connected", lambda socket, _: socket["id"] == sid)
    assert socket["transport"] == "polling" and DATE.fullmatch(time)
    client.emit("join", "red")
    assert page.next("room_joined", lambda nsp, room, id, time: room == "red")[:3] == ("/", "red", sid)
    client.emit("echo", ("x", 1))
    assert page.next("event_received", lambda nsp, id, arguments, time: arguments[0] == "echo")[:3] == ("/", sid, ["echo", "x", 1])
    assert page.next("event_sent")[:3] == ("/", sid, ["echo", "x", 1])
    client.emit("leave", "red")
    assert page.next("room_left")[:3] == ("/", "red", sid)
    client.disconnect()
    # Python's polling client may end before it has posted its close packet. The server then detects this by the ping timeout.
    assert page.next("socket_disconnected", lambda nsp, id, reason, time: id == sid, wait=60)[2] in (
        "client namespace disconnect", "transport close", "ping timeout")


def test_an_upgrade_is_reported(server, page):
    page.next("all_sockets")
    polling = f"{server.url}/socket.io/?EIO=4&transport=polling"
    session = re.search('"sid":"([^"]+)"', requests.get(polling, timeout=WAIT).text).group(1)
    requests.post(f"{polling}&sid={session}", data="40", timeout=WAIT)
    sid = re.search('"sid":"([^"]+)"', requests.get(f"{polling}&sid={session}", timeout=WAIT).text).group(1)
    socket, _ = page.next("socket_connected", lambda socket, _: socket["id"] == sid)
    assert socket["transport"] == "polling" and session.startswith(socket["clientId"]) and len(socket["clientId"]) == 12
    upgraded = websocket.create_connection(f"ws://127.0.0.1:{server.port}/socket.io/?EIO=4&transport=websocket&sid={session}", timeout=WAIT)
    upgraded.send("2probe")
    assert upgraded.recv() == "3probe"
    upgraded.send("5")
    (update,) = page.next("socket_updated", lambda update: update["id"] == sid)
    assert update == {"id": sid, "nsp": "/", "transport": "websocket"}
    upgraded.close()


def test_commands_are_executed(client, page):
    page.next("all_sockets")
    sid = client.get_sid()
    page.emit("join", "/", "red", sid)
    assert page.next("room_joined", lambda nsp, room, id, time: room == "red")[2] == sid
    page.emit("emit", "/", "red", "news", 1, "two")
    assert client.heard.get(timeout=WAIT) == ("news", 1, "two")
    page.emit("leave", "/", "red", sid)
    assert page.next("room_left", lambda nsp, room, id, time: room == "red")[2] == sid
    page.emit("_disconnect", "/", False, sid)
    assert page.next("socket_disconnected", lambda nsp, id, reason, time: id == sid)[2] == "server namespace disconnect"
