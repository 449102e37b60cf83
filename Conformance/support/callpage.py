"""Chromium with a fake camera and microphone, and helpers for tests of calls on the page."""

import contextlib
import json
import time

import pytest

from support.chathost import PASSWORD, ChatHost
from support.samplepage import DESKTOP

FLAGS = [
    "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
    "--allow-loopback-in-peer-connection", "--autoplay-policy=no-user-gesture-required",
]
# The received media of each connection of the call: decoded video frames and audio packets.
RECEIVED = """async () => {
  const found = [];
  for (const peer of chatApp.calls.current?.peers.values() ?? []) {
    const one = { user: peer.user, video: 0, audio: 0, relay: null };
    const all = new Map((await peer.connection.getStats()).entries());
    for (const each of all.values()) {
      if (each.type === "inbound-rtp") one[each.kind] += each.kind === "video" ? each.framesDecoded ?? 0 : each.packetsReceived ?? 0;
      if (each.type === "candidate-pair" && each.nominated && each.state === "succeeded") one.relay = all.get(each.localCandidateId)?.candidateType;
    }
    found.push(one);
  }
  return found;
}"""
UFRAGS = """() => [...chatApp.calls.current.peers.values()].map(({ connection }) => [connection.localDescription, connection.remoteDescription]
  .map((each) => /a=ice-ufrag:(\\S+)/.exec(each.sdp)[1]))"""


@contextlib.contextmanager
def callers(browser, host):
    """Yields a function that signs a user in on a new device. Fails on errors of scripts and violations of the content security policy."""
    complaints = []
    with contextlib.ExitStack() as contexts:

        def note(message):
            if "Content Security Policy" in message.text or "TypeError" in message.text:
                complaints.append(message.text)

        def sign_in(name, size=DESKTOP, permissions=("microphone", "camera"), script=None, clock=False, **preferences):
            context = contexts.enter_context(contextlib.closing(browser.new_context(viewport=size, locale="en-GB", permissions=list(permissions))))
            context.set_default_timeout(30_000)
            stored = json.dumps({"language": "en", "theme": "light", "sound": False, **preferences})
            context.add_init_script(f"localStorage.setItem('apus-preferences', {json.dumps(stored)})")
            if script:
                context.add_init_script(script)
            page = context.new_page()
            if clock:
                page.clock.install()
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("console", note)
            page.goto(host.url + "/")
            page.fill("[name=name]", name)
            page.fill("[name=password]", PASSWORD)
            page.keyboard.press("Enter")
            page.locator(".chat-list .row").first.wait_for()
            until(page, "chatApp.state.connection.state === 'online'")
            return page

        yield sign_in
    assert not complaints, complaints


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """The server of the tests of a module. A module imports this fixture and `person`."""
    host = ChatHost(tmp_path_factory.mktemp("calls"), options=("--limits", "off"))
    yield host
    host.stop()


@pytest.fixture()
def person(phone, host):
    with callers(phone, host) as sign_in:
        yield sign_in


def until(page, expression, seconds=40):
    """Waits until the expression is true. Fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(50)


def show(page, conv):
    page.evaluate(f"chatApp.view.openConversation('{conv}')")
    page.locator(".thread-pane [data-call=audio]").wait_for()


def ring(page, conv, media="video"):
    """Opens the conversation and starts a call."""
    show(page, conv)
    page.click(f"[data-call={media}]")
    page.locator(".call-screen").wait_for()


def answer(page, action="answer"):
    page.locator(f".call-ring [data-action={action}]").click()


def control(page, action):
    page.locator(f".call-controls [data-action={action}]").click()


def connected(*pages, peers=1):
    for page in pages:
        until(page, f"[...chatApp.calls.current?.peers.values() ?? []].filter((peer) => peer.isConnected).length === {peers}")


def decoding(page, kind="video", least=5, seconds=40):
    """Waits until at least `least` more frames or packets of each other device have been decoded. Returns the counts. Fails after
    `seconds`."""
    before = {each["user"]: each[kind] for each in page.evaluate(RECEIVED)}
    assert before, "no other device"
    deadline = time.monotonic() + seconds
    while True:
        now = page.evaluate(RECEIVED)
        if {each["user"] for each in now} == set(before) and all(each[kind] >= before[each["user"]] + least for each in now):
            return now
        assert time.monotonic() < deadline, (before, now)
        page.wait_for_timeout(100)


def over(*pages, text="Call ended", by_itself=False):
    """Waits until the call is over on the pages and the announced reason contains the text, and then until the screen of the call is removed.
    The page shows the end for 2.5 seconds, which this function shortens unless `by_itself`."""
    for page in pages:
        until(page, "!chatApp.calls.current || chatApp.calls.current.isOver")
    for page in pages:
        until(page, f"document.getElementById('live').textContent.includes({json.dumps(text)})")
        if not by_itself:
            page.evaluate("chatApp.calls.center.dismiss()")
        page.locator(".call-screen").wait_for(state="detached")
