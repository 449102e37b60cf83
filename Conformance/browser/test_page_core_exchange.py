"""Tests the core and the state of the page with the program, and with the mock server if a test needs faults."""

import pytest

from support import chatmock
from support.chathost import running_host
from support.page import WEB

OPEN = """async () => {
  const { createState } = await import("/js/state/index.js");
  globalThis.state = await createState();
  await state.started;
  globalThis.until = async (check, time = 8000) => {
    for (const end = Date.now() + time; Date.now() < end;) {
      const value = await check();
      if (value) return value;
      await new Promise((done) => setTimeout(done, 15));
    }
    throw new Error(`not within ${time} ms: ${check}`);
  };
  globalThis.messages = (conv) => state.thread(conv).rows.filter((row) => row.n || row.local);
  globalThis.texts = (conv) => messages(conv).map((row) => row.body?.text);
  globalThis.last = () => state.thread(conv).rows.at(-1);
  return state.session.phase;
}"""
SIGN_IN = """async (name) => {
  await state.signIn({ name, password: "apus-demo" });
  await until(() => state.session.phase === "signedIn" && state.connection.state === "online");
}"""
OPEN_CHAT = """async (conv) => { globalThis.conv = conv; await state.thread(conv).ready; return messages(conv).length; }"""


@pytest.fixture()
def chat(tmp_path):
    with running_host(tmp_path, WEB) as chat:
        yield chat


@pytest.fixture()
def mock():
    """A mock server for tests that need faults."""
    with chatmock.running() as mock:
        yield mock


class Tab:
    def __init__(self, context, chat):
        self.page = context.new_page()
        self.page.set_default_timeout(15_000)
        self.errors = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.url = chat.url + "/test.html"
        self.load()

    def load(self):
        self.page.goto(self.url)
        self.phase = self.run(OPEN)

    def run(self, script, argument=None):
        return self.page.evaluate(script, argument)

    def until(self, condition, argument=None):
        return self.page.evaluate(f"(argument) => until(() => {condition})", argument)


@pytest.fixture()
def tabs(browser, request):
    chat = request.getfixturevalue("chat" if "chat" in request.fixturenames else "mock")
    contexts = []

    def open(name=None, context=None):
        if context is None:
            context = browser.new_context()
            contexts.append(context)
        tab = Tab(context, chat)
        tab.context = context
        if name:
            tab.run(SIGN_IN, name)
        return tab

    yield open
    for context in contexts:
        context.close()


def pair(chat, count=0):
    """Returns the conversation of Alice and Bob, with `count` messages of Bob."""
    conv = chat.pair("alice", "bob")
    for index in range(count):
        chat.do("bob", "send", id=f"old-{index}", conv=conv, kind="text", body={"text": f"old {index}"})
    return conv


def eventually(tab, condition):
    """Waits until a condition of the mock server is true, for at most 10 s."""
    for _ in range(500):
        if condition():
            return
        tab.page.wait_for_timeout(20)
    raise AssertionError("The condition is not true after 10 s.")


def disconnect(mock, tab):
    """Ends the connection of a tab. The server stays unreachable."""
    mock.down = True
    mock.disconnect()
    tab.until("state.connection.state !== 'online'")


def texts_of_mock(mock, conv):
    return [event["body"]["text"] for event in mock.model.logs[conv].events]


def texts_of(chat, conv):
    return [event["body"]["text"] for event in chat.log(conv)]


def test_the_preview_of_a_conversation_skips_what_the_user_has_hidden(tabs, chat):
    conv = pair(chat, 3)
    alice = tabs("alice")
    other = tabs("alice")
    for each in (alice, other):
        assert each.run(OPEN_CHAT, conv) == 3
    alice.run("() => state.hide(conv, [last().seq])")
    for each in (alice, other):
        each.until("state.conversation(conv).last.text === 'old 1'")
    other.load()
    other.until("state.connection.state === 'online' && state.conversation(argument)?.last?.text === 'old 1'", conv)
    # A device without the messages has no preview.
    fresh = tabs("alice")
    fresh.until("state.conversation(argument) && !state.conversation(argument).last?.text", conv)


