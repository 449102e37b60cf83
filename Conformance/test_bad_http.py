"""Engine.IO requests that must be refused, each with its status and body, without an effect on other clients.

Source: the HTTP errors of Node's Engine.IO (`{"code":n,"message":"…"}`), and its CVEs (2022-21676, 2022-41940, 2023-31125, 2020-36048).
"""
import concurrent.futures
import socket
import struct
import time

import pytest

from support.raw import closing, exchange, is_gone, open_joined_polling, open_polling, open_websocket, polling

pytestmark = pytest.mark.usefixtures("neighbour")

TRANSPORT_UNKNOWN = {"code": 0, "message": "Transport unknown"}
SESSION_UNKNOWN = {"code": 1, "message": "Session ID unknown"}
BAD_METHOD = {"code": 2, "message": "Bad handshake method"}
BAD_REQUEST = {"code": 3, "message": "Bad request"}
UNSUPPORTED_VERSION = {"code": 5, "message": "Unsupported protocol version"}

HANDSHAKES = [
    ("no transport", "GET", {"EIO": "4"}, TRANSPORT_UNKNOWN),
    ("unknown transport", "GET", {"EIO": "4", "transport": "abc"}, TRANSPORT_UNKNOWN),
    ("transport of an object's name", "GET", {"EIO": "4", "transport": "constructor"}, TRANSPORT_UNKNOWN),
    ("empty transport", "GET", {"EIO": "4", "transport": ""}, TRANSPORT_UNKNOWN),
    ("no version", "GET", {"transport": "polling"}, UNSUPPORTED_VERSION),
    ("version 3", "GET", {"EIO": "3", "transport": "polling"}, UNSUPPORTED_VERSION),
    ("version 5", "GET", {"EIO": "5", "transport": "polling"}, UNSUPPORTED_VERSION),
    ("version that is no number", "GET", {"EIO": "abc", "transport": "polling"}, UNSUPPORTED_VERSION),
    ("version beyond any integer", "GET", {"EIO": "9" * 400, "transport": "polling"}, UNSUPPORTED_VERSION),
    ("POST without a session", "POST", {"EIO": "4", "transport": "polling"}, BAD_METHOD),
    ("PUT without a session", "PUT", {"EIO": "4", "transport": "polling"}, BAD_METHOD),
    ("unknown session", "GET", {"EIO": "4", "transport": "polling", "sid": "AAAAAAAAAAAAAAAAAAAA"}, SESSION_UNKNOWN),
    ("POST to an unknown session", "POST", {"EIO": "4", "transport": "polling", "sid": "AAAAAAAAAAAAAAAAAAAA"}, SESSION_UNKNOWN),
    ("session of an object's name", "GET", {"EIO": "4", "transport": "polling", "sid": "__proto__"}, SESSION_UNKNOWN),
    ("session of 4,000 characters", "GET", {"EIO": "4", "transport": "polling", "sid": "A" * 4000}, SESSION_UNKNOWN),
    ("session with NUL and newline", "GET", {"EIO": "4", "transport": "polling", "sid": "\x00\r\n"}, SESSION_UNKNOWN),
    ("WebSocket without an upgrade", "GET", {"EIO": "4", "transport": "websocket"}, BAD_REQUEST),
]


@pytest.mark.parametrize("method, query, expected", [case[1:] for case in HANDSHAKES], ids=[case[0] for case in HANDSHAKES])
def test_refused_handshake(server, neighbour, method, query, expected):
    response = polling(server.port, method, **query)
    assert (response.status_code, response.json()) == (400, expected)
    assert response.headers["content-type"].startswith("application/json")
    neighbour.check()


