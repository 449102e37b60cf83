"""Users with the page in `Web/`, in Chromium with the program."""

from support.chatpages import begin_chat, bubble, choose, open_pair, png, write
from support.samplepage import PHONE, eventually


def test_two_users_write_reply_edit_react_and_recall(person):
    alice, bob = person("alice"), person("bob", PHONE)
    begin_chat(bob, "alice")
    begin_chat(alice, "bob")
    write(alice, "Hello **Bob** :tada:")
    bubble(bob, "Hello").wait_for()
    assert bubble(bob, "Hello").locator("strong").inner_text() == "Bob"
    alice.locator(".item", has_text="Hello").last.locator(".ticks.read").wait_for()

    choose(bob, "Hello", "Reply")
    write(bob, "Hi Alice")
    assert "Hello" in bubble(alice, "Hi Alice").locator(".quote").inner_text()

    bubble(alice, "Hi Alice").click(button="right")
    alice.get_by_role("menuitemcheckbox", name="React with 👍").click()
    bob.locator(".reaction", has_text="👍").wait_for()

    choose(alice, "Hello", "Edit")
    write(alice, "Hello again")
    bubble(bob, "Hello again").get_by_text("edited").wait_for()

    choose(alice, "Hello again", "Recall")
    alice.get_by_role("dialog").get_by_role("button", name="Recall").click()
    bubble(bob, "Message recalled").wait_for()


def test_a_picture_arrives_and_opens(person):
    alice, bob = person("alice"), person("bob")
    begin_chat(alice, "bob")
    alice.set_input_files("input[type=file]", {"name": "red.png", "mimeType": "image/png", "buffer": png()})
    alice.locator(".attachment img").wait_for()
    alice.keyboard.press("Enter")
    begin_chat(bob, "alice")
    bob.locator(".picture img.loaded").last.wait_for()
    bob.locator(".picture").last.click()
    bob.locator("dialog.viewer img").wait_for()
    bob.keyboard.press("Escape")
    bob.locator("dialog.viewer").wait_for(state="detached")


def test_a_group_is_made_by_the_keyboard_and_shows_its_members(person):
    alice = person("alice")
    alice.focus("#main-menu")
    alice.keyboard.press("Enter")
    alice.keyboard.press("Enter")
    eventually(alice, "document.activeElement.name === 'title'")
    alice.keyboard.type("Keyboard group")
    for _ in ("description", "joining", "directory", "members"):
        alice.keyboard.press("Tab")
    alice.keyboard.type("bob")
    alice.locator(".person[data-user=bob]").wait_for()
    alice.keyboard.press("ArrowDown")
    alice.keyboard.press("Enter")
    alice.get_by_role("button", name="Create group").click()
    alice.locator(".peer h2", has_text="Keyboard group").wait_for()
    alice.click(".peer")
    alice.locator(".details .person[data-user=bob]").wait_for()
    alice.locator(".details .role", has_text="Owner").wait_for()


def test_after_the_sign_in_the_list_has_the_focus(person, chat):
    chat.do("weilin", "send", id="hello", conv=chat.pair("weilin", "carol"), kind="text", body={"text": "hello"})
    weilin = person("weilin")
    eventually(weilin, "document.activeElement.matches('.chat-list .row')")
    weilin.keyboard.press("Enter")
    eventually(weilin, "document.activeElement.id === 'message'")


def test_the_language_changes_everything_at_once(person):
    alice = person("alice")
    alice.evaluate("chatApp.view.settings('appearance')")
    alice.get_by_label("中文").click()
    alice.get_by_role("dialog", name="设置").wait_for()
    alice.keyboard.press("Escape")
    alice.get_by_role("button", name="全部").wait_for()


