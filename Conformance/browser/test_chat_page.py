"""Tests the chat page at / and the test page at /test.html in headless Chromium with a real server."""

import pytest


def test_two_users_send_messages_and_a_picture(person, picture, screenshot):
    alice, bobby = person(), person(color_scheme="dark")
    alice.sign_in("alice")
    bobby.sign_in("bobby")
    alice.open_chat()
    bobby.open_chat()

    alice.write("Are the swifts back? 在吗？")
    bobby.sees("Are the swifts back? 在吗？")
    alice.page.wait_for_selector(".message.mine[data-state=read]")

    bobby.page.set_input_files("#file", files=[{"name": "sky.png", "mimeType": "image/png", "buffer": picture}])
    bobby.page.wait_for_selector("#tray .tray-item")
    bobby.write("Since this morning!")
    loaded = ".message.theirs .thumb:not(.loading):not(.broken) img"
    alice.page.wait_for_selector(loaded)
    assert alice.page.locator(loaded).evaluate("image => [image.naturalWidth, image.naturalHeight]") == [480, 320]
    alice.sees("Since this morning!")
    assert bobby.texts() == alice.texts()

    alice.write("Wonderful. See you at the river at seven, https://example.com/map")
    bobby.sees("See you at the river")
    assert bobby.page.locator(".message.theirs .text a").get_attribute("href") == "https://example.com/map"
    screenshot(alice.page, "chat-light")
    screenshot(bobby.page, "chat-dark")

    alice.page.click(".message .thumb")
    alice.page.wait_for_selector("dialog.lightbox img")
    screenshot(alice.page, "lightbox")
    alice.page.keyboard.press("Escape")
    alice.page.wait_for_selector("dialog.lightbox", state="detached")


def test_markup_is_shown_as_text(person):
    alice, bobby = person(), person()
    alice.sign_in("alice")
    bobby.sign_in("bobby")
    alice.open_chat()
    bobby.open_chat()
    text = "<img src=x onerror=\"document.title='owned'\"> javascript:alert(1) <b>b</b>"
    alice.write(text)
    bobby.sees("onerror")
    assert bobby.texts()[-1] == text
    assert bobby.page.locator(".message .text img, .message .text b, .message .text a").count() == 0
    assert "owned" not in bobby.page.title()


def test_messages_wait_for_an_offline_user(person, screenshot):
    alice, bobby = person(), person()
    alice.sign_in("alice")
    bobby.sign_in("bobby")
    alice.open_chat()
    bobby.open_chat()
    alice.write("Before")
    bobby.sees("Before")
    alice.page.wait_for_selector(".message.mine[data-state=read]")
    bobby.page.close()

    five = [f"While you were away, {number}" for number in range(1, 6)]
    for text in five:
        alice.write(text)
    alice.page.wait_for_function("() => document.querySelectorAll('.message.mine[data-state=sent]').length === 5")

    bobby.visit()
    badge = bobby.page.wait_for_selector(".chat .badge")
    assert badge.inner_text() == "5"
    assert bobby.page.title() == "(5) Apus"
    screenshot(bobby.page, "unread")
    bobby.open_chat()
    # The last message may be shown before earlier ones have been loaded.
    for text in ["Before", *five]:
        bobby.sees(text)
    bobby.page.wait_for_selector("#new-messages")
    assert bobby.texts()[-6:] == ["Before"] + five
    assert [bobby.texts().count(text) for text in five] == [1] * 5
    bobby.page.wait_for_selector(".chat .badge", state="detached")
    alice.page.wait_for_function("() => document.querySelectorAll('.message.mine[data-state=sent]').length === 0")


def test_messages_sent_without_a_server_arrive_once_and_in_order(person, server, screenshot):
    alice, bobby = person(), person()
    alice.sign_in("alice")
    bobby.sign_in("bobby")
    alice.open_chat()
    bobby.open_chat()
    alice.write("Before")
    bobby.sees("Before")

    server.kill()
    alice.page.wait_for_selector("#connection[data-state=waiting], #connection[data-state=connecting]")
    three = [f"Into the silence, {number}" for number in range(1, 4)]
    for text in three:
        alice.write(text)
    alice.page.wait_for_function("() => document.querySelectorAll('.message.mine[data-state=waiting]').length === 3")
    screenshot(alice.page, "waiting")

    server.start()
    alice.visit()  # a second page finds the outbox of the first; both send it
    alice.page.wait_for_selector("#chats .chat")
    alice.open_chat()
    bobby.sees(three[-1])
    alice.sees(three[-1])
    alice.page.wait_for_selector(".message.mine[data-state=waiting]", state="detached")
    bobby.page.wait_for_timeout(1500)  # time for a duplicate to appear
    for user in (alice, bobby):
        assert user.texts()[-4:] == ["Before"] + three


