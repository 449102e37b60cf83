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
      const waits = [0, 1].map((dice) => { const backoff = new Backoff({ random: () => dice }); return [1, 2, 3, 4, 5].map(() => backoff.next()); });
      return { payload, back, waits };
    }""")
    assert result["payload"] == '42["€😀"]\x1ebAQL/\x1e3'
    assert result["back"] == [["4", '2["€😀"]'], ["4", [1, 2, 255]], ["3", ""]]
    assert result["waits"] == [[500, 1000, 2000, 2500, 2500], [1500, 3000, 6000, 7500, 7500]]
