"""The views of the page in `Page/`, on the sample state: no server is needed.

Environment: APUS_SCREENSHOTS names a folder for pictures of the screens.
"""

import functools
import http.server
import json
import os
import pathlib
import threading

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "Page"
POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; style-src 'self'; script-src 'self'; base-uri 'none'"
)
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


class Files(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript"}

    def log_message(self, *_):
        pass

    def end_headers(self):
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()


@pytest.fixture(scope="module")
def address():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=str(PAGE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture()
def visit(browser, address):
    """Opens the page with preferences. The test fails on an error of a script or of the security policy."""
    contexts, complaints = [], []

    def note(message):
        if "Content Security Policy" in message.text or "TypeError" in message.text:
            complaints.append(message.text)

    def open_page(query="sample", size=DESKTOP, **preferences):
        context = browser.new_context(viewport=size, locale="en-GB")
        context.set_default_timeout(10_000)
        stored = json.dumps({"language": "en", "theme": "light", **preferences})
        context.add_init_script(f"localStorage.setItem('apus-preferences', {json.dumps(stored)})")
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", note)
        page.goto(f"{address}/?{query}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def picture(page, name):
    folder = os.environ.get("APUS_SCREENSHOTS")
    if folder:
        page.screenshot(path=os.path.join(folder, f"{name}.png"))


def open_chat(page, title):
    page.locator(".chat-list .row", has_text=title).first.click()
    page.locator(".peer h2", has_text=title).wait_for()
    page.locator(".log .item").first.wait_for()


def focused(page):
    return page.evaluate("document.activeElement.closest('[data-conv]')?.dataset.conv ?? document.activeElement.id ?? ''")


def test_the_list_has_the_focus_after_the_start_and_arrow_keys_open_a_chat(visit):
    page = visit()
    page.wait_for_function("document.activeElement.matches('.chat-list .row')")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator("#message").wait_for()
    page.wait_for_function("document.activeElement.id === 'message'")
    assert page.locator(".peer h2").inner_text() == page.locator(".row[aria-current=true] .title").inner_text()
    page.keyboard.press("Escape")
    page.wait_for_function("document.activeElement.matches('.chat-list .row')")
    picture(page, "list")


def test_a_chat_opens_at_its_first_unread_message_with_a_count(visit):
    page = visit()
    open_chat(page, "Design review")
    line = page.locator(".unread-line")
    line.wait_for()
    box = line.bounding_box()
    assert 60 < box["y"] < 500
    assert page.locator(".jump").is_visible()
    assert int(page.locator(".jump .badge").inner_text()) > 0
    picture(page, "unread")


def test_a_long_log_keeps_few_elements(visit):
    page = visit()
    open_chat(page, "Rowing club Kiel")
    for _ in range(40):
        page.evaluate("document.querySelector('.log').scrollTop = 600")
        page.wait_for_timeout(20)
    assert page.locator(".log .item").count() < 80
    assert page.evaluate("document.querySelectorAll('*').length") < 2500


def test_written_text_is_formatted_and_never_markup(visit):
    page = visit()
    open_chat(page, "Carol Okafor")
    page.fill("#message", "**bold** `<img src=x onerror=alert(1)>` [x](javascript:alert(1)) https://example.org :tada:")
    page.keyboard.press("Enter")
    bubble = page.locator(".item .bubble", has_text="bold").last
    bubble.wait_for()
    assert bubble.locator("strong").inner_text() == "bold"
    assert bubble.locator("code").inner_text() == "<img src=x onerror=alert(1)>"
    assert bubble.locator("a").evaluate_all("links => links.map((link) => link.href)") == ["https://example.org/"]
    assert "🎉" in bubble.inner_text()
    assert page.locator("#message").input_value() == ""


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_nothing_is_wider_than_the_screen(visit, size):
    page = visit(size=size)
    open_chat(page, "Bob Marsh")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("[...document.querySelectorAll('.bubble')].every((bubble) => bubble.getBoundingClientRect().right <= innerWidth)")


def test_chinese_is_complete(visit):
    page = visit(language="zh")
    missing = page.evaluate("""async () => {
      const { en } = await import("./js/i18n/en.js");
      const { zh } = await import("./js/i18n/zh.js");
      return Object.keys(en).filter((key) => !(key in zh)).concat(Object.keys(zh).filter((key) => !(key in en)));
    }""")
    assert missing == []
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    page.get_by_role("button", name="全部").wait_for()
