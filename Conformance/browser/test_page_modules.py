"""Tests the page's pure modules in a browser."""

import pytest


@pytest.fixture(scope="module")
def run(browser, shared_server):
    page = browser.new_page()
    page.goto(shared_server.url + "/test.html")
    yield lambda script, argument=None: page.evaluate(script, argument)
    page.close()


def test_the_log_never_crosses_a_hole(run):
    result = run("""async () => {
      const { ConversationLog } = await import("/js/chat/log.js");
      const event = (seq) => ({ seq });
      const log = new ConversationLog({ seq: 2, last: event(2) });
      const step = (seq) => log.add(event(seq)).map((each) => each.seq);
      const steps = [step(2), step(5), step(4), log.hasGap, log.high, step(3), log.hasGap, step(3), step(6)];
      log.prepend([event(1), event(2)]);
      return { steps, held: log.events.map((each) => each.seq), low: log.low, high: log.high };
    }""")
    assert result["steps"] == [[], [], [], True, 2, [3, 4, 5], False, [], [6]]
    assert (result["held"], result["low"], result["high"]) == ([1, 2, 3, 4, 5, 6], 1, 6)


def test_a_new_window_keeps_early_events(run):
    assert run("""async () => {
      const { ConversationLog } = await import("/js/chat/log.js");
      const log = new ConversationLog({ seq: 1, last: { seq: 1 } });
      for (const seq of [900, 901, 903]) log.add({ seq });
      log.reset({ seq: 899, last: { seq: 899 } });
      return [log.events.map((each) => each.seq), log.high, log.hasGap];
    }""") == [[899, 900, 901], 901, True]


def test_unread_is_derived_and_own_messages_are_read(run):
    assert run("""async () => {
      const { Conversation } = await import("/js/chat/conversation.js");
      const head = { conv: "c", kind: "pair", members: [{ user: "me", read: 1 }, { user: "you", read: 0 }], seq: 3, n: 3, read: 1, unread: 2, min_seq: 1, updated_at: 1, last: null };
      const chat = new Conversation(head, "me");
      const unread = [chat.unread];
      chat.applyEvent({ seq: 4, n: null, sender: "you", at: 2 }); unread.push(chat.unread);
      chat.applyEvent({ seq: 5, n: 4, sender: "you", at: 3 }); unread.push(chat.unread);
      chat.applyMark("me", 3); unread.push(chat.unread);
      chat.applyMark("me", 2); unread.push(chat.unread);
      chat.applyEvent({ seq: 6, n: 5, sender: "me", at: 4 }); unread.push(chat.unread);
      return [unread, chat.isReadByOthers(4), chat.isReadByOthers(5)];
    }""") == [[2, 2, 3, 1, 1, 0], True, False]


def test_messages_shown_without_a_gap_are_read(run):
    assert run("""async () => {
      const { Conversation } = await import("/js/chat/conversation.js");
      const head = { conv: "c", kind: "group", members: [{ user: "me", read: 10 }, { user: "you", read: 0 }], seq: 30, n: 30, read: 10, unread: 20, min_seq: 1, updated_at: 1, last: null };
      const chat = new Conversation(head, "me");
      const steps = [chat.see([11, 12]), chat.see([28, 29, 30, 99])]; // the second screen is the end, far below the first
      chat.readUpTo(12);
      steps.push(chat.unread, chat.unseen(0, 20), chat.unseen(20, 30), chat.hasSeen(12), chat.hasSeen(13), chat.hasSeen(30));
      steps.push(chat.see([13, 14, 15]), chat.see(Array.from({ length: 14 }, (_, index) => 14 + index)));
      return [steps, chat.read, chat.toldRead];
    }""") == [[12, 12, 18, 8, 7, True, False, True, 15, 30], 12, 10]


def test_a_lost_mark_is_sent_again_and_only_the_newest(run):
    result = run("""async () => {
      const { ReadMarks } = await import("/js/chat/marks.js");
      const { ChatError } = await import("/js/chat/api.js");
      const sent = [], waits = [];
      const made = () => ({ id: "c", read: 0, toldRead: 0, confirmRead(n) { this.toldRead = n; } });
      const one = made(), two = { ...made(), id: "d" };
      const answers = [];
      const chat = {
        connected: true, conversations: new Map([["c", one], ["d", two]]),
        request: (name, payload) => { sent.push([name, payload.conv, payload.read]); return answers.shift()(); },
      };
      const marks = new ReadMarks(chat, { wait: async (time) => { waits.push(time > 0); one.read = 9; } });
      one.read = 5;
      answers.push(() => Promise.reject(new Error("the connection ended")), () => Promise.resolve({}));
      await marks.tell(one);
      // Without a connection nothing is sent; the next one sends it.
      chat.connected = false;
      one.read = 12;
      await marks.tell(one);
      chat.connected = true;
      two.read = 3;
      answers.push(() => Promise.resolve({}), () => Promise.reject(new ChatError("forbidden", "")));
      marks.flush();
      await new Promise((resolve) => setTimeout(resolve));
      return { sent, waits, told: [one.toldRead, two.toldRead] };
    }""")
    assert result["sent"] == [["mark", "c", 5], ["mark", "c", 9], ["mark", "c", 12], ["mark", "d", 3]]
    assert result["waits"] == [True]
    assert result["told"] == [12, 3]


