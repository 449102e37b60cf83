"""The page in `Web/` on a chat server, for tests with several users."""

import contextlib
import json

from support.chathost import PASSWORD
from support.samplepage import DESKTOP


@contextlib.contextmanager
def people(browser, host):
    """Yields a function that signs a user in, in a new browser context. Fails on errors of scripts and violations of the content security
    policy."""
    complaints = []
    with contextlib.ExitStack() as contexts:

        def note(message):
            if "Content Security Policy" in message.text or "TypeError" in message.text:
                complaints.append(message.text)

        def sign_in(name, size=DESKTOP, script=None, **preferences):
            context = contexts.enter_context(contextlib.closing(browser.new_context(viewport=size, locale="en-GB")))
            context.set_default_timeout(15_000)
            context.grant_permissions(["clipboard-read", "clipboard-write"])
            stored = json.dumps({"language": "en", "theme": "light", **preferences})
            context.add_init_script(f"localStorage.setItem('apus-preferences', {json.dumps(stored)})")
            if script:
                context.add_init_script(script)
            page = context.new_page()
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("console", note)
            page.goto(host.url + "/")
            page.fill("[name=name]", name)
            page.fill("[name=password]", PASSWORD)
            page.keyboard.press("Enter")
            page.locator(".chat-list .row").first.wait_for()
            return page

        yield sign_in
    assert complaints == []


def main_menu(page, item):
    page.click("#main-menu")
    page.get_by_role("menuitem", name=item).click()


def open_details(page, title):
    page.locator(".chat-list .row", has_text=title).first.click()
    page.locator(".peer h2", has_text=title).wait_for()
    page.click(".peer")
    page.locator(".details .hero").wait_for()


def button(page, name, exact=True):
    return page.get_by_role("button", name=name, exact=exact)


def toast(page, text):
    page.locator(".toast", has_text=text).first.wait_for()
