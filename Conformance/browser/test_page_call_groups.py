"""Calls of groups, devices, the shared screen, and the appearance of calls."""

import contextlib
import http.server
import threading

import pytest

from support.axe import violations
from support.callpage import answer, callers, connected, control, decoding, host, over, person, ring, show, until  # noqa: F401
from support.chathost import ChatHost
from support.samplepage import DESKTOP, PHONE, picture


@pytest.fixture(scope="module")
def group(host):
    return host.do("alice", "conversation.create", kind="group", title="Rowing club", users=["bob", "carol"])["head"]["conv"]


def states(host, conv):
    """The states of the calls of a conversation, oldest first."""
    return [event["body"]["state"] for event in host.log(conv) if event["kind"] == "call"]


def test_three_members_see_each_other_join_and_leave(person, host, group):
    alice, bob, carol = (person(name) for name in ("alice", "bob", "carol"))
    ring(alice, group)
    assert bob.locator(".call-ring strong").text_content() == "Rowing club"
    answer(bob)
    connected(alice, bob)
    answer(carol)
    connected(alice, bob, carol, peers=2)
    for page in (alice, bob, carol):
        assert {each["user"] for each in decoding(page, "video")} == {"alice", "bob", "carol"} - {page.evaluate("chatApp.state.account.name")}
        until(page, "document.querySelectorAll('.call-grid .tile.with-video').length === 2")
    picture(alice, "call-group")
    control(bob, "hang-up")
    over(bob)
    connected(alice, carol)
    decoding(alice, "video")
    # A member who left the call can join it again. The server refuses a reader.
    show(bob, group)
    join = bob.locator("[data-action=join-call]")
    for role, state in [("reader", "hidden"), ("member", "visible")]:
        host.do("alice", "member.role", conv=group, users=["bob"], role=role)
        join.wait_for(state=state)
    join.click()
    connected(alice, bob, carol, peers=2)
    decoding(bob, "audio")
    for page in (alice, carol, bob):
        assert states(host, group) == ["accepted"]
        control(page, "hang-up")
        over(page)
    until(bob, f"chatApp.state.conversation('{group}').call === undefined")
    assert states(host, group) == ["ended"]
    assert bob.locator("[data-action=join-call]").count() == 0


def test_a_fifth_member_is_told_that_the_call_is_full_and_does_not_end_it(person, host):
    others = ["bob", "carol", "dave", "erin"]
    for name in others[2:]:
        host.register(name, name)
        host.befriend("alice", name)
    group = host.do("alice", "conversation.create", kind="group", title="Rowers", users=others)["head"]["conv"]
    four, erin = [person(name) for name in ("alice", *others[:3])], person("erin")
    ring(four[0], group, "audio")
    for number, page in enumerate(four[1:], 1):
        answer(page)
        connected(*four[:number + 1], peers=number)
    answer(erin)
    over(erin, text="The call is full: four people can take part")
    connected(*four, peers=3)
    heads = host.ask("alice", "sync", {})["heads"]
    assert next(head for head in heads if head["conv"] == group)["call"]
    # A place becomes free.
    control(four[3], "hang-up")
    over(four[3])
    show(erin, group)
    erin.locator("[data-action=join-call]").click()
    connected(*four[:3], erin, peers=3)
    for page in (*four[:3], erin):
        control(page, "hang-up")
        over(page)


