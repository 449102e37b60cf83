"""The pure modules of calls: states, signals, quality, and the call of a head."""

import pytest

from support import chatmock


@pytest.fixture(scope="module")
def page(browser):
    with chatmock.running() as mock:
        context = browser.new_context()
        page = context.new_page()
        page.goto(mock.url + "/test.html")
        yield page
        context.close()


def run(page, steps, phase, group=False):
    """Performs steps, [method, arguments…], and returns the actions, the phase and the reason."""
    return page.evaluate(
        """async ([steps, phase, isGroup]) => {
          const { CallMachine } = await import("/js/calls/machine.js");
          const machine = new CallMachine(phase, { isGroup });
          return [steps.map(([name, ...values]) => machine[name](...values) ?? "nothing"), machine.phase, machine.reason];
        }""", [steps, phase, group])


@pytest.mark.parametrize(("phase", "steps", "actions", "end", "reason"), [
    # The caller.
    ("starting", [["started", True], ["told", "accepted", False], ["told", "ended", False]], ["ring", "connect", "end"], "over", "ended"),
    ("starting", [["started", True], ["told", "missed", False]], ["ring", "end"], "over", "noAnswer"),
    ("starting", [["started", True], ["told", "declined", False]], ["ring", "end"], "over", "declined"),
    ("starting", [["started", True], ["told", "busy", False], ["told", "accepted", False]], ["ring", "end", "nothing"], "over", "busy"),
    ("starting", [["started", True], ["connected"], ["told", "accepted", False]], ["ring", "connect", "nothing"], "active", None),
    ("starting", [["started", True], ["told", "accepted", True]], ["ring", "nothing"], "outgoing", None),
    ("starting", [["ended"], ["started", True]], ["end", "nothing"], "over", "hungUp"),
    # Of two calls at the same time, the later start joins the earlier one.
    ("starting", [["started", False], ["told", "accepted", True], ["joined", True]], ["accept", "nothing", "connect"], "active", None),
    # The callee.
    ("incoming", [["answered"], ["told", "accepted", True], ["joined", True]], ["accept", "nothing", "connect"], "active", None),
    ("incoming", [["answered"], ["answered"], ["joined", False]], ["accept", "nothing", "end"], "over", "elsewhere"),
    ("incoming", [["told", "accepted", True], ["answered"]], ["end", "nothing"], "over", "elsewhere"),
    ("incoming", [["told", "missed", False]], ["end"], "over", "missed"),
    ("incoming", [["answered"], ["answerFailed"], ["answered"]], ["accept", "nothing", "accept"], "joining", None),
    ("incoming", [["answered"], ["told", "ended", False], ["joined", True]], ["accept", "end", "nothing"], "over", "ended"),
    ("incoming", [["told", "teleported", True], ["connected"]], ["nothing", "nothing"], "incoming", None),
])
def test_each_event_has_an_answer_in_each_phase(page, phase, steps, actions, end, reason):
    assert run(page, steps, phase) == [actions, end, reason]


def test_the_answer_of_another_member_of_a_group_ends_no_ring(page):
    assert run(page, [["told", "accepted", False], ["answered"]], "incoming", group=True) == [["nothing", "accept"], "joining", None]


def test_signals_are_checked_and_bounded(page):
    assert page.evaluate("""async () => {
      const { readSignal } = await import("/js/calls/signals.js");
      const candidate = { candidate: "candidate:1", sdpMid: "0", sdpMLineIndex: 0, evil: "x" };
      return [
        null, 1, "join", [], {}, { type: "constructor" }, { type: ["join"] }, { type: "offer" }, { type: "offer", sdp: "" }, { type: "offer", sdp: "x".repeat(100_001) },
        { type: "answer", sdp: { toString: 1 } }, { type: "candidate" }, { type: "candidate", candidate: { candidate: "x".repeat(1001), sdpMid: "0" } }, { type: "candidate", candidate: { candidate: "x" } },
        { type: "candidate", candidate: { candidate: 1, sdpMid: "0" } }, { type: "pranswer", sdp: "v=0" },
      ].map(readSignal).concat([
        readSignal({ type: "join", session: "a1", to: "<b>", reply: 1 }), readSignal({ type: "candidate", candidate, session: 7 }), readSignal({ type: "state", camera: "yes", microphone: 0 }),
        readSignal({ type: "offer", sdp: "x".repeat(100_000) }).sdp.length,
      ]);
    }""") == [None] * 16 + [
        {"type": "join", "session": "a1", "to": "", "reply": False, "again": False},
        {"type": "candidate", "session": "", "to": "", "candidate": {"candidate": "candidate:1", "sdpMid": "0", "sdpMLineIndex": 0}},
        {"type": "state", "session": "", "to": "", "state": {"microphone": True, "camera": False, "screen": False}},
        100_000,
    ]


