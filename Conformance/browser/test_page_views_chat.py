"""Users with the page in `Web/`, in Chromium against the program; where faults are needed, against the mock."""

from support.chatpages import begin_chat, bubble, choose, on_the_mock, png, write
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
    alice.get_by_label("中文").check()
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
    # The parts have menus of their own, and one that is recalled leaves the album.
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


@on_the_mock
def test_two_step_sign_in_is_set_up_and_asked_for(person, mock):
    mock.model.add_user("dora", "Dora")
    mock.model.befriend("dora", "bob")
    mock.model.open_pair("dora", "bob")
    mock.passwords["dora"] = "apus-demo"
    dora = person("dora")
    dora.evaluate("chatApp.view.settings('security')")
    form = dora.locator("form", has_text="Two-step sign-in")
    form.locator("input[type=password]").fill("wrong password")
    form.get_by_role("button", name="Set up an authenticator").click()
    form.get_by_text("The password is wrong.").wait_for()
    form.locator("input[type=password]").fill("apus-demo")
    dora.keyboard.press("Enter")
    form.get_by_role("img", name="QR code of the key").wait_for()
    assert form.locator("pre").inner_text() == "JBSW Y3DP EHPK 3PXP"
    dora.fill("#totp-code", "000000")
    dora.keyboard.press("Enter")
    form.get_by_text("The code is wrong.").wait_for()
    dora.fill("#totp-code", "123 456")
    dora.keyboard.press("Enter")
    dora.get_by_text("Two-step sign-in is on.").wait_for()
    assert mock.totp == {"dora": True}
    dora.evaluate("chatApp.state.signOut({ force: true })")
    dora.fill("[name=name]", "dora")
    dora.fill("[name=password]", "apus-demo")
    dora.keyboard.press("Enter")
    dora.fill("[name=code]", "123456")
    dora.keyboard.press("Enter")
    dora.locator(".chat-list .row").first.wait_for()


@on_the_mock
def test_the_newest_chat_is_at_the_top_and_visible(person, mock):
    mock.model.add_user("erin", "Erin")
    for number in range(25):
        mock.model.add_user(f"user{number}", f"User {number}")
        mock.model.befriend("erin", f"user{number}")
        mock.do(f"user{number}", "send", id=f"hi-{number}", conv=mock.model.open_pair("erin", f"user{number}").conv, kind="text", body={"text": "hi"})
    mock.passwords["erin"] = "apus-demo"
    erin = person("erin")
    for number in (3, 24, 7):
        mock.do(f"user{number}", "send", id=f"new-{number}", conv=mock.model.open_pair("erin", f"user{number}").conv, kind="text", body={"text": f"news of {number}"})
        row = erin.locator(".chat-list .row", has_text=f"news of {number}")
        row.wait_for()
        box, list_box = row.bounding_box(), erin.locator(".chat-list").bounding_box()
        assert abs(box["y"] - list_box["y"]) < 12, number


@on_the_mock
def test_addresses_new_sign_ins_and_ended_sessions_are_told(person, mock):
    carol = person("carol")
    carol.evaluate("location.hash = '#/c/0unknown00000'")
    carol.get_by_text("This link does not lead to one of your chats.").wait_for()
    assert "#" not in carol.url
    mock.model.append(mock.model.selves["carol"], "carol", "device.add", {"device": "2d3e4v5c6e7a8", "name": "Firefox on Linux", "platform": "web"})
    mock.call(mock.flush())
    carol.get_by_text("A new sign-in to your account: Firefox on Linux").wait_for()
    carol.get_by_role("button", name="Sessions").click()
    carol.locator(".settings [role=tab][aria-selected=true]", has_text="Sessions").wait_for()
    carol.keyboard.press("Escape")
    conv = mock.model.open_pair("carol", "alice").conv
    carol.evaluate("(conv) => { location.hash = `#/c/${conv}`; }", conv)
    for device in list(mock.model.devices["carol"]):
        mock.loop.call_soon_threadsafe(mock.end_device, "carol", device)
    carol.locator("#auth-form").wait_for()
    carol.get_by_text("This session has ended. Please sign in again.").wait_for()
