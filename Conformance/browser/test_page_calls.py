"""Calls of two users on the page, with the fake camera and microphone of Chromium."""


import pytest

from support.callpage import answer, connected, control, decoding, host, over, person, ring, show, until  # noqa: F401
from support.samplepage import DESKTOP, picture


@pytest.fixture()
def pair(host):
    conv = host.pair("alice", "bob")
    yield conv
    head = next(each for each in host.ask("alice", "sync", {})["heads"] if each["conv"] == conv)
    if head.get("call"):
        host.do("alice", "call.update", conv=conv, call=head["call"], state="ended")


def last_call(host, conv):
    return [event for event in host.log(conv) if event["kind"] == "call"][-1]


def test_a_video_call_is_seen_and_heard_on_both_sides(person, host, pair):
    alice, bob = person("alice"), person("bob")
    ring(alice, pair)
    assert alice.locator(".call-status").text_content() == "Calling…"
    card = bob.locator(".call-ring")
    card.wait_for()
    assert card.get_attribute("aria-label") == "Alice Lindqvist is calling with video"
    assert not bob.evaluate("Boolean(chatApp.calls.current.local.microphone)")  # no device is opened before the answer
    assert bob.evaluate("chatApp.calls.current.peers.size") == 0
    answer(bob)
    connected(alice, bob)
    for page in (alice, bob):
        decoding(page, "video")
        decoding(page, "audio")
        page.locator(".tile.with-video").wait_for()
        page.locator(".own-tile video").wait_for()
        until(page, "/^\\d+:\\d\\d$/.test(document.querySelector('.call-status').textContent)")
        until(page, "[...chatApp.calls.current.peers.values()][0].quality !== null")
    picture(alice, "call-video")
    assert alice.evaluate("document.getElementById('app').inert")
    control(alice, "microphone")
    bob.locator(".tile-muted").wait_for()
    assert alice.locator("[data-action=microphone]").get_attribute("aria-label") == "Unmute the microphone"
    assert not alice.evaluate("chatApp.calls.current.local.microphone.enabled")
    control(alice, "microphone")
    bob.locator(".tile-muted").wait_for(state="hidden")
    control(alice, "camera")
    until(bob, "document.querySelector('.tile.with-video') === null")
    assert alice.evaluate("chatApp.calls.current.local.camera") is None  # the camera is released
    assert alice.locator(".own-tile").is_hidden()
    control(alice, "camera")
    bob.locator(".tile.with-video").wait_for()
    decoding(bob, "video")
    # The page is usable while the call is minimized.
    alice.keyboard.press("Escape")
    alice.locator(".small-call").wait_for()
    assert not alice.evaluate("document.getElementById('app').inert")
    picture(alice, "call-small")
    alice.fill("#message", "written in the call")
    alice.keyboard.press("Enter")
    # The small call does not cover the newest message, and is moved by its head.
    newest = alice.locator(".item .bubble", has_text="written in the call")
    newest.wait_for()
    small = alice.locator(".small-call").bounding_box()
    assert small["y"] + small["height"] < newest.bounding_box()["y"]
    alice.mouse.move(small["x"] + 40, small["y"] + 20)
    alice.mouse.down()
    alice.mouse.move(small["x"] - 160, small["y"] + 120, steps=4)
    alice.mouse.up()
    moved = alice.locator(".small-call").bounding_box()
    assert (moved["x"], moved["y"]) == (small["x"] - 200, small["y"] + 100)
    alice.set_viewport_size({"width": 700, "height": 500})
    box = alice.locator(".small-call").bounding_box()
    assert box["x"] + box["width"] <= 700 and box["y"] + box["height"] <= 500
    alice.set_viewport_size(DESKTOP)
    bob.locator(".chat-list .row", has_text="written in the call").wait_for()
    control(alice, "hang-up")
    over(alice, bob, by_itself=True)
    event = last_call(host, pair)
    assert event["body"]["state"] == "ended" and event["body"]["duration"] > 0
    line = alice.locator(".call-line").last
    until(alice, "/^Video call, \\d+:\\d\\d/.test([...document.querySelectorAll('.call-line')].at(-1).textContent)")
    picture(alice, "call-line")
    line.get_by_role("button", name="Call back").click()
    bob.locator(".call-ring").wait_for()
    for page in (alice, bob):
        page.locator(".chat-list .row", has_text="Video call").locator(".icon-video").wait_for()
    control(alice, "hang-up")
    bob.locator(".call-ring").wait_for(state="detached")


def test_a_voice_call_has_no_picture_until_a_camera_is_turned_on(person, pair):
    alice, bob = person("alice"), person("bob")
    ring(alice, pair, "audio")
    answer(bob)
    connected(alice, bob)
    for page in (alice, bob):
        decoding(page, "audio")
    assert bob.locator(".tile.with-video").count() == 0 and bob.evaluate("chatApp.calls.current.local.camera") is None
    picture(bob, "call-voice")
    control(bob, "camera")
    alice.locator(".tile.with-video").wait_for()
    decoding(alice, "video")
    control(bob, "hang-up")
    over(alice)


