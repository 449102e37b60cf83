"""Tests sending, and the handling of refused messages, in the page at / in headless Chromium with a real server."""

import pytest

# Delays the preparation of pictures until the test calls `letPictures(true)`.
SLOW_PICTURES = """
  const prepare = globalThis.createImageBitmap;
  let open;
  const gate = new Promise((resolve) => { open = resolve; });
  globalThis.letPictures = open;
  globalThis.createImageBitmap = async (...values) => { await gate; return prepare(...values); };
"""


# Adds entries to the outbox of the open chat, as an earlier page does.
STORE = """async (entries) => {
  const account = JSON.parse(localStorage.getItem("apus.session")).user.id;
  const request = indexedDB.open("apus");
  const database = await new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
  const transaction = database.transaction("outbox", "readwrite");
  const conv = location.hash.slice(4);
  for (const [order, entry] of entries.entries()) {
    transaction.objectStore("outbox").put({ account, conv, at: order + 1, order, state: "waiting", kind: "text", ...entry });
  }
  await new Promise((resolve) => { transaction.oncomplete = resolve; });
  database.close();
}"""


def two_chats(person, register, *scripts):
    """Signs in alice, with chats with bobby (open) and carol, and bobby and carol at their own pages."""
    register("carol", "Carol")
    alice, bobby, carol = person(), person(), person()
    for script in scripts:
        alice.context.add_init_script(script)
    alice.sign_in("alice")
    alice.begin_chat("carol")
    alice.choose("Bobby")
    for each, name in ((bobby, "bobby"), (carol, "carol")):
        each.sign_in(name)
        each.open_chat()
    return alice, bobby, carol


def attach(page, picture, names):
    page.set_input_files("#file", files=[{"name": name, "mimeType": "image/png", "buffer": picture} for name in names])


def test_pictures_go_to_the_chat_in_which_enter_was_pressed(person, register, picture):
    alice, bobby, carol = two_chats(person, register)
    page = alice.page
    attach(page, picture, [f"{number}.png" for number in range(9)])
    page.wait_for_function("() => document.querySelectorAll('#tray .tray-item img').length === 9")
    page.fill("#message", "Nine of them")
    # Enter, followed immediately by a click on another chat.
    page.evaluate("""() => {
      document.querySelector("form.composer").requestSubmit();
      [...document.querySelectorAll("#chats .chat")].find((chat) => chat.textContent.includes("Carol")).click();
    }""")
    bobby.page.wait_for_function("() => document.querySelectorAll('.message.theirs .thumb').length === 9")
    bobby.sees("Nine of them")
    alice.write("Only words")
    carol.sees("Only words")
    assert carol.page.locator(".thumb").count() == 0


def test_pictures_in_preparation_belong_to_their_chat(person, register, picture, screenshot):
    alice, bobby, carol = two_chats(person, register, SLOW_PICTURES)
    page = alice.page
    attach(page, picture, ["one.png", "two.png"])
    page.fill("#message", "Under the second")
    page.wait_for_function("() => document.querySelectorAll('#tray .tray-waiting').length === 2")
    screenshot(page, "tray-preparing")
    alice.choose("Carol")
    assert not page.is_visible("#tray") and page.input_value("#message") == ""
    page.fill("#message", "For Carol")

    alice.choose("Bobby")
    page.wait_for_function("() => document.querySelectorAll('#tray .tray-waiting').length === 2")
    assert page.input_value("#message") == "Under the second"
    # Sent during the preparation; later messages do not overtake them.
    page.click("#send")
    alice.write("After the pictures")
    alice.choose("Carol")
    page.evaluate("letPictures(true)")
    bobby.sees("After the pictures")
    bobby.page.wait_for_function("() => document.querySelectorAll('.message.theirs .thumb').length === 2")
    assert bobby.texts()[1:] == ["Under the second", "After the pictures"]
    assert page.input_value("#message") == "For Carol" and not page.is_visible("#tray")
    page.click("#send")
    carol.sees("For Carol")
    assert carol.page.locator(".thumb").count() == 0


