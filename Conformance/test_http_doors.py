"""HTTP/1 at every server: the chat server on Hummingbird, the standalone Socket.IO server, and the plain WebSocket server.

Source: RFC 9112, sections 3.2 (Host), 6 and 7 (bodies), 9.3 (persistence, pipelining) and 9.6 (tear-down).
Uses raw sockets, because client libraries do not send these requests.
"""
import re
import socket
import struct
import time

import pytest

from support.process import ServerProcess
from support.raw import polling

HOST = b"Host: a\r\n"
OK = b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n"
ENGINE = b"GET /socket.io/?EIO=4&transport=polling HTTP/1.1\r\n" + HOST + b"\r\n"


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    """The servers by name, each with its status for `OK` and for `ENGINE`."""
    chat = ServerProcess("serve", "--port", "0", "--no-tls", "--log-level", "debug", "--data", str(tmp_path_factory.mktemp("chat")))
    alone = ServerProcess("conformance", "server", "--port", "0")
    plain = ServerProcess("ws", "--listen", "0")
    yield {"chat": (chat, 200, 200), "alone": (alone, 404, 200), "plain": (plain, 426, 426)}
    for server in (chat, alone, plain):
        alive = server.is_alive
        server.stop()
        assert alive, "the server ended by itself:\n" + "".join(server.lines[-40:])


@pytest.fixture(params=["chat", "alone", "plain"])
def door(doors, request):
    return doors[request.param]


@pytest.fixture(params=["chat", "alone"])
def persistent(doors, request):
    """A server that keeps connections alive."""
    return doors[request.param]


