"""Resource limits of the chat server (docs/hazards.md, 27 to 29), and service for clients within the limits."""
import asyncio
import json
import socket
import struct
import time

import pytest
import requests

from support.chat import DEVICE, PASSWORD, ChatPeer, ask, bearer, befriend, register, upload
from support.process import ServerProcess
from support.raw import closing, frame, open_websocket, polling

MIB = 1 << 20


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    # The budgets are off, because the tests measure the other limits and create many accounts.
    process = ServerProcess("serve", "--port", "0", "--no-tls", "--limits", "off", "--data", str(tmp_path_factory.mktemp("chat")))
    yield process
    alive = process.is_alive
    process.stop()
    assert alive, "the server ended by itself:\n" + "".join(process.lines[-40:])


def joined(server, account):
    connection = open_websocket(server.port)
    assert connection.recv().startswith("0{")
    connection.send("40/chat," + json.dumps({"token": account["access"]}))
    assert connection.recv().startswith("40/chat,{")
    return connection


# --- packets


def test_packets_beyond_the_limits_end_their_connection(server):
    account = register(server.url, "limits")
    placeholder = '{"_placeholder":true,"num":0}'
    for packet in [f'451-/chat,["send",{placeholder}]', f'461-/chat,1[{placeholder}]']:
        connection = joined(server, account)
        connection.send(packet)
        # Refused at the header: the server does not wait for the attachments.
        assert closing(connection, timeout=5)[0] is not None
    connection = joined(server, account)
    connection.send('42/chat,1["user.find",{"query":"' + "x" * 131_072 + '"}]')
    assert closing(connection)[0] == 1009
    connection = open_websocket(server.port)
    assert connection.recv().startswith("0{")
    connection.send("40/chat," + json.dumps({"token": account["access"], "more": "x" * 1_024}))
    assert closing(connection, timeout=5)[0] is not None
    sid = json.loads(polling(server.port, EIO="4", transport="polling").text[1:])["sid"]
    assert polling(server.port, "POST", "4" + "x" * 131_072, EIO="4", transport="polling", sid=sid).status_code == 413


@pytest.mark.parametrize("text", ["🐦" * 8000, "\x01" * 8000, '"' * 8000], ids=["escaped pairs", "control characters", "quotes"])
def test_the_longest_text_goes_through(server, text):
    async def scenario():
        names = ["longa" + str(len(set(text.encode()))), "longb" + str(len(set(text.encode())))]
        accounts = [register(server.url, name + hex(ord(text[0]))[2:]) for name in names]
        peers = [ChatPeer(server.url, account) for account in accounts]
        for peer in peers:
            await peer.open()
        await asyncio.to_thread(befriend, server.url, *accounts)
        conv = (await peers[0].request("conversation.open", {"id": "open", "user": peers[1].user}))["head"]["conv"]
        # python-socketio escapes every character beyond ASCII: twelve bytes for an emoji.
        await asyncio.wait_for(peers[0].send(conv, "1", text), 20)
        deadline = asyncio.get_running_loop().time() + 15
        while not any(event["kind"] == "text" for event in peers[1].events):
            assert asyncio.get_running_loop().time() < deadline
            await asyncio.sleep(0.02)
        assert [event["body"]["text"] for event in peers[1].events if event["kind"] == "text"] == [text]
        for peer in peers:
            await peer.close()

    asyncio.run(scenario())


@pytest.mark.timeout(60)
def test_a_client_that_does_not_join_is_closed_after_ten_seconds(server):
    connection = open_websocket(server.port)
    begin = time.monotonic()
    closing(connection, timeout=25)
    assert 8 < time.monotonic() - begin < 20


# --- answers that are not read


def connect_slowly(port: int) -> socket.socket:
    """Opens a connection with a minimal receive buffer."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(20)
    connection.connect(("127.0.0.1", port))
    return connection


def kernel_bytes(port: int) -> int:
    """Returns the number of bytes in the kernel's send queues of the server's connections."""
    total = 0
    with open("/proc/net/tcp") as table:
        for line in list(table)[1:]:
            fields = line.split()
            if int(fields[1].split(":")[1], 16) == port:
                total += int(fields[4].split(":")[0], 16)
    return total


def settled(server, seconds: float = 30) -> int:
    """Returns the server's memory after it has stopped growing, or after `seconds`."""
    deadline = time.monotonic() + seconds
    last = server.resident_bytes()
    still = 0
    while still < 4 and time.monotonic() < deadline:
        time.sleep(0.25)
        now = server.resident_bytes()
        still = still + 1 if abs(now - last) < MIB // 4 else 0
        last = now
    return last