def test_a_picture_that_is_ready_late_stays_in_its_own_chat(person, register, picture):
    alice, bobby, _ = two_chats(person, register, SLOW_PICTURES)
    page = alice.page
    attach(page, picture, ["late.png"])
    attach(page, b"no picture", ["broken.png"])
    alice.choose("Carol")
    page.evaluate("letPictures(true)")
    page.wait_for_selector(".toast")
    assert not page.is_visible("#tray") and page.is_disabled("#send")
    alice.choose("Bobby")
    page.wait_for_function("() => document.querySelectorAll('#tray .tray-item img').length === 1")
    page.click("#send")
    bobby.page.wait_for_selector(".message.theirs .thumb")


def test_half_an_emoji_is_stored_and_does_not_stop_the_outbox(person):
    alice, bobby = person(), person()
    for each, name in ((alice, "alice"), (bobby, "bobby")):
        each.sign_in(name)
        each.open_chat()
    # An entry of an older page, and a new message.
    alice.page.evaluate(f"() => ({STORE})([{{ id: 'old', body: {{ text: 'old \\ud83d' }} }}])")
    alice.page.reload()
    alice.page.wait_for_selector("#message")
    alice.page.evaluate("""() => {
      document.getElementById("message").value = "new \\udc26\\ud83d";
      document.querySelector("form.composer").requestSubmit();
    }""")
    alice.write("and whole 🐦")
    bobby.sees("and whole 🐦")
    assert bobby.texts()[1:] == ["old \ufffd", "new \ufffd\ufffd", "and whole 🐦"]
    alice.page.wait_for_selector(".message.mine[data-state=waiting]", state="detached")


def test_a_refused_message_can_be_retried_or_deleted(person, screenshot):
    alice, bobby = person(), person()
    for each, name in ((alice, "alice"), (bobby, "bobby")):
        each.sign_in(name)
        each.open_chat()
    page = alice.page
    page.evaluate(STORE, [{"id": "long", "body": {"text": "x" * 8001}}, {"id": "kind", "kind": "poem", "body": {"text": "roses"}}, {"id": "good", "body": {"text": "goes on"}}])
    page.reload()
    bobby.sees("goes on")
    assert bobby.texts()[1:] == ["goes on"]
    page.wait_for_function("() => document.querySelectorAll('.message[data-state=failed]').length === 2")
    screenshot(page, "refused")
    failed = page.locator(".message[data-state=failed]").last
    failed.get_by_role("button", name="Try again").click()  # refused once more
    page.wait_for_function("() => document.querySelectorAll('.message[data-state=failed]').length === 2")
    for _ in range(2):
        page.locator(".message[data-state=failed]").last.get_by_role("button", name="Discard").click()
    page.wait_for_selector(".message[data-state=failed]", state="detached")
    alice.write("and on")
    bobby.sees("and on")


@pytest.mark.parametrize("isSame", [True, False])
def test_a_retry_after_a_conflict_creates_no_duplicate(person, isSame):
    """The server knows the ID of a message with another `ref`, which the page does not see, or with another text."""
    alice, bobby = person(), person()
    for each, name in ((alice, "alice"), (bobby, "bobby")):
        each.sign_in(name)
        each.open_chat()
    page = alice.page
    alice.write("First")
    page.wait_for_function("() => document.querySelectorAll('.message.mine[data-state=read]').length === 2")
    page.evaluate("""async (text) => {
      const { ChatClient } = await import("/js/chat/client.js");
      const chat = await ChatClient.open(JSON.parse(localStorage.getItem("apus.session")));
      chat.start();
      await new Promise((resolve) => chat.on("connection", ({ name }) => name === "online" && resolve()));
      await chat.request("send", { conv: location.hash.slice(4), id: "taken", kind: "text", body: { text }, ref: 1 });
      chat.stop();
    }""", "Words" if isSame else "Other words")
    page.evaluate(STORE, [{"id": "taken", "body": {"text": "Words"}}])
    page.reload()
    page.wait_for_selector("#message")
    if not isSame:
        page.wait_for_selector(".message[data-state=failed]")
        assert alice.texts()[1:] == ["First", "Other words", "Words"]
        page.get_by_role("button", name="Try again").click()
    alice.write("Last")
    bobby.sees("Last")
    # If the log contains the message, its outbox entry is removed silently.
    expected = ["First", "Words", "Last"] if isSame else ["First", "Other words", "Words", "Last"]
    page.wait_for_function("() => !document.querySelector('.message[data-state=waiting], .message[data-state=failed]')")
    assert bobby.texts()[1:] == expected
    assert alice.texts()[1:] == expected