def answers(port: int, request: bytes, count: int = 1, half_close: bool = False, timeout: float = 15) -> tuple[list[int], bytes, bool]:
    """Sends bytes on a new connection, reads `count` answers, and then reads a little longer. Returns the statuses, all bytes, and whether
    the server closed the connection in order."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        connection.sendall(request)
        if half_close:
            connection.shutdown(socket.SHUT_WR)
        received, closed = b"", False
        while not closed:
            if statuses(received)[1] >= count:
                connection.settimeout(0.3)
            try:
                chunk = connection.recv(65536)
            except TimeoutError:
                break
            received += chunk
            closed = not chunk
        return statuses(received)[0], received, closed


def statuses(received: bytes) -> tuple[list[int], int]:
    """Returns the statuses of the answers, and the number of complete answers."""
    found, whole, rest = [], 0, received
    while match := re.match(rb"HTTP/1\.[01] (\d{3}) .*?\r\n\r\n", rest, re.DOTALL):
        found.append(int(match.group(1)))
        length = re.search(rb"\r\ncontent-length: (\d+)\r\n", match.group(0), re.IGNORECASE)
        end = match.end() + (int(length.group(1)) if length else 0)
        if len(rest) < end:
            break
        whole, rest = whole + 1, rest[end:]
    return found, whole


# Pipelining


@pytest.mark.parametrize("letters", ["oeo", "eoe", "ooee", "eeoo", "oeoeoeoeoeoeoeoeoeoe"])
def test_pipelined_requests_are_answered_in_order(persistent, letters):
    server, ok, engine = persistent
    expected = [ok if letter == "o" else engine for letter in letters]
    request = b"".join(OK if letter == "o" else ENGINE for letter in letters)
    assert answers(server.port, request, len(letters))[0] == expected
    # In two pieces, split within a request.
    with socket.create_connection(("127.0.0.1", server.port), timeout=15) as connection:
        connection.sendall(request[:70])
        received = b""
        while statuses(received)[1] < 1:
            received += connection.recv(65536)
        connection.sendall(request[70:])
        while statuses(received)[1] < len(letters):
            received += connection.recv(65536)
        assert statuses(received)[0] == expected


def test_a_thousand_pipelined_requests_are_answered(persistent):
    server, ok, engine = persistent
    assert answers(server.port, (OK + ENGINE) * 500, 1000, timeout=60)[0] == [ok, engine] * 500


def test_requests_after_a_pending_poll_stay_in_the_socket(persistent):
    """The poll is answered by the next ping, and later requests only after it; the server reads little of them."""
    server, ok, _ = persistent
    before = server.resident_bytes()
    connections = []
    try:
        sent = 0
        for _ in range(20):
            sid = open_sid(server.port)
            connection = socket.create_connection(("127.0.0.1", server.port), timeout=15)
            connections.append(connection)
            connection.sendall(f"GET /socket.io/?EIO=4&transport=polling&sid={sid} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            connection.settimeout(0.2)
            with pytest.raises(TimeoutError):
                connection.recv(1)
            connection.setblocking(False)
            try:
                for _ in range(200):
                    sent += connection.send(OK * 1000)
            except BlockingIOError:
                pass  # the server has stopped reading
        time.sleep(0.5)  # there is no event to wait for
        assert sent > 20 * 65536
        assert server.resident_bytes() - before < max(3 * sent, 24 << 20)
        for connection in connections:
            with pytest.raises(BlockingIOError):
                connection.recv(1)
    finally:
        for connection in connections:
            connection.close()
    assert answers(server.port, OK)[0] == [ok]


def open_sid(port: int) -> str:
    return re.search(r'"sid":"([^"]+)"', polling(port, EIO="4", transport="polling").text).group(1)


def test_a_half_closed_client_receives_its_answers(persistent):
    server, ok, engine = persistent
    statuses_, _, closed = answers(server.port, OK + ENGINE + OK, 3, half_close=True)
    assert (statuses_, closed) == ([ok, engine, ok], True)


# Host


@pytest.mark.parametrize(
    "lines",
    [b"", HOST + HOST, HOST + b"hOST: b\r\n", b"Host: a b\r\n", b"Host: a/b\r\n", b"Host: u@a\r\n", b"Host: \xe2\x84\xaa\r\n"],
    ids=["none", "twice", "two", "a blank", "a path", "a user", "no ASCII"],
)
@pytest.mark.parametrize("target", [b"GET /health", ENGINE.split(b" HTTP")[0], b"POST /api/login", b"GET /ws"])
def test_a_request_names_one_host(door, target, lines):
    server, *_ = door
    found, received, closed = answers(server.port, target + b" HTTP/1.1\r\n" + lines + b"\r\n")
    assert (found, closed) == ([400], True), received
    assert b"\r\nconnection: close\r\n" in received.lower()
    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    assert answers(server.port, target + b" HTTP/1.1\r\n" + lines + upgrade + b"\r\n")[0] == [400]


def test_the_second_of_two_requests_without_a_host_is_refused(persistent):
    server, ok, _ = persistent
    found, _, closed = answers(server.port, OK + b"GET /health HTTP/1.1\r\n\r\n" + OK, 2)
    assert (found, closed) == ([ok, 400], True)


# Persistence


@pytest.mark.parametrize("target", [b"GET /health", ENGINE.split(b" HTTP")[0]])
@pytest.mark.parametrize(
    "line, connection, stays",
    [
        (b"HTTP/1.0", b"", False), (b"HTTP/1.0", b"Connection: keep-alive\r\n", True), (b"HTTP/1.0", b"Connection: close\r\n", False),
        (b"HTTP/1.0", "Connection: \u212aeep-alive\r\n".encode(), False),
        (b"HTTP/1.1", b"", True), (b"HTTP/1.1", b"Connection: close\r\n", False), (b"HTTP/1.1", b"Connection: Close\r\n", False),
        (b"HTTP/1.1", b"Connection: x, close\r\n", False),
    ],
)
def test_a_connection_persists_as_requested(persistent, target, line, connection, stays):
    server, ok, engine = persistent
    status = ok if target == b"GET /health" else engine
    host = HOST if line == b"HTTP/1.1" else b""
    found, received, closed = answers(server.port, target + b" " + line + b"\r\n" + host + connection + b"\r\n" + OK, 2 if stays else 1)
    assert (found, closed) == ([status, ok] if stays else [status], not stays), received
    assert b"transfer-encoding" not in received.lower()


def test_a_plain_websocket_server_speaks_no_http_1_0(doors):
    server, *_ = doors["plain"]
    assert answers(server.port, b"GET / HTTP/1.0\r\n\r\n")[::2] == ([505], True)


def test_an_unsupported_upgrade_is_answered_and_closed(persistent):
    server, ok, _ = persistent
    request = b"GET /health HTTP/1.1\r\n" + HOST + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    assert answers(server.port, request + OK)[::2] == ([ok], True)


# Bodies

MALFORMED = {
    "no size": b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "no end of a chunk": b"Transfer-Encoding: chunked\r\n\r\n4\r\nabcdXX",
    "a negative size": b"Transfer-Encoding: chunked\r\n\r\n-1\r\n",
    "a size without end": b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 40 + b"\r\n",
    "a length that is none": b"Content-Length: x\r\n\r\n",
    "a negative length": b"Content-Length: -1\r\n\r\n",
    "two lengths": b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "both": b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("target", [b"POST /api/login", b"POST /api/blobs", b"POST /nowhere", b"POST /socket.io/?EIO=4&transport=polling&sid=AAAA"])
@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_body_is_a_bad_request(persistent, target, body):
    server, *_ = persistent
    found, received, _ = answers(server.port, target + b" HTTP/1.1\r\n" + HOST + body)
    # Authentication and routing errors may be reported before the body is parsed.
    assert len(found) == 1 and found[0] in ({400} if b"blobs" not in target else {400, 401}), received


@pytest.mark.parametrize("target", [b"POST /api/login", b"POST /api/register", b"POST /socket.io/?EIO=4&transport=polling&sid=AAAA"])
@pytest.mark.parametrize("body", [b"Content-Length: 30\r\n\r\n{}", b"Content-Length: 30\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n9\r\n{}"])
def test_a_truncated_body_is_a_bad_request(persistent, target, body):
    server, *_ = persistent
    request = target + b" HTTP/1.1\r\n" + HOST + body
    assert answers(server.port, request, half_close=True)[::2] == ([400], True)
    for reset in (True, False):
        with socket.create_connection(("127.0.0.1", server.port), timeout=15) as connection:
            connection.sendall(request)
            if reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert answers(server.port, OK)[0] == [persistent[1]]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b"null", b'{"name":1}', b"\xff\xfe", b"[" * 10_000, b'{"name":"a","name":"b"}'])
@pytest.mark.parametrize("path", [b"/api/login", b"/api/register"])
def test_bad_json_is_a_bad_request(doors, path, body):
    server, *_ = doors["chat"]
    request = b"POST " + path + b" HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(body) + body
    found, received, closed = answers(server.port, request + OK, 2)
    assert (found, closed) == ([400, 200], False), received


def test_the_scheme_of_a_token_is_ascii(doors):
    server, *_ = doors["chat"]
    for scheme in ["Bearer", "bEARER"]:
        request = f"GET /api/blobs/{'0' * 64} HTTP/1.1\r\nHost: a\r\nAuthorization: {scheme} x\r\n\r\n".encode()
        assert answers(server.port, request)[0] == [401]


def test_none_of_this_is_an_error_of_the_server(doors):
    """Runs last: reads the log of all preceding tests."""
    server, *_ = doors["chat"]
    answers(server.port, OK)
    levels = [line for line in server.lines if re.match(r"\S+ (warning|error|critical) ", line)]
    assert levels == []
    assert any(" debug " in line and "Request refused" in line for line in server.lines)
