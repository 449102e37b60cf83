"""Keyboard access, names and contrast of the screens of people, groups and settings, with the chat server."""

import time

import pytest

from support.axe import violations
from support.chathost import ChatHost
from support.livepage import button, main_menu, people
from support.page import WEB
from support.samplepage import DESKTOP, PHONE, eventually, picture

SETTINGS = ("profile", "appearance", "notifications", "privacy", "folders", "sessions", "security", "blocked", "account")


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = ChatHost(tmp_path_factory.mktemp("access"), options=("--limits", "off"), page=WEB)
    host.register("dave", "Dave Ek")
    host.register("b0b", "Bob Marsh")
    for name, text in (("dave", "We met at the regatta."), ("weilin", "你好！"), ("b0b", None)):
        host.do(name, "contact.request", user="alice", **({"text": text} if text else {}))
    host.group = host.do(
        "alice", "conversation.create", kind="group", title="Rowing club", about="Every Tuesday", users=["bob", "carol"], settings={"join": "approval", "listed": True}
    )["head"]["conv"]
    host.do("dave", "member.join", conv=host.group)
    host.do("alice", "member.mute", conv=host.group, users=["bob"], until=int(time.time() * 1000) + 3_600_000)
    host.link = host.do("alice", "link.create", conv=host.group, uses=5)["link"]["code"]
    host.pair = host.do("bob", "conversation.open", user="alice")["head"]["conv"]
    host.do("bob", "send", conv=host.pair, kind="text", body={"text": "Hello"})
    yield host
    host.stop()


@pytest.fixture()
def person(browser, host):
    with people(browser, host) as sign_in:
        yield sign_in


def screens(host):
    details = f"chatApp.view.openConversation('{host.group}'); chatApp.view.toggleDetails(true)"
    yield "list", "0", ".chat-list .row"
    yield "menu", "document.querySelector('#main-menu').click()", ".menu"
    yield "details", details, ".details .person"
    yield "requests", f"{details}; document.querySelector('.details [data-state=requested]').click()", ".details .person[data-user=dave]"
    yield "member", f"{details}; new Promise((done) => setTimeout(done, 300)).then(() => document.querySelector('.details .person[data-user=bob]').click())", ".menu"
    yield "pair", f"chatApp.view.openConversation('{host.pair}'); chatApp.view.toggleDetails(true)", ".details .hero"
    yield "permissions", f"{details}; document.querySelector('.details [data-action=settings]').click()", "dialog select"
    yield "link", f"import('/js/views/directory.js').then(({{ openLink }}) => openLink(chatApp.view, '{host.link}'))", "dialog .profile-head"
    yield "new chat", "chatApp.view.newChat()", "dialog .person"
    yield "new group", "chatApp.view.newGroup('group')", "dialog .person"
    yield "contacts", "chatApp.view.contacts()", "dialog .request"
    yield "ask", "import('/js/views/requests.js').then(({ askForContact }) => askForContact(chatApp.view, 'dave'))", "dialog textarea"
    for name in ("dave", "b0b", "bob"):
        yield f"profile of {name}", f"chatApp.view.openProfile('{name}')", "dialog .action-row"
    yield "report", "chatApp.view.report({ user: 'dave' })", "dialog textarea"
    yield "directory", "chatApp.view.explore()", "dialog .people .row"
    yield "settings", "chatApp.view.settings()", "dialog .settings"
    for name in SETTINGS:
        yield f"settings {name}", f"chatApp.view.settings('{name}')", "dialog .page h2"


@pytest.mark.parametrize(("theme", "size", "language"), [("light", DESKTOP, "en"), ("dark", PHONE, "zh")], ids=["light-desktop", "dark-phone"])
def test_axe_finds_no_violations(person, host, theme, size, language):
    page = person("alice", size, theme=theme, language=language)
    found = []
    for name, action, ready in screens(host):
        page.evaluate(f"void ({action.replace('; ', ', ')})")
        page.locator(ready).first.wait_for()
        page.wait_for_timeout(60)
        picture(page, f"live-{name.replace(' ', '-')}-{theme}-{size['width']}")
        found.extend((name, *each) for each in violations(page))
        small = page.evaluate("""() => {
          const scope = document.querySelector("dialog[open]") ?? document;
          return [...scope.querySelectorAll("button, select, input")].filter((each) => {
            const { width, height } = each.getBoundingClientRect();
            return width && height && (width < 24 || height < 24) && !["radio", "checkbox"].includes(each.type) && !each.closest(".visually-hidden, .filters, .log");
          }).map((each) => each.outerHTML.slice(0, 120));
        }""")
        assert small == [], name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        page.keyboard.press("Escape")
        page.evaluate("document.querySelectorAll('dialog[open]').forEach((dialog) => dialog.close()), chatApp.view.closeThread()")
        page.locator("dialog").wait_for(state="detached")
    assert found == []


def test_the_screens_work_by_the_keyboard_and_the_focus_returns(person, host):
    alice = person("alice")
    alice.focus("#main-menu")
    alice.keyboard.press("Enter")
    alice.keyboard.press("ArrowDown")
    alice.keyboard.press("ArrowDown")
    alice.keyboard.press("Enter")
    eventually(alice, "document.activeElement.id === 'find-people'")
    alice.keyboard.press("Tab")
    alice.keyboard.press("Enter")
    alice.locator(".profile-head").wait_for()
    assert alice.evaluate("document.activeElement.matches('[data-action=accept]')")
    assert alice.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    alice.keyboard.press("Escape")
    assert alice.evaluate("document.activeElement.matches('.request .face')")
    alice.keyboard.press("Escape")
    eventually(alice, "document.activeElement.id === 'main-menu'")

    alice.evaluate(f"chatApp.view.openConversation('{host.group}')")
    alice.focus(".peer")
    alice.keyboard.press("Enter")
    eventually(alice, "document.activeElement.closest('.details') !== null")
    alice.locator(".details .person").nth(1).wait_for()
    alice.focus(".details .input.search")
    alice.keyboard.press("ArrowDown")
    eventually(alice, "document.activeElement.matches('.details .person')")
    alice.keyboard.press("ArrowDown")
    alice.keyboard.press("Enter")
    eventually(alice, "document.activeElement.matches('.menu [role=menuitem]')")
    alice.keyboard.press("Escape")
    assert alice.evaluate("document.activeElement.matches('.details .person')")

    main_menu(alice, "Settings")
    eventually(alice, "document.activeElement.dataset.page === 'profile'")
    for name in SETTINGS[1:]:
        alice.keyboard.press("ArrowDown")
        assert alice.evaluate("document.activeElement.dataset.page") == name
    alice.keyboard.press("Escape")
    eventually(alice, "document.activeElement.id === 'main-menu'")


def test_on_a_phone_the_settings_are_a_list_and_a_page(person, host):
    alice = person("alice", PHONE)
    main_menu(alice, "Settings")
    alice.get_by_role("tab", name="Privacy").click()
    assert not alice.get_by_role("tab", name="Privacy").is_visible()
    eventually(alice, "document.activeElement.getAttribute('aria-label') === 'Back'")
    button(alice, "Back").click()
    eventually(alice, "document.activeElement.dataset.page === 'privacy'")
