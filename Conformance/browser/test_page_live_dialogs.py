"""The dialogs of messages, chats and settings with the chat server: axe's rules, the focus, Tab and Escape.

Environment: APUS_SCREENSHOTS names a folder for pictures of the dialogs.
"""

import time

import pytest

from support.axe import violations
from support.chathost import ChatHost
from support.livepage import people
from support.samplepage import DESKTOP, PHONE, picture


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = ChatHost(tmp_path_factory.mktemp("dialogs"), options=("--limits", "off"))
    for name, nick in {"dora": "Dora Winter", "emil": "Emil Frost", "finn": "Finn Gale"}.items():
        host.register(name, nick)
    yield host
    host.stop()


@pytest.fixture(scope="module")
def crew(host):
    """Creates a group with the content of all dialogs. Returns its id and the messages by name."""
    conv = host.do("alice", "conversation.create", kind="group", title="Harbour crew", about="Boats, tides and cake.", users=["bob", "carol", "dora"],
                   settings={"join": "approval"})["head"]["conv"]

    def say(user, text, **more):
        return host.do(user, "send", conv=conv, kind="text", body={"text": text}, **more)["seq"]

    seqs = {"edited": say("bob", "We meet at the pier at five"), "pinned": say("carol", "The code of the shed is on the board")}
    for text in ("We meet at the pier at six", "We meet at the pier at six, or at seven if it rains hard and the ferry from the other side is late again"):
        host.do("bob", "edit", conv=conv, ref=seqs["edited"], body={"text": text})
    for user, key in (("alice", "👍"), ("carol", "👍"), ("bob", "🎂"), ("carol", "❤️")):
        host.do(user, "react", conv=conv, ref=seqs["pinned"], key=key)
    for seq in seqs.values():
        host.do("alice", "pin", conv=conv, ref=seq)
    for text in ("I bring cake", "And I bring tea"):
        say("carol", text, thread=seqs["edited"])
    host.do("bob", "send", conv=conv, kind="poll", body={"question": "Which day suits you?", "options": ["Tuesday", "Friday", "Sunday after lunch"]})
    seqs["own"] = say("alice", "The boat is ready")
    host.do("bob", "mark", conv=conv, read=9)
    day = 86_400_000
    for hours, text in ((20, "Happy birthday, Carol!"), (44, "Please bring the keys")):
        host.do("alice", "schedule", conv=conv, kind="text", body={"text": text}, send_at=int(time.time() * 1000) + hours * 3_600_000)
    host.do("alice", "link.create", conv=conv, uses=5, expires_at=int(time.time() * 1000) + 7 * day)
    host.do("alice", "link.create", conv=conv)
    host.do("alice", "member.ban", conv=conv, users=["dora"], until=int(time.time() * 1000) + 7 * day)
    host.do("alice", "settings.set", settings={"folders": [{"name": "Harbour"}, {"name": "Everything new", "filter": "unread"}], "quiet_from": 1320, "quiet_until": 420})
    host.do("alice", "own.set", conv=conv, folders=["Harbour"])
    return conv, seqs


def choose(page, seq, symbol):
    page.locator(f".item[data-seq='{seq}'] .bubble .text").last.click(button="right")
    page.locator(f".menu [role^=menuitem]:has(.icon-{symbol})").last.click()


def menu(page, symbol, button=".thread-pane .bar .icon-button:has(.icon-more)"):
    page.locator(button).click()
    page.locator(f".menu [role^=menuitem]:has(.icon-{symbol})").first.click()


def schedule(page):
    page.fill("#message", "Later")
    page.locator("#send").click(button="right")
    page.locator(".menu [role^=menuitem]:has(.icon-calendar)").click()


def in_details(page, *selectors):
    page.evaluate("chatApp.view.toggleDetails(true)")
    for selector in selectors:
        page.locator(selector).first.click()


def ban(page):
    in_details(page, ".details .person[data-user=carol]")
    page.locator(".menu [role^=menuitem]:has(.icon-shield)").click()


def setting(name):
    return lambda page, _: page.evaluate(f"void chatApp.view.settings('{name}')")


