"""Members, rights, links and the directory of the page in `Web/`, with the chat server."""

import time

import pytest

from support.chathost import ChatHost
from support.livepage import button, main_menu, open_details, people, toast
from support.samplepage import PHONE, eventually

PEOPLE = {"dora": "Dora Winter", "emil": "Emil Frost", "finn": "Finn Gale"}


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = ChatHost(tmp_path_factory.mktemp("groups"), options=("--limits", "off"))
    for name, nick in PEOPLE.items():
        host.register(name, nick)
    yield host
    host.stop()


@pytest.fixture()
def person(browser, host):
    with people(browser, host) as sign_in:
        yield sign_in


def group(host, title, users=("bob", "carol"), kind="group", **settings):
    return host.do("alice", "conversation.create", kind=kind, title=title, users=list(users), settings=settings)["head"]["conv"]


def members(host, conv, state="joined"):
    return {each["user"]["name"]: each for each in host.ask("alice", "members", {"conv": conv, "state": state})["members"]}


def choose(page, member, item):
    page.click(f".details .person[data-user={member}]")
    page.get_by_role("menuitem", name=item).click()


def until(condition):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_requests_to_join_are_approved_and_declined(person, host):
    conv = group(host, "Approval", join="approval", listed=True)
    host.do("emil", "member.join", conv=conv)
    alice, finn = person("alice"), person("finn", PHONE)
    main_menu(finn, "Explore")
    finn.fill("dialog .input.search", "Approval")
    finn.click("dialog .people .row")
    finn.locator("dialog", has_text="An admin has to approve your request").wait_for()
    button(finn, "Ask to join").click()
    toast(finn, "waits for approval")
    alice.locator(".chat-list .row", has_text="Approval").click()
    button(alice, "2 requests to join").click()
    button(alice, "Requests 2").wait_for()
    button(alice, "Accept: Finn Gale").click()
    button(alice, "Requests 1").wait_for()
    button(alice, "1 request to join").wait_for()
    button(alice, "Decline: Emil Frost").click()
    alice.get_by_text("No requests to join").wait_for()
    alice.locator(".request-bar").wait_for(state="hidden")
    assert set(members(host, conv)) == {"alice", "bob", "carol", "finn"}
    finn.locator(".chat-list .row", has_text="Approval").wait_for()


def test_the_list_marks_a_chat_of_which_only_mentions_are_notified(person, host):
    conv = group(host, "Seldom")
    bob = person("bob")
    row = bob.locator(f".chat-list .row[data-conv='{conv}']")
    row.wait_for()
    assert row.locator(".icon-at, .icon-bellOff").count() == 0
    host.do("bob", "own.set", conv=conv, notify="mentions")
    row.locator(".icon-at").wait_for()
    assert "Mentions only" in row.locator(".visually-hidden").inner_text()
    host.do("bob", "own.set", conv=conv, muted_until=int(time.time() * 1000) + 3_600_000)
    row.locator(".icon-bellOff").wait_for()
    assert row.locator(".icon-at").count() == 0
    assert "Mentions only" not in row.locator(".visually-hidden").inner_text()


def test_a_member_that_may_not_write_starts_no_call(person, host):
    conv = group(host, "Announcements", write="admins")
    for name, buttons in [("alice", 2), ("bob", 0)]:
        page = person(name)
        page.locator(f".chat-list .row[data-conv='{conv}']").click()
        page.locator(".bar h2", has_text="Announcements").wait_for()
        assert page.locator("[data-call]:visible").count() == buttons


def test_a_muted_member_sees_until_when_instead_of_the_composer(person, host):
    conv = group(host, "Muted")
    alice, bob = person("alice"), person("bob")
    open_details(alice, "Muted")
    choose(alice, "bob", "Mute…")
    button(alice, "For 1 hour").click()
    alice.locator(".details .person[data-user=bob] .sub", has_text="Muted until").wait_for()
    bob.locator(".chat-list .row", has_text="Muted").click()
    bob.locator(".note-pill", has_text="Alice Lindqvist muted you until").wait_for()
    bob.locator(".composer-note", has_text="An admin has silenced you until").wait_for()
    assert bob.locator("#message").count() == 0 and bob.locator("[data-call]:visible").count() == 0
    choose(alice, "bob", "Let write again")
    eventually(alice, "!/Muted/.test(document.querySelector('.details .person[data-user=bob] .sub').textContent)")
    assert "muted_until" not in members(host, conv)["bob"]
    bob.fill("#message", "not quiet any more")
    host.do("alice", "member.mute", conv=conv, users=["bob"])
    bob.locator(".composer-note", has_text="An admin has silenced you in this conversation.").wait_for()
    bob.locator(".note-pill", has_text="Alice Lindqvist let you write again").wait_for()
    assert bob.locator(".note-pill").last.inner_text() == "Alice Lindqvist muted you"
    host.do("alice", "member.mute", conv=conv, users=["bob"], until=int(time.time() * 1000) + 1500)
    # The end of the mute needs no message of the server. The draft was kept.
    eventually(bob, "document.querySelector('#message')?.value === 'not quiet any more'")
    bob.press("#message", "Enter")
    bob.locator(".item .bubble", has_text="not quiet any more").locator(".ticks.sent, .ticks.delivered, .ticks.read").wait_for()