def test_two_users_exchange_messages_and_see_receipts(tabs, chat):
    conv = pair(chat, 3)
    alice, bob = tabs("alice"), tabs("bob")
    for each in (alice, bob):
        assert each.run(OPEN_CHAT, conv) == 3
    assert alice.run("() => state.conversation(conv).unread") == 3
    key = alice.run("() => state.send(conv, { body: { text: 'hello 你好' } })")
    bob.until("texts(conv).includes('hello 你好')")
    alice.until("last().status === 'delivered'")
    assert alice.run("() => [last().key, state.conversation(conv).last.text]") == [key, "hello 你好"]
    bob.run("() => state.mark(conv, 4)")
    alice.until("last().status === 'read'")
    assert bob.run("() => state.conversation(conv).unread ?? 0") == 0
    bob.run("() => state.react(conv, last().seq, '👍')")
    alice.until("last().reactions?.[0].count === 1")
    alice.run("() => state.edit(conv, last().seq, { text: 'edited' })")
    bob.until("texts(conv).at(-1) === 'edited'")
    bob.run("() => state.send(conv, { body: { text: 'reply' }, ref: last().seq })")
    alice.until("last().quote?.body.text === 'edited'")
    alice.run("() => state.recall(conv, last().ref)")
    bob.until("state.thread(conv).rows.at(-2).state === 'recalled'")
    bob.run("() => state.sendTyping(conv)")
    alice.until("state.typing(conv).includes('bob')")
    assert alice.errors == bob.errors == []
    alice.context.set_offline(True)
    alice.until("state.connection.state !== 'online'")
    assert alice.run("() => state.typing(conv)") == [], "the end of typing would not be reported"


def test_a_delivered_message_stays_delivered_after_the_server_was_killed(tabs, chat):
    """The server keeps received positions in memory. Clients report theirs again, and read those of the others from the members."""
    conv = pair(chat)
    alice, bob = tabs("alice"), tabs("bob")
    for each in (alice, bob):
        each.run(OPEN_CHAT, conv)
    alice.run("() => state.send(conv, { body: { text: 'hello' } })")
    alice.until("last().status === 'delivered'")
    chat.restart()
    alice.load()
    alice.run(OPEN_CHAT, conv)
    alice.run("() => until(() => last().status === 'delivered', 60_000)")


def test_what_is_pushed_during_the_sync_is_taken_after_it(tabs, chat):
    conv = pair(chat)
    alice = tabs()
    # A message of Bob is pushed between the answer to hello and the answer to the next request of the sync.
    taken = alice.run("""async (conv) => {
      const { Connection } = await import("/js/core/connection.js");
      const { post } = await import("/js/core/requests.js");
      const login = (name) => ({ name, password: "apus-demo", device: { name: "T", platform: "t" } });
      const json = (path, body, token) => fetch(path, { method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` }, body: JSON.stringify(body) }).then((each) => each.json());
      const { access } = await json("/api/login", login("bob"), "");
      await post("/api/login", login("alice"));
      const taken = [];
      await new Promise((resolve) => {
        const connection = new Connection({
          cached: {}, emit() {}, disconnected() {},
          async welcomed() {
            await json("/api/chat/send", { id: "m1", conv, kind: "text", body: { text: "meanwhile" } }, access);
            return { since: undefined };
          },
          async synced() { taken.push("synced"); return null; },
          connected() { taken.push("connected"); },
          // The notice of the sign-in, in another conversation, may come before or after it.
          pushed(name, { events }) { if (name === "event" && events[0].conv === conv) { taken.push(events[0].body.text); resolve(); } },
        });
        connection.start();
        setTimeout(resolve, 20_000);
      });
      return taken;
    }""", conv)
    assert taken == ["synced", "connected", "meanwhile"]


