"""Previews of links on the page. The server generates them from a page on loopback, which its test program may request.

Environment: APUS_SCREENSHOTS names a folder for pictures of the cards.
"""

import http.server
import threading

import pytest

from support.axe import violations
from support.chathost import ChatHost
from support.chatpages import bubble, open_pair, write
from support.livepage import people
from support.process import ServerProcess
from support.samplepage import DESKTOP, PHONE, picture

HEAD = """<!doctype html><title>plain</title><meta property="og:site_name" content="港口新闻 Harbour news">
<meta property="og:title" content="The ferry is late again &lt;img src=x onerror=alert(1)&gt;">
<meta property="og:description" content="{}"><body>nothing"""


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = "The evening boat leaves at half past seven. 今晚的渡轮七点半出发。" * (30 if self.path == "/long" else 1)
        data = HEAD.format(text).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class PreviewHost(ChatHost):
    """A server of the test program, which can request configured addresses. `apus serve` requests only public ones."""

    def _start(self, port):
        return ServerProcess(
            "conformance", "chat", "--port", str(port), "--folder", str(self.folder), "--page", str(self.page), "--without-limits", "--open-directory",
            "--link-previews", "--outgoing", "127.0.0.1")


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = PreviewHost(tmp_path_factory.mktemp("previews"))
    yield host
    host.stop()


@pytest.fixture()
def person(browser, host):
    with people(browser, host) as sign_in:
        yield sign_in


def choose(page, text, item):
    """Opens the menu on the time of a message, because a link or a card opens that of the browser."""
    bubble(page, text).locator(".meta").first.click(button="right")
    page.get_by_role("menuitem", name=item, exact=True).click()


def test_a_link_gets_a_card_which_follows_an_edit_and_a_recall(person, host, site):
    conv = host.pair("alice", "bob")
    alice, bob = person("alice"), person("bob", PHONE)
    alice.evaluate("(conv) => chatApp.view.openConversation(conv)", conv)
    alice.locator("#message").wait_for()
    write(alice, f"Look at {site}/ferry, and at {site}/other")
    card = alice.locator(".bubble", has_text="Look at").locator("a.preview-card")
    card.wait_for()
    assert card.get_attribute("href") == f"{site}/ferry"
    assert {"noopener", "noreferrer"} <= set(card.get_attribute("rel").split()) and card.get_attribute("target") == "_blank"
    assert card.locator(".site").inner_text() == "港口新闻 Harbour news"
    assert card.locator("strong").inner_text() == "The ferry is late again <img src=x onerror=alert(1)>"
    assert card.locator("img").count() == 0
    open_pair(bob, conv)
    bob.locator("a.preview-card", has_text="half past seven").wait_for()
    # A preview is neither a message nor an edit.
    assert bob.locator(".item .bubble").count() == 1 and bubble(bob, "Look at").get_by_text("edited").count() == 0
    # The sender removes the preview with the keyboard. The other user cannot.
    bubble(bob, "Look at").locator(".meta").first.click(button="right")
    bob.get_by_role("menuitem", name="Reply", exact=True).wait_for()
    assert bob.get_by_role("menuitem", name="Remove the link preview").count() == 0
    bob.keyboard.press("Escape")
    bubble(alice, "Look at").locator(".meta").first.click(button="right")
    alice.get_by_role("menuitem", name="Remove the link preview").focus()
    alice.keyboard.press("Enter")
    for page in (alice, bob):
        page.locator(".preview-card").wait_for(state="detached")
    assert bubble(bob, "Look at").get_by_text("edited").count() == 0
    choose(alice, "Look at", "Edit")
    assert alice.input_value("#message").startswith("Look at")
    write(alice, "No link any more")
    bubble(bob, "No link any more").wait_for()
    for page in (alice, bob):
        page.locator(".preview-card").wait_for(state="detached")
    choose(alice, "No link any more", "Edit")
    write(alice, f"Again {site}/long")
    bob.locator("a.preview-card").wait_for()
    choose(alice, "Again", "Recall")
    alice.get_by_role("dialog").get_by_role("button", name="Recall").click()
    for page in (alice, bob):
        page.locator(".preview-card").wait_for(state="detached")


@pytest.mark.parametrize(("theme", "size", "language"), [("light", DESKTOP, "en"), ("dark", DESKTOP, "en"), ("light", PHONE, "zh"), ("dark", PHONE, "zh")],
                         ids=["light", "dark", "phone-chinese", "dark-phone-chinese"])
def test_cards_are_readable_and_within_their_bubbles(person, host, site, theme, size, language):
    conv = host.pair("alice", "carol")
    if not host.log(conv):
        for user, text in (("carol", f"{site}/ferry"), ("alice", f"Thank you! {site}/long"), ("carol", f"在看 {site}/ferry")):
            host.do(user, "send", conv=conv, kind="text", body={"text": text})
    alice = person("alice", size, theme=theme, language=language)
    open_pair(alice, conv)
    alice.locator("a.preview-card").nth(2).wait_for()
    picture(alice, f"previews-{theme}-{language}-{size['width']}")
    assert violations(alice) == []
    # The card does not cover the time, and a long text ends after four lines.
    tops = alice.locator(".bubble", has=alice.locator("a.preview-card")).evaluate_all("bubbles => bubbles.map((each) => [each.querySelector('.meta').getBoundingClientRect().bottom, each.querySelector('.preview-card').getBoundingClientRect().top])")
    assert all(time <= card for time, card in tops), tops
    assert alice.locator(".preview-card .about").nth(1).evaluate("each => each.scrollHeight > each.clientHeight && each.clientHeight < 100")
    boxes = alice.locator("a.preview-card").evaluate_all("cards => cards.map((card) => [card.getBoundingClientRect(), card.closest('.bubble').getBoundingClientRect()])")
    for card, around in boxes:
        assert around["left"] <= card["left"] and card["right"] <= around["right"] <= size["width"]
        assert card["height"] < 260
