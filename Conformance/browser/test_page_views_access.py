"""Keyboard access, names and contrast of the views in `Web/`, with the sample state."""

import pytest

from support.axe import violations
from support.samplepage import DESKTOP, PHONE, eventually, open_chat, picture, serving, visiting


@pytest.fixture(scope="module")
def address():
    with serving() as address:
        yield address


@pytest.fixture()
def visit(browser, address):
    with visiting(browser, address) as open_page:
        yield open_page


SCREENS = {
    "list": "",
    "chat": "chatApp.view.openConversation('1rowingclub00')",
    "details": "chatApp.view.openConversation('1rowingclub00'); chatApp.view.toggleDetails(true)",
    "new-chat": "chatApp.view.newChat()",
    "new-group": "chatApp.view.newGroup('group')",
    "contacts": "chatApp.view.contacts()",
    "profile": "chatApp.view.openProfile('weilin')",
    "search": "chatApp.view.search({ query: 'oars' })",
    "settings": "chatApp.view.settings('profile')",
    "privacy": "chatApp.view.settings('privacy')",
    "sessions": "chatApp.view.settings('sessions')",
    "security": "chatApp.view.settings('security')",
}


@pytest.mark.parametrize(("theme", "size"), [("light", DESKTOP), ("dark", PHONE)], ids=["light-desktop", "dark-phone"])
def test_axe_finds_no_violations(visit, theme, size):
    page = visit(theme=theme, size=size, language="zh" if theme == "dark" else "en")
    page.locator(".chat-list .row").first.wait_for()
    found = []

    def check(name):
        found.extend((name, *each) for each in violations(page))
        picture(page, f"new-{name}-{theme}-{size['width']}")

    for name, action in SCREENS.items():
        page.evaluate(action or "0")
        check(name)
        page.evaluate("document.querySelector('dialog[open]')?.close()")
    page.goto(page.url.split("?")[0] + "?signedOut")
    page.locator("#auth-form").wait_for()
    check("sign-in")
    assert found == []


def test_ctrl_k_finds_a_chat_and_focuses_the_composer(visit):
    page = visit()
    page.locator(".chat-list .row").first.wait_for()
    page.keyboard.press("Control+k")
    page.keyboard.type("carol")
    page.locator("dialog .row", has_text="Carol Okafor").first.wait_for()
    page.keyboard.press("Enter")
    page.locator(".peer h2", has_text="Carol Okafor").wait_for()
    eventually(page, "document.activeElement.id === 'message'")


def test_arrow_up_edits_the_last_own_message_and_escape_ends_it(visit):
    page = visit()
    open_chat(page, "陈维林")
    page.fill("#message", "first *draft*")
    page.keyboard.press("Enter")
    page.locator(".item .bubble em", has_text="draft").last.wait_for()
    page.locator(".item", has_text="first draft").locator(".ticks.sent, .ticks.delivered, .ticks.read").first.wait_for()
    page.keyboard.press("ArrowUp")
    assert page.input_value("#message") == "first *draft*"
    page.keyboard.press("Escape")
    assert page.input_value("#message") == ""
    page.keyboard.press("ArrowUp")
    page.fill("#message", "second")
    page.keyboard.press("Enter")
    page.locator(".item .bubble", has_text="second").last.wait_for()


def test_space_on_a_member_keeps_the_focus_and_escape_closes(visit):
    page = visit()
    page.locator(".chat-list .row").first.wait_for()
    page.evaluate("chatApp.view.newGroup('group')")
    eventually(page, "document.activeElement.name === 'title'")
    page.focus("#find-people")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    assert page.locator(".picked button").count() == 1
    assert page.evaluate("document.activeElement.matches('.person[aria-pressed=true]')")
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")


def test_tab_leads_to_the_newest_message_or_the_one_that_the_user_left(visit):
    page = visit()
    open_chat(page, "陈维林")

    def back():
        """Returns the message that Shift+Tab focuses from the composer."""
        page.focus("#message")
        for _ in range(8):
            page.keyboard.press("Shift+Tab")
            if page.evaluate("document.activeElement.matches('.item')"):
                return page.evaluate("document.activeElement.getAttribute('aria-label')")
        raise AssertionError("no message was focused")

    for text in ("one of two", "two of two"):
        page.fill("#message", text)
        page.keyboard.press("Enter")
        page.locator(".item .bubble", has_text=text).wait_for()
    assert "two of two" in back()
    page.keyboard.press("ArrowUp")
    assert "one of two" in back()
    page.fill("#message", "a third")
    page.keyboard.press("Enter")
    page.locator(".item .bubble", has_text="a third").wait_for()
    assert "one of two" in back()


def test_messages_say_their_sender_and_open_a_menu_by_the_keyboard(visit):
    page = visit()
    open_chat(page, "Rowing club Kiel")
    page.keyboard.press("Shift+Tab")
    page.evaluate("chatApp.view.thread.focusLog()")
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label.split(",")[0] == page.locator(".item .author").last.inner_text()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.get_by_role("menuitem", name="Reply", exact=True).wait_for()
    eventually(page, "document.activeElement.textContent === 'Reply'")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    assert page.locator(".menu").count() == 0
    assert page.evaluate("document.activeElement.matches('.item')")


def test_forced_colors_and_reduced_motion_keep_the_page_usable(visit):
    page = visit()
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    open_chat(page, "Bob Marsh")
    assert page.evaluate("getComputedStyle(document.querySelector('.bubble')).borderTopWidth") == "1px"
