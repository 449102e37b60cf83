"""The page as `scripts/bundle_page.py` writes it for a server: it has few files, is complete, and opens without a connection."""

import contextlib

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
        assert page.evaluate("performance.getEntriesByType('resource').filter(({ name }) => /\\.(js|css)$/.test(name)).length") <= 8
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


@pytest.fixture()
def visit(browser, mock):
    with contextlib.closing(browser.new_context(locale="en-GB", service_workers="block")) as context:
        context.set_default_timeout(15_000)
        page = context.new_page()
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield page
        assert errors == []


def sign_in(page):
    page.fill("[name=name]", "alice")
    page.fill("[name=password]", "apus-demo")
    page.keyboard.press("Enter")


def test_the_form_does_not_wait_for_the_worker(visit, mock):
    waiting = []
    visit.route("**/core-worker-*", lambda route: waiting.append(route))
    visit.goto(mock.url)
    visit.locator("#auth-form").wait_for()
    sign_in(visit)
    for _ in range(600):
        if waiting:
            break
        visit.wait_for_timeout(25)
    waiting[0].continue_()
    visit.locator(".row").first.wait_for()


@pytest.mark.parametrize("kept", [True, False])
def test_a_wrong_note_of_the_session_does_no_harm(visit, mock, kept):
    """The page of a signed-in user is shown although the note is lost, and the form although there is one."""
    visit.goto(mock.url)
    if kept:
        visit.evaluate("localStorage.setItem('apus-session', '1')")
        visit.reload()
        visit.locator("#auth-form").wait_for()
    sign_in(visit)
    visit.locator(".row").first.wait_for()
    assert visit.evaluate("localStorage.getItem('apus-session')") == "1"
    if not kept:
        visit.evaluate("localStorage.removeItem('apus-session')")
    visit.reload()
    visit.locator(".row").first.wait_for()
    visit.evaluate("void chatApp.state.signOut()")
    visit.locator("#auth-form").wait_for()
    assert visit.evaluate("localStorage.getItem('apus-session')") is None


def test_a_page_that_cannot_be_loaded_is_loaded_again(visit, mock):
    visit.route("**/views-inside-*", lambda route: route.abort())
    visit.goto(mock.url)
    sign_in(visit)
    visit.get_by_role("alert").filter(has_text="There is no connection").wait_for()
    visit.unroute("**/views-inside-*")
    visit.get_by_role("button", name="Try again").click()
    visit.locator(".row").first.wait_for()


@pytest.mark.parametrize(("missing", "shown"), [("i18n-zh", "Sign in"), ("i18n-en", "登录")])
def test_the_texts_of_another_language_replace_missing_ones(browser, mock, missing, shown):
    locale = {"i18n-zh": "zh-CN", "i18n-en": "en-GB"}[missing]
    with contextlib.closing(browser.new_context(locale=locale, service_workers="block")) as context:
        page = context.new_page()
        page.route(f"**/{missing}-*", lambda route: route.abort())
        page.goto(mock.url)
        page.get_by_role("button", name=shown, exact=True).wait_for()