def test_an_album_is_one_row_of_pictures(person):
    alice, carol = person("alice"), person("carol")
    begin_chat(alice, "carol")
    alice.set_input_files("input[type=file]", [{"name": f"{name}.png", "mimeType": "image/png", "buffer": png()} for name in "abc"])
    alice.locator(".attachment img").nth(2).wait_for()
    alice.fill("#message", "Three pictures")
    alice.keyboard.press("Enter")
    begin_chat(carol, "alice")
    album = carol.locator(".album")
    album.locator(".picture img.loaded").nth(2).wait_for()
    assert album.count() == 1 and album.locator(".picture").count() == 3
    assert carol.locator(".item", has=album).locator(".text").inner_text().startswith("Three pictures")
    assert album.get_attribute("aria-label") == "Album of 3 pictures"
    # Each part of an album has its own menu. A recalled part is removed from the album.
    alice.locator(".album .ticks").first.wait_for(state="detached")
    alice.locator(".album .picture").first.click(button="right")
    alice.get_by_role("menuitem", name="Recall", exact=True).click()
    alice.get_by_role("dialog").get_by_role("button", name="Recall").click()
    carol.locator(".bubble", has_text="Message recalled").wait_for()
    assert album.locator(".picture").count() == 2


def test_the_versions_of_an_edited_message(person):
    alice, carol = person("alice"), person("carol")
    begin_chat(carol, "alice")
    begin_chat(alice, "carol")
    write(alice, "Version one")
    bubble(carol, "Version one").wait_for()
    choose(alice, "Version one", "Edit")
    write(alice, "Version **two**")
    bubble(alice, "Version two").get_by_text("edited").wait_for()
    choose(alice, "Version two", "Edit")
    write(alice, "Version three")
    bubble(carol, "Version three").wait_for()
    choose(carol, "Version three", "Earlier versions")
    carol.locator(".version").nth(2).wait_for()
    assert carol.locator(".version .text").all_inner_texts() == ["Version three", "Version two", "Version one"]
    # The mark of an edited message opens them, too.
    bubble(alice, "Version three").get_by_text("edited").click()
    alice.locator(".version").nth(2).wait_for()


def test_folders_filter_the_list(person):
    bob = person("bob", PHONE)
    begin_chat(bob, "alice")
    bob.locator(".thread-pane .bar [aria-label=More]").click()
    bob.get_by_role("menuitem", name="Folders").click()
    bob.get_by_role("dialog").locator("input[maxlength='30']").fill("Rowing")
    bob.keyboard.press("Enter")
    bob.get_by_role("switch", name="Rowing", checked=True).wait_for()
    bob.keyboard.press("Escape")
    bob.get_by_role("button", name="Back").click()
    bob.get_by_role("button", name="Rowing").click()
    bob.locator(".chat-list .row").first.wait_for()
    assert bob.locator(".chat-list .row .title").all_inner_texts() == ["Alice Lindqvist"]
    bob.get_by_role("button", name="Rowing").click(button="right")
    bob.get_by_role("menuitem", name="Delete the folder").click()
    bob.get_by_role("dialog").get_by_role("button", name="Delete").click()
    bob.get_by_role("button", name="Rowing").wait_for(state="detached")
    assert bob.locator(".chip[data-filter=all]").get_attribute("aria-pressed") == "true"


def test_the_newest_chat_is_at_the_top_and_visible(person, chat):
    chat.register("erin", "Erin")
    convs = []
    for number in range(25):
        chat.register(f"user{number}", f"User {number}")
        chat.befriend("erin", f"user{number}")
        convs.append(chat.pair(f"user{number}", "erin"))
        chat.do(f"user{number}", "send", conv=convs[number], kind="text", body={"text": "hi"})
    erin = person("erin")
    for number in (3, 24, 7):
        chat.do(f"user{number}", "send", conv=convs[number], kind="text", body={"text": f"news of {number}"})
        row = erin.locator(".chat-list .row", has_text=f"news of {number}")
        row.wait_for()
        box, list_box = row.bounding_box(), erin.locator(".chat-list").bounding_box()
        assert abs(box["y"] - list_box["y"]) < 12, number


def test_an_address_of_an_unknown_chat_is_told_and_left(person):
    carol = person("carol")
    carol.evaluate("location.hash = '#/c/0unknown00000'")
    carol.get_by_text("This link does not lead to one of your chats.").wait_for()
    assert "#" not in carol.url


def test_an_own_message_ends_the_line_of_new_messages(person, chat):
    conv = chat.pair("alice", "bob")
    alice = person("alice")
    for text in ("One new message", "Another new message"):
        chat.do("bob", "send", conv=conv, kind="text", body={"text": text})
    alice.locator(".chat-list .row", has_text="Another new message").click()
    alice.locator(".unread-line").wait_for()
    write(alice, "An answer")
    bubble(alice, "An answer").wait_for()
    alice.locator(".unread-line").wait_for(state="detached")