DIALOGS = {
    "reactions": lambda page, seqs: choose(page, seqs["pinned"], "smile"),
    "emoji": lambda page, seqs: choose(page, seqs["edited"], "smile"),
    "readers": lambda page, seqs: choose(page, seqs["own"], "eye"),
    "versions": lambda page, seqs: choose(page, seqs["edited"], "clock"),
    "pins": lambda page, _: page.locator(".pinned .icon-button").click(),
    "forward": lambda page, seqs: choose(page, seqs["pinned"], "forward"),
    "report": lambda page, seqs: choose(page, seqs["pinned"], "warning"),
    "poll": lambda page, _: menu(page, "poll", ".composer .icon-button:has(.icon-paperclip)"),
    "schedule": lambda page, _: schedule(page),
    "scheduled": lambda page, _: menu(page, "calendar"),
    "mute": lambda page, _: menu(page, "bellOff"),
    "chat-folders": lambda page, _: menu(page, "bookmark"),
    "thread": lambda page, seqs: page.locator(f".item[data-seq='{seqs['edited']}'] .thread-link").click(),
    "details": lambda page, _: in_details(page),
    "link": lambda page, _: in_details(page, ".details .block > .button:has(.icon-link)"),
    "group-settings": lambda page, _: in_details(page, ".details [data-action=settings]"),
    "ban": lambda page, _: ban(page),
    "folders": setting("folders"),
    "sessions": setting("sessions"),
    "account": setting("account"),
    "quiet-hours": setting("notifications"),
}
NO_DIALOG = {"thread", "details", "emoji"}

BY_SCRIPT = {"folders", "sessions", "account", "quiet-hours"}  # no element had the focus before

# The elements of the open dialog that Tab can focus, in the order of the document. A group of radio buttons and a list
# with arrow keys have one such element each.
STOPS = """() => {
  const dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
  const all = [...dialog.querySelectorAll("button, input, select, textarea, a[href], summary, [tabindex='0']")].filter((each) => each.tabIndex === 0 && !each.disabled && each.checkVisibility({ visibilityProperty: true }));
  globalThis.stops = all;
  return all.length;
}"""
AT = "() => [stops.indexOf(document.activeElement), document.activeElement === document.body || document.activeElement.closest('dialog[open]') !== null, document.activeElement.outerHTML.slice(0, 120)]"


def walk(page):
    """Presses Tab until the focus has passed through the open dialog. Returns the problems."""
    count, seen = page.evaluate(STOPS), []
    for _ in range(2 * count + 12):
        at, inside, html = page.evaluate(AT)
        if not inside:
            return ("Tab leaves the dialog", html)
        if at in seen[:-1]:
            break
        if at >= 0 and at not in seen:  # a date field takes several presses
            seen.append(at)
        page.keyboard.press("Tab")
    first = seen.index(min(seen)) if seen else 0
    if seen[first:] + seen[:first] != sorted(seen):
        return ("Tab is not in the order of the document", seen)
    if len(seen) < min(count, 2):
        return ("Tab reaches too little", seen, count)
    return None


@pytest.mark.parametrize(("theme", "language", "size"), [("light", "en", DESKTOP), ("dark", "zh", PHONE)], ids=["light-desktop", "dark-chinese-phone"])
def test_dialogs_are_named_readable_and_left_by_the_keyboard(browser, host, crew, theme, language, size):
    conv, seqs = crew
    found = []
    with people(browser, host) as sign_in:
        page = sign_in("alice", size=size, theme=theme, language=language)
        for name, action in DIALOGS.items():
            page.evaluate("(conv) => { chatApp.view.closeThread(); chatApp.view.openConversation(conv); }", conv)
            page.locator(f".item[data-seq='{seqs['own']}']").wait_for()
            action(page, seqs)
            dialog = page.locator("dialog[open]").last
            if name not in NO_DIALOG:
                dialog.wait_for()
            page.wait_for_timeout(250)
            picture(page, f"dialog-{name}-{theme}-{language}-{size['width']}")
            found.extend((name, *each) for each in violations(page))
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append((name, "wider than the screen"))
            if name in NO_DIALOG:
                page.keyboard.press("Escape")
                continue
            # The focus is inside from the start, and Escape closes.
            if not page.evaluate("document.activeElement.closest('dialog') !== null"):
                found.append((name, "the focus is outside"))
            if wrong := walk(page):
                found.append((name, wrong))
            page.keyboard.press("Escape")
            if name in BY_SCRIPT and size is PHONE:
                page.evaluate("document.querySelector('dialog[open]')?.close()")
            page.locator("dialog").wait_for(state="detached")
            if name not in BY_SCRIPT and page.evaluate("document.activeElement === document.body"):
                found.append((name, "the focus does not return"))
    assert found == []
