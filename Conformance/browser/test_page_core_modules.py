"""Tests the pure modules of the page's core, and its sample, in a browser."""

import contextlib
import json
import pathlib
import time
import uuid

import pytest

from support import chatmock

HEADS = pathlib.Path(__file__).resolve().parents[2] / "Tests" / "Vectors" / "heads.json"

@pytest.fixture(scope="module")
def page(browser):
    with chatmock.running() as mock:
        context = browser.new_context()
        context.grant_permissions(["notifications"], origin=mock.url)
        page = context.new_page()
        page.goto(mock.url + "/test.html")
        yield page
        context.close()


def test_the_cursor_never_crosses_a_hole(page):
    assert page.evaluate("""async () => {
      const { LogCursor } = await import("/js/core/cursor.js");
      const cursor = new LogCursor({ cursor: 2, isPrimed: true });
      const seqs = (action) => action.apply?.map((each) => each.seq) ?? Object.keys(action);
      return [
        seqs(cursor.received({ seq: 2 })), seqs(cursor.received({ seq: 5 })), seqs(cursor.received({ seq: 4 })), cursor.cursor,
        cursor.timerFired().pull, seqs(cursor.received({ seq: 3 })), cursor.timerFired(), seqs(cursor.page([{ seq: 3 }, { seq: 4 }, { seq: 5 }, { seq: 6 }], 6)), cursor.cursor,
        cursor.announced(1000).wait, cursor.timerFired().pull, cursor.page([{ seq: 999 }, { seq: 1000 }], 1000).gap, cursor.cursor, cursor.isBehind,
      ];
    }""") == [[], ["wait"], [], 2, {"from": 3, "limit": 200}, [3, 4, 5], {}, [6], 6, 500, {"limit": 80}, 998, 1000, False]


def test_a_server_that_tells_more_than_it_delivers_is_not_asked_without_pause(page):
    assert page.evaluate("""async () => {
      const { LogCursor } = await import("/js/core/cursor.js");
      const cursor = new LogCursor({ cursor: 1, isPrimed: true });
      cursor.announced(3);
      return [0, 1, 2].map(() => { cursor.timerFired(); return cursor.page([], 3).wait; });
    }""") == [1000, 2000, 4000]


def test_the_log_of_a_former_member_ends_with_its_head(page):
    assert page.evaluate("""async () => {
      const { LogCursor } = await import("/js/core/cursor.js");
      const cursor = new LogCursor({ cursor: 3, isPrimed: true });
      cursor.announced(6);
      cursor.ended(5);
      return [cursor.timerFired().pull, Object.keys(cursor.page([{ seq: 4 }, { seq: 5 }], 5)), cursor.isBehind];
    }""") == [{"from": 4, "limit": 200}, ["apply", "gap"], False]


def test_keys_have_the_order_of_their_making(page):
    keys = page.evaluate("""async () => {
      const { uuid } = await import("/js/core/requests.js");
      return Array.from({ length: 10_000 }, uuid);
    }""")
    assert keys == sorted(set(keys))
    assert all(uuid.UUID(key).version == 7 and uuid.UUID(key).variant == uuid.RFC_4122 for key in keys)
    assert abs((uuid.UUID(keys[0]).int >> 80) / 1000 - time.time()) < 60


def test_changes_apply_to_their_target_once(page):
    assert page.evaluate("""async () => {
      const { applying } = await import("/js/core/applying.js");
      const text = { seq: 1, n: 1, kind: "text", sender: "bob", body: { text: "a" } };
      const react = (sender, remove) => ({ seq: 9, ref: 1, sender, kind: "react", body: { key: "+", remove } });
      const both = applying(applying(text, react("me"), "me"), react("bob"), "me");
      const less = applying(both, react("me", true), "me");
      const edited = applying(text, { seq: 3, ref: 1, kind: "edit", at: 5, body: { body: { text: "b" } } }, "me");
      // The order is that of the log, because the clock of the server can be set back.
      const later = applying(edited, { seq: 4, ref: 1, kind: "edit", at: 4, body: { body: { text: "c" } } }, "me");
      const recalled = applying(edited, { seq: 5, ref: 1, kind: "recall" }, "me");
      const after = applying(recalled, { seq: 6, ref: 1, kind: "edit", at: 9, body: { body: { text: "d" } } }, "me");
      const poll = applying({ seq: 1, kind: "poll", n: 1, votes: [0, 0] }, { ref: 1, kind: "vote", sender: "me", votes: [0, 1], body: { options: [1] } }, "me");
      return [both.reactions[0].count, both.mine.reactions, less.reactions, less.mine.reactions, later.body.text, later.edited_at, recalled.body, after.state, poll.votes, poll.mine.votes, applying(text, { ref: 2, kind: "recall" }) === text];
    }""") == [2, ["+"], [{"key": "+", "count": 1}], [], "c", 4, None, "recalled", [0, 1], [1], True]