def test_the_quality_follows_loss_delay_and_jitter(page):
    assert page.evaluate("""async () => {
      const { levelOf, summarize } = await import("/js/calls/stats.js");
      const report = (at, received, lost, { roundTrip = 0.05, jitter = 0.01 } = {}) => summarize(new Map([
        ["v", { type: "inbound-rtp", kind: "video", timestamp: at, packetsReceived: received, packetsLost: lost, jitter, framesDecoded: at }],
        ["p", { type: "candidate-pair", id: "p", nominated: true, state: "succeeded", currentRoundTripTime: roundTrip, localCandidateId: "l" }],
        ["l", { type: "local-candidate", id: "l", candidateType: "relay" }],
      ]));
      const first = report(1, 100, 0);
      return [
        levelOf(null, first), levelOf(first, first), levelOf(first, report(2, 200, 0)), levelOf(first, report(2, 197, 3)), levelOf(first, report(2, 190, 10)), levelOf(first, report(2, 100, 0)),
        levelOf(first, report(2, 200, 0, { roundTrip: 0.4 })), levelOf(first, report(2, 200, 0, { roundTrip: 0.7 })), levelOf(first, report(2, 200, 0, { jitter: 0.2 })), first.isRelayed, first.frames,
      ];
    }""") == [None, None, 3, 2, 1, 1, 2, 1, 1, True, 1]


def test_a_head_has_the_call_that_takes_place(page):
    assert page.evaluate("""async () => {
      const { advancing } = await import("/js/core/applying.js");
      const calls = (...events) => {
        let head = { conv: "c", seq: 0, n: 0 };
        return events.map((event, index) => (head = advancing(head, [{ seq: index + 1, sender: "bob", at: 1, ...event }], "alice")).call ?? null);
      };
      const begin = { kind: "call", n: 1, body: { state: "ringing" } };
      const update = (ref, state) => ({ kind: "call.update", ref, body: { state } });
      return [calls(begin, update(1, "accepted"), { kind: "text", n: 2, body: { text: "x" } }, update(1, "ended")), calls({ kind: "call", n: 1, body: { state: "missed" } }), calls(begin, update(7, "ended"))];
    }""") == [[1, 1, 1, None], [None], [1, 1]]


@pytest.mark.parametrize(("language", "texts"), [
    ("en", ["Missed call", "No answer", "Video call, 2:31", "Declined call", "Voice message, 0:12", "Audio"]),
    ("zh", ["未接来电", "无人接听", "视频通话 2:31", "已拒绝的通话", "语音消息 0:12", "音频"]),
])
def test_previews_show_how_calls_ended_and_how_long_voice_messages_are(page, language, texts):
    assert page.evaluate("""async (language) => {
      const { setLanguage } = await import("/js/i18n/index.js");
      const { preview } = await import("/js/core/applying.js");
      const { eventText } = await import("/js/views/model.js");
      await setLanguage(language);
      const show = (kind, body, sender = "bob") => eventText({ account: { name: "alice" } }, preview({ kind, seq: 1, n: 1, sender, body })).replace(/\\s/g, " ");
      const call = (state, sender) => show("call", { media: "video", state, ...(state === "ended" && { duration: 151_000 }) }, sender);
      return [call("missed"), call("missed", "alice"), call("ended"), call("declined"), show("audio", { voice: true, duration: 12_400 }), show("audio", { duration: 12_400 })];
    }""", language) == texts
    page.evaluate("async () => { const { setLanguage } = await import('/js/i18n/index.js'); await setLanguage('en'); }")


def test_the_preview_of_a_call_follows_it(page):
    assert page.evaluate("""async () => {
      const { advancing } = await import("/js/core/applying.js");
      const events = [{ seq: 1, n: 1, kind: "call", body: { media: "audio", state: "ringing" } }, { seq: 2, kind: "call.update", ref: 1, body: { state: "ended", duration: 151_000 } }];
      const { seq, call, duration } = advancing({ conv: "c", seq: 0, n: 0 }, events, "alice").last;
      return [seq, call, duration];
    }""") == [1, "ended", 151_000]
