"""Tests the opening position of a chat and read marks in the page at / in headless Chromium with a real server."""

import pytest

READ = "document.querySelectorAll('.message.mine[data-state=read]').length"
LOOK_AWAY = "window.isAway = false; document.hasFocus = () => !window.isAway;"


@pytest.fixture()
def pair(person):
    """Signs in alice and bobby and opens their chat. bobby has read the demo's message from alice."""
    alice, bobby = person(), person()
    bobby.context.add_init_script(LOOK_AWAY)
    for each, name in ((alice, "alice"), (bobby, "bobby")):
        each.sign_in(name)
        each.open_chat()
    wait_for_read(alice.page, 1)
    return alice, bobby


def look_away(person, is_away):
    person.page.evaluate("(isAway) => { window.isAway = isAway; dispatchEvent(new Event(isAway ? 'blur' : 'focus')); }", is_away)


def texts_on_screen(page):
    """Returns the texts of the messages whose end is visible."""
    return page.evaluate("""() => {
      const { top, bottom } = document.getElementById("scroller").getBoundingClientRect();
      const rows = [...document.querySelectorAll(".message")].filter((row) => {
        const box = row.getBoundingClientRect();
        return box.bottom > top && box.bottom <= bottom + 2;
      });
      return rows.map((row) => row.querySelector(".text").innerText);
    }""")


def read_texts(page):
    """Returns the texts that the sender sees as read."""
    return page.locator(".message.mine[data-state=read] .text").all_inner_texts()


def badge(page, selector):
    found = page.locator(f"{selector} .badge")
    return int(found.inner_text()) if found.is_visible() else 0


def wait_for_read(page, count):
    page.wait_for_function(f"count => {READ} === count", arg=count)


@pytest.mark.parametrize("options", [{}, {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "locale": "zh-CN"}])
def test_a_chat_opens_at_its_first_unread_message(person, screenshot, options):
    alice, bobby = person(), person(**options)
    for each, name in ((alice, "alice"), (bobby, "bobby")):
        each.sign_in(name)
        each.open_chat()
    wait_for_read(alice.page, 1)  # the demo's own message
    hello = alice.texts()[0]
    bobby.page.close()
    wanted = [f"While you were away, {number}" for number in range(1, 101)]
    alice.write_all(wanted)
    alice.page.wait_for_function("() => document.querySelectorAll('.message.mine[data-state=sent]').length === 100")

    page = bobby.visit()
    assert page.wait_for_selector(".chat .badge").inner_text() == "99+"
    bobby.open_chat()
    page.wait_for_selector("#new-messages")
    line = page.locator("#new-messages")
    assert line.inner_text() == ("未读消息" if options else "Unread messages")
    shown = texts_on_screen(page)
    assert shown[:3] == [hello, *wanted[:2]]
    line_top, first_top = (page.locator(each).bounding_box()["y"] for each in ("#new-messages", ".message[data-n='2']"))
    assert line_top < first_top

    # The visible messages are read, also at the server; the button counts the others.
    seen = len(shown) - 1
    wait_for_read(alice.page, 1 + seen)
    page.wait_for_function("count => document.querySelector('#jump .badge').textContent === count", arg=str(100 - seen))
    assert not page.is_visible("#to-unread")
    screenshot(page, f"unread-{'phone' if options else 'desktop'}-opened")

    # At the newest message: the skipped messages stay unread, and a button leads to them.
    page.click("#jump")
    page.wait_for_selector("#jump", state="hidden")
    last = texts_on_screen(page)
    assert last[-1] == wanted[-1]
    page.wait_for_function("count => document.querySelector('#to-unread .badge').textContent === count", arg=str(100 - seen - len(last)))
    wait_for_read(alice.page, 1 + seen)
    screenshot(page, f"unread-{'phone' if options else 'desktop'}-newest")
    page.click("#to-unread")
    page.wait_for_selector("#to-unread", state="hidden")
    assert wanted[seen] in texts_on_screen(page)[:2]
    screenshot(page, f"unread-{'phone' if options else 'desktop'}-back")

    # Scrolling to the end marks all messages as read, including those visible before. Each part of the way is on the screen
    # until it counts as read: a part that is passed faster is not read.
    is_at_end = False
    while not is_at_end:
        is_at_end = page.evaluate("""() => {
          const scroller = document.getElementById("scroller");
          scroller.scrollTop += scroller.clientHeight / 2;
          return scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 1;
        }""")
        alice.page.wait_for_function(f"count => {READ} >= count", arg=2 + wanted.index(texts_on_screen(page)[-1]))
    wait_for_read(alice.page, 101)
    assert page.locator(".chat .badge").count() == 0