def test_changes_of_one_message_are_stored_one_after_another(page):
    """Each of two pushes changes the message that the former has changed, also if the storage is slow."""
    assert page.evaluate("""async () => {
      const { Logs } = await import("/js/core/logs.js");
      const values = new Map([[1, { conv: "c", seq: 1, n: 1, kind: "text", sender: "bob", body: { text: "a" }, asOf: 1 }]]);
      let running = 0;
      const slowly = async (work) => {
        running += 1;
        for (let turn = 0; turn < 5; turn += 1) await new Promise((done) => setTimeout(done));
        const value = work();
        running -= 1;
        return value;
      };
      const cursors = [];
      const database = {
        events: (_, from, to) => slowly(() => [...values.values()].filter(({ seq }) => seq >= from && seq <= to)),
        get: (_, [, seq]) => slowly(() => values.get(seq)),
        put: (store, ...all) => slowly(() => { for (const each of all) store === "events" ? values.set(each.seq, each) : cursors.push(each.cursor); }),
      };
      const logs = new Logs({ database, user: { name: "me" }, applied() {}, stored() {}, emit() {} });
      logs.restore([{ conv: "c", cursor: 1, isPrimed: true }]);
      for (const [seq, sender, key] of [[2, "ann", "+"], [3, "bob", "+"], [4, "bob", "-"]]) logs.received([{ conv: "c", seq, ref: 1, sender, kind: "react", body: { key } }]);
      while (cursors.length < 3 || running > 0) await new Promise((done) => setTimeout(done));
      return [values.get(1).reactions, cursors];
    }""") == [[{"key": "+", "count": 2}, {"key": "-", "count": 1}], [2, 3, 4]]


def test_a_preview_belongs_to_its_text_and_goes_with_it(page):
    assert page.evaluate("""async () => {
      const { applying, keeping, isMessage, advancing } = await import("/js/core/applying.js");
      const { isNote, isSilent } = await import("/js/views/model.js");
      const text = { seq: 1, n: 1, kind: "text", sender: "bob", body: { text: "https://a.example/" } };
      const change = { seq: 2, ref: 1, sender: "bob", kind: "preview", body: { preview: { url: "https://a.example/", title: "A" } } };
      const shown = applying(text, change, "me");
      const edited = applying(shown, { seq: 3, ref: 1, kind: "edit", at: 5, body: { body: { text: "b" } } }, "me");
      const recalled = applying(shown, { seq: 4, ref: 1, kind: "recall" }, "me");
      const head = advancing({ seq: 1, n: 1, read: 1, unread: 0 }, [change], "me");
      return [shown.body.preview.title, edited.body.preview, applying(recalled, change, "me").body, applying(change, { seq: 4, ref: 1, kind: "recall" }, "me").body, keeping(change, recalled).body,
        applying({ ...text, kind: "poll" }, change, "me").body.preview, isMessage(change), isNote(change) && isSilent(change), head.unread, head.n];
    }""") == ["A", None, None, None, None, None, False, True, 0, 1]


def test_heads_advance_as_the_server_counts(page):
    assert page.evaluate("""async () => {
      const { advancing, reading } = await import("/js/core/applying.js");
      const head = { conv: "c", seq: 2, n: 2, read: 2, unread: 0, at: 1 };
      const one = advancing(head, [{ seq: 3, n: 3, sender: "bob", kind: "text", body: { text: "x", entities: [{ type: "mention", user: "me" }] } }, { seq: 4, sender: "bob", kind: "react", ref: 1 }], "me");
      const two = advancing(one, [{ seq: 5, n: 4, sender: "me", kind: "text", body: { text: "own" } }, { seq: 5, n: 4, sender: "me", kind: "text" }], "me");
      const own = advancing(head, [{ seq: 3, n: 3, sender: "me", kind: "text" }], "me");
      const read = reading(two, 4);
      return [one.unread, one.mentions, one.last.text, two.unread, two.read, own.read, own.unread, read.unread, read.mentions, reading(read, 3) === read];
    }""") == [1, 1, "x", 1, 2, 3, 0, 0, 0, True]


