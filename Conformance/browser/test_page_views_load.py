"""Bounded elements, short tasks, no leaks and no markup in the views of `Web/`, with the sample state."""

import json

import pytest

from support.samplepage import eventually, open_chat, serving, visiting


@pytest.fixture(scope="module")
def address():
    with serving() as address:
        yield address


@pytest.fixture()
def visit(browser, address):
    with visiting(browser, address) as open_page:
        yield open_page


def test_a_list_of_100_000_rows_keeps_few_elements_and_its_anchor(visit):
    page = visit()
    page.locator(".chat-list .row").first.wait_for()
    result = page.evaluate("""async () => {
      const { VirtualList } = await import("./js/views/virtual.js");
      const scroller = document.createElement("div");
      scroller.style.cssText = "position: fixed; inset: 0; overflow: auto; background: white; z-index: 99; overflow-anchor: none";
      const content = scroller.appendChild(document.createElement("div"));
      document.body.append(scroller);
      const make = (id) => ({ id, height: 20 + (id * 37) % 90 });
      let rows = Array.from({ length: 100000 }, (_, index) => make(index));
      const list = new VirtualList(scroller, content, { key: (row) => row.id, estimate: 60, render: (row) => {
        const element = document.createElement("div");
        element.style.height = `${row.height}px`;
        element.textContent = row.id;
        return element;
      } });
      const frame = () => new Promise(requestAnimationFrame);
      const times = [];
      const timed = (action) => { const start = performance.now(); action(); times.push(performance.now() - start); };
      timed(() => list.setRows(rows));
      timed(() => list.toIndex(50000, "start"));
      await frame();
      const top = () => list.element(50000).getBoundingClientRect().top;
      const before = top();
      rows = [...Array.from({ length: 80 }, (_, index) => make(-index - 1)), ...rows];
      timed(() => list.setRows(rows));
      const moved = Math.abs(top() - before);
      let most = 0;
      for (let step = 0; step < 60; step += 1) {
        timed(() => { scroller.scrollTop += 3000; });
        await frame();
        most = Math.max(most, list.count);
      }
      list.close();
      scroller.remove();
      return { moved, most, median: times.sort((one, other) => one - other)[times.length >> 1], longest: times.at(-1) };
    }""")
    assert result["moved"] < 1
    assert result["most"] < 150
    print("steps of the list: median", result["median"], "ms, longest", result["longest"], "ms")
    assert result["median"] < 50  # about 2 on an idle machine; the longest, about 15, depends on other processes


def test_opening_a_chat_is_few_layouts_and_short_tasks(visit):
    """Each read of the document between changes causes a layout. The time of tasks is processor time, which other processes do not
    affect."""
    page = visit()
    page.locator(".chat-list .row").first.wait_for()
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")

    def layouts():
        return next(each["value"] for each in devtools.send("Performance.getMetrics")["metrics"] if each["name"] == "LayoutCount")

    def settle():
        page.evaluate("() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => setTimeout(done, 200)), 200))")

    open_chat(page, "Rowing club Kiel")
    settle()
    counts = []
    page.context.browser.start_tracing(page=page, categories=["toplevel", "blink.user_timing"])
    for title in ("Bob Marsh", "Rowing club Kiel", "Design review", "Bob Marsh", "Rowing club Kiel"):
        before = layouts()
        page.evaluate("(title) => [...document.querySelectorAll('.chat-list .row')].find((row) => row.textContent.includes(title)).click()", title)
        page.evaluate("performance.mark('opened')")
        page.locator(".log .item").first.wait_for()
        settle()
        counts.append(layouts() - before)
    events = json.loads(page.context.browser.stop_tracing())["traceEvents"]
    threads = {(event["pid"], event["tid"]) for event in events if event["name"] == "opened"}
    tasks = [event["tdur"] / 1000 for event in events if event["name"].endswith("RunTask") and "tdur" in event and (event["pid"], event["tid"]) in threads]
    print("layouts:", counts, "longest tasks:", sorted(tasks)[-5:], "ms")
    assert max(counts) <= 12
    assert len(tasks) > 20 and max(tasks) < 50


