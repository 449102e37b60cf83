"""The page in `Web/` in Chromium with the chat server."""

import contextlib

import pytest

from support.chathost import PASSWORD, ChatHost
from support.samplepage import DESKTOP, PHONE, eventually, picture


@pytest.fixture()
def host(tmp_path):
    host = ChatHost(tmp_path)
    yield host
    host.stop()


@pytest.fixture()
def person(browser, host):
    with contextlib.ExitStack() as contexts:
        complaints = []

        def sign_in(name, size=DESKTOP, locale="en-GB"):
            context = contexts.enter_context(contextlib.closing(browser.new_context(viewport=size, locale=locale)))
            context.set_default_timeout(20_000)
            page = context.new_page()
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.goto(host.url + "/")
            page.fill("[name=name]", name)
            page.fill("[name=password]", PASSWORD)
            page.keyboard.press("Enter")
            page.locator(".chat-list .row").first.wait_for()
            return page

        yield sign_in
        assert complaints == []


def begin_chat(page, name):
    page.click("#new-chat")
    page.fill("#find-people", name)
    page.click(f".person[data-user={name}]")
    page.locator("#message").wait_for()


def write(page, text):
    page.fill("#message", text)
    page.keyboard.press("Enter")


def wait_for_text(page, text):
    page.locator(".item .bubble", has_text=text).first.wait_for()


@pytest.mark.parametrize("size, locale", [(DESKTOP, "en-GB"), (PHONE, "zh-CN")])
def test_two_users_write_to_each_other(person, size, locale):
    alice, bob = person("alice"), person("bob", size, locale)
    begin_chat(alice, "bob")
    write(alice, "Hello **Bob** 你好")
    bob.locator(".chat-list .row", has_text="Alice Lindqvist").first.click()
    wait_for_text(bob, "Hello Bob 你好")
    write(bob, "Hi Alice")
    wait_for_text(alice, "Hi Alice")
    alice.reload()
    wait_for_text(alice, "Hi Alice")


def test_a_message_written_while_the_server_is_away_arrives(person, host):
    alice, bob = person("alice"), person("bob")
    begin_chat(alice, "bob")
    write(alice, "before")
    bob.locator(".chat-list .row", has_text="Alice Lindqvist").first.click()
    wait_for_text(bob, "before")
    host.process.kill()
    write(alice, "meanwhile")
    host.restart()
    wait_for_text(bob, "meanwhile")
    assert bob.locator(".item .bubble", has_text="meanwhile").count() == 1


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_an_edit_without_a_change_keeps_a_text_without_formats(person, host, size):
    conv = host.pair("alice", "bob")
    text = "- a\n* b\n1. c\n> d"
    host.do("alice", "send", conv=conv, kind="text", body={"text": text})
    alice = person("alice", size)
    alice.locator(".chat-list .row", has_text="Bob Marsh").click()
    wait_for_text(alice, "1. c")
    alice.locator("#message").press("ArrowUp")
    eventually(alice, r"document.querySelector('#message').value === '\\- a\n\\* b\n1\\. c\n\\> d'")
    picture(alice, f"edit-{size['width']}")
    alice.locator("#message").press("Enter")
    alice.locator(".item .bubble", has_text="edited").wait_for()
    event, = host.log(conv)
    assert (event["body"]["text"], event["body"].get("entities")) == (text, None)


