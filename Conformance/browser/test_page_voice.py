"""Voice messages that are recorded with the fake microphone of Chromium, sent, and played by the other user."""

import re

from support.chatpages import begin_chat
from support.media import RECORDS, bodies, send_voice
from support.page import WEB
from support.samplepage import PHONE, eventually

PAGE_FOLDER = WEB  # the tests listen to the player of the page


def begin_recording(page):
    """Presses the button with the keyboard and waits until the microphone has a level."""
    page.focus("#record")
    page.keyboard.press("Enter")
    page.locator(".record-strip .wave i").nth(12).wait_for()


def pointer_at(page, selector):
    box = page.locator(selector).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_voice_message_is_recorded_and_played_at_three_speeds(person, chat):
    alice, bob = person("alice", **RECORDS), person("bob", PHONE)
    begin_chat(alice, "bob")
    begin_recording(alice)
    eventually(alice, "document.activeElement.id === 'send'")
    assert not alice.locator("#message").is_visible()
    alice.keyboard.press("Enter")
    alice.locator(".voice .play:enabled").last.wait_for()
    begin_chat(bob, "alice")
    voice = bob.locator(".voice").last
    voice.wait_for()
    body = bodies(chat, chat.pair("alice", "bob"), "audio")[-1]
    assert body["voice"] is True and body["duration"] >= 400 and body["type"].startswith("audio/")
    assert re.fullmatch("([0-9a-f]{2}){8,100}", body["wave"]) and len(set(re.findall("..", body["wave"]))) > 1
    assert voice.get_attribute("aria-label") == "Voice message"
    assert voice.locator(".unplayed").is_visible() and not voice.locator(".speed").is_visible()

    bob.evaluate("import('./js/media/player.js').then(({ player }) => { globalThis.rates = []; player.listen(() => rates.push([player.rate, player.at(player.key, 1000).playing])); })")
    voice.locator(".play").click()
    eventually(bob, "rates.some(([rate, playing]) => rate === 1 && playing)")
    voice.locator(".unplayed").wait_for(state="hidden")
    for shown in (1.5, 2, 1):
        bob.evaluate("import('./js/media/player.js').then(({ player }) => player.nextRate())")
        eventually(bob, f"rates.at(-1)[0] === {shown}")
    bob.reload()
    bob.locator(".voice").last.wait_for()
    assert not bob.locator(".voice .unplayed").last.is_visible()


def test_a_held_button_sends_cancels_and_locks(person, chat):
    alice = person("alice", **RECORDS)
    begin_chat(alice, "carol")
    conv = chat.pair("alice", "carol")
    x, y = pointer_at(alice, "#record")
    strip = alice.locator(".record-strip")
    bar = alice.locator(".record-strip .wave i").nth(12)

    alice.mouse.down()
    bar.wait_for()
    assert "held" in strip.get_attribute("class")
    alice.mouse.move(x - 120, y, steps=4)
    strip.wait_for(state="hidden")
    alice.mouse.up()

    pointer_at(alice, "#record")
    alice.mouse.down()
    bar.wait_for()
    alice.mouse.move(x, y - 100, steps=4)
    alice.locator("#send").wait_for()
    alice.mouse.up()
    assert strip.is_visible() and "held" not in strip.get_attribute("class")
    alice.keyboard.press("Escape")
    strip.wait_for(state="hidden")
    eventually(alice, "document.activeElement.id === 'message'")
    assert bodies(chat, conv, "audio") == []

    pointer_at(alice, "#record")
    alice.mouse.down()
    bar.wait_for()
    alice.mouse.up()
    alice.locator(".voice .play:enabled").wait_for()
    alice.locator(".item .ticks.sent, .item .ticks.delivered, .item .ticks.read").last.wait_for()
    assert len(bodies(chat, conv, "audio")) == 1


def test_without_a_connection_the_recording_waits(person, chat):
    alice = person("alice", **RECORDS)
    begin_chat(alice, "weilin")
    conv = chat.pair("alice", "weilin")
    alice.context.set_offline(True)
    begin_recording(alice)
    alice.keyboard.press("Enter")
    alice.locator(".voice").wait_for()
    alice.locator(".item .ticks.waiting").wait_for()
    assert bodies(chat, conv, "audio") == []
    alice.context.set_offline(False)
    alice.locator(".item .ticks.waiting").wait_for(state="detached", timeout=60_000)
    assert len(bodies(chat, conv, "audio")) == 1


def test_the_next_voice_message_follows(person, chat):
    alice, bob = person("alice"), person("bob")
    conv = chat.pair("alice", "bob")
    begin_chat(alice, "bob")
    before = alice.locator(".voice").count()
    for _ in range(2):
        send_voice(alice, conv)
    begin_chat(bob, "alice")
    eventually(bob, f"document.querySelectorAll('.voice').length === {before + 2}")
    first = bob.locator(".voice").nth(before)
    first.locator(".wave").focus()
    bob.keyboard.press("ArrowRight")
    eventually(bob, "document.activeElement.getAttribute('aria-valuetext').endsWith('of 0:00')")
    first.locator(".play").click()
    eventually(bob, "[...document.querySelectorAll('.voice .unplayed')].slice(-2).every((mark) => mark.hidden)")


def test_a_refused_microphone_is_told(person):
    alice = person("alice")
    begin_chat(alice, "bob")
    alice.evaluate("() => { navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('no', 'NotAllowedError'); }; }")
    alice.click("#record")
    alice.get_by_role("alert").filter(has_text="The microphone is not allowed").wait_for()
    assert alice.locator("#message").is_visible()
