"""Tests the server with python-socketio 5.x, an independent implementation of the protocol."""
import asyncio
import queue

import pytest
import socketio

TRANSPORTS = {"polling": ["polling"], "websocket": ["websocket"], "upgrade": ["polling", "websocket"]}
VALUES = [
    "hello",
    "",
    "在吗？ 🐦 \u2028 \x1e \\ \"quoted\" \x00",
    0,
    -1,
    2**53,
    1.5,
    -2.5e-7,
    True,
    None,
    [],
    {},
    [1, [2, [3, {"four": [None, False]}]]],
    {"clé": {"ключ": "值"}, "_placeholder": False},
    "x" * 100_000,
]
BINARIES = [
    b"\x00\x01\xfe\xff",
    b"",
    {"bytes": b"\x01\x02\x03"},
    {"a": {"b": [b"first", {"c": b"second"}]}, "text": "between", "d": b"\xff" * 10_000},
    [b"1", b"2", b"3", "4"],
]


@pytest.fixture(params=list(TRANSPORTS))
def client(server, request):
    sio = socketio.Client(reconnection=False)
    sio.received = queue.Queue()
    # It handles every message in a separate thread, in no defined order. This replacement handles them in sequence.
    trigger = sio.eio._trigger_event
    sio.eio._trigger_event = lambda event, *values, **how: trigger(event, *values, **{**how, "run_async": False})
    sio.on("echo", lambda *arguments: sio.received.put(arguments))
    sio.connect(server.url, transports=TRANSPORTS[request.param], wait_timeout=10)
    assert sio.transport() == ("polling" if request.param == "polling" else "websocket")
    yield sio
    sio.disconnect()


def test_text_is_echoed_unchanged(client):
    for value in VALUES:
        client.emit("echo", value if value is not None else (None,))
        assert client.received.get(timeout=10) == (value,)


def test_binary_is_echoed_unchanged_at_any_depth(client):
    for value in BINARIES:
        client.emit("echo", value)
        assert client.received.get(timeout=10) == (value,)


def test_any_number_of_arguments(client):
    for arguments in [(), (1,), (1, "two", {"three": 3}), (b"one", 2, {"three": b"3"})]:
        client.emit("echo", arguments)
        assert client.received.get(timeout=10) == arguments


def test_order_is_kept(client):
    for number in range(500):
        client.emit("echo", {"number": number, "bytes": b"\x01"} if number % 7 == 0 else number)
    received = [client.received.get(timeout=10)[0] for _ in range(500)]
    assert [value["number"] if isinstance(value, dict) else value for value in received] == list(range(500))


def test_server_acknowledges(client):
    for value in VALUES:
        if value is not None:
            assert client.call("ack", value, timeout=10) == value
    for value in BINARIES:
        assert client.call("ack", value, timeout=10) == value
    assert tuple(client.call("ack", (1, "two", b"three"), timeout=10)) == (1, "two", b"three")


def test_many_acks_at_once(client):
    answers = queue.Queue()
    for number in range(100):
        client.emit("ack", number, callback=lambda value, number=number: answers.put((number, value)))
    assert sorted(answers.get(timeout=10) for _ in range(100)) == [(number, number) for number in range(100)]


def test_client_acknowledges(client):
    questions = []

    @client.on("question")
    def answer(*arguments):
        questions.append(arguments)
        return {"answer": arguments[0], "bytes": b"\x09\x08"}

    assert client.call("emit-back", "why", timeout=10) == {"answer": "why", "bytes": b"\x09\x08"}
    assert questions == [("why",)]


@pytest.mark.parametrize("transport", list(TRANSPORTS))
def test_two_namespaces_on_one_connection(server, transport):
    sio = socketio.Client(reconnection=False)
    received = queue.Queue()
    for namespace in ["/", "/custom"]:
        sio.on("echo", lambda value, namespace=namespace: received.put((namespace, value)), namespace=namespace)
    sio.connect(server.url, transports=TRANSPORTS[transport], namespaces=["/", "/custom"], wait_timeout=10)
    try:
        assert sio.get_sid("/") != sio.get_sid("/custom")
        assert len(sio.get_sid("/")) == 20
        sio.emit("echo", "root")
        assert received.get(timeout=10) == ("/", "root")
        sio.emit("echo", {"bytes": b"\x00"}, namespace="/custom")
        assert received.get(timeout=10) == ("/custom", {"bytes": b"\x00"})
        assert sio.call("ack", "x", namespace="/custom", timeout=10) == "x"
    finally:
        sio.disconnect()


