"""Opens the page in `Web/` with its sample state. Only its files are served, without a chat server."""

import contextlib
import functools
import http.server
import json
import os
import threading
import time

from support.page import page_folder

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


@contextlib.contextmanager
def serving(page=None):
    """Serves the files of the page with its content security policy."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=str(page or page_folder())))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@contextlib.contextmanager
def visiting(browser, address):
    """Yields a function that opens the page with preferences. Fails on errors of scripts and violations of the content security policy."""
    contexts, complaints = [], []

    def note(message):
        if "Content Security Policy" in message.text or "TypeError" in message.text:
            complaints.append(message.text)

    def open_page(query="", size=DESKTOP, **preferences):
        context = browser.new_context(viewport=size, locale="en-GB")
        context.set_default_timeout(10_000)
        stored = json.dumps({"language": "en", "theme": "light", **preferences})
        context.add_init_script(f"localStorage.setItem('apus-preferences', {json.dumps(stored)})")
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", note)
        page.goto(f"{address}/sample.html?{query}")
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


def eventually(page, expression):
    """Waits until the expression is true. Fails after 30 seconds. `wait_for_function` needs `unsafe-eval`, which the content security
    policy refuses."""
    deadline = time.monotonic() + 30
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(20)