def test_a_member_cannot_end_the_call_of_the_others(person, host):
    group = host.do("alice", "conversation.create", kind="group", title="Sculls", users=["bob", "carol"])["head"]["conv"]
    alice, bob, carol = (person(name) for name in ("alice", "bob", "carol"))
    ring(alice, group, "audio")
    for page in (bob, carol):
        answer(page)
    connected(alice, bob, carol, peers=2)
    call = alice.evaluate("chatApp.calls.current.seq")
    carol.evaluate("([conv, call]) => chatApp.state.updateCall(conv, call, 'ended')", [group, call])
    host.do("carol", "call.update", conv=group, call=call, state="ended")  # from a device that was never in the call
    # Carol says to Alice that the call is full, and to Bob that another device took its place.
    for name, page, data in (("alice", alice, {"type": "full"}), ("bob", bob, {"type": "leave", "moved": True})):
        signal = {**data, "session": carol.evaluate("chatApp.calls.current.session"), "to": page.evaluate("chatApp.calls.current.session")}
        carol.evaluate("([conv, call, name, data]) => chatApp.state.signal(conv, call, name, undefined, data)", [group, call, name, signal])
    for page, name in ((alice, "bob"), (bob, "alice")):
        until(page, f"[...chatApp.calls.current.peers.values()].map(({{ user }}) => user).join() === '{name}'")
    # A page that is closed leaves, and the others go on.
    carol.goto(host.url + "/healthz")
    decoding(alice, "audio")
    decoding(bob, "audio")
    assert states(host, group) == ["accepted"]
    # The last page is closed, which ends the call.
    control(alice, "hang-up")
    over(alice)
    until(bob, "chatApp.calls.current.peers.size === 0")
    assert states(host, group) == ["accepted"]
    bob.goto(host.url + "/healthz")
    # If Chromium loses the report of the closing page, the server ends the call a minute after the page disconnected.
    until(alice, f"chatApp.state.conversation('{group}').call === undefined", seconds=90)
    assert states(host, group) == ["ended"]


def test_a_member_that_declines_leaves_the_others_ringing(person, group):
    alice, bob, carol = (person(name) for name in ("alice", "bob", "carol"))
    ring(alice, group, "audio")
    answer(bob, "decline")
    bob.locator(".call-ring").wait_for(state="detached")
    answer(carol)
    connected(alice, carol)
    control(carol, "hang-up")
    until(alice, "chatApp.calls.current.peers.size === 0")
    assert alice.locator(".call-status").text_content() == "Waiting for others…"
    control(alice, "hang-up")
    over(alice)


def test_a_member_that_is_removed_takes_no_part(person, host):
    group = host.do("alice", "conversation.create", kind="group", title="Crew", users=["bob", "carol"])["head"]["conv"]
    alice, bob, carol = (person(name) for name in ("alice", "bob", "carol"))
    ring(alice, group, "audio")
    for page in (bob, carol):
        answer(page)
    connected(alice, bob, carol, peers=2)
    host.do("alice", "member.remove", conv=group, users=["carol"])
    over(carol)
    connected(alice, bob)
    assert alice.evaluate("[...chatApp.calls.current.peers.values()].map(({ user }) => user)") == ["bob"]
    for page in (alice, bob):
        control(page, "hang-up")
        over(page)


def test_a_device_is_chosen_and_the_screen_is_shared(person, host):
    share = """navigator.mediaDevices.getDisplayMedia = async () => {
      const canvas = document.createElement("canvas");
      Object.assign(canvas, { width: 640, height: 360 });
      const draw = canvas.getContext("2d");
      setInterval(() => { draw.fillStyle = `hsl(${Date.now() / 20 % 360} 80% 50%)`; draw.fillRect(0, 0, 640, 360); }, 50);
      return canvas.captureStream(15);
    };"""
    pair = host.pair("alice", "bob")
    alice, bob = person("alice", script=share), person("bob")
    ring(alice, pair)
    answer(bob)
    connected(alice, bob)
    control(alice, "devices")
    menu = alice.get_by_role("menu", name="Microphone, camera and speaker")
    menu.get_by_role("menuitemradio", name="Microphone").nth(1).wait_for()
    before = alice.evaluate("chatApp.calls.current.local.microphone.getSettings().deviceId")
    other = menu.locator("[role=menuitemradio][aria-checked=false]", has_text="Microphone").last
    picture(alice, "call-devices")
    other.click()
    until(alice, f"chatApp.calls.current.local.microphone.getSettings().deviceId !== '{before}'")
    decoding(bob, "audio")
    control(alice, "screen")
    bob.locator(".tile.with-screen").wait_for()
    until(bob, "document.querySelector('.tile video').videoWidth === 640")
    decoding(bob, "video")
    picture(bob, "call-screen")
    control(bob, "picture")
    until(bob, "document.pictureInPictureElement !== null")
    control(bob, "picture")
    until(bob, "document.pictureInPictureElement === null")
    assert alice.locator("[data-action=screen]").get_attribute("aria-pressed") == "true"
    control(alice, "screen")
    until(bob, "document.querySelector('.tile.with-screen') === null")
    decoding(bob, "video")
    control(bob, "hang-up")
    over(alice)


