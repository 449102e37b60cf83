"""Invalid WebSocket frames: the server closes the connection that sent them with the code of RFC 6455, and serves other clients."""
import time

import pytest

from support.raw import closing, frame, open_joined_websocket

pytestmark = pytest.mark.usefixtures("neighbour")

TEXT, BINARY, CLOSE, PING = 1, 2, 8, 9
PROTOCOL, INVALID, POLICY, TOO_BIG = 1002, 1007, 1008, 1009

FRAMES = [
    ("1 GiB announced, then silence", frame(b"", TEXT, announced=1 << 30), {TOO_BIG}),
    ("8-byte length with the top bit set", frame(b"", BINARY, announced=1 << 63), {PROTOCOL, TOO_BIG}),
    ("the largest length", frame(b"", BINARY, announced=(1 << 64) - 1), {PROTOCOL, TOO_BIG}),
    ("one byte above the limit", frame(b"", TEXT, announced=1_000_001), {TOO_BIG}),
    ("no mask", frame(b'42["echo",1]', TEXT, masked=False), {PROTOCOL}),
    ("reserved bit 1 without an extension", frame(b'42["echo",1]', TEXT, reserved=4), {PROTOCOL}),
    ("reserved bit 3", frame(b'42["echo",1]', TEXT, reserved=1), {PROTOCOL}),
    ("reserved opcode 3", frame(b"", 3), {PROTOCOL}),
    ("reserved opcode 15", frame(b"", 15), {PROTOCOL}),
    ("continuation of nothing", frame(b"x", 0), {PROTOCOL}),
    ("text within a fragmented text", frame(b"4", TEXT, final=False) + frame(b"4", TEXT), {PROTOCOL}),
    ("fragmented ping", frame(b"", PING, final=False), {PROTOCOL}),
    ("ping of 126 bytes", frame(b"x" * 126, PING), {PROTOCOL}),
    ("close of one byte", frame(b"\x03", CLOSE), {PROTOCOL}),
    ("close with code 1005", frame(b"\x03\xed", CLOSE), {PROTOCOL}),
    ("close with code 999", frame(b"\x03\xe7", CLOSE), {PROTOCOL}),
    ("close with a reason of broken UTF-8", frame(b"\x03\xe8\xff", CLOSE), {PROTOCOL, INVALID}),
    ("broken UTF-8", frame(b'42["echo","\xff"]', TEXT), {INVALID}),
    ("a surrogate in UTF-8", frame(b'42["echo","\xed\xa0\x80"]', TEXT), {INVALID}),
    ("UTF-8 cut off by the end", frame(b'42["echo","\xe5\x9c', TEXT), {INVALID}),
    ("200,000 empty fragments", frame(b"4", TEXT, final=False) + frame(b"", 0, final=False) * 200_000, {POLICY, PROTOCOL, TOO_BIG}),
    ("fragments that add up above the limit", frame(b"4" * 400_000, TEXT, final=False) + frame(b"4" * 400_000, 0, final=False) * 2, {TOO_BIG}),
]


@pytest.mark.parametrize("data, codes", [case[1:] for case in FRAMES], ids=[case[0] for case in FRAMES])
def test_bad_frame(server, neighbour, data, codes):
    connection = open_joined_websocket(server.port)
    memory = server.resident_bytes()
    begin = time.monotonic()
    try:
        connection.sock.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        pass  # closed during the sending: the reset may discard the answer
    code, _ = closing(connection)
    assert code in codes or code is None and len(data) > 500_000, code
    assert time.monotonic() - begin < 8
    assert server.resident_bytes() - memory < 64 << 20
    neighbour.check()


def test_a_frame_in_single_bytes_is_accepted(server, neighbour):
    connection = open_joined_websocket(server.port)
    for byte in frame('42["echo","€"]'.encode(), TEXT):
        connection.sock.sendall(bytes([byte]))
    assert connection.recv() == '42["echo","€"]'
    connection.close()
    neighbour.check()


def test_control_frames_between_fragments_are_accepted(server, neighbour):
    connection = open_joined_websocket(server.port)
    connection.sock.sendall(frame(b'42["ec', TEXT, final=False) + frame(b"beat", PING) + frame(b'ho",1]', 0))
    assert connection.recv_data(control_frame=True) == (10, b"beat")
    assert connection.recv() == '42["echo",1]'
    connection.close()
    neighbour.check()


def test_close_is_answered(server, neighbour):
    connection = open_joined_websocket(server.port)
    connection.sock.sendall(frame(b"\x03\xe8bye", CLOSE))
    assert closing(connection)[0] == 1000
    neighbour.check()