@pytest.mark.timeout(120)
def test_downloads_that_are_not_read_cost_a_few_pieces(server):
    accounts = [register(server.url, f"reader{index}") for index in range(4)]
    body = b"\x07" * (10 * MIB)
    blobs = [upload(server.url, account, body) for account in accounts]
    assert len(set(blobs)) == 1  # each user may load it, because each has uploaded it
    blob = blobs[0]
    before = settled(server)
    connections = []
    try:
        for account in accounts:
            for _ in range(50):
                connection = connect_slowly(server.port)
                connection.sendall(f"GET /api/blobs/{blob} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {account['access']}\r\n\r\n".encode())
                connections.append(connection)
        grown = settled(server) - before
        held = kernel_bytes(server.port)
        # 200 × 10 MiB are requested. Three pieces of 64 KiB for each are 38 MiB; the kernel's send queues are bounded as well.
        assert grown < 64 * MIB, f"{grown / MIB:.0f} MiB"
        assert held < 64 * MIB, f"{held / MIB:.0f} MiB in the kernel's queues"
        # The limit for one user is 64; other users are not affected.
        statuses = []
        for _ in range(20):
            connection = connect_slowly(server.port)
            connections.append(connection)
            connection.sendall(f"GET /api/blobs/{blob} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {accounts[0]['access']}\r\n\r\n".encode())
            statuses.append(connection.recv(12))
        assert statuses.count(b"HTTP/1.1 429") == 6 and statuses.count(b"HTTP/1.1 200") == 14, statuses
        headers = bearer(accounts[3])
        begin = time.monotonic()
        assert requests.get(f"{server.url}/api/blobs/{blob}", headers=headers, timeout=30).content == body
        assert time.monotonic() - begin < 10
    finally:
        for connection in connections:
            connection.close()
    # Closed downloads no longer count.
    headers = bearer(accounts[0])
    deadline = time.monotonic() + 20
    while (answer := requests.get(f"{server.url}/api/blobs/{blob}", headers=headers, timeout=30)).status_code == 429:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert answer.content == body
    # HEAD requests do not count.
    for _ in range(80):
        assert requests.head(f"{server.url}/api/blobs/{blob}", headers=headers, timeout=30).status_code == 200


def silent_socket(server, token: str) -> socket.socket:
    """Returns a client that has joined the chat and then reads nothing."""
    connection = connect_slowly(server.port)
    connection.sendall(
        b"GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
    received = b""
    hello = json.dumps({"version": 1, "device": DEVICE})
    for awaited, packet in [(b'"maxPayload"', "40/chat," + json.dumps({"token": token})), (b"40/chat,", f'42/chat,900["hello",{hello}]'), (b"43/chat,900[", "")]:
        while awaited not in received:
            piece = connection.recv(4096)
            assert piece, received
            received += piece
        if packet:
            connection.sendall(frame(packet.encode()))
    return connection


@pytest.mark.timeout(120)
def test_answers_that_are_not_read_cost_one_answer_a_socket(server):
    accounts = [register(server.url, f"asker{index}") for index in range(3)]

    async def fill():
        peer = ChatPeer(server.url, accounts[0])
        await peer.open()
        for other in accounts[1:]:
            await asyncio.to_thread(befriend, server.url, accounts[0], other)
        others = [account["user"]["name"] for account in accounts[1:]]
        group = {"id": "create", "kind": "group", "title": "large", "users": others}
        conv = (await peer.request("conversation.create", group))["head"]["conv"]
        await asyncio.gather(*(peer.send(conv, str(number), "x" * 8000) for number in range(60)))
        await peer.close()
        return conv

    conv = asyncio.run(fill())
    asked = [f'{number}["history",{json.dumps({"conv": conv, "from": 1})}]' for number in range(60)]
    before = settled(server)
    sockets = []
    try:
        for index in range(110):
            connection = silent_socket(server, accounts[index % 3]["access"])
            sockets.append(connection)
            connection.sendall(b"".join(frame(f"42/chat,{packet}".encode()) for packet in asked))
        grown = settled(server) - before
        # 110 × 60 answers of 256 KiB are requested: 1.6 GiB. One for each socket, with the bytes above the watermark, are 40 MiB.
        assert grown < 90 * MIB, f"{grown / MIB:.0f} MiB"
        assert kernel_bytes(server.port) < 32 * MIB

        async def neighbour():
            peer = ChatPeer(server.url, register(server.url, "bystander"))
            await peer.open()
            slowest = 0.0
            for _ in range(20):
                begin = time.monotonic()
                await peer.request("sync", {})
                slowest = max(slowest, time.monotonic() - begin)
            await peer.close()
            return slowest

        assert asyncio.run(neighbour()) < 2
        # A client that reads later receives every answer in order.
        connection = sockets[0]
        connection.settimeout(30)
        received = b""
        for number in range(60):
            while f"43/chat,{number}[".encode() not in received:
                piece = connection.recv(MIB)
                assert piece, f"closed before answer {number}"
                received = received[-64:] + piece
    finally:
        for connection in sockets:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()


def test_a_user_has_at_most_forty_connections(server):
    account = register(server.url, "manyfold")
    hello = f'42/chat,1["hello",{json.dumps({"version": 1, "device": DEVICE})}]'
    sockets = [joined(server, account) for _ in range(41)]
    for each in sockets:
        each.send(hello)
        answer = json.loads(each.recv().removeprefix("43/chat,1"))[0]
        assert ("error" in answer) == (each is sockets[-1]), answer
    assert answer["error"]["code"] == "too_many"
    for each in sockets:
        each.close()


# --- addresses behind a proxy


def test_a_trusted_proxy_tells_the_clients_apart(tmp_path):
    process = ServerProcess("serve", "--port", "0", "--no-tls", "--data", str(tmp_path / "chat"), "--trusted-proxy", "127.0.0.1")
    try:
        owner = register(process.url, "owner")

        def login(address, name, password="wrong password", **more):
            answer = requests.post(
                f"{process.url}/api/login", json={"name": name, "password": password, "device": DEVICE, **more},
                headers={"X-Forwarded-For": address}, timeout=20)
            return answer.status_code

        assert [login("203.0.113.5", f"name{index}") for index in range(21)] == [401] * 20 + [429]
        # The client wrote the first address, and the proxy appended the second one.
        assert login("198.51.100.1, 203.0.113.5", "other") == 429
        assert login("203.0.113.6", "other") == 401
        # Other clients use up the attempts of a name, but not those of a device on which its user has signed in before.
        assert [login(f"192.0.2.{index}", "owner") for index in range(11)] == [401] * 10 + [429]
        assert login("192.0.2.99", "owner", PASSWORD, known=owner["known"]) == 200
    finally:
        process.stop()