@pytest.mark.parametrize(
    ("theme", "size", "language"), [("light", DESKTOP, "en"), ("dark", PHONE, "zh"), ("light", PHONE, "en"), ("dark", DESKTOP, "zh")],
    ids=["light-desktop", "dark-phone", "light-phone", "dark-desktop"])
def test_the_screens_of_a_call_are_accessible(person, host, theme, size, language):
    conv = host.pair("alice", "bob")
    # A chat without messages is in the list of the user who opened it.
    assert host.pair("bob", "alice") == conv
    alice, bob = person("alice", size, theme=theme, language=language), person("bob")
    found = []

    def check(name):
        found.extend((name, *each) for each in violations(alice))
        picture(alice, f"call-{name}-{theme}-{size['width']}-{language}")
        assert alice.evaluate("document.documentElement.scrollWidth <= innerWidth"), name

    show(alice, conv)
    check("header")
    ring(bob, conv)
    alice.locator(".call-ring").wait_for()
    check("ring")
    answer(alice)
    connected(alice, bob)
    alice.locator(".tile.with-video").wait_for()
    until(alice, "document.querySelector('.tile video').videoWidth > 0")
    check("active")
    alice.keyboard.press("Tab")
    assert alice.evaluate("document.activeElement.closest('.call-screen') !== null")
    alice.keyboard.press("Escape")
    alice.locator(".small-call").wait_for()
    check("small")
    control(bob, "hang-up")
    over(alice, text="")
    alice.locator(".call-line").last.wait_for()
    check("line")
    assert found == []


class EmptyRooms(http.server.BaseHTTPRequestHandler):
    """Answers the requests of LiveKit's API without participants."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


@pytest.fixture()
def livekit_host(tmp_path):
    with contextlib.ExitStack() as ends:
        media = ends.enter_context(http.server.ThreadingHTTPServer(("127.0.0.1", 0), EmptyRooms))
        threading.Thread(target=media.serve_forever, daemon=True).start()
        ends.callback(media.shutdown)
        keys = tmp_path / "livekit.keys"
        keys.write_text(f"key: {'s' * 32}\n")
        host = ChatHost(
            tmp_path / "data",
            options=("--limits", "off", "--livekit-url", f"ws://127.0.0.1:{media.server_address[1]}", "--livekit-keys-file", str(keys)))
        ends.callback(host.stop)
        yield host


def test_a_call_of_more_than_four_is_told_instead_of_ringing(phone, livekit_host):
    host = livekit_host
    others = ["bob", "carol", "dave", "erin"]
    for name in others[2:]:
        host.register(name, name)
        host.befriend("alice", name)
    group = host.do("alice", "conversation.create", kind="group", title="Regatta", users=others)["head"]["conv"]
    notice = "This call needs a client with LiveKit, which this page does not have"
    with callers(phone, host) as person:
        bob, carol = person("bob"), person("carol")
        show(bob, group)
        bob.click("[data-call=audio]")
        bob.locator(".toast[role=alert]", has_text=notice).wait_for()
        assert bob.locator(".call-screen").count() == 0
        host.do("alice", "call.start", conv=group, media="video", backends=["livekit"])
        carol.locator(".toast", has_text=notice).wait_for()
        assert carol.locator(".call-ring, .call-screen").count() == 0