UPGRADES = [
    ("unknown transport", "EIO=4&transport=abc", TRANSPORT_UNKNOWN),
    ("unknown session", "EIO=4&transport=websocket&sid=AAAAAAAAAAAAAAAAAAAA", SESSION_UNKNOWN),
    ("version 3", "EIO=3&transport=websocket", UNSUPPORTED_VERSION),
    ("no version", "transport=websocket", UNSUPPORTED_VERSION),
    ("percent signs that encode nothing", "EIO=%zz&transport=%", TRANSPORT_UNKNOWN),
]


@pytest.mark.parametrize("query, expected", [case[1:] for case in UPGRADES], ids=[case[0] for case in UPGRADES])
def test_refused_upgrade_is_answered_in_http(server, neighbour, query, expected):
    """The server answers 400 instead of 101, so that the refusal is not sent inside the WebSocket stream."""
    answer = exchange(
        server.port,
        f"GET /socket.io/?{query} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode(),
        timeout=3,
    )
    assert answer.startswith(b"HTTP/1.1 400 "), answer[:200]
    assert answer.endswith(f'{{"code":{expected["code"]},"message":"{expected["message"]}"}}'.encode()), answer
    neighbour.check()


@pytest.mark.parametrize("field", ["Sec-WebSocket-Key: dG9vIHNob3J0", "Sec-WebSocket-Key: ", "X-Nothing: 1"])
def test_upgrade_with_a_bad_key_is_refused(server, neighbour, field):
    request = (
        "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        f"{field}\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    answer = exchange(server.port, request.encode(), timeout=3)
    assert answer.startswith(b"HTTP/1.1 400 "), answer[:200]
    neighbour.check()


BODIES = [
    ("not a packet", "abc"),
    ("unknown packet type", "9"),
    ("a good packet, then junk", '42["echo",1]\x1ezzz'),
    ("an empty packet in the middle", '42["echo",1]\x1e\x1e42["echo",2]'),
    ("broken base64", "b!!!!"),
    ("invalid UTF-8", b'42["echo","\xff\xfe"]'),
    ("100,000 packets", "\x1e".join(["3"] * 100_000)),
]


@pytest.mark.parametrize("body", [case[1] for case in BODIES], ids=[case[0] for case in BODIES])
def test_bad_body_closes_its_session(server, neighbour, body):
    sid = open_joined_polling(server.port)
    response = polling(server.port, "POST", body, {"Content-Type": "text/plain;charset=UTF-8"}, EIO="4", transport="polling", sid=sid)
    assert response.status_code == 400, response.text
    assert is_gone(server.port, sid)
    neighbour.check()


def test_octet_stream_is_refused(server, neighbour):
    sid = open_joined_polling(server.port)
    response = polling(server.port, "POST", b"\x00\x01\xff2", {"Content-Type": "application/octet-stream"}, EIO="4", transport="polling", sid=sid)
    assert response.status_code == 400
    assert is_gone(server.port, sid)
    neighbour.check()


def test_body_above_the_limit(server, neighbour):
    sid = open_joined_polling(server.port)
    response = polling(server.port, "POST", '42["echo","' + "x" * 1_000_001 + '"]', EIO="4", transport="polling", sid=sid)
    assert response.status_code == 413
    neighbour.check()


def test_announced_body_above_the_limit_is_refused_at_the_header(server, neighbour):
    sid = open_joined_polling(server.port)
    begin = time.monotonic()
    answer = exchange(
        server.port,
        f"POST /socket.io/?EIO=4&transport=polling&sid={sid} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n"
        "Content-Length: 4294967297\r\n\r\n42".encode(),
        timeout=8,
    )
    assert answer.startswith(b"HTTP/1.1 413 "), answer[:200]
    assert time.monotonic() - begin < 7
    neighbour.check()


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_other_methods_on_a_session_are_refused(server, neighbour, method):
    sid = open_polling(server.port)
    response = polling(server.port, method, EIO="4", transport="polling", sid=sid)
    assert response.status_code in (400, 405)
    neighbour.check()


def test_overlapping_polls_close_the_session(server, neighbour):
    sid = open_joined_polling(server.port)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        first = pool.submit(polling, server.port, EIO="4", transport="polling", sid=sid)
        time.sleep(0.3)  # no event shows that the first poll is pending
        second = polling(server.port, EIO="4", transport="polling", sid=sid)
        assert second.status_code == 400
        assert (first.result(10).status_code, first.result().text) == (200, "1")
    assert is_gone(server.port, sid)
    neighbour.check()


def test_close_packet_ends_the_pending_poll(server, neighbour):
    sid = open_joined_polling(server.port)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        poll = pool.submit(polling, server.port, EIO="4", transport="polling", sid=sid)
        time.sleep(0.3)  # as above
        answer = polling(server.port, "POST", "1", EIO="4", transport="polling", sid=sid)
        assert (answer.status_code, answer.text) == (200, "ok")
        assert (poll.result(10).status_code, poll.result().text) == (200, "6")
    assert is_gone(server.port, sid)
    neighbour.check()


def test_wrong_probe_closes_the_probe_only(server, neighbour):
    sid = open_joined_polling(server.port)
    for packet in ["5", "2", "2probing", '42["echo",1]', ""]:
        probe = open_websocket(server.port, sid=sid)
        probe.send(packet)
        closing(probe)
        assert polling(server.port, "POST", '42["echo",1]', EIO="4", transport="polling", sid=sid).text == "ok"
        assert polling(server.port, EIO="4", transport="polling", sid=sid).text == '42["echo",1]'
    neighbour.check()


def test_reset_in_mid_upgrade_leaves_the_session(server, neighbour):
    sid = open_joined_polling(server.port)
    before = server.descriptors()
    for _ in range(5):
        probe = open_websocket(server.port, sid=sid)
        probe.send("2probe")
        assert probe.recv() == "3probe"
        probe.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close() becomes a TCP reset
        probe.sock.close()
    deadline = time.monotonic() + 5
    while server.descriptors() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert server.descriptors() <= before
    assert polling(server.port, "POST", '42["echo",1]', EIO="4", transport="polling", sid=sid).text == "ok"
    assert polling(server.port, EIO="4", transport="polling", sid=sid).text == '42["echo",1]'
    neighbour.check()


def test_after_the_upgrade_polling_is_refused(server, neighbour):
    sid = open_joined_polling(server.port)
    connection = open_websocket(server.port, sid=sid)
    connection.send("2probe")
    assert connection.recv() == "3probe"
    connection.send("5")
    connection.send('42["echo",1]')
    assert connection.recv() == '42["echo",1]'
    for method, body in [("GET", None), ("POST", '42["echo",2]')]:
        assert polling(server.port, method, body, EIO="4", transport="polling", sid=sid).status_code == 400
    try:
        second = open_websocket(server.port, sid=sid)
    except Exception:
        pass  # an immediate refusal is also correct
    else:
        closing(second)
    connection.send('42["echo",3]')
    assert connection.recv() == '42["echo",3]', "the upgraded connection is not affected"
    connection.close()
    neighbour.check()


def test_refusals_keep_no_descriptor(server, neighbour):
    before = server.descriptors()
    for _ in range(100):
        exchange(server.port, b"GET /socket.io/?EIO=3&transport=websocket HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", timeout=3)
    deadline = time.monotonic() + 5
    while server.descriptors() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert server.descriptors() <= before
    neighbour.check()


@pytest.mark.parametrize(
    "request_bytes",
    [b"\x00" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"POST /socket.io/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
     b"GET /socket.io/ HTTP/1.1\r\nHost: a\r\n" + b"a: b\r\n" * 20_000 + b"\r\n", b"POST /socket.io/ HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"],
    ids=["zeros", "no target", "HTTP 9.9", "length and chunked", "20,000 fields", "negative length"],
)
def test_broken_http_ends_its_connection_only(server, neighbour, request_bytes):
    exchange(server.port, request_bytes, timeout=2)
    assert server.is_alive
    neighbour.check()