# A chat for the sender, with an outbox in memory. `answer(entry)` determines the result of a send.
FAKE_CHAT = """
  const { Sender } = await import("/js/chat/sender.js");
  const { ChatError } = await import("/js/chat/api.js");
  const makeChat = (entries, answer, log = []) => ({
    connected: true, token: "", user: { id: "me" }, sent: [], done: [],
    outbox: {
      entries, of: () => entries, update: async () => {},
      renew: async (entry, id) => { const renewed = { ...entry, id, isDoubted: false, state: "waiting" }; entries[entries.indexOf(entry)] = renewed; return renewed; },
    },
    async request(name, payload) {
      if (name === "sync") return { events: log.filter((event) => event.seq >= payload.from).slice(0, 2), head: { seq: log.length } };
      this.sent.push(payload.id);
      return answer(payload, this);
    },
    async acknowledged(entry) { this.done.push(entry.id); entries.splice(entries.indexOf(entry), 1); },
    async delivered(entry) { this.done.push(`known ${entry.id}`); entries.splice(entries.indexOf(entry), 1); },
    outboxChanged() {}, expired() {},
  });
  const entry = (id, more = {}) => ({ id, conv: "c", kind: "text", body: { text: id }, state: "waiting", ...more });
  const settled = () => new Promise((resolve) => setTimeout(resolve, 20));
"""


@pytest.mark.parametrize(("code", "tries"), [("bad_request", 1), ("of_a_later_server", 1), ("unsupported", 1), ("internal", 5)])
def test_a_refused_message_does_not_block_the_next(run, code, tries):
    assert run("async (code) => {" + FAKE_CHAT + """
      const entries = [entry("refused"), entry("next")];
      const chat = makeChat(entries, ({ id }) => { if (id === "refused") throw new ChatError(code, "no"); return {}; });
      new Sender(chat, { wait: async () => {} }).flush();
      await settled();
      return [chat.sent, chat.done, entries.map(({ id, state, error }) => [id, state, error.code])];
    }""", code) == [["refused"] * tries + ["next"], ["next"], [["refused", "failed", code]]]


@pytest.mark.parametrize("code", ["storage", "too_many", "network"])
def test_a_temporary_error_is_retried_with_the_same_id(run, code):
    assert run("async (code) => {" + FAKE_CHAT + """
      let failures = 3;
      const chat = makeChat([entry("first"), entry("next")], () => { if (failures-- > 0) throw new ChatError(code, "later"); return {}; });
      new Sender(chat, { wait: async () => {} }).flush();
      await settled();
      return [chat.sent, chat.done];
    }""", code) == [["first"] * 4 + ["next"], ["first", "next"]]


@pytest.mark.parametrize(("stored", "sent", "done"), [
    ({"kind": "text", "body": {"text": "m"}}, [], ["known m"]),  # the message is stored: nothing is sent again
    ({"kind": "text", "body": {"text": "other words"}}, ["m-2"], ["m-2"]),
    ({"kind": "text", "body": {"text": "m"}, "sender": "you"}, ["m-2"], ["m-2"]),
    (None, ["m-2"], ["m-2"]),
])
def test_after_a_conflict_a_new_id_needs_proof(run, stored, sent, done):
    assert run("async (stored) => {" + FAKE_CHAT + """
      const log = Array.from({ length: 9 }, (_, index) => ({ seq: index + 1, sender: "me", id: `other ${index}`, kind: "text", body: { text: "m" } }));
      if (stored) log.push({ seq: 10, sender: "me", id: "m", ...stored });
      const chat = makeChat([entry("m", { isDoubted: true, after: 4 })], () => ({}), log);
      new Sender(chat, { wait: async () => {} }).flush();
      await settled();
      return [chat.sent, chat.done];
    }""", stored) == [sent, done]


def test_without_an_answer_a_conflict_stays_open(run):
    assert run("async () => {" + FAKE_CHAT + """
      const chat = makeChat([entry("m", { isDoubted: true })], () => ({}));
      chat.request = async () => { chat.connected = false; throw new Error("the connection ended"); };
      new Sender(chat, { wait: async () => {} }).flush();
      await settled();
      return [chat.outbox.entries.map(({ id, isDoubted }) => [id, isDoubted]), chat.done];
    }""") == [[["m", True]], []]


def test_renewed_ids(run):
    assert run("""async () => {
      const { renewedID } = await import("/js/chat/conflict.js");
      return [renewedID("ab12"), renewedID("ab12-2"), renewedID("ab12-9")];
    }""") == ["ab12-2", "ab12-3", "ab12-10"]


