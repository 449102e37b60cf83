"""A device that signs out: its socket closes and its tokens are refused, before and after a kill of the server."""
import threading
import urllib.error
import urllib.request
import json

import pytest
import socketio

from support.chathost import PASSWORD, ChatHost


@pytest.fixture
def server(tmp_path):
    host = ChatHost(tmp_path, options=["--limits", "off"])
    yield host
    host.stop()


class Device:
    """A signed-in device with a socket in the namespace of the chat."""

    def __init__(self, server, user: str):
        self.server = server
        self.session = server.post("/api/login", {"name": user, "password": PASSWORD, "device": {"name": "T", "platform": "test"}})

    def connect(self):
        """Opens a session; raises ConnectionError if the server refuses the token."""
        self.closed = threading.Event()
        self.socket = socketio.Client(reconnection=False)
        self.socket.on("disconnect", self._disconnected, namespace="/chat")
        self.socket.connect(self.server.url, auth={"token": self.session["access"]}, namespaces=["/chat"], transports=["websocket"])
        return self.socket.call("hello", {"version": 1, "device": {"name": "T", "platform": "test"}}, namespace="/chat")

    def _disconnected(self, *_):
        self.closed.set()

    def status(self, path: str, body: dict) -> int:
        request = urllib.request.Request(
            self.server.url + path, json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self.session['access']}"})
        try:
            return urllib.request.urlopen(request, timeout=20).status
        except urllib.error.HTTPError as error:
            return error.code

    def assert_signed_out(self):
        with pytest.raises(socketio.exceptions.ConnectionError):
            self.connect()
        assert self.status("/api/chat/sync", {}) == 401
        assert self.status("/api/refresh", {"refresh": self.session["refresh"]}) == 401

    def assert_signed_in(self):
        assert self.connect()["user"]["name"] == "bob"
        self.socket.disconnect()


@pytest.mark.parametrize("how", ["itself", "another device", "password"])
def test_the_socket_closes_and_the_tokens_stay_void(server, how):
    gone, other = Device(server, "bob"), Device(server, "bob")
    device = gone.connect()["device"]
    if how == "itself":
        assert gone.status("/api/logout", {}) in (200, 204)
    elif how == "another device":
        assert other.status("/api/chat/device.remove", {"id": "remove-1", "device": device}) == 200
    else:
        assert other.status("/api/password", {"old": PASSWORD, "new": PASSWORD + "-2", "device": {"name": "T", "platform": "test"}}) == 200
    assert gone.closed.wait(20), "the socket stays open"
    gone.assert_signed_out()
    server.restart()
    gone.assert_signed_out()
    if how != "password":  # a change of the password gives the device new tokens
        other.assert_signed_in()