def test_a_chat_of_which_nothing_is_read_opens_at_its_beginning(person, chat):
    chat.register("nora", "Nora")
    chat.befriend("nora", "carol")
    conv = chat.pair("carol", "nora")
    for number in range(40):
        chat.do("carol", "send", conv=conv, kind="text", body={"text": f"first words {number}"})
    nora = person("nora")
    nora.locator(".chat-list .row", has_text="first words").click()
    nora.locator(".unread-line").wait_for()
    assert bubble(nora, "first words 0").is_visible()
    assert 10 < int(nora.locator(".jump .badge").inner_text()) < 40
    assert nora.locator(".log .item[data-key]").last.bounding_box()["y"] > 600


def test_a_recall_asks_in_the_words_of_the_chat(person):
    alice = person("alice")
    begin_chat(alice, "carol")
    write(alice, "To be recalled")
    bubble(alice, "To be recalled").locator(".ticks.sent, .ticks.delivered, .ticks.read").wait_for()
    choose(alice, "To be recalled", "Recall")
    alice.get_by_role("dialog", name="Recall this message for both of you?").wait_for()


def test_a_draft_is_kept_when_a_chat_is_left_and_opened_at_once(person, chat):
    conv = chat.pair("carol", "bob")
    carol = person("carol")
    carol.evaluate("(conv) => chatApp.view.openConversation(conv)", conv)
    carol.fill("#message", "Not yet sent")
    carol.evaluate("(conv) => { chatApp.view.closeThread(); chatApp.view.openConversation(conv); }", conv)
    eventually(carol, "document.querySelector('#message').value === 'Not yet sent'")
    # A draft of another device is shown in an empty input, and does not replace a text.
    pair = chat.pair("alice", "carol")
    alice = person("alice")
    alice.locator(f".chat-list .row[data-conv='{pair}']").wait_for()
    alice.evaluate("(conv) => chatApp.view.openConversation(conv)", pair)
    alice.locator("#message").wait_for()
    chat.do("alice", "draft", conv=pair, text="From the phone")
    eventually(alice, "document.querySelector('#message').value === 'From the phone'")
    alice.fill("#message", "On this device")
    chat.do("alice", "draft", conv=pair, text="From the phone again")
    alice.locator(".chat-list .row", has_text="Notes to self").wait_for()
    alice.wait_for_timeout(300)
    assert alice.input_value("#message") == "On this device"


def test_a_draft_that_another_device_sent_or_removed_is_no_longer_shown(person, chat):
    alice = person("alice")
    pair = chat.pair("alice", "carol")
    chat.do("alice", "draft", conv=pair, text="Written on the phone")
    alice.locator(".chat-list .row", has_text="Written on the phone").click()
    eventually(alice, "document.querySelector('#message').value === 'Written on the phone'")
    chat.do("alice", "send", conv=pair, kind="text", body={"text": "Written on the phone"})
    chat.do("alice", "draft", conv=pair, text="")
    bubble(alice, "Written on the phone").wait_for()
    eventually(alice, "document.querySelector('#message').value === ''")
    # After a message of this device, a draft of another one is shown again.
    write(alice, "Written here")
    bubble(alice, "Written here").locator(".ticks.sent, .ticks.delivered, .ticks.read").wait_for()
    chat.do("alice", "draft", conv=pair, text="Once more")
    eventually(alice, "document.querySelector('#message').value === 'Once more'")
    chat.do("alice", "draft", conv=pair, text="")


def test_a_sent_message_removes_its_draft_from_the_server(person, chat):
    pair = chat.pair("alice", "carol")
    alice, other = person("alice"), person("alice")
    for page in (alice, other):
        page.evaluate("(conv) => chatApp.view.openConversation(conv)", pair)
    alice.fill("#message", "Half a sentence")
    eventually(other, "document.querySelector('#message').value === 'Half a sentence'")
    alice.keyboard.press("Enter")
    eventually(other, f"document.querySelector('#message').value === '' && !chatApp.state.draft('{pair}')")
    # Before the state has the draft, too.
    alice.fill("#message", "At once")
    alice.evaluate("""(conv) => new Promise((done) => {
      const { state } = chatApp;
      state.saveDraft = (...values) => {
        delete state.saveDraft;
        done();
        setTimeout(() => document.querySelector("#message").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true })));
        return state.saveDraft(...values);
      };
    })""", pair)
    bubble(other, "At once").wait_for()
    eventually(alice, f"!chatApp.state.draft('{pair}')")
    eventually(other, f"document.querySelector('#message').value === '' && !chatApp.state.draft('{pair}')")