def test_a_call_is_declined(person, host, pair):
    alice, bob = person("alice"), person("bob")
    ring(alice, pair, "audio")
    answer(bob, "decline")
    over(alice, text="The call was declined")
    assert last_call(host, pair)["body"]["state"] == "declined"
    assert bob.locator(".call-ring, .call-screen").count() == 0


def test_a_caller_that_hangs_up_leaves_a_missed_call(person, host, pair):
    alice, bob = person("alice"), person("bob")
    show(bob, pair)
    ring(alice, pair, "audio")
    bob.locator(".call-ring").wait_for()
    control(alice, "hang-up")
    bob.locator(".call-ring").wait_for(state="detached")
    until(bob, "/^Missed call/.test([...document.querySelectorAll('.call-line')].at(-1)?.textContent)")
    until(alice, "/^No answer/.test([...document.querySelectorAll('.call-line')].at(-1)?.textContent)")
    preview = f".row[data-conv='{pair}'] .preview"
    bob.locator(preview, has_text="Missed call").wait_for()
    alice.locator(preview, has_text="No answer").wait_for()
    bob.reload()  # the server's preview
    bob.locator(preview, has_text="Missed call").wait_for()
    assert last_call(host, pair)["body"] == {"media": "audio", "state": "missed"}


def test_a_ring_without_an_answer_ends(person, host, pair):
    """The test advances the time of the page. CallWatchTests tests the server, which ends the call of a closed page."""
    alice = person("alice", clock=True)
    ring(alice, pair, "audio")
    until(alice, "chatApp.calls.current.phase === 'outgoing'")
    alice.clock.fast_forward(64_000)
    alice.locator(".call-status", has_text="No answer").wait_for()
    until(alice, f"chatApp.state.callEvent('{pair}', {last_call(host, pair)['seq']}).then(({{ body }}) => body.state === 'missed')")


def test_a_user_in_a_call_is_busy(person, host, pair):
    # The server does not push the head of a chat that another user opens.
    other = host.pair("carol", "alice")
    alice, bob, carol = person("alice"), person("bob"), person("carol")
    ring(alice, pair, "audio")
    answer(bob)
    connected(alice, bob)
    ring(carol, other, "audio")
    over(carol, text="The other person is in another call")
    assert last_call(host, other)["body"]["state"] == "busy"
    connected(alice, bob)
    control(bob, "hang-up")
    over(alice)


def test_two_calls_that_cross_are_one(person, host, pair):
    alice, bob = person("alice"), person("bob")
    count = len(host.log(pair))
    for page in (alice, bob):
        show(page, pair)
    # Both pages have requested their microphones before either receives the other call.
    for page in (alice, bob):
        page.evaluate(f"void chatApp.calls.start('{pair}', 'video')")
    connected(alice, bob)
    for page in (alice, bob):
        decoding(page, "video")
    assert len(host.log(pair)) == count + 1
    control(alice, "hang-up")
    over(bob)


def test_the_second_device_stops_ringing_when_the_first_answers(person, pair):
    alice, first, second = person("alice"), person("bob"), person("bob")
    ring(alice, pair, "audio")
    for page in (first, second):
        page.locator(".call-ring").wait_for()
    answer(second)
    connected(alice, second)
    first.locator(".call-ring").wait_for(state="detached")
    first.locator(".toast", has_text="Answered on another device").wait_for()
    decoding(alice, "audio")
    # The call can be continued on the other device.
    show(first, pair)
    first.locator("[data-action=join-call]").click()
    connected(alice, first)
    decoding(first, "audio")
    over(second, text="Answered on another device")
    control(alice, "hang-up")
    over(first)


def test_the_page_is_loaded_again_in_a_call(person, pair):
    alice, bob = person("alice"), person("bob")
    ring(alice, pair, "audio")
    answer(bob)
    connected(alice, bob)
    bob.reload()
    bob.locator(".chat-list .row").first.wait_for()
    show(bob, pair)
    bob.locator("[data-action=join-call]").click()
    connected(alice, bob)
    decoding(alice, "audio")
    control(bob, "hang-up")
    over(alice)


def test_a_page_that_is_closed_ends_its_call(person, host, pair):
    alice, bob = person("alice", clock=True), person("bob")
    ring(alice, pair, "audio")
    answer(bob)
    connected(alice, bob)
    alice.evaluate("""() => {
      const { onsignal } = chatApp.state;
      window.heard = [];
      chatApp.state.onsignal = (signal) => { heard.push(signal.data.type); onsignal(signal); };
    }""")
    bob.goto(host.url + "/healthz")
    until(alice, "heard.includes('leave') && chatApp.calls.current.peers.size === 0")
    assert not alice.evaluate("chatApp.calls.current.isOver")  # the page may be loaded again
    alice.clock.fast_forward(10_000)
    over(alice)
    assert last_call(host, pair)["body"]["state"] == "ended"
    # A ringing call also ends when the page of the caller closes.
    bob.goto(host.url + "/")
    bob.locator(".chat-list .row").first.wait_for()
    ring(alice, pair, "audio")
    bob.locator(".call-ring").wait_for()
    alice.goto(host.url + "/healthz")
    # If Chromium loses the report of the closing page, the server ends the call after a minute.
    bob.locator(".call-ring").wait_for(state="detached", timeout=90_000)
    assert last_call(host, pair)["body"]["state"] == "missed"


