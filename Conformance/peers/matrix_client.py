"""Runs python-socketio 5.x or 4.6 (Socket.IO 2.x on the wire) as a column of the interop matrix, with `ApusConformance server`.

    python matrix_client.py URL TRANSPORT [msgpack] [CHECK…]      TRANSPORT: polling, websocket or upgrade

Performs every check and prints a line of JSON for each: {"check": …, "failure": null or a message}. For the restart check it prints
{"ready": "restart"} and waits until the server has been restarted. The clients of the other columns behave in the same way.
"""
import json
import os
import queue
import sys
import threading
import time
import traceback
import uuid

import socketio

URL, TRANSPORT, *ONLY = sys.argv[1:]
TRANSPORTS = {"polling": ["polling"], "websocket": ["websocket"], "upgrade": ["polling", "websocket"]}[TRANSPORT]
IS_2 = not hasattr(socketio, "SimpleClient")  # a client of Socket.IO 2.x
SERIALIZER = {"serializer": "msgpack"} if "msgpack" in ONLY else {}
ONLY = [word for word in ONLY if word != "msgpack"]
WAIT = 30
TEXTS = [
    "hello", "", "在吗？ 🐦 \u2028 \x1e \\ \"quoted\" \x00", 0, -1, 2**53, 1.5, -2.5e-7, True, False, None, [], {},
    [1, [2, [3, {"four": [None, False]}]]], {"clé": {"ключ": "值"}, "_placeholder": False}, "x" * 100_000, "🐦" * 30_000,
]
BINARIES = [
    b"\x00\x01\xfe\xff", b"", {"bytes": b"\x01\x02\x03"},
    {"a": {"b": [b"first", {"c": b"second"}]}, "text": "between 🐦", "d": b"\xff" * 10_000}, [b"\x04", b"\x1e", b"\xff\x00", "4"],
]
if IS_2:
    # Faults of 4.6: an empty attachment becomes None, and a character beyond the Basic Multilingual Plane counts once in the lengths
    # of a payload, where the protocol counts UTF-16 code units.
    BINARIES.remove(b"")
    BINARIES[2]["text"] = "between 雨"
    TEXTS = [value.replace("🐦", "雨") if isinstance(value, str) else value for value in TEXTS]


def same(got, wanted, what):
    """Checks that the values and their types are equal: True is not 1."""
    if repr(got) != repr(wanted):
        raise AssertionError(f"{what}: {repr(got)[:250]} instead of {repr(wanted)[:250]}")


class Inbox:
    """The events of one name that a client has received, in order."""

    def __init__(self, client, event, namespace="/", wanted=lambda *values: True):
        self.count, self._queue, self._wanted = 0, queue.Queue(), wanted
        client.on(event, self._receive, namespace=namespace)

    def _receive(self, *values):
        if self._wanted(*values):
            self.count += 1
            self._queue.put(values)

    def take(self, count):
        return [self._queue.get(timeout=WAIT) for _ in range(count)]


def make(reconnection=False):
    # The order on the wire is that of the calls only with one sender: no check emits from two threads.
    options = {"reconnection_delay": 0.1, "reconnection_delay_max": 0.5, "randomization_factor": 0.5} if reconnection else {}
    client = socketio.Client(reconnection=reconnection, **SERIALIZER, **options)
    # It handles every message in a separate thread, in no defined order. This replacement handles them in sequence.
    trigger = client.eio._trigger_event
    client.eio._trigger_event = lambda event, *values, **how: trigger(event, *values, **{**how, "run_async": False})
    return client


def connect(client, *namespaces, auth=None):
    """Connects and waits until each namespace is joined or refused. Returns {namespace: None or the text of the refusal}."""
    outcome = queue.Queue()
    names = [namespace.split("?")[0] for namespace in namespaces]
    for name in names:
        client.on("connect_error", lambda *data, name=name: outcome.put((name, data[0] if len(data) == 1 else data)), namespace=name)
        client.on("connect", lambda name=name: outcome.put((name, None)), namespace=name)
    if IS_2:
        client.connect(URL, transports=TRANSPORTS, namespaces=list(namespaces))
    else:
        client.connect(URL, transports=TRANSPORTS, namespaces=list(namespaces), auth=auth, wait=False)
    return dict(outcome.get(timeout=WAIT) for _ in names)


def joined(client, *namespaces, **options):
    same(connect(client, *namespaces, **options), dict.fromkeys((name.split("?")[0] for name in namespaces)), "namespaces")
    return client


def leave(*clients):
    """Disconnects without waiting. With a POST in flight, 5.x never sends its close, and waits for the poll until the next ping."""
    for client in clients:
        threading.Thread(target=client.disconnect, daemon=True).start()