def test_heads_move_up_as_in_the_swift_sdk(page):
    """The cases of `ClientCoreTests`. A reaction or an edit does not move a conversation to the top of the list."""
    vectors = json.loads(HEADS.read_text(encoding="utf-8"))
    after = page.evaluate("""async ({ cases }) => {
      const { advancing } = await import("/js/core/applying.js");
      return cases.map(({ kind, event }) => {
        const head = { kind, seq: 8, n: 3, read: 3, unread: 0, at: 1000, last: { seq: 5, n: 3, sender: "bob", at: 1000, kind: "text", text: "newest" } };
        const { at, last } = advancing(head, [{ seq: 9, ...event, ...(event.kind !== "hidden" && { sender: "bob", at: 2000 }) }], "alice");
        return [at, last.seq];
      });
    }""", vectors)
    assert dict(zip((case["name"] for case in vectors["cases"]), after)) == {case["name"]: [case["at"], case["top"]] for case in vectors["cases"]}


def test_the_files_of_unsent_messages_are_freed(page):
    """A picture or a player may read a file for a while after its message was sent."""
    assert page.evaluate("""async () => {
      const { Store } = await import("/js/state/store.js");
      const { createObjectURL, revokeObjectURL } = URL;
      const { setTimeout } = globalThis;
      const [live, later] = [new Set(), []];
      const sizes = [];
      const item = (key, more) => ({ key, conv: "c", kind: "file", body: {}, status: "queued", at: 1, file: new Blob([key]), ...more });
      const session = (name) => ({ session: { phase: "signedIn", user: { name }, limits: {} }, connection: { state: "online" } });
      let tell;
      try {
        URL.createObjectURL = (file) => { const url = createObjectURL.call(URL, file); live.add(url); return url; };
        URL.revokeObjectURL = (url) => { live.delete(url); revokeObjectURL.call(URL, url); };
        globalThis.setTimeout = (run, delay, ...rest) => (delay === 60_000 ? later.push(run) : setTimeout(run, delay, ...rest));
        const store = new Store({ listen: (listener) => { tell = listener; }, request: async () => ({ ...session("me"), outbox: [item("a")] }) });
        await store.started;
        tell({ type: "outbox", item: item("b") });
        tell({ type: "outbox", item: item("b", { status: "uploading", progress: 0.5 }) });
        sizes.push(live.size);
        tell({ type: "outbox", item: item("b"), removed: true });
        sizes.push(live.size);
        for (const run of later.splice(0)) run();
        sizes.push(live.size);
        tell({ type: "snapshot", ...session("another") });
        for (const run of later.splice(0)) run();
        return [...sizes, live.size];
      } finally {
        Object.assign(URL, { createObjectURL, revokeObjectURL });
        globalThis.setTimeout = setTimeout;
      }
    }""") == [2, 2, 1, 0]


def test_no_event_before_the_head_of_its_conversation_is_lost(page):
    """The first call of a conversation may be followed by a message before the head arrives."""
    assert page.evaluate("""async () => {
      const { Store } = await import("/js/state/store.js");
      const session = { session: { phase: "signedIn", user: { name: "me" }, limits: {} }, connection: { state: "online" } };
      let tell;
      const store = new Store({ listen: (listener) => { tell = listener; }, request: async () => session });
      await store.started;
      const told = [];
      store.oncall = (conv, events) => told.push(...events.map(({ seq }) => seq));
      tell({ type: "events", conv: "c", events: [{ seq: 1, kind: "call", body: {} }] });
      tell({ type: "events", conv: "c", events: [{ seq: 2, kind: "text", body: { text: "now" } }] });
      tell({ type: "heads", heads: [{ conv: "c", kind: "pair", seq: 2 }] });
      await null;
      return told;
    }""") == [1, 2]