def test_sessions_leave_no_listeners_behind(visit):
    page = visit()
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")

    def listeners():
        devtools.send("HeapProfiler.collectGarbage")
        values = devtools.send("Performance.getMetrics")["metrics"]
        return {value["name"]: value["value"] for value in values}["JSEventListeners"]

    def session():
        page.locator(".chat-list .row").first.wait_for()
        open_chat(page, "Rowing club Kiel")
        open_chat(page, "Bob Marsh")
        page.evaluate("chatApp.state.signOut({ force: true })")
        page.locator("#auth-form").wait_for()
        page.fill("[name=name]", "alice")
        page.fill("[name=password]", "apus-demo")
        page.keyboard.press("Enter")
        page.locator(".chat-list .row").first.wait_for()

    session()
    first = listeners()
    for _ in range(3):
        session()
    assert listeners() < first + 60


HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "javascript:alert(1)", "\u202egnp.exe", "{name}", "%s &lt;b&gt;"]


def test_hostile_texts_are_shown_as_text(visit):
    page = visit()
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.locator(".chat-list .row").first.wait_for()
    found = page.evaluate("""async (texts) => {
      const { renderRow } = await import("./js/views/message.js");
      const { renderText } = await import("./js/text/render.js");
      const state = chatApp.state;
      const actions = new Proxy({}, { get: () => () => "" });
      const box = document.body.appendChild(document.createElement("div"));
      const bad = [];
      for (const text of texts) {
        const bodies = {
          text: { text, entities: [{ type: "link", offset: 0, length: [...text].length, url: text }, { type: "bold", offset: -4, length: 1e9 }], preview: { url: text, title: text, text, site: text } },
          file: { blob: text, name: text, size: 1, type: text }, card: { user: text, nick: text }, location: { latitude: text, longitude: {}, name: text, address: text },
          poll: { question: text, options: [text, text] }, call: { media: text, state: text }, bundle: { title: text, items: [{ kind: text, body: { text } }] },
          audio: { blob: text, name: text, wave: text, duration: 5 }, image: { blob: text, width: 9, height: 9, thumb: text, text }, [text]: { text }, encrypted: { data: text },
        };
        for (const [kind, body] of Object.entries(bodies)) {
          const row = { key: text + kind, seq: 3, sender: text, at: Date.now(), kind, body, ref: 1, quote: { kind: "text", sender: text, body: { text } }, reactions: [{ key: text, count: 1 }], own: false };
          box.append(renderRow({ state, head: { conv: text, kind: "group", title: text }, actions }, row, { first: true, last: true, day: true, unread: true }));
        }
        box.append(...renderText(text, [{ type: "mention", offset: 0, length: 2, user: text }, { type: "pre", offset: 1, length: 3, language: text }]));
      }
      for (const element of box.querySelectorAll("script, iframe, object, embed, style, [onerror], [onclick], [style*=expression]")) bad.push(element.outerHTML);
      for (const link of box.querySelectorAll("a[href]:not([download])")) if (!/^(https?:|mailto:|tel:|xmpp:)/.test(link.protocol)) bad.push(link.href);
      box.remove();
      return bad;
    }""", HOSTILE)
    assert found == []


def test_a_failed_message_can_be_discarded_and_sign_out_warns(visit):
    page = visit()
    page.locator(".chat-list .row").first.wait_for()
    page.evaluate("void chatApp.view.signOut()")
    page.locator("dialog", has_text="not sent yet").wait_for()
    page.keyboard.press("Escape")
    open_chat(page, "Bob Marsh")
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("button", name="Discard").wait_for(state="detached")
    eventually(page, "chatApp.state.unsent === 0")