@pytest.mark.parametrize("isMissing", [False, True])
def test_half_an_emoji_becomes_a_replacement_character(run, isMissing):
    assert run("""async (isMissing) => {
      const { wellFormed } = await import("/js/chat/text.js");
      const original = String.prototype.toWellFormed;
      if (isMissing) delete String.prototype.toWellFormed;
      try {
        return ["a\ud83db", "\udc26", "\ud83d\udc26", "\udc26\ud83d", "\ud83d\ud83d\udc26", "plain"].map(wellFormed);
      } finally {
        String.prototype.toWellFormed = original;
      }
    }""", isMissing) == ["a�b", "�", "🐦", "��", "�🐦", "plain"]


@pytest.mark.parametrize(("address", "found"), [
    ("", [None, False]), ("#", [None, False]), ("#/c/", [None, False]), ("#/c/abc", ["abc", False]), ("#/c/a%2Fb", ["a/b", False]),
    ("#/c/%", [None, True]), ("#/c/%zz", [None, True]), ("#/c/%ff", [None, True]), ("#/c/a%E4%BD", [None, True]),
])
def test_addresses(run, address, found):
    assert run("""async (address) => {
      const { readAddress } = await import("/js/ui/address.js");
      const { id, isBroken } = readAddress(address);
      return [id, isBroken];
    }""", address) == found


def test_packets_with_binary_at_any_depth(run):
    assert run("""async () => {
      const { PacketDecoder, encodePacket } = await import("/js/socketio/packets.js");
      const data = ["e", { a: [Uint8Array.of(1, 2), { b: new Uint8Array([3]).buffer }], _x: null }];
      const frames = encodePacket({ type: 2, namespace: "/chat", id: 12, data });
      const decoder = new PacketDecoder();
      const whole = frames.map((frame) => decoder.add(frame)).at(-1);
      return [frames[0], frames.length, whole.namespace, whole.id, [...whole.data[1].a[0]], [...whole.data[1].a[1].b]];
    }""") == [
        '52-/chat,12["e",{"a":[{"_placeholder":true,"num":0},{"b":{"_placeholder":true,"num":1}}],"_x":null}]', 3, "/chat", 12, [1, 2], [3],
    ]


@pytest.mark.parametrize("frames", [
    ["9"], ["2"], ["2{}"], ["2[]"], ['2["connect"]'], ["3[1]"], ["51-"], ["5-[1]"], ["51-[\"e\"]", "2[\"f\"]"],
    ['51-["e",{"_placeholder":true,"num":5}]', [1]], ['51-["e",{"_placeholder":true,"num":-1}]', [1]], [[1]], ["5999-[\"e\"]"],
])
def test_malformed_packets_are_refused(run, frames):
    assert run("""async (frames) => {
      const { PacketDecoder } = await import("/js/socketio/packets.js");
      const decoder = new PacketDecoder();
      try { for (const frame of frames) decoder.add(typeof frame === "string" ? frame : Uint8Array.from(frame)); } catch { return "refused"; }
    }""", frames) == "refused"


def test_payloads_and_waits(run):
    result = run("""async () => {
      const { decodePayload, encodePayload } = await import("/js/socketio/enginepackets.js");
      const { Backoff } = await import("/js/socketio/backoff.js");
      const payload = encodePayload([{ type: "4", data: '2["€😀"]' }, { type: "4", data: Uint8Array.of(1, 2, 255) }, { type: "3" }]);
      const back = decodePayload(payload).map(({ type, data }) => [type, typeof data === "string" ? data : [...data]]);
      const waits = [0, 1].map((dice) => { const backoff = new Backoff({ random: () => dice }); return [1, 2, 3, 4, 5].map(() => backoff.next()); });
      return { payload, back, waits };
    }""")
    assert result["payload"] == '42["€😀"]\x1ebAQL/\x1e3'
    assert result["back"] == [["4", '2["€😀"]'], ["4", [1, 2, 255]], ["3", ""]]
    assert result["waits"] == [[500, 1000, 2000, 2500, 2500], [1500, 3000, 6000, 7500, 7500]]


@pytest.mark.parametrize(("text", "links"), [
    ("see https://a.example/x.", ["https://a.example/x"]),
    ("(https://a.example/b_(c))", ["https://a.example/b_(c)"]),
    ("javascript:alert(1) data:text/html,x ftp://a.example", []),
    ("去http://a.example/路，好", ["http://a.example/%E8%B7%AF"]),
    ("https://", []),
])
def test_links(run, text, links):
    assert run("""async (text) => {
      const { linkify } = await import("/js/ui/format.js");
      const nodes = linkify(text);
      if (nodes.map((node) => node.textContent ?? node).join("") !== text) return "text lost";
      return nodes.filter((node) => node.href).map((node) => node.href);
    }""", text) == links