def test_a_conversation_that_moves_between_two_pages_of_a_sync_stays(page):
    """A new message moves the conversation to the first page, which was read before. A sync with the new token reports it."""
    assert page.evaluate("""async () => {
      const { Core } = await import("/js/core/core.js");
      const core = new Core();
      core.database = new Proxy({}, { get: () => async () => undefined });
      const head = (conv, seq) => ({ conv, kind: "group", seq, n: seq, read: 0, at: seq });
      await core.synced({ heads: [head("a", 3), head("b", 4)], token: "t0" }, {}, []);
      const held = [];
      const next = await core.synced({ heads: [head("a", 3)], page: "p2" }, {}, held);
      held.push(["event", { events: [{ conv: "b", seq: 5, n: 5, kind: "text", sender: "bob", at: 5, body: { text: "hello" } }] }]);
      const last = await core.synced({ heads: [], token: "t1" }, next, held);
      const between = [...core.heads].map((each) => each.conv);
      const end = await core.synced({ heads: [head("b", 5)], token: "t2" }, last, held);
      return [between, [...core.heads].map((each) => [each.conv, each.seq]), held[0][1].events.length, next.page, last, end];
    }""") == [["a", "b"], [["a", 3], ["b", 5]], 1, "p2", {"since": "t1"}, None]


def test_a_conversation_that_was_removed_after_its_push_is_removed_by_the_next_sync(page):
    """A push that is held during a complete sync may be older than its answer."""
    assert page.evaluate("""async () => {
      const { Core } = await import("/js/core/core.js");
      const core = new Core();
      const tokens = [];
      core.database = new Proxy({ setMeta: async (key, value) => { tokens.push([key, value]); } }, { get: (own, name) => own[name] ?? (async () => undefined) });
      const head = (conv, seq) => ({ conv, kind: "group", seq, n: seq, read: 0, at: seq });
      const convs = () => [...core.heads].map((each) => each.conv);
      await core.synced({ heads: [head("a", 3), head("b", 4)], token: "t0" }, {}, []);
      const held = [["head", { heads: [head("a", 3), head("b", 4)], nudges: [{ conv: "b", seq: 5 }] }], ["event", { events: [{ conv: "b", seq: 5 }] }]];
      const next = await core.synced({ heads: [head("a", 3)], token: "t1" }, {}, held);
      const between = convs();
      const end = await core.synced({ heads: [], token: "t2" }, next, held);
      for (const [name, body] of held) core.pushed(name, body);
      // A restart repeats the complete sync, so its token is not stored.
      return [between, next, convs(), end, tokens];
    }""") == [["a", "b"], {"since": "t1"}, ["a"], None, [["since", "t0"], ["since", "t2"]]]


def test_an_edit_that_arrives_after_the_end_of_its_message_leaves_no_text(page):
    assert page.evaluate("""async () => {
      const { Database } = await import("/js/core/database.js");
      const { Logs } = await import("/js/core/logs.js");
      const { advancing } = await import("/js/core/applying.js");
      const database = await Database.open("late-edits");
      const conv = "c";
      const ended = { conv, seq: 1, n: 1, kind: "text", sender: "bob", state: "expired", asOf: 1 };
      const edit = (seq, ref) => ({ conv, seq, ref, kind: "edit", sender: "bob", at: 9, body: { body: { text: "secret" } } });
      await database.put("events", ended, { conv, seq: 2, n: 2, kind: "text", sender: "bob", body: { text: "lasts" }, asOf: 2 });
      const logs = new Logs({ database, user: { name: "me" }, applied() {}, stored() {}, emit() {}, head() {} });
      logs.restore([{ conv, cursor: 2, isPrimed: true }]);
      logs.received([edit(3, 1), edit(4, 2)]);
      let events;
      do events = await database.events(conv, 1, 9); while (events[1].state !== "edited");
      database.close();
      indexedDB.deleteDatabase("late-edits");
      const head = advancing({ conv, seq: 1, n: 1, last: { seq: 1, n: 1, state: "expired" } }, [edit(2, 1)], "me");
      return [...events.map(({ state, body }) => [state ?? null, JSON.stringify(body) ?? null]), head.last.state, head.last.text ?? null];
    }""") == [["expired", None], ["edited", '{"text":"secret"}'], ["expired", None], [None, '{"body":{"text":"secret"}}'], "expired", None]


def test_the_edits_of_an_expired_message_expire_with_it(page):
    assert page.evaluate("""async () => {
      const { Core } = await import("/js/core/core.js");
      const { Database } = await import("/js/core/database.js");
      const core = new Core();
      await core.request("start");
      const database = core.database = await Database.open("expired-edits");
      const conv = "c";
      const message = { conv, seq: 1, n: 1, kind: "text", sender: "bob", at: 1, state: "edited", expires_at: 5, body: { text: "secret" } };
      await database.put("events", message, { conv, seq: 2, ref: 1, kind: "edit", sender: "bob", at: 2, body: { body: { text: "secret" } } });
      core.stored([message]);
      let events;
      do events = await database.events(conv, 1, 2); while (events[1].body);
      database.close();
      indexedDB.deleteDatabase("expired-edits");
      return events.map(({ state, body }) => [state, body ?? null]);
    }""") == [["expired", None], ["expired", None]]


