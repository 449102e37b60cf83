"""Paged answers: the web page shows all conversations and users, also if they do not fit into one answer."""
import socketio

import requests
from conftest import PASSWORD

GROUPS = 120


def signed_in(url, name):
    session = requests.post(f"{url}/api/login", json={"name": name, "password": PASSWORD}, timeout=20).json()
    client = socketio.Client()
    client.connect(url, namespaces=["/chat"], auth={"token": session["token"]}, transports=["websocket"], wait_timeout=20)
    return client, session["user"]["id"]


def test_every_page_of_conversations_is_shown(server, person):
    bobby, _ = signed_in(server.url, "bobby")
    alice, me = signed_in(server.url, "alice")
    try:
        for number in range(GROUPS):
            made = bobby.call("create", {"title": f"Group {number}", "members": [me]}, namespace="/chat", timeout=20)
            conv = made["head"]["conv"]
            # 6 kB each: three pages in all.
            text = f"{number} " + "在" * 2_000
            bobby.call("send", {"conv": conv, "id": f"m{number}", "kind": "text", "body": {"text": text}}, namespace="/chat", timeout=20)
        first = alice.call("sync", {}, namespace="/chat", timeout=20)
        assert first["page"] and len(first["heads"]) < GROUPS
    finally:
        alice.disconnect()
        bobby.disconnect()
    page = person().sign_in("alice")
    page.wait_for_function(f"() => document.querySelectorAll('#chats .chat').length === {GROUPS + 1}")
    titles = page.locator("#chats .chat").all_inner_texts()
    assert f"Group {GROUPS - 1}" in titles[0]  # the newest first, independent of its page
    assert all(any(f"Group {number}\n" in title for title in titles) for number in range(GROUPS))


def test_work_is_limited_and_in_order(browser, shared_server):
    page = browser.new_page()
    page.goto(shared_server.url + "/test.html")
    result = page.evaluate("""async () => {
      const { limited } = await import("/js/chat/tasks.js");
      const run = limited(2);
      const log = [];
      const ends = [];
      const work = (name, fails) => run(() => {
        log.push(name);
        return new Promise((resolve, reject) => ends.push(fails ? reject : resolve));
      });
      const turn = () => new Promise((resolve) => setTimeout(resolve));
      work("a"); work("b", true); work("c"); work("d");
      run(() => { log.push("e"); throw new Error("at once"); });
      work("f");
      const steps = [];
      for (let count = 0; count < 5; count++) {
        await turn();
        steps.push(log.join(""));
        ends.shift()?.();
      }
      return steps;
    }""")
    page.close()
    assert result == ["ab", "abc", "abcd", "abcdef", "abcdef"]
