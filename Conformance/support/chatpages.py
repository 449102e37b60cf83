"""Actions of users on the page, for tests with the fixture `person`."""

import struct
import zlib


def png():
    """Returns a red picture of 40 × 30 pixels."""

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
    """Returns the newest message with this text; quotes of it do not count."""
    return page.locator(".item .bubble", has=page.locator(":scope > .text", has_text=text)).last


def choose(page, text, item):
    bubble(page, text).click(button="right")
    page.get_by_role("menuitem", name=item, exact=True).click()


def open_pair(page, conv):
    """Opens a conversation by its id and waits until its log is shown."""
    page.locator(".chat-list .row").first.wait_for()
    page.evaluate("(conv) => chatApp.view.openConversation(conv)", conv)
    page.locator(".log .item").first.wait_for()