def test_a_window_of_the_sample_has_100000_messages(page):
    result = page.evaluate("""async () => {
      const { createSampleState } = await import("/js/sample/state.js");
      const state = createSampleState();
      await state.started;
      const thread = state.thread("1rowingclub00");
      await thread.ready;
      const begin = performance.now();
      for (let page = 0; page < 50; page += 1) await thread.loadOlder();
      const time = performance.now() - begin;
      const bounded = thread.rows.length <= 2000 && thread.hasNewer;
      const jumped = await thread.jump(5000);
      const around = thread.rows.some((row) => row.seq === 5001);
      await thread.jumpToEnd();
      const same = thread.rows[3];
      await state.send("1rowingclub00", { body: { text: "hi" } });
      return { time, bounded, jumped, around, total: thread.total, same: thread.rows[3] === same, status: thread.rows.at(-1).status, list: state.conversations().length, found: state.conversations({ query: "小雨" }).length };
    }""")
    print("50 pages of 80 rows:", result.pop("time"), "ms")
    assert result == {"bounded": True, "jumped": True, "around": True, "total": 100_000, "same": True, "status": "sending", "list": 52, "found": 1}


def test_notifications_leave_out_own_old_muted_and_read_messages(page):
    assert page.evaluate("""async () => {
      const { deserves, isQuiet } = await import("/js/state/notifications.js");
      const store = { account: { name: "me" } };
      const event = { n: 5, sender: "bob", kind: "text", at: 1000, body: { text: "x" } };
      const test = (change = {}, head = {}) => deserves(store, { read: 4, ...head }, { ...event, ...change }, 2000);
      const named = { body: { text: "@me", entities: [{ type: "mention", user: "me" }] } };
      const at = (hour) => isQuiet({ quiet_from: 1320, quiet_until: 420 }, new Date(Date.UTC(2026, 0, 1, hour)));
      return [test(), test({ sender: "me" }), test({ at: -90_000 }), test({ n: undefined }), test({ silent: true }), test({}, { read: 5 }), test({}, { own: { muted_until: 9000 } }), test(named, { own: { muted_until: 9000 } }), test({}, { own: { notify: "mentions" } }), test(named, { own: { notify: "mentions" } }), at(23), at(6), at(12), isQuiet({})];
    }""") == [True, False, False, False, False, False, False, False, False, True, True, True, False, False]


@pytest.mark.parametrize(
    ("recorder", "chunk", "film", "expected"),
    [("video/mp4;codecs=avc1", "", True, "video/mp4"), ("", "video/mp4;codecs=avc1", True, "video/mp4"), ("", "audio/ogg", False, "audio/ogg"),
     ("", "", True, "video/webm"), ("", "", False, "audio/webm")])
def test_a_recording_has_the_type_that_the_browser_chose(page, recorder, chunk, film, expected):
    """A browser that supports none of the types that the page prefers chooses one, and may tell it with the data only."""
    assert page.evaluate("""async ([mimeType, chunk, isFilm]) => {
      const { MediaRecorder } = globalThis;
      globalThis.MediaRecorder = class {
        static isTypeSupported() { return false; }
        mimeType = mimeType;
        state = "recording";
        start() {}
        stop() {
          this.state = "inactive";
          this.ondataavailable({ data: new Blob(["data"], { type: chunk }) });
          this.onstop();
        }
      };
      try {
        const { recordFilm } = await import("/js/media/recorder.js");
        const { file } = await recordFilm({ getTracks: () => [], getVideoTracks: () => (isFilm ? [{}] : []) }).finish();
        return file.type;
      } finally {
        globalThis.MediaRecorder = MediaRecorder;
      }
    }""", [recorder, chunk, film]) == expected


