"""Markup in every string that users choose, shown by the page with the chat server. No script runs, and no element of the markup is
created."""

import contextlib
import time
import uuid

import pytest

from support.chat import upload
from support.chathost import ChatHost
from support.chatpages import png
from support.livepage import button, main_menu, open_details, people
from support.samplepage import PHONE, eventually

MARKUP = "<img src=x onerror=ran()>"
SHORT = "<b class=ran>"  # a reaction has at most 16 characters

# Records each element with a handler, a class or an address of the markup, even if it is removed immediately.
WATCH = """
globalThis.injected = [];
globalThis.ran = () => injected.push("a script ran");
const isHostile = (each) => each.matches?.(".ran, [src=x], [href^='javascript:' i]") || [...(each.attributes ?? [])].some(({ name }) => name.startsWith("on"));
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) for (const node of addedNodes) {
    for (const each of [node, ...(node.querySelectorAll?.("*") ?? [])]) if (isHostile(each)) injected.push(each.outerHTML);
  }
}).observe(document, { childList: true, subtree: true });
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = ChatHost(tmp_path_factory.mktemp("markup"), options=("--limits", "off"))
    host.register("mallory", "Mallory")
    host.befriend("alice", "mallory")
    host.do("mallory", "profile.set", nick=f"{MARKUP} M", status=f"{MARKUP} status")
    yield host
    host.stop()


@pytest.fixture()
def person(browser, host):
    pages = []
    with people(browser, host) as sign_in:

        def watched(name, **options):
            pages.append(sign_in(name, script=WATCH, **options))
            return pages[-1]

        yield watched
        for page in pages:
            assert page.evaluate("injected") == []


def group(host, user="mallory", title=f"{MARKUP} G", **more):
    return host.do(user, "conversation.create", kind="group", title=title, **{"users": ["alice"], **more})["head"]["conv"]


def say(host, conv, kind="text", user="mallory", body=None, **more):
    return host.do(user, "send", conv=conv, kind=kind, body=body or {"text": f"{MARKUP} text"}, **more)["seq"]


def visible(page, text, where="body"):
    """Waits until the markup is readable as text, because a string that is not shown is not tested."""
    page.locator(where).get_by_text(text).first.wait_for()


def open_chat(page, conv):
    page.evaluate("(conv) => chatApp.view.openConversation(conv)", conv)
    page.locator(".log .item").first.wait_for()


@pytest.mark.parametrize("options", [{}, {"size": PHONE, "language": "zh"}], ids=["desktop", "chinese-phone"])
def test_markup_in_messages(person, host, options):
    conv = group(host)
    text = say(host, conv, body={"text": f"{MARKUP} text", "entities": [{"type": "pre", "offset": 0, "length": 5, "language": MARKUP[:20]}]})
    say(host, conv, ref=text, body={"text": f"{MARKUP} quoting"})
    say(host, conv, thread=text, body={"text": f"{MARKUP} reply"})
    blob = upload(host.url, {"access": host.tokens["mallory"]}, b"data", f"{MARKUP}.txt")
    say(host, conv, "file", body={"blob": blob, "name": f"{MARKUP}.txt", "size": 4, "type": "text/html"})
    say(host, conv, "poll", body={"question": f"{MARKUP} question", "options": [f"{MARKUP} one", f"{MARKUP} two"]})
    say(host, conv, "location", body={"latitude": 1, "longitude": 2, "name": f"{MARKUP} place", "address": f"{MARKUP} street"})
    say(host, conv, "card", body={"user": "mallory", "nick": f"{MARKUP} card"})
    host.do("mallory", "forward", **{"from": conv, "conv": conv, "seqs": [text, text + 1], "bundle": True, "title": f"{MARKUP} bundle"})
    edited = say(host, conv)
    host.do("mallory", "edit", conv=conv, ref=edited, body={"text": f"{MARKUP} edited"})
    host.do("mallory", "react", conv=conv, ref=edited, key=SHORT)
    host.do("mallory", "pin", conv=conv, ref=edited)
    alice = person("alice", **options)
    visible(alice, f"{MARKUP} G", ".chat-list")
    open_chat(alice, conv)
    for each in ("text", "quoting", "question", "one", "two", "place", "card", "bundle", "edited"):
        visible(alice, f"{MARKUP} {each}", ".log")
    visible(alice, ".txt", ".log")
    visible(alice, SHORT, ".log")
    visible(alice, f"{MARKUP} edited", ".pin-line")
    # The dialogs of a message, and its thread.
    view = "chatApp.view"
    alice.locator(f".item[data-seq='{edited}'] .bubble .text").click(button="right")
    alice.get_by_role("menuitem", name="谁回应了" if options else "Who reacted").click()
    visible(alice, MARKUP, "dialog")
    alice.keyboard.press("Escape")
    alice.locator(f".item[data-seq='{edited}'] .bubble .text").click(button="right")
    alice.get_by_role("menuitem", name="历史版本" if options else "Earlier versions").click()
    visible(alice, f"{MARKUP} text", "dialog")
    alice.keyboard.press("Escape")
    alice.locator(".pinned .icon-button").click()
    visible(alice, f"{MARKUP} edited", "dialog")
    alice.keyboard.press("Escape")
    alice.locator(f".item[data-seq='{text}'] .thread-link").click()
    visible(alice, f"{MARKUP} reply", ".log")
    alice.evaluate(f"{view}.search({{ query: 'onerror' }})")
    alice.locator("dialog [data-hit] mark").first.wait_for()
    visible(alice, "ran()>", "dialog [data-hit]")


def test_markup_in_the_viewer_the_media_and_the_dialogs_of_votes_readers_and_schedules(person, host):
    conv = group(host)
    account = {"access": host.tokens["mallory"]}
    picture = {"blob": upload(host.url, account, png(), f"{MARKUP}.png"), "name": f"{MARKUP}.png", "size": len(png()), "type": "image/png"}
    say(host, conv, "image", body={**picture, "width": 40, "height": 30, "text": f"{MARKUP} caption"})
    say(host, conv, "file", body={"blob": upload(host.url, account, b"data"), "name": f"{MARKUP}.txt", "size": 4, "type": "text/html", "text": f"{MARKUP} note"})
    poll = say(host, conv, "poll", body={"question": f"{MARKUP} question", "options": [f"{MARKUP} one", f"{MARKUP} two"]})
    for user in ("mallory", "alice"):
        host.do(user, "vote", conv=conv, ref=poll, options=[0])
    own = host.do("alice", "send", conv=conv, kind="text", body={"text": f"{MARKUP} own"})
    host.do("mallory", "mark", conv=conv, read=own["n"])
    host.do("alice", "schedule", conv=conv, kind="text", body={"text": f"{MARKUP} later"}, send_at=int(time.time() * 1000) + 3_600_000)
    while not {hit["event"]["kind"] for hit in host.ask("alice", "search", {"conv": conv, "kinds": ["file", "image"]})["hits"]} == {"file", "image"}:
        time.sleep(0.05)  # the media are listed from the search index, which is updated after the log
    alice = person("alice")
    open_chat(alice, conv)
    visible(alice, f"{MARKUP} caption", ".log")
    visible(alice, f"{MARKUP} note", ".log")
    alice.locator(".log .picture").first.click()
    visible(alice, f"{MARKUP} caption", ".viewer .caption")
    alice.keyboard.press("Escape")
    alice.get_by_role("button", name="Who voted").click()
    for each in ("one", "M"):
        visible(alice, f"{MARKUP} {each}", "dialog")
    alice.keyboard.press("Escape")
    alice.locator(f".item[data-seq='{own['seq']}'] .bubble .text").click(button="right")
    alice.get_by_role("menuitem", name="Read by").click()
    visible(alice, f"{MARKUP} M", "dialog")
    alice.keyboard.press("Escape")
    alice.locator(".scheduled-line").click()
    visible(alice, f"{MARKUP} later", "dialog")
    alice.keyboard.press("Escape")
    alice.evaluate("chatApp.view.toggleDetails(true)")
    alice.locator(".details [data-action=media]").click()
    alice.locator("dialog .picture img.loaded").first.wait_for()
    alice.get_by_role("tab", name="Files").click()
    visible(alice, f"{MARKUP}.txt", "dialog")


def test_markup_of_a_group_in_the_dialogs_of_invitations_and_requests(person, host):
    """The alias and the status of a user in a chat, the description of a group before it is joined, and users who ask to join."""
    about = f"{MARKUP} purpose"
    joined = group(host, title=f"{MARKUP} public", users=[], about=about, settings={"join": "open", "listed": True})
    own = group(host, user="alice", title=f"{MARKUP} asked", users=["bob"], settings={"join": "approval", "listed": True})
    host.do("mallory", "member.join", conv=own)
    host.do("alice", "contact.alias", user="mallory", alias=f"{MARKUP} alias")
    pair = host.pair("mallory", "alice")
    say(host, pair)
    alice = person("alice")
    open_chat(alice, pair)
    visible(alice, f"{MARKUP} alias", ".peer h2")
    eventually(alice, f"document.title.length < 100 && chatApp.state.conversation('{own}') !== null")
    alice.evaluate("(conv) => chatApp.view.openConversation(conv)", own)
    alice.locator(".request-bar").click()
    visible(alice, f"{MARKUP} alias", ".details")
    main_menu(alice, "Explore")
    alice.locator("dialog .row", has_text=f"{MARKUP} public").click()
    visible(alice, about, "dialog")
    button(alice, "Join").click()
    alice.locator(f".chat-list .row[data-conv='{joined}']").wait_for()
    host.do("alice", "contact.alias", user="mallory", alias="")


def test_markup_in_names_of_people_groups_and_folders(person, host):
    conv = group(host, about=f"{MARKUP} about", settings={"join": "open", "listed": True})
    own = group(host, user="alice", title=f"{MARKUP} own", users=["mallory", "bob"])
    say(host, conv)
    say(host, own)
    host.register("eve", f"{MARKUP} E")
    host.do("eve", "contact.request", user="alice", text=f"{MARKUP} please")
    invited = group(host, user="eve", title=f"{MARKUP} invited", users=["alice"])
    host.do("alice", "contact.alias", user="bob", alias=f"{MARKUP} alias")
    host.do("alice", "settings.set", settings={"folders": [{"name": MARKUP}]})
    host.do("alice", "own.set", conv=own, folders=[MARKUP])
    host.do("alice", "draft", conv=own, text=f"{MARKUP} draft")
    link = host.do("eve", "link.create", conv=group(host, user="eve", title=f"{MARKUP} linked", users=[]))["link"]["code"]
    alice = person("alice")
    for each in ("G", "own", "invited"):
        visible(alice, f"{MARKUP} {each}", ".chat-list")
    alice.get_by_role("button", name=MARKUP, exact=True).first.click()  # the folder
    alice.locator(".chat-list .row").nth(1).wait_for(state="detached")
    visible(alice, f"{MARKUP} draft", ".chat-list")
    alice.get_by_role("button", name="All", exact=True).click()
    alice.locator(f".chat-list .row[data-conv='{invited}']").click()
    visible(alice, f"{MARKUP} E", ".thread-pane")
    open_details(alice, f"{MARKUP} G")
    for each in ("about", "M"):
        visible(alice, f"{MARKUP} {each}", ".details")
    alice.evaluate("chatApp.view.settings('folders')")
    visible(alice, MARKUP, "dialog")
    alice.keyboard.press("Escape")
    main_menu(alice, "Contacts")
    for each in ("please", "alias", "M"):
        visible(alice, f"{MARKUP} {each}", "dialog")
    alice.keyboard.press("Escape")
    main_menu(alice, "Explore")
    visible(alice, f"{MARKUP} about", "dialog")
    alice.keyboard.press("Escape")
    alice.evaluate("chatApp.view.openProfile('mallory')")
    visible(alice, f"{MARKUP} status", "dialog")
    alice.click("[data-action=report]")
    visible(alice, f"{MARKUP} M", "dialog h2 >> nth=-1")
    alice.keyboard.press("Escape")
    alice.keyboard.press("Escape")
    alice.evaluate("(code) => { location.hash = ''; location.assign(`/join#${code}`); }", link)
    visible(alice, f"{MARKUP} linked", "dialog")
    visible(alice, f"{MARKUP} E", "dialog")


def test_markup_of_a_sign_in_and_in_notices(person, host):
    alice = person("alice")
    host.post("/api/login", {"name": "alice", "password": "apus-demo", "device": {"name": MARKUP, "platform": SHORT}})
    visible(alice, MARKUP, ".toast")
    alice.evaluate("chatApp.view.settings('sessions')")
    visible(alice, MARKUP, "dialog")
    alice.keyboard.press("Escape")
    host.register("trudy", f"{MARKUP} T")
    host.do("trudy", "contact.request", user="alice", text=f"{MARKUP} hello")
    visible(alice, f"{MARKUP} T", ".toast")


def test_markup_in_a_notification_is_its_text(browser, host):
    conv = host.pair("mallory", "alice")
    with contextlib.closing(browser.new_context(locale="en-GB")) as context:
        context.grant_permissions(["notifications"], origin=host.url)
        context.add_init_script(WATCH)
        page = context.new_page()
        with context.expect_event("serviceworker") as started:
            page.goto(host.url)
        page.fill("[name=name]", "alice")
        page.fill("[name=password]", "apus-demo")
        page.keyboard.press("Enter")
        page.locator(".chat-list .row").first.wait_for()
        page.evaluate("() => navigator.serviceWorker.ready.then(() => null)")
        worker = started.value
        worker.evaluate("() => { self.shown = []; self.registration.showNotification = async (title, { body }) => void self.shown.push([title, body]); }")
        say(host, conv, id=str(uuid.uuid4()))
        for _ in range(400):
            if shown := worker.evaluate("() => self.shown"):
                break
            page.wait_for_timeout(25)
        assert shown == [[f"{MARKUP} M", f"{MARKUP} text"]]
        visible(page, f"{MARKUP} text", ".chat-list")
        assert page.evaluate("[injected, document.title.includes('<')]") == [[], False]


def test_the_watch_of_these_tests_finds_markup(person):
    alice = person("alice")
    alice.evaluate("""() => { const box = document.createElement("div"); box.innerHTML = "<b class=ran></b>"; document.body.append(box); box.remove(); }""")
    assert alice.evaluate("injected.splice(0)") == ["<b class=\"ran\"></b>"]


def test_buttons_of_a_hostile_group_are_those_of_the_page(person, host):
    """The names of controls are built from names of users."""
    conv = group(host, user="alice", title=f"{MARKUP} own group", users=["mallory"])
    say(host, conv)
    alice = person("alice")
    open_details(alice, f"{MARKUP} own group")
    alice.click(".details .person[data-user=mallory]")
    alice.get_by_role("menuitem", name="Remove and ban…").click()
    visible(alice, f"{MARKUP} M", "dialog")
    button(alice, "For 7 days").click()
    visible(alice, f"You banned {MARKUP} M", ".log")
