"""Calls between the page and an app of FLSocketIM.

python-socketio 4.6 is the app's wire, and a second page of Chromium is the app's WebRTC, so that the tests include audio and video.
"""

import time

import pytest
import requests

from support import matrix
from support.callpage import answer, callers, decoding, over, ring, until
from support.chathost import PASSWORD, ChatHost
from support.legacy import LegacyApp
from support.process import ServerProcess

pytestmark = pytest.mark.skipif(not matrix.PYTHON_4.exists(), reason="python-socketio 4.6 is not installed")
MEDIA = """async () => {
  const media = await navigator.mediaDevices.getUserMedia({ audio: true, video: true });
  globalThis.pc = new RTCPeerConnection();
  globalThis.found = [];
  pc.onicecandidate = ({ candidate }) => { if (candidate?.candidate) found.push({ id: candidate.sdpMid, label: candidate.sdpMLineIndex, candidate: candidate.candidate }); };
  for (const track of media.getTracks()) pc.addTrack(track, media);
}"""
OFFER = """async () => { await pc.setLocalDescription(await pc.createOffer()); return pc.localDescription.toJSON(); }"""
ANSWER = """async (offer) => {
  await pc.setRemoteDescription(offer);
  await pc.setLocalDescription(await pc.createAnswer());
  return pc.localDescription.toJSON();
}"""


class CallHost(ChatHost):
    def _start(self, port):
        return ServerProcess(
            "serve", "--port", str(port), "--no-tls", "--data", str(self.folder), "--directory", "open", "--page", str(self.page), "--legacy-port", "0",
            *self.options, is_ready=lambda line: "apps of FLSocketIM on" in line)

    @property
    def legacy(self):
        return next(line.split()[-1] for line in self.process.lines if line.startswith("apps of FLSocketIM on"))

    @property
    def url(self):
        return next(line.split()[-1] for line in self.process.lines if line.startswith("listening on http:"))

    def app(self, name):
        form = {"userName": name, "password": PASSWORD}
        return LegacyApp(self.legacy, requests.post(self.legacy + "/mobileLogin", data=form, timeout=30).json()["data"]["auth_token"])


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = CallHost(tmp_path_factory.mktemp("legacycalls"), options=("--limits", "off"))
    yield host
    host.stop()


@pytest.fixture()
def person(phone, host):
    with callers(phone, host) as sign_in:
        yield sign_in


@pytest.fixture()
def media(phone, host):
    """The camera, microphone and connection of the app."""
    context = phone.new_context(permissions=["microphone", "camera"])
    page = context.new_page()
    page.goto(host.url + "/")
    page.evaluate(MEDIA)
    yield page
    context.close()


def connect(app, media, device):
    """Exchanges the candidates until the app's side is connected."""
    deadline = time.monotonic() + 60
    while media.evaluate("pc.connectionState") != "connected":
        assert time.monotonic() < deadline, media.evaluate("pc.connectionState")
        for candidate in media.evaluate("found.splice(0)"):
            app.emit("__ice_candidate", {**candidate, "socketId": device})
        while app.has("_ice_candidate"):
            received = app.next("_ice_candidate")
            assert received["socketId"] == device
            media.evaluate(
                "(each) => pc.addIceCandidate({ candidate: each.candidate, sdpMid: each.id, sdpMLineIndex: each.label })", received)
        media.wait_for_timeout(50)


def test_the_page_calls_an_app_which_offers_as_the_newcomer(person, host, media):
    conv = host.pair("alice", "bob")
    with host.app("bob") as app:
        alice = person("alice")
        ring(alice, conv)
        call = app.next("videoChat")
        assert call["from_user"] == "alice"
        # The page must have received the answer to its `call.start` before the app answers.
        until(alice, "chatApp.calls.current.phase === 'outgoing' && chatApp.calls.current.seq !== null")
        app.emit("__join", {"room": call["room"]})
        assert app.next("_peers")["connections"] == []
        (device,) = app.next("_peers")["connections"]  # an app offers to these
        assert not app.has("_new_peer")
        app.emit("__offer", {"sdp": media.evaluate(OFFER), "socketId": device})
        reply = app.next("_answer")
        assert reply["socketId"] == device and reply["sdp"]["type"] == "answer"
        # The page never offers to an app that joins.
        assert not app.has("_offer")
        media.evaluate("(reply) => pc.setRemoteDescription(reply)", reply["sdp"])
        connect(app, media, device)
        decoding(alice, "video")
        decoding(alice, "audio")
        app.emit("closeRoom")
        over(alice)


def test_an_app_calls_the_page_which_offers_as_the_newcomer(person, host, media):
    host.pair("alice", "bob")
    with host.app("bob") as app:
        alice = person("alice")
        room = app.call("videoChat", {"from_user": "bob", "to_user": "alice", "chat_type": 0})
        app.emit("__join", {"room": room})
        app.next("_peers")
        alice.locator(".call-ring").wait_for()
        answer(alice)
        device = app.next("_new_peer")["socketId"]
        offer = app.next("_offer")
        assert offer["socketId"] == device
        app.emit("__answer", {"sdp": media.evaluate(ANSWER, offer["sdp"]), "socketId": device})
        connect(app, media, device)
        decoding(alice, "video")
        until(media, "pc.getReceivers().length >= 2")
        alice.locator("[data-action=hang-up]").click()
        over(alice)
        while not (app.has("cancelVideoChat") or app.has("_remove_peer")):
            media.wait_for_timeout(50)