def barrier(client, namespace="/"):
    same(client.call("ack", "barrier", namespace=namespace, timeout=WAIT), "barrier", "the ack after it")


def eventually(condition, what):
    deadline = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.005)


def text():
    client = make()
    inbox = Inbox(client, "echo")
    joined(client, "/")
    for value in TEXTS:
        client.emit("echo", (value,))
    same(inbox.take(len(TEXTS)), [(value,) for value in TEXTS], "echoes")
    eventually(lambda: client.transport() == TRANSPORTS[-1], f"the client's transport is {TRANSPORTS[-1]}")
    eventually(lambda: client.call("transport", timeout=WAIT) == TRANSPORTS[-1], f"the server's transport is {TRANSPORTS[-1]}")
    arguments = [(), (1,), (1, "two", {"three": 3})]
    for values in arguments:
        client.emit("echo", values)
    same(inbox.take(len(arguments)), arguments, "arguments")
    for number in range(300):
        client.emit("echo", number)
    same(inbox.take(300), [(number,) for number in range(300)], "order")
    barrier(client)
    same(inbox.count, len(TEXTS) + len(arguments) + 300, "each once")
    leave(client)


def binary():
    client = make()
    inbox = Inbox(client, "echo")
    joined(client, "/")
    for value in BINARIES:
        client.emit("echo", (value,))
    same(inbox.take(len(BINARIES)), [(value,) for value in BINARIES], "echoes")
    mixed = [({"n": number, "b": bytes([number])},) if number % 5 == 0 else (number,) for number in range(200)]
    for values in mixed:
        client.emit("echo", values)
    same(inbox.take(200), mixed, "order")
    barrier(client)
    same(inbox.count, len(BINARIES) + 200, "each once")
    leave(client)


def acks():
    client, asked = make(), []

    def question(*values):
        asked.append(values)
        return {"answer": list(values), "bytes": b"\x09\x08"}

    client.on("question", question)
    joined(client, "/")
    everything = tuple(TEXTS + BINARIES)
    same(tuple(client.call("ack", everything, timeout=WAIT)), everything, "many values")
    answers = queue.Queue()
    client.emit("ack", (), callback=lambda *values: answers.put(values))
    same(answers.get(timeout=WAIT), (), "no value")
    for number in range(100):
        client.emit("ack", number, callback=lambda *values, number=number: answers.put((number, values)))
    same(sorted(answers.get(timeout=WAIT) for _ in range(100)), [(number, (number,)) for number in range(100)], "the ack of each event")
    for value in [*BINARIES, "why"]:
        same(client.call("emit-back", (value,), timeout=WAIT), {"answer": [value], "bytes": b"\x09\x08"}, "the client's answer")
    same(asked, [(value,) for value in [*BINARIES, "why"]], "the questions")
    barrier(client)
    same(answers.qsize(), 0, "acks that came twice")
    leave(client)


def namespaces():
    client = make()
    root, custom = Inbox(client, "echo"), Inbox(client, "echo", "/custom")
    outcome = connect(client, "/", "/custom", "/nowhere")
    same(outcome, {"/": None, "/custom": None, "/nowhere": "Invalid namespace" if IS_2 else {"message": "Invalid namespace"}}, "namespaces")
    if not IS_2:
        assert client.get_sid("/") and client.get_sid("/") != client.get_sid("/custom"), "ids"
    client.emit("echo", "root")
    client.emit("echo", {"bytes": b"\x00"}, namespace="/custom")
    same(root.take(1) + custom.take(1), [("root",), ({"bytes": b"\x00"},)], "echoes")
    same([client.call("ack", name, namespace=name, timeout=WAIT) for name in ("/", "/custom")], ["/", "/custom"], "acks")
    same([root.count, custom.count], [1, 1], "each once")
    leave(client)


def refusal():
    client = make()
    if IS_2:
        same(connect(client, "/", "/private?token=wrong"), {"/": None, "/private": {"code": "unauthorized"}}, "refusal")
    else:
        wanted = {"/": None, "/private": {"message": "unauthorized", "data": {"code": "unauthorized"}}}
        same(connect(client, "/", "/private", auth={"token": "wrong"}), wanted, "refusal")
    barrier(client)
    leave(client)
    client = joined(make(), "/private?token=secret") if IS_2 else joined(make(), "/private", auth={"token": "secret"})
    barrier(client, "/private")
    leave(client)


