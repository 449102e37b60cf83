"""The page as `scripts/bundle_page.py` writes it for a server: it has few files, is complete, and opens without a connection."""

import pytest

from support import chatmock
from support.page import bundled


@pytest.fixture(scope="module")
def files():
    return bundled()


@pytest.fixture()
def mock(files):
    with chatmock.running(files) as mock:
        yield mock


def test_the_names_of_the_files_follow_their_content(files):
    assert {path for path in files if "-" not in path} == {"app.webmanifest", "img/icon.svg", "index.html", "sw.js", "test.html"}
    assert not any(b"import {" in data for path, data in files.items() if path.startswith("js/"))


def test_the_bundled_page_opens_and_works_without_a_connection(browser, mock):
    conv = mock.model.open_pair("alice", "bob").conv
    mock.do("bob", "send", id="first", conv=conv, kind="text", body={"text": "kept here"})
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    try:
        context.set_default_timeout(15_000)
        page = context.new_page()
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(mock.url + "/")
        page.fill("[name=name]", "alice")
        page.fill("[name=password]", "apus-demo")
        page.keyboard.press("Enter")
        page.locator(".row", has_text="kept here").click()
        page.locator(".bubble", has_text="kept here").wait_for()
        assert page.evaluate("performance.getEntriesByType('resource').filter(({ name }) => /\\.(js|css)$/.test(name)).length") <= 5
        kept = "async () => (await (await caches.open('apus-shell-1')).keys()).map(({ url }) => new URL(url).pathname)"
        page.evaluate("navigator.serviceWorker.ready.then(() => null)")
        for _ in range(200):
            if all(any(name in path for path in page.evaluate(kept)) for name in ("core-worker", "i18n-zh", "views-panels")):
                break
            page.wait_for_timeout(25)
        context.set_offline(True)
        mock.down = True
        mock.disconnect()
        page.reload()
        page.locator(".bubble", has_text="kept here").wait_for()
        # The service worker has also cached the scripts that are loaded later.
        page.evaluate("chatApp.view.settings('appearance')")
        page.get_by_label("中文").click()
        page.get_by_role("dialog", name="设置").get_by_label("English").click()
        page.get_by_role("dialog", name="Settings").wait_for()
        page.keyboard.press("Escape")
        page.fill("#message", "written offline")
        page.keyboard.press("Enter")
        page.locator(".bubble", has_text="written offline").wait_for()
        context.set_offline(False)
        mock.down = False
        page.locator(".item", has_text="written offline").locator(".ticks.sent, .ticks.delivered").wait_for()
        assert mock.model.logs[conv].events[-1]["body"]["text"] == "written offline"
        assert errors == []
    finally:
        context.close()