def test_a_reader_sees_why_and_a_guest_writes(person, host):
    conv = group(host, "Roles of writing")
    host.do("alice", "member.role", conv=conv, users=["bob"], role="reader")
    bob = person("bob")
    bob.locator(".chat-list .row", has_text="Roles of writing").click()
    bob.locator(".composer-note", has_text="You may read here, but not write.").wait_for()
    host.do("alice", "member.role", conv=conv, users=["bob"], role="guest")
    bob.fill("#message", "as a guest")
    bob.keyboard.press("Enter")
    bob.locator(".item .bubble", has_text="as a guest").locator(".ticks.sent, .ticks.delivered, .ticks.read").wait_for()


def test_a_group_without_others_offers_to_add_members(person, host):
    conv = group(host, "Alone", users=())
    alice = person("alice")
    alice.locator(".chat-list .row", has_text="Alone").click()
    alice.locator(".alone", has_text="You are alone in this group.").get_by_role("button", name="Add members").click()
    alice.locator("dialog .person[data-user=bob]").click()
    alice.locator("dialog").get_by_role("button", name="Add members").click()
    alice.locator(".alone").wait_for(state="detached")
    assert set(members(host, conv)) == {"alice", "bob"}


def test_a_ban_ends_at_a_time_or_is_lifted(person, host):
    conv = group(host, "Banned", users=("bob", "carol"))
    alice = person("alice")
    open_details(alice, "Banned")
    choose(alice, "bob", "Remove and ban…")
    button(alice, "For 7 days").click()
    alice.locator(".details .person[data-user=bob]").wait_for(state="detached")
    button(alice, "Banned").click()
    alice.locator(".details .person[data-user=bob] .sub", has_text="Banned").wait_for()
    alice.locator(".note-pill", has_text="You banned Bob Marsh until").wait_for()
    ban = next(event for event in host.ask("alice", "history", {"conv": conv})["events"] if event["kind"] == "member.ban")
    assert abs(ban["body"]["until"] / 1000 - time.time() - 7 * 86400) < 120
    choose(alice, "bob", "Lift the ban")
    alice.get_by_text("No user is banned").wait_for()
    assert members(host, conv, "banned") == {}


def test_an_invitation_is_taken_back_and_those_who_are_invited_are_named(person, host):
    conv = group(host, "Invitations", users=())
    alice = person("alice")
    open_details(alice, "Invitations")
    alice.click(".details [data-action=add]")
    alice.fill("#find-people", "emil")
    alice.click("dialog .person[data-user=emil]")
    alice.get_by_role("dialog").get_by_role("button", name="Add members").click()
    toast(alice, "Emil Frost got an invitation")
    button(alice, "Invited").click()
    alice.locator(".details .person[data-user=emil] .sub", has_text="invited by Alice Lindqvist").wait_for()
    choose(alice, "emil", "Take back the invitation")
    alice.get_by_text("No open invitations").wait_for()
    assert members(host, conv, "invited") == {}


def test_roles_are_given_and_an_owner_names_another_before_leaving(person, host):
    conv = group(host, "Roles")
    alice = person("alice")
    open_details(alice, "Roles")
    for role in ("Guest", "Reader", "Admin"):
        choose(alice, "carol", "Change role")
        alice.locator("dialog .action-row", has=alice.locator(f".title >> text='{role}'")).click()
        alice.locator(".details .person[data-user=carol] .role", has_text=role).wait_for()
    assert members(host, conv)["carol"]["role"] == "admin"
    button(alice, "Leave group").click()
    alice.locator("dialog", has_text="You are the owner").wait_for()
    alice.click("dialog .person[data-user=carol]")
    button(alice, "Leave group").last.click()
    alice.locator(".details").wait_for(state="detached")
    found = {each["user"]["name"]: each["role"] for each in host.ask("carol", "members", {"conv": conv})["members"]}
    assert found == {"bob": "member", "carol": "owner"}