def test_a_browser_that_refuses_the_microphone_is_explained(person, host, pair):
    refuse = "navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('no', 'NotAllowedError'); };"
    alice = person("alice", script=refuse)
    count = len(host.log(pair))
    show(alice, pair)
    alice.click("[data-call=video]")
    alice.locator(".toast[role=alert]", has_text="The browser does not permit the microphone or the camera.").wait_for()
    alice.locator(".call-screen").wait_for(state="detached")
    assert len(host.log(pair)) == count  # the other side was not called
    bob = person("bob")
    ring(bob, pair, "audio")
    alice.locator(".call-ring").wait_for()
    answer(alice)
    alice.locator(".toast[role=alert]").last.wait_for()
    alice.locator(".call-ring").wait_for()  # the call still rings
    answer(alice, "decline")
    over(bob, text="The call was declined")


def test_an_answer_that_fails_releases_the_microphone(person, pair):
    keep = """window.opened = [];
    const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = async (...options) => {
      const stream = await open(...options);
      window.opened.push(...stream.getTracks());
      return stream;
    };"""
    alice, bob = person("alice"), person("bob", script=keep)
    ring(alice, pair, "audio")
    bob.locator(".call-ring").wait_for()
    bob.evaluate("""() => {
      const update = chatApp.state.updateCall;
      chatApp.state.updateCall = async () => {
        chatApp.state.updateCall = update;
        throw Object.assign(new Error("lost"), { code: "unavailable" });
      };
    }""")
    answer(bob)
    bob.locator(".toast[role=alert]").last.wait_for()
    bob.locator(".call-ring").wait_for()
    assert bob.evaluate("window.opened.map((track) => track.readyState)") == ["ended"]
    answer(bob)
    connected(alice, bob)
    decoding(alice, "audio")
    control(alice, "hang-up")
    over(alice, bob, by_itself=True)
    assert bob.evaluate("window.opened.every((track) => track.readyState === 'ended')")


def test_what_members_and_strangers_signal_does_no_harm(person, host, pair):
    host.register("mallory", "<img src=x onerror=alert(1)>")
    alice, bob = person("alice"), person("bob")
    ring(alice, pair, "audio")
    bob.locator(".call-ring").wait_for()
    call = last_call(host, pair)["seq"]

    def signal(page, data):
        return page.evaluate("([conv, call, data]) => chatApp.state.signal(conv, call, 'bob', undefined, data).then(() => 'sent', ({ code }) => code)", [pair, call, data])

    assert signal(person("mallory"), {"type": "join"}) == "not_found"
    # No signal makes a ringing call open a device.
    for data in ({"type": "join"}, {"type": "offer", "sdp": "v=0\r\n"}, {"type": "state", "camera": True}):
        assert signal(alice, data) == "sent"
    answer(bob)
    connected(alice, bob)
    session = bob.evaluate("chatApp.calls.current.session")
    for data in (
        {"type": "offer", "sdp": "v=0\r\n", "session": "other"}, {"type": "answer", "sdp": "x" * 100_001}, {"type": "offer", "sdp": {"a": 1}},
        {"type": "candidate", "candidate": None}, {"type": "candidate", "candidate": {"candidate": "x" * 2000, "sdpMid": "0"}},
        {"type": "unknown"}, {"type": ["join"]}, {"type": "leave", "session": "<b>"}, {"type": "full", "to": "another"}, {"session": session}, {},
    ):
        assert signal(alice, data) == "sent"
    mine = alice.evaluate("chatApp.calls.current.session")
    for data in ({"type": "offer", "sdp": "v=0\r\nnot SDP", "session": mine}, {"type": "candidate", "candidate": {"candidate": "candidate:nonsense", "sdpMid": "0"}, "session": mine}):
        assert signal(alice, data) == "sent"
    decoding(bob, "audio")
    decoding(alice, "audio")
    assert bob.evaluate("chatApp.calls.current.peers.size") == 1
    control(bob, "hang-up")
    over(alice)


def test_the_ring_sounds_for_contacts_if_sounds_are_on(person, host, pair):
    # The first note of the ring; the message of the call has the sound of messages.
    count = "globalThis.tones = 0; const begin = OscillatorNode.prototype.start; OscillatorNode.prototype.start = function (at) { globalThis.tones += Math.round(this.frequency.value) === 659; return begin.call(this, at); };"
    other = host.pair("weilin", "bob")
    alice, bob, stranger = person("alice", script=count), person("bob", script=count, sound=True), person("weilin")
    ring(stranger, other, "audio")
    answer(bob, "decline")
    over(stranger, text="declined")
    assert bob.evaluate("tones") == 0
    ring(alice, pair, "audio")
    bob.locator(".call-ring").wait_for()
    until(bob, "tones > 0")
    assert alice.evaluate("tones") == 0
    answer(bob, "decline")
    over(alice, text="declined")