def rooms():
    room = f"nest {uuid.uuid4()}"  # other columns use the same server at the same time
    clients = [make() for _ in range(3)]
    heard = [Inbox(client, "room") for client in clients]
    broadcast = [Inbox(client, "bc", wanted=lambda value: value.get("room") == room) for client in clients]
    for client in clients:
        joined(client, "/")
    for client in clients[:2]:
        assert room in client.call("join", room, timeout=WAIT), "not in the joined room"
    values = BINARIES + list(range(20))
    for value in values:
        clients[0].emit("to-room", (room, value))
    same(heard[1].take(len(values)), [(room, value) for value in values], "the room's events")
    assert room not in clients[1].call("leave", room, timeout=WAIT), "still in the left room"
    clients[0].emit("to-room", (room, "to an empty room"))
    everyone = {"room": room, "bytes": b"\x01\x02"}
    clients[2].emit("bc", everyone)
    same([inbox.take(1) for inbox in broadcast], [[(everyone,)]] * 3, "the broadcast")
    for client in clients:
        barrier(client)
    same([inbox.count for inbox in broadcast], [1] * 3, "the broadcast, once")
    same([inbox.count for inbox in heard], [0, len(values), 0], "the number of room events for each socket")
    leave(*clients)


def megabyte():
    client = make()
    inbox = Inbox(client, "echo")
    joined(client, "/")
    values = ["x" * 1_000_000, "🐦" * 250_000, {"deep": [os.urandom(1_000_000)]}]
    for value in values:
        client.emit("echo", value)
        assert inbox.take(1) == [(value,)], "the echo of a megabyte differs"
        assert client.call("ack", value, timeout=WAIT) == value, "the ack of a megabyte differs"
    same(inbox.count, len(values), "each once")
    leave(client)


def server_disconnect():
    client, lost, connects = make(reconnection=True), [], []
    client.on("disconnect", lambda *reason: lost.append(reason), namespace="/custom")
    joined(client, "/", "/custom")
    client.on("connect", lambda: connects.append(1), namespace="/custom")
    client.emit("leave-me", (), namespace="/custom")
    eventually(lambda: lost, "the disconnect of /custom")
    time.sleep(0.5)  # several times the reconnection delay
    same(lost, [()] if IS_2 else [("server disconnect",)], "disconnects")
    barrier(client)
    same(connects, [], "connects")
    leave(client)
    if IS_2:
        return  # 4.6 reconnects after the server has closed the whole connection
    # The whole connection: each namespace receives the disconnect, and no client reconnects.
    client, lost = make(reconnection=True), {"/": [], "/custom": []}
    for name, reasons in lost.items():
        client.on("disconnect", lambda *reason, reasons=reasons: reasons.append(reason), namespace=name)
    joined(client, "/", "/custom")
    for name in lost:
        client.on("connect", lambda: connects.append(1), namespace=name)
    client.emit("close-me", (), namespace="/custom")
    eventually(lambda: all(lost.values()), "the disconnect of both")
    time.sleep(0.5)
    same(connects, [], "connects")
    same(lost, {"/": [("server disconnect",)], "/custom": [("server disconnect",)]}, "disconnects")
    leave(client)


def restart():
    client, connects, lost = make(reconnection=True), [], []
    inbox = Inbox(client, "echo")
    joined(client, "/", "/custom")
    first = None if IS_2 else client.get_sid("/")
    client.on("connect", lambda: connects.append("/"), namespace="/")
    client.on("connect", lambda: connects.append("/custom"), namespace="/custom")
    client.on("disconnect", lambda *reason: lost.append(reason), namespace="/")
    client.call("join", "before", timeout=WAIT)
    say({"ready": "restart"})
    eventually(lambda: len(connects) == 2, f"both namespaces are joined again: {connects}")
    same(sorted(connects), ["/", "/custom"], "connects")
    same(len(lost), 1, f"disconnects {lost}")
    assert IS_2 or client.get_sid("/") != first, "the same id"
    for number in range(20):
        client.emit("echo", number)
    same(inbox.take(20), [(number,) for number in range(20)], "echoes")
    barrier(client, "/custom")
    assert "before" not in client.call("join", "after", timeout=WAIT), "the rooms of the old server"
    same(inbox.count, 20, "each once")
    leave(client)


def say(line):
    print(json.dumps(line), flush=True)


CHECKS = [text, binary, acks, namespaces, refusal, rooms, megabyte, server_disconnect, restart]
for check in [check for check in CHECKS if not ONLY or check.__name__.replace("_", "-") in ONLY]:
    failure = None
    try:
        check()
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[1]
        failure = f"{type(error).__name__}: {error} (line {place.lineno})"
    say({"check": check.__name__.replace("_", "-"), "failure": failure})
# A client's threads may still wait for a poll of the terminated server.
sys.stdout.flush()
os._exit(0)
