"""The page in `Web/` in Chromium with the chat server."""

import contextlib

import pytest

from support.chathost import PASSWORD, ChatHost
from support.samplepage import DESKTOP, PHONE


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