def test_qr_codes_are_those_of_another_encoder(page):
    """The hashes are those of the matrices of PyPI's `qrcode` with level M and the same mask."""
    hashes = page.evaluate("""async (texts) => {
      const { qrcode } = await import("/js/text/qrcode.js");
      const hash = async (text) => [...new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)))].slice(0, 6).map((byte) => byte.toString(16).padStart(2, "0")).join("");
      return Promise.all(texts.map((text) => hash(qrcode(text).map((row) => row.map(Number).join("")).join("\\n"))));
    }""", ["hello world", "otpauth://totp/Apus:alice?secret=JBSWY3DPEHPK3PXP&issuer=Apus", "w" * 500])
    assert hashes == ["851bd1031e25", "95956e8043f1", "156ed26aa92a"]
    assert page.evaluate("async () => (await import('/js/text/qrcode.js')).qrcode('x'.repeat(1000))") is None


STUBS = """() => {
  self.log = [];
  self.registration.showNotification = async (title, { body, tag }) => void self.log.push([title, body, tag]);
  self.registration.getNotifications = async ({ tag } = {}) => [{ close: () => self.log.push(["closed", tag ?? null]) }];
}"""


def test_the_service_worker_shows_pushed_messages_and_caches_the_shell_only(page):
    """The calls of the worker are recorded, because a headless browser without a desktop loses some notifications."""
    with page.context.expect_event("serviceworker") as started:
        page.evaluate("() => navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready).then(() => null)")
    worker = started.value
    worker.evaluate(STUBS)
    session = page.context.new_cdp_session(page)
    registrations = []
    session.on("ServiceWorker.workerRegistrationUpdated", lambda event: registrations.extend(event["registrations"]))
    session.send("ServiceWorker.enable")
    for _ in range(200):
        if registrations:
            break
        page.wait_for_timeout(25)
    origin = page.url.rsplit("/", 1)[0]

    def push(message):
        before = len(worker.evaluate("() => self.log"))
        session.send("ServiceWorker.deliverPushMessage", {"origin": origin, "registrationId": registrations[0]["registrationId"], "data": json.dumps(message)})
        for _ in range(400):
            log = worker.evaluate("() => self.log")
            if len(log) > before:
                return log[-1]
            page.wait_for_timeout(25)
        return None

    assert push({"conv": "c1", "title": "Bob", "body": "你好", "badge": 1}) == ["Bob", "你好", "c1"]
    assert push({"conv": "c2", "body": "hi"}) == ["Apus", "hi", "c2"]
    page.evaluate("""async () => { (await navigator.serviceWorker.ready).active.postMessage({ type: "signedOut" }); }""")
    page.evaluate("""() => fetch("/api/server").then((answer) => answer.json())""")
    cached = page.evaluate("""async () => (await (await caches.open("apus-shell-1")).keys()).map((each) => new URL(each.url).pathname)""")
    assert "/" in cached and not any(path.startswith("/api") for path in cached)
    for _ in range(200):
        if worker.evaluate("() => self.log.at(-1)") == ["closed", None]:
            return
        page.wait_for_timeout(25)
    raise AssertionError("The sign-out does not close the notifications.")


def test_a_slow_network_does_not_delay_the_page_that_is_kept(page):
    """The worker waits 150 ms for a newer page. A page that arrives later is cached for the next visit."""
    with page.context.expect_event("serviceworker") if not page.context.service_workers else contextlib.nullcontext():
        page.evaluate("() => navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready).then(() => null)")
    worker = page.context.service_workers[0]
    assert worker.evaluate("""async () => {
      const [fetching, waiting] = [self.fetch, self.setTimeout];
      const cache = await caches.open(CACHE);
      const before = await cache.match("/");
      const answer = (text) => Object.defineProperty(new Response(text), "type", { value: "basic" });
      const told = [];
      try {
        let [late, over] = [];
        self.fetch = () => new Promise((done) => { late = () => done(answer("newer")); });
        self.setTimeout = (action, time, value) => { over = () => action(value); told.push(time); };
        await cache.put("/", new Response("kept"));
        const slow = shell();
        while (!over) await new Promise((done) => waiting(done, 5));
        over();
        told.push(await (await slow).text());
        late();
        while ((await (await cache.match("/")).text()) !== "newer") await new Promise((done) => waiting(done, 5));
        self.fetch = async () => answer("newest");
        told.push(await (await shell()).text());
        self.fetch = async () => { throw new TypeError("offline"); };
        told.push(await (await shell()).text());
        await cache.delete("/");
        self.fetch = async () => answer("first");
        told.push(await (await shell()).text());
        return told;
      } finally {
        [self.fetch, self.setTimeout] = [fetching, waiting];
        if (before) await cache.put("/", before);
      }
    }""") == [150, "kept", 150, "newest", 150, "newest", "first"]