def test_messages_written_offline_are_sent_once(tabs, mock):
    conv = pair(mock, 1)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    disconnect(mock, alice)
    alice.run("async () => { for (const text of ['one', 'two', 'three']) await state.send(conv, { body: { text } }); }")
    assert alice.run("() => [texts(conv), state.unsent, state.thread(conv).rows.at(-1).status]") == [["old 0", "one", "two", "three"], 3, "queued"]
    alice.load()
    assert alice.phase == "signedIn"
    alice.run(OPEN_CHAT, conv)
    assert alice.run("() => texts(conv)") == ["old 0", "one", "two", "three"]
    mock.down = False
    alice.until("state.unsent === 0 && state.thread(conv).rows.every((row) => row.seq)")
    assert [event["body"]["text"] for event in mock.model.logs[conv].events] == ["old 0", "one", "two", "three"]


def test_a_lost_ack_repeats_the_message_with_its_id(tabs, mock):
    conv = pair(mock)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    mock.drop_acks = {"send"}
    alice.run("() => state.send(conv, { body: { text: 'once' } })")
    alice.page.wait_for_function("() => texts(conv).includes('once')")
    while not mock.model.sends:
        alice.page.wait_for_timeout(20)
    mock.drop_acks = set()
    mock.disconnect()
    alice.until("state.unsent === 0 && state.connection.state === 'online'")
    assert alice.run("() => texts(conv)") == ["once"]
    assert mock.model.sends == 1 and sum(verb == "send" for _, verb, _ in mock.requests) >= 2


def test_a_refused_message_fails_and_can_be_discarded(tabs, mock):
    conv = pair(mock)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    mock.refuse = {"send": {"code": "forbidden", "message": "no"}}
    key = alice.run("() => state.send(conv, { body: { text: 'bad' } })")
    alice.until("state.thread(conv).rows.at(-1).status === 'failed'")
    assert alice.run("() => [state.thread(conv).rows.at(-1).error.code, state.conversation(conv).failed]") == ["forbidden", 1]
    assert alice.run("() => state.signOut().then(() => null, (error) => [error.code, error.count])") == ["unsent", 1]
    mock.refuse = {}
    alice.run("(key) => state.retry(key)", key)
    alice.until("state.thread(conv).rows.at(-1).seq === 1 && state.unsent === 0")


def test_missed_events_are_recovered_without_a_hole(tabs, mock):
    conv = pair(mock, 2)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    push, mock.model.push = mock.model.push, lambda *_: None
    for index in range(3):
        mock.do("bob", "send", id=f"lost-{index}", conv=conv, kind="text", body={"text": f"lost {index}"})
    mock.model.push = push
    mock.do("bob", "send", id="seen", conv=conv, kind="text", body={"text": "seen"})
    alice.until("texts(conv).join() === 'old 0,old 1,lost 0,lost 1,lost 2,seen'")
    assert alice.run("() => state.conversation(conv).unread") == 6
    mock.down = True
    mock.disconnect()
    for index in range(600):
        mock.do("bob", "send", id=f"far-{index}", conv=conv, kind="text", body={"text": f"far {index}"})
    mock.down = False
    alice.until("texts(conv).at(-1) === 'far 599'")
    assert alice.run("async () => { await state.thread(conv).ready; while (state.thread(conv).hasOlder) await state.thread(conv).loadOlder(); return texts(conv).length; }") == 606


def test_a_second_tab_follows_and_takes_over(tabs, chat):
    conv = pair(chat, 1)
    first = tabs("alice")
    second = tabs(context=first.context)
    assert second.phase == "signedIn"
    for each in (first, second):
        each.run(OPEN_CHAT, conv)
    assert first.page.evaluate("async () => (await navigator.locks.query()).held.map(({ name }) => name)") == ["apus-chat-core"]
    second.run("() => state.send(conv, { body: { text: 'from two' } })")
    first.until("texts(conv).at(-1) === 'from two'")
    first.page.close()
    second.run("() => state.send(conv, { body: { text: 'alone' } })")
    second.until("last().seq && last().body.text === 'alone'")
    assert texts_of(chat, conv) == ["old 0", "from two", "alone"]


