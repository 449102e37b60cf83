"""Runs python-socketio's client with MessagePack against an Apus server: `python python_socketio_msgpack_client.py URL TRANSPORT…`.

Checks the content and the order of the answers. Exits with 0, or prints the difference. See MessagePackPeerTests.swift for the server.
"""
import queue
import sys

import socketio

url, transports = sys.argv[1], sys.argv[2:]
VALUES = [
    "", "在吗？ 🐦 \u2028 \x1e \x00", 0, -1, 127, 128, -32, -33, 255, 256, 65_535, 65_536, 2**32, 2**53, -(2**31) - 1, 1.5, -2.5e-7, True, None,
    [], {}, [1, [2, [3, {"four": [None, False]}]]], "x" * 100_000, b"", b"\x00\xff", {"a": [b"first", {"b": b"second" * 30_000}]},
    {"_placeholder": True, "num": 7}, [0] * 70_000,
]


def connected(namespaces, auth=None):
    sio = socketio.Client(reconnection=False, serializer="msgpack")
    # It handles every message in a separate thread, in no defined order. This replacement handles them in sequence.
    trigger = sio.eio._trigger_event
    sio.eio._trigger_event = lambda event, *values, **how: trigger(event, *values, **{**how, "run_async": False})
    sio.received = queue.Queue()
    for namespace in namespaces:
        sio.on("echo", lambda *values: sio.received.put(values), namespace=namespace)
        sio.on("room", lambda *values: sio.received.put(values), namespace=namespace)
        sio.on("question", lambda *values: ({"asked": values[0], "bytes": b"\x09"},), namespace=namespace)
    sio.connect(url, transports=transports, namespaces=namespaces, auth=auth, wait_timeout=20)
    return sio


def same(actual, expected):
    assert actual == expected, f"{actual!r:.200} is not {expected!r:.200}"


client = connected(["/", "/custom"], auth={"token": "t", "bytes": b"\x01"})
same(len(client.get_sid("/")), 20)
for namespace in ["/", "/custom"]:
    for value in VALUES:
        client.emit("echo", (value,), namespace=namespace)
    for value in VALUES:
        same(client.received.get(timeout=20), (value,))
    for value in VALUES:
        if value is not None:
            same(client.call("ack", (value, 1), namespace=namespace, timeout=20), (value, 1))
    same(client.call("auth", namespace=namespace, timeout=20), {"token": "t", "bytes": b"\x01"})
same(client.call("ask", b"why", timeout=20), {"asked": b"why", "bytes": b"\x09"})

other = connected(["/"])
for each in [client, other]:
    each.call("join", "r", timeout=20)
client.emit("to-room", ("r", b"\x01\x02"))
for each in [client, other]:
    same(each.received.get(timeout=20), (b"\x01\x02",))
other.disconnect()

try:
    connected(["/private"], auth={"token": "wrong"})
    raise SystemExit("the server let a wrong token in")
except socketio.exceptions.ConnectionError:
    pass

client.emit("leave-me", namespace="/custom")
client.call("ack", 1, timeout=20)
same("/custom" in client.namespaces, False)
client.disconnect()
print("ok")
