"""python-socketio 4.6 (Socket.IO 2.x, Engine.IO 3) as a client of `apus conformance-server --allow-eio3`.

    python python_socketio_4_client.py URL TRANSPORTS      TRANSPORTS: polling, websocket or polling,websocket

Prints one JSON object: each check's name and null, or what went wrong.
"""
import json
import queue
import sys
import time
import traceback

import socketio

URL, TRANSPORTS = sys.argv[1], sys.argv[2].split(",")
VALUES = ["hello", "在吗？ 🐦 \u2028 \"quoted\"", 1, -2.5, True, {"a": [1, {"b": "ü"}]}, "x" * 200_000, "🐦" * 50_000]
BINARIES = [b"\x00\x01\xfe\xff", {"a": {"b": [b"first", {"c": b"second"}]}, "text": "between 🐦"}, b"\xff" * 100_000]


def connect(*namespaces, handlers=()):
    client = socketio.Client(reconnection=False)
    joined = queue.Queue()
    for event, namespace, handler in handlers:
        client.on(event, handler, namespace=namespace)
    for namespace in namespaces:
        plain = namespace.split("?")[0]
        client.on("connect", lambda plain=plain: joined.put((plain, True)), namespace=plain)
        client.on("connect_error", lambda *data, plain=plain: joined.put((plain, data)), namespace=plain)
    client.connect(URL, transports=TRANSPORTS, namespaces=list(namespaces))
    outcome = dict(joined.get(timeout=10) for _ in namespaces)
    return client, outcome


def texts_and_binary_come_back():
    received = queue.Queue()
    client, _ = connect("/", handlers=[("echo", "/", lambda *values: received.put(values))])
    for value in VALUES + BINARIES:
        client.emit("echo", value)
        assert received.get(timeout=10) == (value,)
    for number in range(200):
        client.emit("echo", {"n": number, "b": b"1"} if number % 5 == 0 else number)
    numbers = [received.get(timeout=10)[0] for _ in range(200)]
    assert [n["n"] if isinstance(n, dict) else n for n in numbers] == list(range(200)), numbers
    client.disconnect()


def acks_go_both_ways():
    client, _ = connect("/", handlers=[("question", "/", lambda value: {"answer": value, "bytes": b"\x09"})])
    for value in VALUES + BINARIES:
        assert client.call("ack", value, timeout=10) == value
    assert client.call("emit-back", "why", timeout=10) == {"answer": "why", "bytes": b"\x09"}
    client.disconnect()


def namespaces_share_a_connection():
    received = queue.Queue()
    client, outcome = connect("/", "/custom", handlers=[("echo", "/custom", lambda value: received.put(value))])
    assert outcome == {"/": True, "/custom": True}, outcome
    client.emit("echo", {"bytes": b"\x00"}, namespace="/custom")
    assert received.get(timeout=10) == {"bytes": b"\x00"}
    assert client.call("ack", 1, namespace="/", timeout=10) == 1
    client.disconnect()


def a_refusal_carries_its_data():
    client, outcome = connect("/private")
    assert outcome == {"/private": ({"code": "unauthorized"},)}, outcome
    client.disconnect()
    client, outcome = connect("/private?token=secret")
    assert outcome == {"/private": True}, outcome
    client.disconnect()
    client, outcome = connect("/nowhere")
    assert outcome == {"/nowhere": ("Invalid namespace",)}, outcome
    client.disconnect()


def rooms_are_reached():
    heard = queue.Queue()
    first, _ = connect("/", handlers=[("room", "/", lambda room, value: heard.put((room, value)))])
    second, _ = connect("/")
    assert "nest" in first.call("join", "nest", timeout=10)
    for value in ["text", {"bytes": b"\x01\x02"}]:
        second.emit("to-room", ("nest", value))
        assert heard.get(timeout=10) == ("nest", value)
    first.disconnect()
    second.disconnect()


def the_session_upgrades():
    client, _ = connect("/")
    deadline = time.monotonic() + 10
    while client.transport() != TRANSPORTS[-1] and time.monotonic() < deadline:
        time.sleep(0.02)
    assert client.transport() == TRANSPORTS[-1]
    assert client.call("ack", "after", timeout=10) == "after"
    client.disconnect()


results = {}
for check in [
    texts_and_binary_come_back, acks_go_both_ways, namespaces_share_a_connection, a_refusal_carries_its_data, rooms_are_reached,
    the_session_upgrades,
]:
    try:
        check()
        results[check.__name__] = None
    except BaseException:
        results[check.__name__] = traceback.format_exc()
print(json.dumps(results), flush=True)