def test_sign_out_wipes_this_device(tabs, chat):
    conv = pair(chat, 2)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    alice.run("() => state.saveDraft(conv, 'half')")
    alice.until("state.conversation(conv).draft?.text === 'half'")
    devices = len(chat.ask("alice", "devices", {})["devices"])
    alice.run("() => state.signOut()")
    assert alice.run("() => [state.session.phase, state.conversations().length, state.account]") == ["signedOut", 0, None]
    counts = alice.run("""() => new Promise((done) => {
      const open = indexedDB.open("apus-chat");
      open.onsuccess = async () => {
        const names = [...open.result.objectStoreNames];
        done(await Promise.all(names.map((name) => new Promise((count) => { open.result.transaction(name).objectStore(name).count().onsuccess = ({ target }) => count(target.result); }))));
      };
    })""")
    assert sum(counts) == 0
    alice.load()
    assert alice.phase == "signedOut"
    assert len(chat.ask("alice", "devices", {})["devices"]) == devices - 1


def test_pictures_are_uploaded_and_texts_overtake_them(tabs, mock):
    conv = pair(mock)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    mock.cut_uploads = 1
    alice.run("""async () => {
      const file = new File([new Uint8Array(700_000).fill(7)], "plan.bin", { type: "application/pdf" });
      await state.send(conv, { kind: "file", file, body: { name: file.name, size: file.size, type: file.type } });
      await state.send(conv, { body: { text: "faster" } });
    }""")
    alice.until("state.unsent === 0 && state.thread(conv).rows.length === 2")
    assert [event["kind"] for event in mock.model.logs[conv].events] == ["text", "file"]
    assert len(mock.model.blobs) == 1 and mock.model.logs[conv].events[1]["body"]["size"] == 700_000


def test_files_are_sent_in_their_order(tabs, mock):
    conv = pair(mock)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    mock.cut_uploads = 1
    alice.run("""async () => {
      for (const size of [700_000, 10]) {
        const file = new File([new Uint8Array(size).fill(7)], `${size}.bin`, { type: "application/pdf" });
        await state.send(conv, { kind: "file", file, body: { name: file.name, size: file.size, type: file.type } });
      }
    }""")
    alice.until("state.unsent === 0 && state.thread(conv).rows.length === 2")
    assert [event["body"]["size"] for event in mock.model.logs[conv].events] == [700_000, 10]


def test_a_removed_member_no_longer_types(tabs, chat):
    conv = chat.do("alice", "conversation.create", kind="group", title="Crew", users=["bob"])["head"]["conv"]
    alice, bob = tabs("alice"), tabs("bob")
    for each in (alice, bob):
        each.run(OPEN_CHAT, conv)
    bob.run("() => state.sendTyping(conv)")
    alice.until("state.typing(conv).includes('bob')")
    chat.do("alice", "member.ban", conv=conv, users=["bob"])
    alice.until("last().kind === 'member.ban'")
    assert alice.run("() => state.typing(conv)") == []


def test_the_cache_opens_fast_and_is_searched_offline(tabs, mock):
    conv = pair(mock, 60)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    mock.down = True
    mock.disconnect()
    alice.page.goto(alice.url)
    time = alice.run("""async (conv) => {
      const begin = performance.now();
      const { createState } = await import("/js/state/index.js");
      globalThis.state = await createState();
      await state.started;
      await state.thread(conv).ready;
      return [state.thread(conv).rows.length, performance.now() - begin];
    }""", conv)
    assert time[0] == 60
    print("opened from the cache in", time[1], "ms")
    assert time[1] < 2000
    alice.page.wait_for_function("() => state.connection.state === 'offline'")
    assert alice.run("async () => (await state.search('old 3 9')).hits.map((hit) => hit.event.body.text).slice(0, 2)") == ["old 39"]
    # A search without words lists the messages of a kind in pages.
    assert alice.run("""async (conv) => {
      const first = await state.media(conv, { kinds: ["text"] });
      const second = await state.media(conv, { kinds: ["text"], page: first.page });
      const none = await state.media(conv, { kinds: ["image"] });
      return [first.events.length, first.events[0].body.text, second.events.at(-1).body.text, none.events.length];
    }""", conv) == [30, "old 59", "old 0", 0]


