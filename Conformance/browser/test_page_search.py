"""The search of the page with the program: filters, pages, jumps, and the search of the stored messages while offline."""

import uuid

import pytest

from support.chathost import ChatHost
from support.chatpages import bubble, open_pair, write
from support.samplepage import PHONE


def say(chat, user, conv, text):
    return chat.do(user, "send", id=str(uuid.uuid4()), conv=conv, kind="text", body={"text": text})["seq"]


def search(page, words):
    page.locator("dialog .input.search").fill(words)
    page.locator("dialog [role=status]", has_text="result").wait_for()


def test_the_list_shows_the_newest_messages_of_a_search(person, chat):
    conv = chat.pair("alice", "bob")
    seqs = [say(chat, "bob", conv, f"纸船 {number}") for number in range(8)]
    alice = person("alice")
    alice.fill("#search", "船")
    hits = alice.locator(".chat-list [data-hit]")
    hits.nth(4).wait_for()
    assert [hit.get_attribute("data-hit") for hit in hits.all()] == [str(seq) for seq in reversed(seqs[3:])]
    alice.fill("#search", "船 6")
    alice.locator(".chat-list [data-hit] mark", has_text="6").wait_for()
    assert hits.count() == 1
    hits.click()
    alice.locator(f".item.hit[data-seq='{seqs[6]}']").wait_for()
    alice.fill("#search", "")
    hits.first.wait_for(state="detached")


def test_hits_are_filtered_paged_and_jumped_to(person, chat):
    pair = chat.pair("alice", "bob")
    group = chat.do("bob", "conversation.create", id="crew", kind="group", title="Crew", users=["alice"])["head"]["conv"]
    first = say(chat, "bob", pair, "the lighthouse keeper")
    for number in range(70):
        say(chat, "alice", pair, f"lighthouse {number}")
    say(chat, "bob", group, "lighthouse in the group")
    alice = person("alice")
    alice.evaluate("chatApp.view.search()")
    search(alice, "lighthouse")
    alice.locator("dialog [data-hit]").first.wait_for()
    # Scrolling loads all pages.
    alice.locator("dialog .results").evaluate("""async (list) => {
      for (let turn = 0; turn < 60 && !list.textContent.includes("keeper"); turn += 1) {
        list.scrollTop = list.scrollHeight;
        await new Promise((done) => setTimeout(done, 40));
      }
    }""")
    alice.locator("dialog [data-hit]", has_text="keeper").wait_for()
    alice.locator("dialog [role=status]", has_text="72 results").wait_for()
    # The server also finds users who are not contacts.
    alice.get_by_label("From", exact=True).select_option(label="Choose…")
    alice.fill("#find-people", "Bob")
    alice.click(".person[data-user=bob]")
    alice.locator("dialog [role=status]", has_text="2 results").wait_for()
    # The filter of the chat.
    alice.get_by_label("Chat", exact=True).select_option(label="Choose…")
    alice.locator("dialog").last.locator(".row", has_text="Crew").click()
    alice.locator("dialog [role=status]", has_text="1 result").wait_for()
    alice.get_by_label("Chat", exact=True).select_option(label="In all chats")
    # The filters of the kind and the time.
    alice.get_by_label("Kind").select_option("image")
    alice.locator("dialog [role=status]", has_text="Nothing found").wait_for()
    alice.get_by_label("Kind").select_option("")
    alice.get_by_label("Time").select_option("days")
    alice.get_by_label("Until day").fill("2020-01-01")
    alice.locator("dialog [role=status]", has_text="Nothing found").wait_for()
    alice.get_by_label("Time").select_option("1")
    alice.locator("dialog [data-hit]", has_text="keeper").click()
    alice.locator(f".item.hit[data-seq='{first}']").wait_for()


@pytest.fixture()
def host(tmp_path):
    host = ChatHost(tmp_path, options=("--limits", "off"))
    yield host
    host.stop()


def test_offline_the_device_is_searched_and_a_killed_server_loses_nothing(browser, host):
    conv = host.pair("alice", "bob")
    for number in range(120):
        say(host, "bob", conv, f"buoy {number}")
    context = browser.new_context(viewport=PHONE, locale="en-GB")
    context.set_default_timeout(20_000)
    page = context.new_page()
    page.goto(host.url)
    page.fill("[name=name]", "alice")
    page.fill("[name=password]", "apus-demo")
    page.keyboard.press("Enter")
    open_pair(page, conv)
    page.evaluate("async () => { const window = chatApp.state.thread(chatApp.view.openID); await window.ready; while (window.hasOlder) await window.loadOlder(); }")
    host.process.kill()
    page.locator(".thread-pane .banner", has_text="You are offline").wait_for()
    for number in range(5):
        write(page, f"written offline {number}")
    bubble(page, "written offline 4").locator(".ticks.waiting").wait_for()
    page.locator(".thread-pane header").get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Search").click()
    search(page, "buoy 1")
    status = page.locator("dialog [role=status]")
    assert "You are offline" in status.inner_text() and "this device" in status.inner_text()
    page.locator("dialog .results").evaluate("""async (list) => {
      for (let turn = 0; turn < 60 && !document.querySelector("dialog [role=status]").textContent.startsWith("39 results"); turn += 1) {
        list.scrollTop = list.scrollHeight;
        await new Promise((done) => setTimeout(done, 30));
      }
    }""")
    page.locator("dialog [role=status]", has_text="39 results").wait_for()
    page.locator("dialog .results").evaluate("(list) => { list.scrollTop = 0; }")
    page.locator("dialog [data-hit]", has_text="buoy 119").wait_for()
    assert page.locator("dialog [data-hit]").first.inner_text().endswith("buoy 119")
    page.locator("dialog [data-hit]").nth(5).click()
    page.locator(".item.hit").wait_for()
    host.restart()
    page.locator(".thread-pane .banner").wait_for(state="hidden")
    say(host, "bob", conv, "after the restart")
    page.evaluate("() => chatApp.view.thread.toNewest()")
    bubble(page, "after the restart").wait_for()
    page.locator(".ticks.waiting").first.wait_for(state="detached")
    texts = [event["body"]["text"] for event in host.log(conv)]
    assert texts[:120] == [f"buoy {number}" for number in range(120)]
    assert sorted(texts[120:]) == ["after the restart", *(f"written offline {number}" for number in range(5))]
    assert [text for text in texts if text.startswith("written")] == [f"written offline {number}" for number in range(5)]
    context.close()