def test_the_ownership_is_passed_on(person, host):
    conv = group(host, "Passed on")
    alice = person("alice")
    open_details(alice, "Passed on")
    choose(alice, "bob", "Transfer ownership")
    alice.locator("dialog", has_text="Make Bob Marsh the owner? You become an admin.").wait_for()
    button(alice, "Transfer ownership").click()
    alice.locator(".details .person[data-user=bob] .role", has_text="Owner").wait_for()
    alice.locator(".details .person[data-user=alice] .role", has_text="Admin").wait_for()
    assert members(host, conv)["alice"]["role"] == "admin"
    eventually(alice, "![...document.querySelectorAll('.details .action-row')].some((row) => row.textContent === 'Delete for all')")


def test_an_owner_deletes_a_group_for_all(person, host):
    group(host, "Doomed")
    alice, bob = person("alice"), person("bob")
    bob.locator(".chat-list .row", has_text="Doomed").click()
    open_details(alice, "Doomed")
    button(alice, "Delete for all").click()
    button(alice, "Delete for all").last.click()
    toast(alice, "deleted for all members")
    bob.locator(".chat-list .row", has_text="Doomed").wait_for(state="detached")
    bob.locator(".thread-pane", has_text="Choose a chat").wait_for()
    toast(bob, "You are no longer in “Doomed”.")


def test_a_link_has_an_end_uses_and_a_role_and_can_be_revoked(person, host):
    conv = group(host, "Linked", users=())
    alice, dora = person("alice"), person("dora", PHONE)
    open_details(alice, "Linked")
    button(alice, "New link").click()
    alice.get_by_label("Valid").select_option("86400")
    alice.get_by_label("People who may join").select_option("5")
    alice.get_by_label("Join as").select_option("reader")
    button(alice, "Create link").click()
    toast(alice, "Copied")
    row = alice.locator(".link-row")
    row.wait_for()
    assert "0 of 5 used" in row.inner_text() and "Reader" in row.inner_text() and "until" in row.inner_text()
    link = host.ask("alice", "link.list", {"conv": conv})["links"][0]
    assert (link["uses"], link["role"]) == (5, "reader") and abs(link["expires_at"] / 1000 - time.time() - 86400) < 120
    dora.goto(f"{host.url}/join#{link['code']}")
    dora.locator("dialog", has_text="Alice Lindqvist invites you to join").wait_for()
    button(dora, "Join").click()
    dora.locator(".peer h2", has_text="Linked").wait_for()
    assert dora.locator("#message").count() == 0
    assert members(host, conv)["dora"]["role"] == "reader"
    assert alice.evaluate("navigator.clipboard.readText()") == f"{host.url}/join#{link['code']}"
    button(alice, "Revoke").click()
    button(alice, "Revoke").last.click()
    alice.get_by_text("No links yet").wait_for()
    dora.goto(f"{host.url}/?again#x")
    dora.goto(f"{host.url}/join#{link['code']}")
    toast(dora, "This invite link has ended")


def test_a_link_with_an_approval_makes_a_request(person, host):
    conv = group(host, "By approval", users=())
    alice = person("alice")
    open_details(alice, "By approval")
    button(alice, "New link").click()
    alice.get_by_role("switch", name="An admin approves each user").check()
    button(alice, "Create link").click()
    alice.locator(".link-row").wait_for()
    host.do("emil", "member.join", link=host.ask("alice", "link.list", {"conv": conv})["links"][0]["code"])
    assert "emil" not in members(host, conv)
    button(alice, "Requests").click()
    button(alice, "Accept: Emil Frost").click()
    until(lambda: "emil" in members(host, conv))


def test_the_directory_goes_on_after_its_first_page_and_has_a_new_channel(person, host):
    for index in range(55):
        group(host, f"Club {index:02}", users=(), join="open", listed=True)
    emil = person("emil")
    emil.click("#new-chat")
    button(emil, "New channel").click()
    emil.fill("dialog [name=title]", "Harbour news")
    emil.fill("dialog [name=about]", "What happens at the harbour")
    assert emil.get_by_label("Show in the directory").is_checked()
    button(emil, "Create channel").click()
    emil.locator(".peer h2", has_text="Harbour news").wait_for()
    emil.locator(".chat-list .row", has_text="Harbour news").locator(".preview", has_text="The channel was created").wait_for()
    main_menu(emil, "Explore")
    emil.locator("dialog .people .row").first.wait_for()
    for _ in range(60):
        emil.evaluate("document.querySelector('dialog .people').scrollTop = 1e6")
        emil.wait_for_timeout(50)
        if emil.locator("dialog .people .row", has_text="Club 00").count():
            break
    emil.locator("dialog .people .row", has_text="Club 00").click()
    button(emil, "Join").click()
    emil.locator(".peer h2", has_text="Club 00").wait_for()
    main_menu(emil, "Explore")
    emil.fill("dialog .input.search", "harbour")
    emil.locator("dialog .people .row", has_text="What happens at the harbour").locator(".role", has_text="Joined").wait_for()


