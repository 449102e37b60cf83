"""The page's pure modules, called one by one inside the browser that will run them."""

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


def test_a_fresh_window_keeps_what_came_early(run):
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