def test_a_server_without_search_leaves_the_search_of_this_device(tabs, mock):
    conv = pair(mock, 12)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    mock.refuse = {"search": {"code": "unsupported", "message": "no"}}
    found = alice.run("async () => { const { hits, isLocal } = await state.search('old 11'); return [hits.map((hit) => hit.event.body.text), isLocal]; }")
    assert found == [["old 11"], True]


def test_a_chat_opens_at_its_first_unread_message(tabs, chat):
    conv = pair(chat, 400)
    chat.do("alice", "mark", conv=conv, read=120)
    alice = tabs("alice")
    shown = alice.run("""async (conv) => {
      const seen = [];
      state.subscribe(`thread:${conv}`, () => seen.push(state.thread(conv).rows.some((row) => row.n === 400)));
      await state.thread(conv).ready;
      await new Promise((done) => setTimeout(done, 0));
      return seen;
    }""", conv)
    assert shown and True not in shown  # the end is never shown, which would count as read
    alice.run(OPEN_CHAT, conv)
    assert alice.run("() => [state.thread(conv).event(state.thread(conv).firstUnread).n, state.thread(conv).hasNewer, state.conversation(conv).unread]") == [121, True, 280]
    assert alice.run("async () => { await state.thread(conv).jumpToEnd(); return [texts(conv).at(-1), state.thread(conv).hasNewer]; }") == ["old 399", False]


def test_a_group_with_settings_invitations_and_members(tabs, chat):
    alice, dave = tabs("alice"), tabs("weilin")
    conv = alice.run("async () => (await state.createGroup({ title: 'Rowing', users: ['bob', 'weilin'] })).head.conv")
    dave.until("state.conversation(argument)?.state === 'invited'", conv)
    dave.run("(conv) => state.answerInvitation(conv, true)", conv)
    dave.until("state.conversation(argument)?.state === undefined", conv)
    assert alice.run("async (conv) => { const list = state.members(conv, ''); await list.ready; return list.members.map((each) => each.user.name).sort(); }", conv) == ["alice", "bob", "weilin"]
    alice.run("(conv) => state.setOwn(conv, { pinned: true, muted_until: 9e15 })", conv)
    alice.until("state.conversations()[0].own?.pinned_at > 0")
    assert alice.run("() => state.contacts().map((each) => each.user.name).sort()") == ["bob", "carol"]


def test_another_epoch_drops_the_cache_and_keeps_the_outbox(tabs, mock):
    conv = pair(mock, 2)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    disconnect(mock, alice)
    alice.run("() => state.send(conv, { body: { text: 'kept' } })")
    mock.model.epoch = "e2"
    mock.down = False
    alice.until("state.unsent === 0 && texts(conv).at(-1) === 'kept'")
    assert alice.run("() => texts(conv)") == ["old 0", "old 1", "kept"]


@pytest.mark.parametrize("reloads", [False, True])
def test_a_restored_server_gets_acknowledged_messages_and_drafts_again(tabs, mock, reloads):
    conv = pair(mock, 1)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    saved = mock.model.saved()
    # The log of the page lacks a message of Bob, and therefore also the acknowledged messages after it.
    mock.refuse = {"history": {"code": "unavailable", "message": "busy"}}
    push, mock.model.push = mock.model.push, lambda *_: None
    mock.do("bob", "send", id="missing", conv=conv, kind="text", body={"text": "missing"})
    mock.model.push = push
    alice.run("async () => { for (const text of ['one', 'two']) await state.send(conv, { body: { text } }); state.saveDraft(conv, 'half'); }")
    alice.until("messages(conv).length === 3 && messages(conv).slice(1).every((row) => row.local && row.status === 'sent')")
    eventually(alice, lambda: mock.model.own.get(("alice", conv), {}).get("draft"))
    disconnect(mock, alice)
    if reloads:
        alice.load()
        alice.run("(conv) => { globalThis.conv = conv; }", conv)
    alice.run("async () => { await state.send(conv, { body: { text: 'three' } }); state.mark(conv, 1); }")
    mock.model.restore(saved, "e2")
    mock.refuse = {}
    mock.down = False
    alice.run(OPEN_CHAT, conv)
    alice.until("state.unsent === 0 && messages(conv).length === 4 && messages(conv).every((row) => row.n)")
    assert texts_of_mock(mock, conv) == alice.run("() => texts(conv)") == ["old 0", "one", "two", "three"]
    assert alice.run("() => [state.conversation(conv).read ?? 0, state.conversation(conv).draft?.text]") == [0, "half"]
    eventually(alice, lambda: mock.model.own.get(("alice", conv), {}).get("draft"))
    alice.load()
    alice.until("state.connection.state === 'online'")
    assert alice.run("() => state.unsent") == 0
    assert len(texts_of_mock(mock, conv)) == 4


