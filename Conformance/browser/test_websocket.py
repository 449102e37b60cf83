"""Tests the server (`apus ws --listen`) with Chromium's WebSocket, with and without compression."""
import re
import select
import subprocess

import pytest

from support.process import BINARY


SCRIPT = """async ([url, protocols]) => {
  const socket = new WebSocket(url, protocols);
  socket.binaryType = "arraybuffer";
  const next = (event) => new Promise((resolve, reject) => {
    socket.addEventListener(event, resolve, { once: true });
    socket.addEventListener("error", () => reject(new Error("the socket failed")), { once: true });
  });
  await next("open");
  const texts = ["hello", "", "在吗？ 🐦 \\u0000 \\u2028", "x".repeat(126), "é".repeat(40000), "abc ".repeat(200000)];
  for (const text of texts) {
    socket.send(text);
    if ((await next("message")).data !== text) throw new Error("a text changed");
  }
  for (const size of [0, 1, 125, 126, 65535, 65536, 1 << 20]) {
    const bytes = new Uint8Array(size).map((_, index) => (index * 31) & 255);
    socket.send(bytes);
    const echo = new Uint8Array((await next("message")).data);
    if (echo.length !== size || echo.some((byte, index) => byte !== bytes[index])) throw new Error("bytes changed");
  }
  const numbers = [];
  const all = new Promise((resolve) => {
    socket.onmessage = (event) => { numbers.push(Number(event.data)); if (numbers.length === 1000) resolve(); };
  });
  for (let number = 0; number < 1000; number += 1) socket.send(String(number));
  await all;
  const inOrder = numbers.every((number, index) => number === index);
  const { extensions, protocol } = socket;
  socket.close(4002, "done");
  const { code, wasClean } = await next("close");
  return { extensions, protocol, inOrder, code, wasClean };
}"""


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "deflate"])
def echo(request):
    options = ["--max-message", str(4 << 20), "--subprotocol", "chat", *(["--compress"] if request.param else [])]
    process = subprocess.Popen(
        [str(BINARY), "ws", "--listen", "127.0.0.1:0", *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert select.select([process.stdout], [], [], 30)[0], "the server did not print its address"
        port = re.search(r"listening on ws://127\.0\.0\.1:(\d+)", process.stdout.readline()).group(1)
        yield f"ws://127.0.0.1:{port}/", request.param
    finally:
        process.terminate()
        process.wait(20)


def test_chromium(browser, echo):
    url, compress = echo
    page = browser.new_page()
    try:
        result = page.evaluate(SCRIPT, [url, ["news", "chat"]])
    finally:
        page.close()
    assert ("permessage-deflate" in result.pop("extensions")) == compress
    assert result == {"protocol": "chat", "inOrder": True, "code": 4002, "wasClean": True}