def test_own_settings_and_drafts_do_not_move_the_own_notes(person, chat):
    bob = person("bob")
    bob.locator(".chat-list .row .title", has_text="Notes to self").wait_for()
    chat.do("carol", "send", conv=chat.pair("bob", "carol"), kind="text", body={"text": "the newest"})
    bob.locator(".chat-list .row", has_text="the newest").wait_for()
    chat.do("bob", "draft", conv=chat.pair("bob", "alice"), text="half a sentence")
    bob.locator(".chat-list .row", has_text="half a sentence").wait_for()
    chat.do("bob", "own.set", conv=chat.pair("bob", "carol"), muted_until=9 * 10**15)
    bob.locator(".chat-list .row", has_text="the newest").locator(".icon-bellOff").wait_for()
    titles = bob.locator(".chat-list .row .title").all_inner_texts()
    assert titles[:2] == ["Alice Lindqvist", "Carol Okafor"] and titles[-1] == "Notes to self"


def test_a_message_is_deleted_for_its_user_alone(person, chat):
    conv = chat.pair("alice", "carol")
    seq = chat.do("carol", "send", id="hidden", conv=conv, kind="text", body={"text": "Not for the screen"})["seq"]
    alice, carol = person("alice"), person("carol")
    open_pair(alice, conv)
    open_pair(carol, conv)
    choose(alice, "Not for the screen", "Delete for me")
    alice.get_by_role("dialog").get_by_role("button", name="Delete").click()
    bubble(alice, "Not for the screen").wait_for(state="detached")
    bubble(carol, "Not for the screen").wait_for()
    alice.reload()
    open_pair(alice, conv)
    assert bubble(alice, "Not for the screen").count() == 0
    assert next(event for event in chat.log(conv, "carol") if event["seq"] == seq)["body"]["text"] == "Not for the screen"


def test_the_link_of_a_message_is_copied_and_leads_to_it(person, chat):
    conv = chat.pair("alice", "bob")
    seq = chat.do("bob", "send", id="linked", conv=conv, kind="text", body={"text": "Linked from elsewhere"})["seq"]
    alice = person("alice", permissions=["clipboard-read", "clipboard-write"])
    open_pair(alice, conv)
    choose(alice, "Linked from elsewhere", "Copy link")
    alice.locator(".toast", has_text="Copied").wait_for()
    address = alice.evaluate("navigator.clipboard.readText()")
    assert address.startswith(chat.url) and address.endswith(f"{conv}/{seq}")
    alice.evaluate("chatApp.view.closeThread()")
    alice.goto(address)
    bubble(alice, "Linked from elsewhere").wait_for()


def test_a_chat_is_pinned_archived_and_marked_as_unread_by_its_menu(person, chat):
    conv = chat.do("alice", "conversation.create", id="menu", kind="group", title="Menu club", users=["bob"])["head"]["conv"]
    alice = person("alice")
    row = alice.locator(".chat-list .row", has_text="Menu club")

    def own():
        return next(head for head in chat.ask("alice", "sync", {})["heads"] if head["conv"] == conv).get("own", {})

    def pick(item, key, isSet=True):
        row.click(button="right")
        alice.get_by_role("menuitem", name=item, exact=True).click()
        eventually(alice, f"Boolean(chatApp.state.conversation('{conv}').own?.{key}) === {str(isSet).lower()}")
        assert bool(own().get(key)) is isSet

    pick("Pin", "pinned_at")
    pick("Unpin", "pinned_at", False)
    row.click(button="right")
    alice.get_by_role("menuitem", name="Mute", exact=True).click()
    alice.get_by_role("dialog").get_by_role("button", name="For 8 hours").click()
    eventually(alice, f"chatApp.state.conversation('{conv}').own?.muted_until > Date.now() + 7 * 3_600_000")
    pick("Unmute", "muted_until", False)
    pick("Mark as unread", "marked_unread")
    pick("Mark as read", "marked_unread", False)
    pick("Archive", "archived")
    row.wait_for(state="detached")