@pytest.mark.parametrize("reloads", [False, True])
def test_a_restored_server_gets_the_file_of_an_acknowledged_message_again(tabs, mock, reloads):
    conv = pair(mock, 1)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    saved = mock.model.saved()
    # The log of the page lacks a message of Bob, and therefore also the acknowledged messages after it.
    mock.refuse = {"history": {"code": "unavailable", "message": "busy"}}
    push, mock.model.push = mock.model.push, lambda *_: None
    mock.do("bob", "send", id="missing", conv=conv, kind="text", body={"text": "missing"})
    mock.model.push = push
    alice.run("""async () => {
      const file = new File([new Uint8Array(700).fill(7)], "film.mp4", { type: "video/mp4" });
      const poster = new File([new Uint8Array(70).fill(8)], "poster.jpg", { type: "image/jpeg" });
      await state.send(conv, { kind: "video", file, poster, body: { size: file.size, type: file.type, text: "the film" } });
    }""")
    alice.until("messages(conv).at(-1).status === 'sent'")
    first = mock.model.logs[conv].events[-1]["body"]
    disconnect(mock, alice)
    if reloads:
        alice.load()
        alice.run("(conv) => { globalThis.conv = conv; }", conv)
    mock.model.restore(saved, "e2")
    assert mock.model.blobs == {}
    mock.refuse = {}
    mock.down = False
    alice.run(OPEN_CHAT, conv)
    alice.until("state.unsent === 0 && messages(conv).length === 2 && messages(conv).every((row) => row.n)")
    assert mock.model.logs[conv].events[-1]["body"] == first
    assert set(mock.model.blobs) == {first["blob"], first["poster"]}


def test_a_message_whose_file_nobody_has_fails_at_once(tabs, mock):
    conv = pair(mock)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    alice.run("() => state.send(conv, { kind: 'file', body: { name: 'plan.pdf', blob: '0'.repeat(64), size: 1, type: 'application/pdf', text: 'the plan' } })")
    alice.until("last().status === 'failed'")
    assert alice.run("() => [last().error.code, last().error.field, last().body.text]") == ["not_found", "blob", "the plan"]


@pytest.mark.parametrize("reloads", [False, True])
def test_an_unsent_reply_keeps_its_target_only_if_a_restored_server_has_it(tabs, mock, reloads):
    conv = pair(mock, 2)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    saved = mock.model.saved()
    mock.do("bob", "send", id="lost", conv=conv, kind="text", body={"text": "lost"})
    alice.until("messages(conv).length === 3")
    disconnect(mock, alice)
    alice.run("async () => { for (const ref of [2, 3, 9]) await state.reply(conv, ref, { body: { text: `reply ${ref}` } }); state.saveDraft(conv, 'half', 3); }")
    mock.model.restore(saved, "e2")
    mock.do("bob", "send", id="other", conv=conv, kind="text", body={"text": "other"})
    if reloads:  # the page ends after it has dropped the log, and before it sends the messages
        mock.refuse = {"send": {"code": "unavailable", "message": "busy"}}
        mock.down = False
        alice.until("state.connection.state === 'online'")
        mock.refuse = {}
        alice.load()
    mock.down = False
    alice.run(OPEN_CHAT, conv)
    alice.until("state.unsent === 0 && messages(conv).length === 6 && messages(conv).every((row) => row.n)")
    assert texts_of_mock(mock, conv) == ["old 0", "old 1", "other", "reply 2", "reply 3", "reply 9"]
    assert [event.get("ref") for event in mock.model.logs[conv].events] == [None, None, None, 2, None, None]
    assert alice.run("() => messages(conv).map((row) => row.ref ?? null)") == [None, None, None, 2, None, None]
    eventually(alice, lambda: mock.model.own.get(("alice", conv), {}).get("draft"))
    assert "ref" not in mock.model.own["alice", conv]["draft"]