def test_the_settings_of_a_group_are_kept_and_slow_mode_counts(person, host):
    conv = group(host, "Slow")
    alice, bob = person("alice"), person("bob")
    open_details(alice, "Slow")
    alice.click(".details [data-action=settings]")
    alice.get_by_label("Slow mode").select_option("30")
    alice.get_by_label("Who may invite").select_option("admins")
    alice.get_by_label("History for new members").select_option("join")
    alice.get_by_label("Disappearing messages").select_option("86400")

    def settings():
        return host.ask("alice", "conversation.info", {"conv": conv})["head"]["settings"]

    until(lambda: settings()["expire"] == 86400)
    assert {key: settings()[key] for key in ("slow", "invite", "history")} == {"slow": 30, "invite": "admins", "history": "join"}
    bob.locator(".chat-list .row", has_text="Slow").click()
    bob.fill("#message", "one")
    bob.keyboard.press("Enter")
    eventually(bob, "/sent in (30|2\\d) seconds/.test(document.querySelector('.slow-line').textContent)")
    assert bob.locator(".slow-line").is_visible()
    alice.keyboard.press("Escape")
    alice.fill("#message", "admins do not wait")
    alice.keyboard.press("Enter")
    alice.locator(".item .bubble", has_text="admins do not wait").wait_for()
    assert not alice.locator(".slow-line").is_visible()


def test_messages_of_a_pair_and_of_the_notes_disappear_after_a_time(person, host):
    conv = host.do("alice", "conversation.open", user="carol")["head"]["conv"]
    alice = person("alice")
    for target in (f"'{conv}'", "chatApp.state.session.self"):
        alice.evaluate(f"chatApp.view.openConversation({target})")
        alice.locator(".thread-pane").get_by_role("button", name="More").click()
        alice.get_by_role("menuitem", name="Disappearing messages").click()
        alice.get_by_label("Remove after").select_option("3600")
        eventually(alice, f"chatApp.state.conversation({target}).settings?.expire === 3600")
        alice.keyboard.press("Escape")
        eventually(alice, "/1 hour/.test(document.querySelector('#message').placeholder)")


def test_a_refusal_says_what_happened(person, host):
    conv = group(host, "Refused", manage="members")
    bob = person("bob")
    open_details(bob, "Refused")
    host.do("alice", "conversation.set", conv=conv, settings={"manage": "admins"})
    texts = bob.evaluate("""async (conv) => {
      const { errorText } = await import("/js/views/model.js");
      await (await import("/js/i18n/index.js")).setLanguage("en");
      const refused = (work) => work.then(() => null, errorText);
      return [await refused(chatApp.state.setConversation(conv, { title: "Mine" })), await refused(chatApp.state.info("0000000000000")), await refused(chatApp.state.setConversation(conv, { title: "x".repeat(300) })),
        errorText({ code: "too_many", retryAfter: 90_000 }), errorText({ code: "internal", message: "The disk is full." })];
    }""", conv)
    assert texts[:2] == ["You may not do this.", "This is no longer available."]
    assert texts[2] == "This is too long or too large." or "title" in texts[2]
    assert texts[3:] == ["Too many at once. Try again in 90 seconds.", "The server has an error: The disk is full."]


def test_a_request_to_join_and_an_invitation_are_withdrawn_and_declined(person, host):
    asked = group(host, "Withdrawn", users=(), join="approval", listed=True)
    invited = group(host, "Declined", users=("dora",))
    host.do("dora", "member.join", conv=asked)
    dora = person("dora")
    dora.locator(f".chat-list .row[data-conv='{asked}']", has_text="waits for approval").click()
    dora.locator(".composer-note", has_text="waits for approval").wait_for()
    assert dora.locator(".log .empty").count() == 0
    button(dora, "Take back the request").click()
    dora.locator(f".chat-list .row[data-conv='{asked}']").wait_for(state="detached")
    assert members(host, asked, "requested") == {}
    dora.locator(f".chat-list .row[data-conv='{invited}']", has_text="Alice Lindqvist invites you").click()
    button(dora, "Decline").click()
    dora.locator(f".chat-list .row[data-conv='{invited}']").wait_for(state="detached")
    assert members(host, invited, "invited") == {}
