"""The page's Socket.IO modules in a browser."""

import pytest

from support.samplepage import serving


@pytest.fixture(scope="module")
def run(browser):
    with serving() as address:
        page = browser.new_page()
        page.goto(address + "/test.html")
        yield lambda script, argument=None: page.evaluate(script, argument)
        page.close()


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
      const waits = [0, 1].map((random) => { const backoff = new Backoff({ random: () => random }); return [1, 2, 3, 4, 5].map(() => backoff.next()); });
      return { payload, back, waits };
    }""")
    assert result["payload"] == '42["€😀"]\x1ebAQL/\x1e3'
    assert result["back"] == [["4", '2["€😀"]'], ["4", [1, 2, 255]], ["3", ""]]
    assert result["waits"] == [[500, 1000, 2000, 2500, 2500], [1500, 3000, 6000, 7500, 7500]]


def test_a_session_that_slept_too_long_is_replaced_on_return(run):
    """A suspended page receives no pings and fires no timers. When it resumes, it replaces only a session whose ping is overdue."""
    assert run("""async () => {
      const { SocketManager } = await import("/js/socketio/manager.js");
      const RealSocket = WebSocket, realNow = performance.now;
      const opened = [];
      globalThis.WebSocket = class {
        constructor() { opened.push(this); }
        send() {}
        close() { this.isClosed = true; }
      };
      try {
        const manager = new SocketManager("http://peer.invalid", { transports: ["websocket"], reconnection: { from: 60_000, to: 60_000, jitter: 0 } });
        const states = [];
        manager.on("state", ({ name }) => states.push(name));
        manager.socket("/").connect();
        const open = (socket) => socket.onmessage({ data: '0{"sid":"s","upgrades":[],"pingInterval":25000,"pingTimeout":20000}' });
        open(opened[0]);
        let slept = 44_000;
        performance.now = () => realNow.call(performance) + slept;
        manager.resume();
        const early = [states.at(-1), opened.length];
        slept = 46_000;
        manager.resume();
        const late = [Boolean(opened[0].isClosed), opened.length];
        open(opened[1]);
        manager.resume();
        const again = [states.at(-1), opened.length];
        manager.drop();
        return { early, late, again };
      } finally {
        globalThis.WebSocket = RealSocket;
        performance.now = realNow;
      }
    }""") == {"early": ["open", 1], "late": [True, 2], "again": ["open", 2]}