def test_an_unsent_reply_in_a_lost_thread_fails(tabs, mock):
    """Outside of its thread, it would be a message without context. It is not sent by another attempt either."""
    conv = pair(mock, 2)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    saved = mock.model.saved()
    mock.do("bob", "send", id="lost", conv=conv, kind="text", body={"text": "lost"})
    alice.until("messages(conv).length === 3")
    disconnect(mock, alice)
    alice.run("async () => { for (const root of [2, 3]) await state.send(conv, { body: { text: `reply ${root}` }, thread: root }); }")
    mock.model.restore(saved, "e2")
    mock.do("bob", "send", id="other", conv=conv, kind="text", body={"text": "other"})
    mock.down = False
    failed = "messages(conv).filter((row) => row.status === 'failed').map((row) => [row.body.text, row.thread, row.error.code])"
    alice.until(f"JSON.stringify({failed}) === JSON.stringify([['reply 3', 3, 'not_found']]) && state.connection.state === 'online'")
    alice.until("texts(conv).includes('reply 2')")
    requests = len([verb for _, verb, body in mock.requests if verb == "history"])
    alice.run("() => state.retry(messages(conv).find((row) => row.status === 'failed').key)")
    eventually(alice, lambda: len([verb for _, verb, body in mock.requests if verb == "history"]) > requests)
    alice.until(f"JSON.stringify({failed}) === JSON.stringify([['reply 3', 3, 'not_found']])")
    assert texts_of_mock(mock, conv) == ["old 0", "old 1", "other", "reply 2"]
    assert [(body["body"]["text"], body["thread"]) for _, verb, body in mock.requests if verb == "send"] == [("reply 2", 2)]


def test_a_reply_that_a_restored_server_has_with_its_target_leaves_the_outbox(tabs, mock):
    conv = pair(mock, 1)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    disconnect(mock, alice)
    alice.run("() => state.reply(conv, 9, { body: { text: 'reply' } })")  # the log of the page lacks the target
    mock.refuse = {"send": {"code": "conflict", "message": "The id was used for another request."}}
    mock.model.epoch = "e2"
    mock.down = False
    alice.until("state.connection.state === 'online' && state.unsent === 0")
    assert alice.run("() => texts(conv)") == ["old 0"]


def test_a_change_that_waited_for_the_data_of_another_epoch_is_not_sent(tabs, mock):
    """The position of a message can be that of another one in the log of a restored server."""
    conv = pair(mock, 2)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    alice.run("""() => {
      globalThis.outcome = until(() => state.connection.state === "connecting").then(() => state.react(conv, 1, "+")).then(() => "sent", (error) => error.code);
    }""")
    mock.model.epoch = "e2"
    mock.disconnect()
    assert alice.run("() => outcome") == "offline"
    alice.until("state.connection.state === 'online' && texts(conv).length === 2")
    alice.run("() => state.react(conv, 2, '+').catch(() => {})")  # the mock server has no reactions
    assert [body["ref"] for _, verb, body in mock.requests if verb == "react"] == [2]


def test_a_new_pair_appears_at_once(tabs, mock):
    """If the push of the head is lost, the page requests the head when an event arrives."""
    bob = tabs("bob")
    conv = mock.model.open_pair("alice", "bob").conv
    mock.do("alice", "send", id="hi", conv=conv, kind="text", body={"text": "first contact"})
    bob.until("state.conversation(argument)?.unread === 1", conv)
    assert bob.run("(conv) => [state.conversation(conv).peer.name, state.conversation(conv).last.text]", conv) == ["alice", "first contact"]


