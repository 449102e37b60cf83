"""Two users with the page in `Page/`, in Chromium against the mock server."""

import contextlib
import struct
import zlib

import pytest

from support import chatmock
from support.samplepage import DESKTOP, PHONE


@pytest.fixture(scope="module")
def mock():
    with chatmock.running() as mock:
        yield mock


@pytest.fixture()
def person(browser, mock):
    with contextlib.ExitStack() as contexts:
        complaints = []

        def sign_in(name, size=DESKTOP):
            context = contexts.enter_context(contextlib.closing(browser.new_context(viewport=size, locale="en-GB")))
            context.set_default_timeout(15_000)
            page = context.new_page()
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.goto(mock.url + "/")
            page.fill("[name=name]", name)
            page.fill("[name=password]", "apus-demo")
            page.keyboard.press("Enter")
            page.locator(".chat-list .row").first.wait_for()
            return page

        yield sign_in
        assert complaints == []


def png():
    """A red picture of 40 × 30 pixels."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\x00" + b"\xd0\x20\x20" * 40) * 30
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 40, 30, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def begin_chat(page, name):
    page.click("#new-chat")
    page.fill("#find-people", name)
    page.click(f".person[data-user={name}]")
    page.locator("#message").wait_for()


def write(page, text):
    page.fill("#message", text)
    page.keyboard.press("Enter")


def bubble(page, text):
    """The newest message with this text, apart from quotes of it."""
    return page.locator(".item .bubble", has=page.locator(":scope > .text", has_text=text)).last


def choose(page, text, item):
    bubble(page, text).click(button="right")
    page.get_by_role("menuitem", name=item, exact=True).click()


def test_two_users_write_reply_edit_react_and_recall(person):
    alice, bob = person("alice"), person("bob", PHONE)
    begin_chat(bob, "alice")
    begin_chat(alice, "bob")
    write(alice, "Hello **Bob** :tada:")
    bubble(bob, "Hello").wait_for()
    assert bubble(bob, "Hello").locator("strong").inner_text() == "Bob"
    alice.locator(".item", has_text="Hello").last.locator(".ticks.read").wait_for()

    choose(bob, "Hello", "Reply")
    write(bob, "Hi Alice")
    assert "Hello" in bubble(alice, "Hi Alice").locator(".quote").inner_text()

    bubble(alice, "Hi Alice").click(button="right")
    alice.get_by_role("menuitemcheckbox", name="React with 👍").click()
    bob.locator(".reaction", has_text="👍").wait_for()

    choose(alice, "Hello", "Edit")
    write(alice, "Hello again")
    bubble(bob, "Hello again").get_by_text("edited").wait_for()

    choose(alice, "Hello again", "Recall")
    alice.get_by_role("dialog").get_by_role("button", name="Recall").click()
    bubble(bob, "Message recalled").wait_for()


def test_a_picture_arrives_and_opens(person):
    alice, bob = person("alice"), person("bob")
    begin_chat(alice, "bob")
    alice.set_input_files("input[type=file]", {"name": "red.png", "mimeType": "image/png", "buffer": png()})
    alice.locator(".attachment img").wait_for()
    alice.keyboard.press("Enter")
    begin_chat(bob, "alice")
    bob.locator(".picture img.loaded").last.wait_for()
    bob.locator(".picture").last.click()
    bob.locator("dialog.viewer img").wait_for()
    bob.keyboard.press("Escape")
    bob.locator("dialog.viewer").wait_for(state="detached")


def test_a_group_is_made_by_the_keyboard_and_shows_its_members(person):
    alice = person("alice")
    alice.focus("#main-menu")
    alice.keyboard.press("Enter")
    alice.keyboard.press("Enter")
    alice.keyboard.type("bob")
    alice.locator(".person[data-user=bob]").wait_for()
    alice.keyboard.press("ArrowDown")
    alice.keyboard.press("Enter")
    alice.fill("dialog [name=title]", "Keyboard group")
    alice.get_by_role("button", name="Create group").click()
    alice.locator(".peer h2", has_text="Keyboard group").wait_for()
    alice.click(".peer")
    alice.locator(".details .person[data-user=bob]").wait_for()
    alice.locator(".details .role", has_text="Owner").wait_for()


def test_the_language_changes_everything_at_once(person):
    alice = person("alice")
    alice.evaluate("chatApp.view.settings('appearance')")
    alice.get_by_label("中文").check()
    alice.get_by_role("dialog", name="设置").wait_for()
    alice.keyboard.press("Escape")
    alice.get_by_role("button", name="全部").wait_for()
