"""Tests the official JavaScript client in Chromium beyond the interop matrix: `io()` without options, `retries`, other origins,
pages that are closed."""
import pytest

from support import matrix
from support.process import ServerProcess, free_port

pytestmark = pytest.mark.skipif(not matrix.JAVASCRIPT.exists(), reason="no JavaScript client (scripts/bootstrap fetches it)")


def start(port=0):
    return ServerProcess("conformance", "server", "--port", str(port))


@pytest.fixture()
def io_server():
    server = start()
    yield server
    server.stop()


@pytest.fixture()
def page(browser, io_server):
    context = browser.new_context()
    page = context.new_page()
    page.goto(io_server.url + "/page.html")
    page.add_script_tag(path=str(matrix.JAVASCRIPT))
    yield page
    context.close()


def test_io_without_any_options(page):
    """Polling first, then WebSocket; a second namespace on the same connection; a manager for both."""
    assert page.evaluate("""async () => {
      const root = io(), custom = io("/custom");
      await Promise.all([root, custom].map((socket) => new Promise((resolve) => socket.on("connect", resolve))));
      const before = await root.emitWithAck("ack", "first", new Uint8Array([1]));
      if (root.io.engine.transport.name !== "websocket") await new Promise((resolve) => root.io.engine.once("upgrade", resolve));
      const after = await custom.emitWithAck("ack", "second");
      const result = [before, after, root.io === custom.io, root.io.engine.transport.name, root.id.length];
      root.disconnect();
      const stays = custom.connected;
      custom.disconnect();
      return [...result, stays];
    }""") == ["first", "second", True, "websocket", 20, True]


def test_a_namespace_is_left_and_joined_again_at_once(page):
    """The packets 41 and 40 arrive together. The server must close the old socket before it opens the new one."""
    assert page.evaluate("""async () => {
      const socket = io("/custom", { transports: ["websocket"] });
      const ids = [];
      for (let turn = 0; turn < 20; turn += 1) {
        await new Promise((resolve) => socket.once("connect", resolve));
        ids.push(socket.id);
        await socket.emitWithAck("join", `room ${turn}`);
        socket.disconnect().connect();
      }
      await new Promise((resolve) => socket.once("connect", resolve));
      const rooms = await socket.emitWithAck("join", "last");
      socket.disconnect();
      return [new Set(ids).size, rooms.length];
    }""") == [20, 2]  # the last room and the socket's own


def test_timeouts_and_volatile_events(page):
    """An unknown event is not acknowledged. A volatile event is dropped while there is no connection."""
    assert page.evaluate("""async () => {
      const socket = io({ autoConnect: false });
      const echoes = [];
      socket.on("echo", (value) => echoes.push(value));
      socket.volatile.emit("echo", "lost");
      socket.emit("echo", "kept");
      socket.connect();
      const failure = await socket.timeout(200).emitWithAck("unknown").catch((error) => error.message);
      await socket.emitWithAck("ack", 1);
      socket.disconnect();
      return [failure, echoes];
    }""") == ["operation has timed out", ["kept"]]


@pytest.mark.parametrize("transport", ["polling", "websocket"])
def test_retries_outlive_a_restart(browser, transport):
    """With `retries` and `ackTimeout`, one event is in flight and is repeated until it is acknowledged. All events arrive in order, some of
    them repeatedly."""
    port = free_port()
    server, context = start(port), browser.new_context()
    try:
        page = context.new_page()
        page.goto(f"{server.url}/page.html")
        page.add_script_tag(path=str(matrix.JAVASCRIPT))
        page.evaluate("""(transport) => {
          window.acknowledged = [];
          window.socket = io({ transports: [transport], retries: 50, ackTimeout: 300, reconnectionDelay: 100, reconnectionDelayMax: 300 });
          for (let number = 0; number < 400; number += 1) socket.emit("ack", number, (error, value) => acknowledged.push(error ? String(error) : value));
        }""", transport)
        page.wait_for_function("acknowledged.length > 50", timeout=20_000)
        server.kill()
        server = start(port)
        page.wait_for_function("acknowledged.length === 400", timeout=40_000)
        assert page.evaluate("acknowledged") == list(range(400))
    finally:
        context.close()
        server.stop()


def test_a_page_of_another_origin_is_refused(browser, io_server):
    """Polling fails without a CORS header, and WebSocket with the status 403."""
    other = start()
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(f"http://localhost:{other.port}/page.html")
        page.add_script_tag(path=str(matrix.JAVASCRIPT))
        for transport, message in [("polling", "xhr poll error"), ("websocket", "websocket error")]:
            assert page.evaluate("""([url, transport]) => new Promise((resolve) => {
              const socket = io(url, { transports: [transport], reconnection: false, forceNew: true });
              socket.on("connect", () => resolve("connected"));
              socket.on("connect_error", (error) => resolve(error.message));
            })""", [io_server.url, transport]) == message
    finally:
        context.close()
        other.stop()


@pytest.mark.parametrize("transport", ["polling", "websocket"])
def test_a_closed_page_releases_its_connection(page, io_server, transport):
    """A reload sends no close packet. It closes the WebSocket or the pending poll."""
    import time

    before = io_server.sockets()
    page.evaluate("""(transport) => new Promise((resolve) => io({ transports: [transport] }).on("connect", resolve))""", transport)
    page.context.close()
    deadline = time.monotonic() + 10
    while io_server.sockets() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert io_server.sockets() <= before