def test_the_cache_is_bounded_and_keeps_the_newest(tabs, mock):
    conv = pair(mock, 150)
    mock.do("alice", "mark", conv=conv, read=150)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    kept = alice.run("""async (conv) => {
      await until(async () => !state.thread(conv).loading && state.thread(conv).rows.length > 0);
      while (state.thread(conv).hasOlder) await state.thread(conv).loadOlder();
      const { Database } = await import("/js/core/database.js");
      const { Logs } = await import("/js/core/logs.js");
      const database = await Database.open();
      await until(async () => (await database.count(conv)) === 150);
      const logs = new Logs({ database, head: () => ({ at: 1 }) });
      logs.restore(await database.all("cursors"));
      await logs.trim(100);
      const left = await database.events(conv, 1, 1000);
      return [left.length, left[0].seq, left.at(-1).seq];
    }""", conv)
    assert kept == [40, 111, 150]
    # The page requests the removed data again.
    alice.load()
    alice.run(OPEN_CHAT, conv)
    alice.until("state.connection.state === 'online'")
    assert alice.run("async () => { while (state.thread(conv).hasOlder) await state.thread(conv).loadOlder(); return texts(conv).length; }") == 150


def test_a_page_without_locks_keeps_its_own_socket(tabs, mock, browser):
    """A page over plain HTTP from another machine has no locks, so each tab has its own core."""
    conv = pair(mock, 1)
    context = browser.new_context()
    context.add_init_script("Object.defineProperty(navigator, 'locks', { value: undefined })")
    first = tabs(context=context)
    first.run(SIGN_IN, "alice")
    second = tabs(context=context)
    for each in (first, second):
        each.until("state.connection.state === 'online'")
        each.run(OPEN_CHAT, conv)
    assert len(mock.sids) == 2
    first.run("() => state.send(conv, { body: { text: 'without locks' } })")
    second.until("texts(conv).at(-1) === 'without locks'")
    assert mock.model.sends == 2
    context.close()


def test_a_session_that_another_device_ended_is_told(tabs, mock):
    conv = pair(mock, 1)
    lost, other = tabs("alice"), tabs("alice")
    lost.run(OPEN_CHAT, conv)
    assert len(other.run("() => state.sessions()")) == 2
    other.run("() => state.endOtherSessions()")
    lost.until("state.session.phase === 'signedOut'")
    assert lost.run("() => state.notice") == {"kind": "dismissed", "reason": "signed_out"}
    lost.run(SIGN_IN, "alice")
    lost.run(OPEN_CHAT, conv)
    assert lost.run("() => texts(conv)") == ["old 0"]


WATCH = """() => {
  globalThis.states = [];
  state.subscribe("connection", () => states.push(state.connection.state));
}"""


def test_the_session_is_renewed_while_the_connection_stays(tabs, mock):
    mock.lifetime = 3000
    alice = tabs("alice")
    alice.run(WATCH)
    while len(mock.refresh) < 3:
        alice.page.wait_for_timeout(50)
    assert alice.run("() => [states, state.connection.state, state.session.phase]") == [[], "online", "signedIn"]


def test_a_reload_knows_when_the_session_expires(tabs, mock):
    alice = tabs("alice")
    alice.load()
    alice.until("state.connection.state === 'online'")
    alice.page.wait_for_timeout(1500)  # longer than the shortest delay of a renewal
    assert len(mock.refresh) == 1
    # A session that an earlier version stored has no time, and is renewed.
    alice.run("""async () => {
      const { Database } = await import("/js/core/database.js");
      await (await Database.open()).delete("meta", "access");
    }""")
    alice.load()
    while len(mock.refresh) < 2:
        alice.page.wait_for_timeout(50)
    alice.until("state.connection.state === 'online'")


def test_an_upload_with_an_expired_token_does_not_disturb_the_connection(tabs, mock):
    conv = pair(mock)
    alice = tabs("alice")
    alice.run(OPEN_CHAT, conv)
    alice.run(WATCH)
    mock.access.clear()
    alice.run("() => state.send(conv, { kind: 'file', body: { name: 'a.txt' }, file: new File(['abc'], 'a.txt', { type: 'text/plain' }) })")
    alice.until("last()?.seq === 1")
    assert len(mock.refresh) == 2
    assert alice.run("() => [states, state.connection.state]") == [[], "online"]