@pytest.mark.parametrize("size, locale", [(DESKTOP, "en-GB"), (PHONE, "zh-CN")])
def test_a_restored_server_gets_lost_files_again(person, host, tmp_path_factory, size, locale):
    """The server loses one uploaded file and a part of another."""
    folder = tmp_path_factory.mktemp("backup")
    conv = host.pair("alice", "bob")
    alice, bob = person("alice", size, locale), person("bob")
    begin_chat(alice, "bob")
    host.back_up(folder / "data")
    held = []  # the second part of the large file
    uploaded = []

    def patched(route):
        if route.request.method == "PATCH" and int(route.request.headers["upload-offset"]) > 0 and not held:
            held.append(route)
            return
        if route.request.method == "PATCH":
            uploaded.append(route.request.post_data_buffer)
        route.continue_()

    alice.context.route("**/api/uploads/*", patched)
    contents = {"large.bin": bytes(1_400_000), "small.bin": b"small"}
    alice.set_input_files("input[type=file]", [
        {"name": name, "mimeType": "application/octet-stream", "buffer": content} for name, content in contents.items()])
    alice.fill("#message", "Both plans")
    alice.keyboard.press("Enter")
    # The small file, which is uploaded, is sent after the large one.
    eventually(alice, "document.querySelectorAll('.file').length === 2")
    eventually(alice, "chatApp.state.uploads.length === 1 && chatApp.state.uploads[0].progress > 0")
    while not held:
        alice.evaluate("0")  # runs `patched`
    assert b"small" in uploaded
    uploaded.clear()
    host.restore(folder / "data")
    held[0].abort()
    alice.locator(".chat-list .row[aria-current=true]").wait_for(state="detached")  # the page closes the chat with the former data
    alice.locator(".chat-list .row", has_text="Bob Marsh").click()
    alice.locator("a.file").nth(1).wait_for(timeout=60_000)
    assert b"small" in uploaded
    assert [event["body"]["name"] for event in host.log(conv) if event["kind"] == "file"] == ["large.bin", "small.bin"]
    bob.locator(".chat-list .row", has_text="Alice Lindqvist").first.click()
    with bob.expect_download() as download:
        bob.locator("a.file", has_text="small.bin").click()
    assert download.value.path().read_bytes() == b"small"


@pytest.mark.parametrize("size, locale, reason", [
    (DESKTOP, "en-GB", "Not sent: The file is missing: plan.pdf. Choose it again in a new message."),
    (PHONE, "zh-CN", "发送失败：文件已丢失：plan.pdf。请在新消息中重新选择。"),
])
def test_a_file_that_neither_side_has_is_named(person, host, size, locale, reason):
    alice = person("alice", size, locale)
    begin_chat(alice, "bob")
    alice.evaluate("""(conv) => chatApp.state.send(conv, {
      kind: "file", body: { name: "plan.pdf", blob: "0".repeat(64), size: 5, type: "application/pdf", text: "The plan for Friday" },
    })""", host.pair("alice", "bob"))
    failure = alice.locator(".failure")
    failure.wait_for()
    assert failure.locator("span").inner_text() == reason
    assert alice.locator(".bubble", has_text="The plan for Friday").count() == 1
    picture(alice, f"file-lost-{locale}")
    assert failure.locator("button").count() == 2  # try again, discard
    failure.locator("button").nth(1).click()
    failure.wait_for(state="detached")
    assert host.log(host.pair("alice", "bob")) == []


def test_a_file_that_the_browser_cannot_read_is_named(person, host, tmp_path_factory):
    file = tmp_path_factory.mktemp("disk") / "plan.pdf"
    file.write_bytes(b"plan")
    alice = person("alice")
    begin_chat(alice, "bob")
    held = []
    alice.context.route("**/api/uploads", lambda route: held.append(route))
    alice.set_input_files("input[type=file]", file)
    alice.keyboard.press("Enter")
    while not held:
        alice.evaluate("0")  # runs the handler
    file.unlink()
    held[0].continue_()
    alice.locator(".failure", has_text="The file is missing: plan.pdf. Choose it again in a new message.").wait_for()


def test_the_page_says_at_once_that_the_network_is_lost(person, host):
    alice = person("alice", PHONE)
    begin_chat(alice, "bob")
    write(alice, "before")
    alice.locator(".ticks.sent, .ticks.delivered").wait_for()
    alice.context.set_offline(True)
    alice.locator(".thread-pane .banner", has_text="You are offline").wait_for()
    write(alice, "in the tunnel")
    alice.locator(".ticks.waiting").wait_for()
    alice.context.set_offline(False)
    alice.locator(".thread-pane .banner").wait_for(state="hidden")
    alice.locator(".ticks.waiting").wait_for(state="detached")