@pytest.mark.parametrize("transport", list(TRANSPORTS))
@pytest.mark.parametrize("auth", [None, {}, {"token": "wrong"}])
def test_refusal_carries_message_and_data(server, transport, auth):
    sio = socketio.Client(reconnection=False)
    refusals = queue.Queue()
    sio.on("connect_error", refusals.put, namespace="/private")
    with pytest.raises(socketio.exceptions.ConnectionError):
        sio.connect(server.url, transports=TRANSPORTS[transport], namespaces=["/private"], auth=auth, wait_timeout=10)
    assert refusals.get(timeout=10) == {"message": "unauthorized", "data": {"code": "unauthorized"}}
    sio.disconnect()


@pytest.mark.parametrize("transport", list(TRANSPORTS))
def test_accepted_with_the_right_token(server, transport):
    sio = socketio.Client(reconnection=False)
    sio.connect(server.url, transports=TRANSPORTS[transport], namespaces=["/private"], auth={"token": "secret"}, wait_timeout=10)
    assert sio.get_sid("/private")
    sio.disconnect()


def test_unknown_namespace_is_refused(server):
    sio = socketio.Client(reconnection=False)
    refusals = queue.Queue()
    sio.on("connect_error", refusals.put, namespace="/nowhere")
    with pytest.raises(socketio.exceptions.ConnectionError):
        sio.connect(server.url, namespaces=["/nowhere"], wait_timeout=10)
    assert refusals.get(timeout=10) == {"message": "Invalid namespace"}
    sio.disconnect()


@pytest.mark.parametrize("transport", list(TRANSPORTS))
def test_twenty_clients_at_once(server, transport):
    """Each client receives its own answers, and every client receives a broadcast once."""

    async def scenario():
        clients = [socketio.AsyncClient(reconnection=False) for _ in range(20)]
        broadcasts = [[] for _ in clients]
        for sio, heard in zip(clients, broadcasts):
            sio.on("bc", heard.append)
        await asyncio.gather(*(sio.connect(server.url, transports=TRANSPORTS[transport], wait_timeout=20) for sio in clients))
        try:

            async def talk(number, sio):
                for turn in range(20):
                    value = {"client": number, "turn": turn, "bytes": bytes([number, turn])}
                    assert await sio.call("ack", value, timeout=20) == value

            await asyncio.gather(*(talk(number, sio) for number, sio in enumerate(clients)))
            await clients[0].emit("bc", transport)
            async with asyncio.timeout(20):
                while not all(broadcasts):
                    await asyncio.sleep(0.02)
            assert broadcasts == [[transport]] * 20
        finally:
            await asyncio.gather(*(sio.disconnect() for sio in clients), return_exceptions=True)

    asyncio.run(scenario())


def test_rooms(server):
    clients = [socketio.Client(reconnection=False) for _ in range(3)]
    heard = [queue.Queue() for _ in clients]
    for sio, inbox in zip(clients, heard):
        sio.on("room", lambda room, value, inbox=inbox: inbox.put((room, value)))
        sio.on("echo", lambda value, inbox=inbox: inbox.put(value))
        sio.connect(server.url, wait_timeout=10)
    try:
        for sio in clients[:2]:
            assert "nest" in sio.call("join", "nest", timeout=10)
        clients[0].emit("to-room", ("nest", 1))
        assert heard[1].get(timeout=10) == ("nest", 1)
        assert "nest" not in clients[1].call("leave", "nest", timeout=10)
        clients[0].emit("to-room", ("nest", 2))
        for sio, inbox in zip(clients, heard):  # an echo sent later: an event to the room would have arrived first
            sio.call("ack", "barrier", timeout=10)
            sio.emit("echo", "barrier")
            assert inbox.get(timeout=10) == "barrier"
    finally:
        for sio in clients:
            sio.disconnect()


def test_disconnect_of_a_client_frees_its_descriptor(server):
    import time

    clients = [socketio.Client(reconnection=False) for _ in range(10)]
    before = server.descriptors()
    for sio in clients:
        sio.connect(server.url, wait_timeout=10)
    for sio in clients:
        sio.disconnect()
    deadline = time.monotonic() + 10
    while server.descriptors() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert server.descriptors() <= before
