"""Contacts, requests, pictures, reports and confusable names on the page in `Web/`, with the chat server."""

import struct
import subprocess
import zlib

import pytest

from support.chathost import ChatHost
from support.livepage import button, main_menu, people, toast
from support.process import BINARY
from support.samplepage import PHONE, eventually


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = ChatHost(tmp_path_factory.mktemp("people"), options=("--limits", "off"))
    yield host
    host.stop()


@pytest.fixture()
def person(browser, host):
    with people(browser, host) as sign_in:
        yield sign_in


def png():
    """Returns a red picture of 40 × 30 pixels."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\x00" + b"\xd0\x20\x20" * 40) * 30
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 40, 30, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def find(page, name):
    """Opens the profile of a user from the contacts."""
    main_menu(page, "Contacts")
    page.fill("#find-people", name)
    page.click(f"dialog .person[data-user={name}]")
    page.locator(".profile-head", has_text=f"@{name}").wait_for()


def test_a_request_with_a_text_is_seen_at_once_and_accepted(person, host):
    host.register("dora", "Dora Winter")
    host.register("emil", "Emil Frost")
    dora, emil = person("dora"), person("emil", PHONE)
    find(dora, "emil")
    dora.click("[data-action=add]")
    dora.fill("dialog textarea", "We met at the regatta <b>here</b>")
    button(dora, "Send request").click()
    toast(dora, "The request was sent to Emil Frost")
    dora.locator("[data-action=back]").wait_for()

    toast(emil, "Dora Winter wants to be your contact")
    assert emil.locator("#main-menu .badge").inner_text() == "1"
    assert emil.locator("#main-menu").get_attribute("aria-label") == "Main menu, 1 contact request"
    main_menu(emil, "Contacts")
    request = emil.locator(".request[data-user=dora]")
    assert request.locator(".said").inner_text() == "We met at the regatta <b>here</b>"
    assert request.locator("time").inner_text() != ""
    button(emil, "Accept: Dora Winter").click()
    emil.locator("dialog .person[data-user=dora]").wait_for()
    assert emil.locator("#main-menu .badge").count() == 0
    toast(dora, "Emil Frost accepted your request")
    dora.locator("[data-action=remove]").wait_for()


def test_a_request_is_declined_and_an_own_one_taken_back(person, host):
    host.register("finn", "Finn Gale")
    host.register("gina", "Gina Hall")
    host.do("finn", "contact.request", user="alice", text="Hello Alice")
    host.do("alice", "contact.request", user="gina")
    alice = person("alice")
    alice.locator("#main-menu .badge").wait_for()
    main_menu(alice, "Contacts")
    alice.locator(".request[data-user=finn] .said", has_text="Hello Alice").wait_for()
    button(alice, "Decline: Finn Gale").click()
    alice.locator(".request[data-user=finn]").wait_for(state="detached")
    button(alice, "Take back: Gina Hall").click()
    alice.locator(".request[data-user=gina]").wait_for(state="detached")
    states = {each["user"]["name"]: each["state"] for each in host.ask("alice", "contacts", {})["contacts"]}
    assert "finn" not in states and "gina" not in states
    assert host.ask("gina", "contacts", {})["contacts"] == []


def test_a_picture_is_seen_by_others_and_can_be_removed(person, host):
    conv = host.do("bob", "conversation.open", user="alice")["head"]["conv"]
    host.do("bob", "send", conv=conv, kind="text", body={"text": "for the list"})
    alice, bob = person("alice"), person("bob")
    bob.evaluate("chatApp.view.settings('profile')")
    with bob.expect_file_chooser() as chooser:
        button(bob, "Change picture").click()
    chooser.value.set_files({"name": "me.png", "mimeType": "image/png", "buffer": png()})
    bob.locator("dialog .profile-head img").wait_for()
    row = f".chat-list .row[data-conv='{conv}']"
    alice.click(row)
    eventually(alice, f"document.querySelector(\"{row} .avatar img\")?.naturalWidth > 0")
    assert "user=bob" in alice.locator(f"{row} .avatar img").get_attribute("src")
    button(bob, "Remove picture").click()
    bob.locator("dialog .profile-head img").wait_for(state="detached")
    alice.evaluate("chatApp.view.openProfile('bob')")
    alice.locator(f"{row} .avatar img").wait_for(state="detached")


def test_the_picture_of_a_group_is_seen_by_members_and_can_be_removed(person, host):
    conv = host.do("alice", "conversation.create", kind="group", title="Pictured", users=["bob"])["head"]["conv"]
    alice, bob = person("alice"), person("bob")
    alice.evaluate(f"chatApp.view.openConversation('{conv}'); chatApp.view.toggleDetails(true)")
    with alice.expect_file_chooser() as chooser:
        alice.click(".details [data-action=edit]")
        alice.get_by_role("menuitem", name="Change picture").click()
    chooser.value.set_files({"name": "group.png", "mimeType": "image/png", "buffer": png()})
    row = f".chat-list .row[data-conv='{conv}'] .avatar img"
    eventually(bob, f"document.querySelector(\"{row}\")?.naturalWidth > 0")
    alice.locator(".details .hero img").wait_for()
    alice.click(".details [data-action=edit]")
    alice.get_by_role("menuitem", name="Remove picture").click()
    eventually(bob, f"document.querySelector(\"{row}\") === null")


def test_an_alias_is_shown_everywhere_and_removed(person, host):
    conv = host.do("carol", "conversation.open", user="alice")["head"]["conv"]
    host.do("carol", "send", conv=conv, kind="text", body={"text": "alias"})
    alice = person("alice")
    find(alice, "carol")
    alice.click("[data-action=alias]")
    alice.fill("dialog:last-of-type input", "Carol from the harbour")
    alice.keyboard.press("Enter")
    alice.locator(".profile-head h2", has_text="Carol from the harbour").wait_for()
    assert "Carol Okafor" in alice.locator(".profile-head").inner_text()
    alice.locator(".chat-list .row .title", has_text="Carol from the harbour").wait_for()
    alice.click("[data-action=message]")
    alice.locator(".peer h2", has_text="Carol from the harbour").wait_for()
    host.do("alice", "contact.alias", user="carol", alias="")
    alice.locator(".peer h2", has_text="Carol Okafor").wait_for()


def test_a_name_like_that_of_a_contact_is_marked(person, host):
    host.register("b0b", "Вob Marsh")  # a Cyrillic letter
    host.do("b0b", "contact.request", user="alice")
    conv = host.do("b0b", "conversation.open", user="alice")["head"]["conv"]
    host.do("b0b", "send", conv=conv, kind="text", body={"text": "it is me"})
    alice = person("alice")
    label = "@b0b is not your contact Bob Marsh (@bob). The names look alike."
    row = alice.locator(f".chat-list .row[data-conv='{conv}']")
    assert row.locator(".lookalike").get_attribute("aria-label") == label
    row.click()
    alice.locator(".peer .lookalike").wait_for()
    main_menu(alice, "Contacts")
    assert alice.locator(".request[data-user=b0b] .notice-line").inner_text() == label
    assert alice.locator(".person[data-user=bob] .lookalike").count() == 0
    alice.evaluate("chatApp.view.openProfile('b0b')")
    alice.locator(".profile-head .notice-line", has_text=label).wait_for()
    host.do("alice", "contact.remove", user="bob")
    row.locator(".lookalike").wait_for(state="detached")
    host.befriend("alice", "bob")
    row.locator(".lookalike").wait_for()


LOOK_ALIKE = [
    ("Alice", "al1ce"), ("alice", "аlice"), ("alice", "ALlCE"), ("bob", "b0b"), ("Bob", "Вob"), ("modern", "rnodern"), ("william", "vvilliam"),
    ("alice", "a.l_i-c-e"), ("alice", "álíce"), ("alice", "ａｌｉｃｅ"), ("ocean", "οсеаn"), ("paypal", "раураl"), ("SHOP", "ЅНОР"), ("al ice", "alice"),
    ("alice", "al\u200bice"), ("TED", "ᎢᎬᎠ"), ("noon", "ոօօո"), ("Вера", "вера"), ("LISA", "ꓡꓲꓢꓮ"),
]
DIFFERENT = [("alice", "bob"), ("alice", "alicia"), ("anna", "hanna"), ("张伟", "张为")]


def test_the_skeletons_of_names_are_those_of_the_server(browser, host):
    page = browser.new_page()
    try:
        page.goto(host.url + "/")
        alike = """async (pairs) => {
          const { skeletons } = await import("/js/text/skeleton.js");
          return pairs.map(([one, other]) => !skeletons(one).isDisjointFrom(skeletons(other)));
        }"""
        assert page.evaluate(alike, LOOK_ALIKE) == [True] * len(LOOK_ALIKE)
        assert page.evaluate(alike, DIFFERENT) == [False] * len(DIFFERENT)
    finally:
        page.close()


def test_people_who_are_not_known_yet_are_found_with_their_shown_names(person, host):
    host.register("jules", "Jules Verdant")
    alice = person("alice", PHONE)
    alice.click("#new-chat")
    alice.fill("#find-people", "jules")
    alice.locator(".person[data-user=jules] .title", has_text="Jules Verdant").wait_for()


def test_names_in_an_open_chat_follow_their_users(person, host):
    host.register("kim", "Kim Reed")
    host.register("lou", "Lou Sands")
    conv = host.do("alice", "conversation.create", kind="group", title="Names", users=["carol"])["head"]["conv"]
    host.do("carol", "send", conv=conv, kind="text", body={"text": "who is this?"})
    host.do("alice", "member.add", conv=conv, users=["kim", "lou"])
    alice, kim = person("alice"), person("kim", PHONE)
    alice.evaluate(f"chatApp.view.openConversation('{conv}')")
    alice.locator(".log .author", has_text="Carol Okafor").wait_for()
    host.do("alice", "contact.alias", user="carol", alias="Carol of the crew")
    alice.locator(".log .author", has_text="Carol of the crew").wait_for()
    host.do("alice", "contact.alias", user="carol", alias="")
    # An invited user cannot write, and has no input field. A new member sees the names of unknown members.
    kim.locator(f".chat-list .row[data-conv='{conv}']").click()
    button(kim, "Join").wait_for()
    assert kim.locator(".log .empty").count() == 0
    button(kim, "Join").click()
    kim.locator(".note-pill", has_text="Alice Lindqvist invited you and Lou Sands").wait_for()


def test_escape_closes_the_details_before_it_ends_a_reply(person, host):
    conv = host.do("bob", "conversation.open", user="alice")["head"]["conv"]
    host.do("bob", "send", conv=conv, kind="text", body={"text": "reply to this"})
    alice = person("alice", PHONE)
    alice.evaluate(f"chatApp.view.openConversation('{conv}')")
    alice.locator(".bubble", has_text="reply to this").last.click(button="right")
    alice.get_by_role("menuitem", name="Reply", exact=True).click()
    alice.locator(".composer", has_text="Reply to Bob Marsh").wait_for()
    alice.click(".peer")
    alice.locator(".details .hero").wait_for()
    alice.keyboard.press("Escape")
    alice.locator(".details").wait_for(state="detached")
    alice.locator(".composer", has_text="Reply to Bob Marsh").wait_for()
    alice.keyboard.press("Escape")
    alice.get_by_text("Reply to Bob Marsh").wait_for(state="hidden")


def test_a_report_has_a_reason_and_a_text_and_blocking_can_be_undone(person, host):
    host.register("hugo", "Hugo Sand")
    alice = person("alice")
    find(alice, "hugo")
    alice.click("[data-action=report]")
    button(alice, "Report").last.click()
    alice.locator(".form-error", has_text="Please choose a reason").wait_for()
    alice.get_by_label("Insults or harassment").check()
    alice.fill("dialog textarea", "He shouts")
    button(alice, "Report").last.click()
    toast(alice, "the report was sent")
    listed = subprocess.run([BINARY, "admin", "--data", host.folder, "reports"], capture_output=True, text=True, check=True).stdout
    assert "abuse" in listed and "hugo" in listed and "He shouts" in listed

    alice.click("[data-action=block]")
    button(alice, "Block").last.click()
    alice.locator("[data-action=unblock]").wait_for()
    alice.keyboard.press("Escape")
    alice.keyboard.press("Escape")
    main_menu(alice, "Settings")
    alice.get_by_role("tab", name="Blocked").click()
    button(alice, "Unblock: Hugo Sand").click()
    alice.locator(".settings", has_text="No blocked accounts").wait_for()
    assert all(each["user"]["name"] != "hugo" for each in host.ask("alice", "contacts", {})["contacts"])


def test_presence_and_typing_of_a_contact_are_shown_on_the_screen(person, host):
    conv = host.do("alice", "conversation.open", user="bob")["head"]["conv"]
    host.do("alice", "send", conv=conv, kind="text", body={"text": "anyone there?"})
    person("bob").close()
    alice = person("alice")
    alice.evaluate(f"chatApp.view.openConversation('{conv}')")
    eventually(alice, "/^last seen/.test(document.querySelector('.peer .sub').textContent)")
    bob = person("bob")
    alice.locator(".peer .sub", has_text="online").wait_for()
    alice.locator(".bar .peer .presence-dot").wait_for()
    bob.evaluate(f"chatApp.view.openConversation('{conv}')")
    bob.locator("#message").type("hm")
    alice.locator(".peer .sub", has_text="typing…").wait_for()
    bob.close()
    alice.locator(".bar .peer .presence-dot").wait_for(state="detached")


def test_a_stranger_who_writes_can_be_added_blocked_and_unblocked_in_the_chat(person, host):
    host.register("ivo", "Ivo Stone")
    conv = host.do("ivo", "conversation.open", user="alice")["head"]["conv"]
    host.do("ivo", "send", conv=conv, kind="text", body={"text": "Hello, we do not know each other"})
    alice = person("alice")
    alice.locator(f".chat-list .row[data-conv='{conv}']").click()
    bar = alice.locator(".contact-bar")
    button(alice, "Add to contacts").click()
    button(alice, "Send request").click()
    bar.wait_for(state="hidden")
    host.do("ivo", "contact.answer", user="alice", accept=True)
    toast(alice, "Ivo Stone accepted your request")
    host.do("ivo", "contact.remove", user="alice")
    host.do("ivo", "contact.request", user="alice", text="Sorry, once more")
    bar.locator(".said", has_text="Sorry, once more").wait_for()
    button(alice, "Block").click()
    button(alice, "Block").last.click()
    alice.locator(".composer-note", has_text="You blocked Ivo Stone.").wait_for()
    assert alice.locator("#message").count() == 0 and alice.locator("[data-call]:visible").count() == 0
    button(alice, "Unblock").click()
    alice.locator("#message").wait_for()
    assert alice.locator("[data-call]:visible").count() == 2


def test_an_answer_does_not_make_its_sender_a_stranger(person, host):
    host.register("nell", "Nell Field")
    conv = host.do("alice", "conversation.open", user="nell")["head"]["conv"]
    host.do("alice", "send", conv=conv, kind="text", body={"text": "I found your keys"})
    alice, nell = person("alice"), person("nell")
    for page in (alice, nell):
        page.locator(f".chat-list .row[data-conv='{conv}']").click()
        page.locator(".bubble", has_text="I found your keys").wait_for()
    nell.locator(".contact-bar").wait_for()
    host.do("nell", "send", conv=conv, kind="text", body={"text": "Thank you"})
    for page in (alice, nell):
        page.locator(".bubble", has_text="Thank you").wait_for()
    assert not alice.locator(".contact-bar").is_visible()
    nell.reload()
    nell.locator(".bubble", has_text="Thank you").wait_for()
    assert not nell.locator(".contact-bar").is_visible()


def test_contacts_are_in_the_order_of_their_names(person, host):
    host.register("zoe", "Zoë")
    for name, nick in {"u1": "Émile", "u2": "anna", "u3": "Yusuf"}.items():
        host.register(name, nick)
        host.befriend("zoe", name)
    zoe = person("zoe")
    main_menu(zoe, "Contacts")
    zoe.locator("dialog .person").nth(2).wait_for()
    assert zoe.locator("dialog .person .title").all_inner_texts() == ["anna", "Émile", "Yusuf"]


def test_the_list_tells_that_one_was_added(person, host):
    host.do("alice", "conversation.create", kind="group", title="Added", users=["bob"])
    bob = person("bob")
    bob.locator(".chat-list .row", has_text="Alice Lindqvist added you").wait_for()


def test_a_chat_that_another_device_opens_appears_at_once(person, host):
    """The chat has no message. The server pushes the head to the other devices of the user, and not to the other user."""
    host.register("nora", "Nora Opened")
    host.register("omar", "Omar Other")
    nora, omar = person("nora"), person("omar")
    conv = host.do("nora", "conversation.open", user="omar")["head"]["conv"]
    nora.locator(".chat-list .row", has_text="Omar Other").wait_for()
    # The chat is removed from the list and opened again.
    host.do("nora", "conversation.delete", conv=conv)
    nora.locator(".chat-list .row", has_text="Omar Other").wait_for(state="detached")
    assert host.do("nora", "conversation.open", user="omar")["head"]["conv"] == conv
    nora.locator(".chat-list .row", has_text="Omar Other").wait_for()
    assert omar.locator(".chat-list .row", has_text="Nora Opened").count() == 0