def test_a_new_account_finds_users_and_creates_a_group(person, screenshot):
    bobby, carol = person(), person()
    bobby.sign_in("bobby")
    page = carol.visit()
    page.click("#auth-switch")
    page.fill("input[name=name]", "carol")
    page.fill("input[name=display]", "Carol 卡罗")
    page.fill("input[name=password]", "a long password")
    page.click("#auth-form button[type=submit]")
    page.wait_for_selector("#new-chat")

    page.click("#new-group")
    page.fill("input[name=title]", "Swift watchers")
    for name in ("alice", "bobby"):
        page.fill("#find-people", name[:3])
        page.click(f".person[data-user={name}]")
    screenshot(page, "new-group")
    page.click("dialog footer .primary")
    page.wait_for_selector("#message")
    carol.write("Hello, both of you")

    bobby.page.locator(".chat", has_text="Swift watchers").click()
    bobby.sees("Hello, both of you")
    joined = bobby.page.locator(".change", has_text="joined")
    joined.wait_for()
    assert all(name in joined.inner_text() for name in ("Alice", "Bobby", "Carol 卡罗"))
    assert bobby.page.locator(".message .sender").first.inner_text() == "Carol 卡罗"
    bobby.write("Hello Carol")
    carol.sees("Hello Carol")
    screenshot(bobby.page, "group")


def test_signing_out_ends_the_session(person):
    alice = person()
    page = alice.sign_in("alice")
    assert "token" not in page.url
    page.click("#sign-out")
    page.wait_for_selector("#auth-form")
    page.reload()
    page.wait_for_selector("#auth-form")
    page.fill("input[name=name]", "alice")
    page.fill("input[name=password]", "not the password")
    page.click("#auth-form button[type=submit]")
    page.wait_for_selector(".form-error:not(:empty)")


def test_phone_width_shows_one_pane_at_a_time(person, screenshot):
    alice = person(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = alice.sign_in("alice")
    assert not page.is_visible("main.pane")
    screenshot(page, "phone-list")
    alice.open_chat()
    assert not page.is_visible("aside.sidebar")
    alice.write("From the phone")
    page.wait_for_selector(".message.mine[data-state=sent]")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    screenshot(page, "phone-chat")
    page.click("#back")
    page.wait_for_selector("aside.sidebar", state="visible")
    assert page.locator(".chat-preview").first.inner_text().endswith("From the phone")


@pytest.mark.parametrize(("choice", "used"), [("polling", "polling"), ("websocket", "websocket"), ("auto", "websocket")])
def test_every_button_of_the_test_page(person, screenshot, choice, used):
    page = person().visit("/test.html")
    page.check(f"input[name=transport][value={choice}]", force=True)
    page.click("#connect")
    page.wait_for_selector("#state[data-state=open]")
    page.wait_for_function("used => document.getElementById('transport-in-use').textContent === used", arg=used)
    logged = page.locator("#log .data")
    logged.filter(has_text='["welcome"').first.wait_for()

    page.click("#send-text")
    logged.filter(has_text='42["chatMessage"').first.wait_for()
    page.click("#send-binary")
    page.locator("#log li.out", has_text="451-").first.wait_for()
    for button, expected in (("send-ack", "Ack of chatMessage"), ("send-binary-ack", "Ack of binaryAckTest"), ("send-ten", "10 of 10 acks")):
        page.click(f"#{button}")
        page.wait_for_function("text => document.getElementById('result').textContent.startsWith(text)", arg=expected)
        assert page.get_attribute("#result", "data-ok") == "true"
    screenshot(page, f"test-page-{choice}")
    page.click("#disconnect")
    page.wait_for_selector("#state[data-state=closed]")
    assert page.is_disabled("#send-text")
