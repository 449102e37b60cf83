"""Malformed Engine.IO and Socket.IO packets: the server closes the connection that sent them and continues to serve other clients.

Source: the Socket.IO protocol v5 and the CVEs against its parsers (2023-32695, 2022-2421, 2026-33151, 2026-97696).
"""
import json
import time

import pytest

from support.raw import closing, is_gone, open_joined_polling, open_joined_websocket, open_websocket, polling

pytestmark = pytest.mark.usefixtures("neighbour")


def placeholder(number) -> str:
    return '{"_placeholder":true,"num":' + number + "}"


def attachments(count: int) -> str:
    return f'45{count}-["echo",' + ",".join(placeholder(str(index)) for index in range(count)) + "]"


# Each is sent on a WebSocket that has joined `/`: text and binary frames in order.
FATAL = [
    ("Engine.IO: empty frame", [""]),
    ("Engine.IO: unknown type", ["7"]),
    ("Engine.IO: a letter", ["x"]),
    ("Engine.IO: a second open", ['0{"sid":"a"}']),
    ("Socket.IO: nothing", ["4"]),
    ("Socket.IO: unknown type", ["47"]),
    ("Socket.IO: type beyond a digit", ["4😀"]),
    ("event: no payload", ["42"]),
    ("event: empty array", ["42[]"]),
    ("event: ack id only", ["42123"]),
    ("event: emoji", ["42😀"]),
    ("event: namespace only", ["42/nsp"]),
    ("event: not an array", ['42{"a":1}']),
    ("event: name is an object", ['42[{"toString":"foo"}]']),
    ("event: name is null", ["42[null]"]),
    ("event: name is an array", ['42[["echo"]]']),
    ("event: JSON cut off", ['42["echo"']),
    ("event: junk after the JSON", ['42["echo"]x']),
    ("event: single quotes", ["42['echo']"]),
    ("event: leading zero", ['42["echo",01]']),
    ("event: ack id beyond any integer", ["42" + "9" * 400 + '["echo"]']),
    ("event: JSON 100,000 deep", ['42["echo",' + "[" * 100_000 + "]" * 100_000 + "]"]),
    ("event: objects 100,000 deep", ['42["echo",' + '{"a":' * 100_000 + "1" + "}" * 100_000 + "]"]),
    ("event: namespace not joined", ['42/elsewhere,["echo"]']),
    ("reserved name connect", ['42["connect"]']),
    ("reserved name connect_error", ['42["connect_error"]']),
    ("reserved name disconnect", ['42["disconnect"]']),
    ("reserved name disconnecting", ['42["disconnecting"]']),
    ("reserved name newListener", ['42["newListener"]']),
    ("reserved name removeListener", ['42["removeListener"]']),
    ("connect: a second time", ["40"]),
    ("connect: auth is an array", ["40/custom,[]"]),
    ("connect: auth is null", ["40/custom,null"]),
    ("connect: auth is a string", ['40/custom,"a"']),
    ("disconnect: with a payload", ["41{}"]),
    ("ack: no id and no payload", ["43"]),
    ("ack: not an array", ['431{"a":1}']),
    ("connect error from a client", ['44{"message":"no"}']),
    ("binary event: no attachments said", ["451-"]),
    ("binary event: no dash", ['451["echo"]']),
    ("binary event: count is negative", ['45-1-["echo"]']),
    ("binary event: count is a letter", ['45x-["echo"]']),
    ("binary event: count beyond any integer", ["45" + "9" * 400 + '-["echo"]']),
    ("binary event: 11 attachments", [attachments(11)] + [b"\x00"] * 11),
    ("placeholder: beyond the attachments", ['451-["echo",' + placeholder("5") + "]", b"\x00"]),
    ("placeholder: negative", ['451-["echo",' + placeholder("-1") + "]", b"\x00"]),
    ("placeholder: a string", ['451-["echo",' + placeholder('"x"') + "]", b"\x00"]),
    ("placeholder: a fraction", ['451-["echo",' + placeholder("0.5") + "]", b"\x00"]),
    ("placeholder: no number", ['451-["echo",{"_placeholder":true}]', b"\x00"]),
    ("text while attachments are outstanding", ['451-["echo",' + placeholder("0") + "]", '42["echo",1]']),
    ("binary that nobody announced", [b"\x00\x01"]),
    ("one attachment too many", ['451-["echo",' + placeholder("0") + "]", b"\x00", b"\x01"]),
]