def test_far_more_unread_messages_than_a_page_of_history(pair):
    alice, bobby = pair
    hello = alice.texts()[0]
    bobby.page.close()
    wanted = [f"Number {number}" for number in range(1, 451)]
    alice.write_all(wanted)
    alice.page.wait_for_function("() => document.querySelectorAll('.message.mine[data-state=sent]').length === 450", timeout=30_000)
    page = bobby.visit()
    bobby.open_chat()
    page.wait_for_selector("#new-messages")
    shown = texts_on_screen(page)
    assert shown[:2] == [hello, wanted[0]]
    wait_for_read(alice.page, len(shown))


def test_a_window_without_focus_marks_nothing_as_read(pair):
    alice, bobby = pair
    look_away(bobby, True)
    wanted = [f"Unseen {number}" for number in range(1, 41)]
    alice.write_all(wanted)
    alice.page.wait_for_function("() => document.querySelectorAll('.message.mine[data-state=sent]').length === 40")
    page = bobby.page
    page.wait_for_function("() => document.querySelectorAll('.message').length === 41")
    # The view follows until the first of them would leave it; all are still unread.
    assert wanted[0] in texts_on_screen(page)
    assert page.locator(".chat .badge").inner_text() == "40"
    assert len(read_texts(alice.page)) == 1
    assert page.locator("#new-messages").count() == 1

    look_away(bobby, False)
    shown = [text for text in texts_on_screen(page) if text in wanted]
    wait_for_read(alice.page, 1 + len(shown))
    assert read_texts(alice.page)[1:] == shown
    page.wait_for_function("count => document.querySelector('#jump .badge').textContent === count", arg=str(40 - len(shown)))


def test_a_dialog_over_the_chat_hides_it(pair):
    alice, bobby = pair
    bobby.page.click("#new-chat")
    alice.write("Under the dialog")
    bobby.sees("Under the dialog")
    assert bobby.page.locator(".chat .badge").inner_text() == "1"
    assert len(read_texts(alice.page)) == 1
    bobby.page.keyboard.press("Escape")
    wait_for_read(alice.page, 2)


def test_at_the_end_new_messages_are_followed_and_read(pair):
    alice, bobby = pair
    for number in range(30):
        alice.write(f"Line {number}")
    wait_for_read(alice.page, 31)
    assert texts_on_screen(bobby.page)[-1] == "Line 29"
    assert not bobby.page.is_visible("#jump") and not bobby.page.is_visible("#to-unread")
    # The position is kept if earlier messages are being read.
    bobby.page.evaluate("document.getElementById('scroller').scrollTop = 0")
    alice.write("Below the screen")
    bobby.page.wait_for_function("() => document.querySelector('#jump .badge').textContent === '1'")
    assert "Below the screen" not in texts_on_screen(bobby.page)
    assert len(read_texts(alice.page)) == 31
    bobby.page.click("#jump")
    wait_for_read(alice.page, 32)


def test_a_lost_mark_is_sent_after_the_reconnection(person):
    alice, bobby = person(), person()
    lost = []

    def relay(socket):
        server = socket.connect_to_server()

        def from_page(message):
            # The first mark is lost with its connection.
            if not lost and isinstance(message, str) and '["mark"' in message:
                lost.append(message)
                socket.close()
                server.close()
            else:
                server.send(message)

        socket.on_message(from_page)

    bobby.context.route_web_socket("**/socket.io/**", relay)
    for each, name in ((alice, "alice"), (bobby, "bobby")):
        each.sign_in(name)
        each.open_chat()
    wait_for_read(alice.page, 1)
    bobby.page.wait_for_timeout(500)  # until the upgrade to WebSocket; this test is not about marks sent by polling
    alice.write("Is this read?")
    wait_for_read(alice.page, 2)
    assert len(lost) == 1


@pytest.mark.parametrize(("address", "locale"), [("/#/c/%", "en-GB"), ("/#/c/%E4%BD", "zh-CN"), ("/#/c/nothing-of-mine", "en-GB")])
def test_an_address_of_an_unknown_chat(person, screenshot, address, locale):
    alice = person(locale=locale)
    alice.sign_in("alice")
    page = alice.visit(address)
    page.wait_for_selector("#chats .chat")
    word = page.wait_for_selector(".toast").inner_text()
    assert word == ("这个地址没有对应的聊天。" if locale == "zh-CN" else "This link does not lead to one of your chats.")
    assert page.url.endswith("/")
    screenshot(page, f"no-such-chat-{locale}")
    alice.open_chat()
    alice.write("Alive")
    page.wait_for_selector(".message.mine[data-state=sent]")
