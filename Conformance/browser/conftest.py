"""Fixtures of the browser tests: `apus serve`, headless Chromium, screenshots.

Environment: APUS_BINARY overrides the server's path, APUS_CHROMIUM the browser's, APUS_SCREENSHOTS names a folder for pictures.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import zlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PASSWORD = "apus-demo"
PATIENCE = 15_000  # the timeout of page actions in milliseconds


def find_chromium():
    names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
    paths = ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium"]
    found = [os.environ.get("APUS_CHROMIUM")] + [shutil.which(name) for name in names] + [path for path in paths if os.path.exists(path)]
    return next((path for path in found if path), None)


class Server:
    """`apus serve --demo` with its own data folder. It can be killed and restarted on the same port."""

    def __init__(self, folder):
        self.binary = os.environ.get("APUS_BINARY", str(ROOT / ".build" / "debug" / "apus"))
        self.folder = folder
        self.log = open(os.path.join(folder, "server.log"), "ab")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None

    def start(self):
        data = os.path.join(self.folder, "data")
        command = [self.binary, "serve", "--demo", "--port", str(self.port), "--no-tls", "--data", data]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(self.url + "/health", timeout=2) as answer:
                    if answer.status == 200:
                        return self
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise RuntimeError(f"{' '.join(command)} did not come up:\n{self.output()}")

    def kill(self):
        """Kills the server without a close, like a power cut."""
        self._end(signal.SIGKILL)

    def stop(self):
        self._end(signal.SIGTERM)
        self.log.close()

    def _end(self, sent):
        if self.process is None:
            return
        self.process.send_signal(sent)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def output(self):
        with open(os.path.join(self.folder, "server.log"), errors="replace") as log:
            return log.read()[-4000:]


@contextlib.contextmanager
def running_server():
    with tempfile.TemporaryDirectory(prefix="apus-browser-") as folder:
        server = Server(folder)
        if not os.path.exists(server.binary):
            pytest.skip(f"{server.binary} is not built")
        try:
            yield server.start()
        finally:
            server.stop()


@pytest.fixture()
def server():
    """A server for one test, with the demo accounts only."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def shared_server():
    """A server shared by the tests that only read its files."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


class Person:
    """A user with a separate browser context (cookies, storage). Records the errors of the page."""

    def __init__(self, browser, url, **options):
        self.context = browser.new_context(**{"viewport": {"width": 1180, "height": 760}, "locale": "en-GB", **options})
        self.context.set_default_timeout(PATIENCE)
        self.url = url
        self.complaints = []
        self.page = None

    def visit(self, path="/"):
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._console)
        self.page.goto(self.url + path)
        return self.page

    def _console(self, message):
        # Some tests expect refused connections. No test expects a script error or a violation of the content security policy.
        if "Content Security Policy" in message.text or "A listener of" in message.text:
            self.complaints.append(message.text)

    def sign_in(self, name):
        page = self.visit()
        page.fill("input[name=name]", name)
        page.fill("input[name=password]", PASSWORD)
        page.click("#auth-form button[type=submit]")
        page.wait_for_selector("#chats .chat")
        return page

    def open_chat(self, position=0):
        self.page.locator("#chats .chat").nth(position).click()
        self.page.wait_for_selector("#message")

    def write(self, text):
        self.page.fill("#message", text)
        self.page.click("#send")

    def write_all(self, texts):
        """Sends texts one after the other, as fast as the page accepts them."""
        self.page.evaluate("""(texts) => {
          for (const text of texts) {
            document.getElementById("message").value = text;
            document.querySelector("form.composer").requestSubmit();
          }
        }""", texts)

    def begin_chat(self, name):
        """Finds the user with this name in the dialog and opens the chat."""
        self.page.click("#new-chat")
        self.page.fill("#find-people", name)
        self.page.click(f".person[data-user={name}]")
        self.page.wait_for_selector("dialog", state="detached")
        self.page.wait_for_selector("#message")

    def choose(self, title):
        self.page.locator("#chats .chat", has_text=title).click()
        self.is_open(title)

    def is_open(self, title):
        self.page.wait_for_function("title => document.querySelector('.peer h2')?.textContent === title", arg=title)

    def texts(self):
        """Returns the texts of the open conversation, from top to bottom."""
        return self.page.locator(".message .text").all_inner_texts()

    def sees(self, text):
        self.page.locator(".message .text", has_text=text).first.wait_for()


@pytest.fixture()
def register(server):
    """Creates an account without a browser."""

    def make(name, display, password=PASSWORD):
        body = json.dumps({"name": name, "display": display, "password": password}).encode()
        request = urllib.request.Request(server.url + "/api/register", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)

    return make


@pytest.fixture()
def person(browser, server):
    people = []

    def make(**options):
        people.append(Person(browser, server.url, **options))
        return people[-1]

    yield make
    complaints = [complaint for each in people for complaint in each.complaints]
    for each in people:
        each.context.close()
    assert complaints == []


@pytest.fixture()
def screenshot():
    """Saves a screenshot of a page if APUS_SCREENSHOTS is set."""
    folder = os.environ.get("APUS_SCREENSHOTS")

    def save(page, name):
        if folder:
            os.makedirs(folder, exist_ok=True)
            page.wait_for_timeout(400)  # wait for the end of animations
            page.screenshot(path=os.path.join(folder, f"{name}.png"))

    return save


@pytest.fixture(scope="session")
def picture():
    """A generated PNG of 480 × 320 pixels, so that the repository contains no binary file."""
    width, height = 480, 320
    rows = bytearray()
    for y in range(height):
        rows.append(0)  # no filter
        share = y / height
        for x in range(width):
            hill = 0.78 + 0.07 * ((x / 90) % 2 - 1) ** 2
            glow = max(0.0, 1 - (((x - 330) / 190) ** 2 + ((y - 215) / 110) ** 2))
            if share > hill:
                rows += bytes((34, 30, 62))
            else:
                rows += bytes((int(70 + 150 * share + 35 * glow), int(80 + 60 * share + 60 * glow), int(190 - 70 * share)))
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(rows))) + chunk(b"IEND", b"")