@pytest.mark.parametrize("frames", [case[1] for case in FATAL], ids=[case[0] for case in FATAL])
def test_sender_is_closed(server, neighbour, frames):
    connection = open_joined_websocket(server.port)
    try:
        for frame in frames:
            connection.send(frame) if isinstance(frame, str) else connection.send_binary(frame)
    except (BrokenPipeError, ConnectionError):
        pass  # closed before the last frame was sent
    begin = time.monotonic()
    closing(connection, timeout=8)
    assert time.monotonic() - begin < 7, "still open"
    assert server.is_alive
    neighbour.check()


@pytest.mark.parametrize("frames", [case[1] for case in FATAL if all(isinstance(frame, str) and frame for frame in case[1])][:30])
def test_sender_is_closed_over_polling_too(server, neighbour, frames):
    sid = open_joined_polling(server.port)
    for frame in frames:
        # Either the POST is refused, or it is accepted and the session then closes.
        assert polling(server.port, "POST", frame.encode(), EIO="4", transport="polling", sid=sid).status_code in (200, 400, 413)
    response = polling(server.port, EIO="4", transport="polling", sid=sid, timeout=8)
    if response.status_code == 200:
        assert "1" in response.text.split("\x1e"), response.text
    assert is_gone(server.port, sid)
    neighbour.check()


# Unusual but legal input: the frames, and the expected answers.
LEGAL = [
    ("no attachments in a binary event", ['450-["echo"]', '42["echo",1]'], ['42["echo"]', '42["echo",1]']),
    ("ten attachments", [attachments(10)] + [bytes([index]) for index in range(10)], [attachments(10)] + [bytes([index]) for index in range(10)]),
    ("a placeholder that is false", ['42["echo",{"_placeholder":false,"num":0}]'], ['42["echo",{"_placeholder":false,"num":0}]']),
    ("the longest sensible depth", ['42["echo",' + "[" * 100 + "]" * 100 + "]"], ['42["echo",' + "[" * 100 + "]" * 100 + "]"]),
    ("an ack nobody waits for", ['43999["x"]', '42["echo",2]'], ['42["echo",2]']),
    ("a pong nobody waits for", ["3", '42["echo",3]'], ['42["echo",3]']),
    ("ack id 0", ['420["ack","x"]'], ['430["x"]']),
    ("an unknown event", ['42["nobody listens"]', '42["echo",4]'], ['42["echo",4]']),
    ("a numeric event name", ['42[7,"x"]', '42["echo",5]'], ['42["echo",5]']),
    ("whitespace within the JSON", ['42[ "echo" , 6 ]'], ['42["echo",6]']),
    ("keys of JavaScript's prototypes", ['42["echo",{"__proto__":1,"constructor":2}]'], ['42["echo",{"__proto__":1,"constructor":2}]']),
]


@pytest.mark.parametrize("frames, expected", [case[1:] for case in LEGAL], ids=[case[0] for case in LEGAL])
def test_odd_but_legal(server, neighbour, frames, expected):
    connection = open_joined_websocket(server.port)
    for frame in frames:
        connection.send(frame) if isinstance(frame, str) else connection.send_binary(frame)
    received = [connection.recv() for _ in expected]
    assert received == expected
    connection.close()
    neighbour.check()


def test_event_before_connect_closes(server, neighbour):
    connection = open_websocket(server.port)
    assert connection.recv().startswith("0{")
    connection.send('42["echo",1]')
    begin = time.monotonic()
    closing(connection, timeout=8)
    assert time.monotonic() - begin < 7
    neighbour.check()


def test_namespace_with_a_query_is_invalid(server, neighbour):
    connection = open_joined_websocket(server.port)
    connection.send("40/custom?token=1,")
    answer = connection.recv()
    assert answer.startswith("44/custom?token=1,") or answer.startswith("44/custom,"), answer
    assert json.loads(answer[answer.index("{") :])["message"] == "Invalid namespace"
    connection.close()
    neighbour.check()


def test_engine_close_packet_closes_at_once(server, neighbour):
    connection = open_joined_websocket(server.port)
    connection.send("1")
    begin = time.monotonic()
    closing(connection, timeout=8)
    assert time.monotonic() - begin < 5
    neighbour.check()
