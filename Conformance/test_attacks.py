"""Resource limits against anonymous clients (docs/hazards.md, 27 to 30). The server stays below 1 GiB, keeps at most three times the bytes
received, and serves another client, whose p99 is printed (-rP) and written to .build/test-results/attacks.jsonl."""
import contextlib
import os
import pathlib
import select
import time

import pytest
import requests

from support import attack
from support.attack import Memory, Probe, frame, megabytes, report
from support.chat import ask, befriend, register, upload
from support.process import BINARY, ServerProcess

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux: memory and CPU time of another process")

UNFINISHED = 64 << 20  # the budget of unfinished input
# In addition to the budgets: the event loops' read buffers, the allocator's overhead, and code pages first used during the attack.
SLACK = 24 << 20
IS_RELEASE = "release" in str(BINARY)
# The delay in a release build is much shorter, and a stall is much longer. The attackers share two busy cores, and a debug build is ten
# times slower.
P99 = 1.0 if IS_RELEASE else 3.0


@contextlib.contextmanager
def running(*arguments: str):
    server = ServerProcess(*arguments)
    try:
        yield server
        assert server.is_alive, "the server ended by itself:\n" + "".join(server.lines[-40:])
    finally:
        server.stop()


@contextlib.contextmanager
def closing(connections: list):
    try:
        yield connections
    finally:
        for connection in connections:
            connection.close()


@pytest.fixture
def conformance():
    with running("conformance", "server", "--port", "0") as server:
        # The memory of the first connection does not count as that of the attack.
        with Probe.socketio(server.port) as probe:
            while len(probe.waits) < 20:
                time.sleep(0.01)
        yield server


def hold(server: ServerProcess, name: str, connections: list, payload: bytes, budget: int = UNFINISHED, seconds: float = 15):
    """Sends `payload` on each connection and reads nothing; checks that the server's memory stays bounded."""
    with Probe.socketio(server.port) as probe, Memory(server) as memory:
        sent = sum(attack.send_all(dict.fromkeys(connections, payload), seconds).values())
        attack.settle(server)
    report(name, probe, connections=len(connections), sent_mb=megabytes(sent), growth_mb=megabytes(memory.growth), growth_by_sent=round(memory.growth / max(1, sent), 2))
    assert memory.growth <= min(3 * sent, budget * 3 // 2) + SLACK, f"{memory.growth} bytes for {sent} sent"
    assert probe.p99 < P99
    # The server accepts new clients after the attackers have disconnected.
    for connection in connections:
        connection.close()
    deadline = time.monotonic() + 20
    while True:
        with contextlib.suppress(ConnectionError):
            attack.open_socketio(server.port).close()
            return
        assert time.monotonic() < deadline, "no client is accepted after the attack"
        time.sleep(0.1)


# MARK: 8. Packets and messages that are never completed

TREE = '451-%s["x",{"_placeholder":true,"num":0}' + ',{"":0}' * 141_000 + "]"  # 990 kB


@pytest.mark.timeout(60)
@pytest.mark.parametrize("namespace", ["", "/chat,"], ids=["joined", "not joined"])
def test_8_a_packet_without_its_attachment(conformance, namespace):
    connections = [attack.open_socketio(conformance.port) if not namespace else attack.open_websocket(conformance.port) for _ in range(32)]
    with closing(connections):
        hold(conformance, f"8 no attachment, {'joined' if not namespace else 'not joined'}", connections, frame((TREE % namespace).encode()))


@pytest.mark.timeout(60)
def test_8_nine_of_ten_attachments(conformance):
    header = '4510-["x",' + ",".join(f'{{"_placeholder":true,"num":{number}}}' for number in range(10)) + "]"
    payload = frame(header.encode()) + frame(bytes(999_000), opcode=2) * 9
    with closing([attack.open_socketio(conformance.port) for _ in range(24)]) as connections:
        hold(conformance, "8 nine of ten attachments", connections, payload)


@pytest.mark.timeout(60)
def test_8_messages_without_their_last_fragment(conformance):
    payload = frame(b"4" + bytes(100), opcode=1, final=False) + b"".join(frame(bytes(100_000), opcode=0, final=False) for _ in range(9))
    with closing([attack.open_websocket(conformance.port) for _ in range(180)]) as connections:
        hold(conformance, "8 fragments", connections, payload)


@pytest.mark.timeout(60)
def test_8_bodies_that_do_not_end(conformance):
    sid = requests.get(conformance.url + "/socket.io/?EIO=4&transport=polling", timeout=20).text.split('"sid":"')[1].split('"')[0]
    head = f"POST /socket.io/?EIO=4&transport=polling&sid={sid} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n4"
    with closing([attack.connect(conformance.port) for _ in range(180)]) as connections:
        hold(conformance, "8 bodies", connections, head.encode() + bytes(b"x" * 900_000), seconds=8)


# MARK: 9. Large auth


@pytest.mark.timeout(60)
def test_9_a_large_auth(conformance):
    auth = '40{"a":[' + "[0]," * 237_000 + "0]}"  # 950 kB
    with closing([attack.open_websocket(conformance.port) for _ in range(20)]) as connections:
        hold(conformance, "9 auth", connections, frame(auth.encode()))


# MARK: 10. Small requests with large answers that are not read

ROOMS = [f"{number}" + "r" * 600 for number in range(100)]


def join_rooms(connection):
    """Joins many rooms. The answer to each later `join` lists all of them: 60 kB for 30 bytes."""
    for number, room in enumerate(ROOMS):
        connection.sendall(frame(f'42{number}["join","{room}"]'.encode()))
        attack.read_until(connection, f"43{number}[".encode())
        if number < len(ROOMS) - 1:
            while connection in select.select([connection], [], [], 0)[0]:
                connection.recv(1 << 20)
    time.sleep(0.1)
    while connection in select.select([connection], [], [], 0.1)[0]:
        connection.recv(1 << 20)


@pytest.mark.timeout(60)
def test_10_answers_that_are_not_read(conformance):
    with closing([attack.open_socketio(conformance.port) for _ in range(8)]) as connections:
        for connection in connections:
            join_rooms(connection)
        request = b"".join(frame(f'42{number}["join","0"]'.encode()) for number in range(1000, 2200))
        with Probe.socketio(conformance.port) as probe, Memory(conformance) as memory:
            sent = sum(attack.send_all(dict.fromkeys(connections, request), 10).values())
            attack.settle(conformance)
        report("10 answers of 60 kB", probe, connections=len(connections), sent_mb=megabytes(sent), growth_mb=megabytes(memory.growth))
        # The high watermark is 1 MiB; all answers together would be 72 MB for each client.
        assert memory.growth <= len(connections) * (3 << 20) + SLACK
        assert probe.p99 < P99
        # A client that reads later receives all answers in order.
        connections[0].setblocking(True)
        connections[0].settimeout(20)
        received = b""
        for number in range(1000, 2200):
            while f"43{number}[".encode() not in received:
                chunk = connections[0].recv(1 << 20)
                assert chunk, "closed before all answers arrived"
                received = received[-20:] + chunk
            received = received[received.index(f"43{number}[".encode()):]


@pytest.mark.timeout(60)
def test_10_answers_that_are_not_polled(conformance):
    def url(sid=""):
        return f"{conformance.url}/socket.io/?EIO=4&transport=polling{sid}"

    sessions = []
    for _ in range(8):
        with requests.Session() as session:
            sid = "&sid=" + session.get(url(), timeout=20).text.split('"sid":"')[1].split('"')[0]
            session.post(url(sid), data="40", timeout=20)
            session.get(url(sid), timeout=20)
            for number in range(0, len(ROOMS), 10):
                session.post(url(sid), data="\x1e".join(f'42{number + i}["join","{ROOMS[number + i]}"]' for i in range(10)), timeout=20)
                session.get(url(sid), timeout=20)
            sessions.append(sid)
    body = "\x1e".join(f'42{number}["join","0"]' for number in range(1000, 1900)).encode()
    payloads = {attack.connect(conformance.port): f"POST {url(sid)} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body for sid in sessions}
    with closing(list(payloads)), Probe.socketio(conformance.port) as probe:
        with Memory(conformance) as memory:
            sent = sum(attack.send_all(payloads, 10).values())
            attack.settle(conformance)
        report("10 answers of 60 kB, not polled", probe, connections=len(payloads), sent_mb=megabytes(sent), growth_mb=megabytes(memory.growth))
        assert memory.growth <= len(payloads) * (3 << 20) + SLACK
        # A client that polls later receives its answers, and its POST is then answered.
        answers = 0
        while answers < 900:
            answers += requests.get(url(sessions[0]), timeout=20).text.count("[[")
        connection = list(payloads)[0]
        connection.setblocking(True)
        connection.settimeout(20)
        assert attack.read_until(connection, b"ok").startswith(b"HTTP/1.1 200")
    assert probe.p99 < P99


@pytest.fixture(scope="module")
def chat(tmp_path_factory):
    with running("serve", "--port", "0", "--no-tls", "--limits", "off", "--data", str(tmp_path_factory.mktemp("chat"))) as server:
        yield server


@pytest.mark.timeout(120)
def test_10_large_syncs_that_are_not_read(chat):
    """Many sockets request a conversation of 9.7 MB and never read: each answer contains only a part of it."""
    account, other = register(chat.url, "reader"), register(chat.url, "writer")
    befriend(chat.url, account, other)
    conversation = ask(chat.url, account, "conversation.open", {"id": "open", "user": "writer"})["head"]["conv"]
    size, count = 8_000, 200
    hello = [f'40/chat,{{"token":"{account["access"]}"}}', '42/chat,0["hello",{"version":1,"device":{"name":"Test","platform":"test"}}]']
    with contextlib.closing(attack.open_socketio(chat.port, hello[0], 1 << 20)) as writer:
        writer.sendall(frame(hello[1].encode()))
        attack.read_until(writer, b"43/chat,0[")
        for number in range(count):
            body = f'{{"conv":"{conversation}","id":"m{number}","kind":"text","body":{{"text":"{CONTROL * size}"}}}}'
            writer.sendall(frame(f'42/chat,{number + 10}["send",{body}]'.encode()))
            answer = attack.read_until(writer, f"43/chat,{number + 10}[".encode())
            assert b'"error"' not in answer, answer[-300:]
    request = frame(hello[1].encode()) + frame(f'42/chat,1["history",{{"conv":"{conversation}","from":1,"limit":200}}]'.encode())
    connections = [attack.open_socketio(chat.port, hello[0]) for _ in range(40)]
    with closing(connections), Probe.http(chat.port) as probe, Memory(chat) as memory:
        sent = sum(attack.send_all(dict.fromkeys(connections, request), 10).values())
        attack.settle(chat, 2, 60)
    report("10 syncs", probe, connections=len(connections), sent_mb=megabytes(sent), largest_answer_mb=megabytes(6 * size * count), growth_mb=megabytes(memory.growth))
    assert memory.growth < len(connections) * (1 << 20) + 2 * SLACK
    assert probe.p99 < P99


CONTROL = "\\u0001"  # one byte in the text, six bytes in each answer


@pytest.mark.timeout(120)
def test_10_downloads_that_are_not_read(chat):
    account = register(chat.url, "uploader")
    blob = upload(chat.url, account, os.urandom(9_000_000))
    request = f"GET /api/blobs/{blob} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {account['access']}\r\n\r\n".encode()
    with closing([attack.connect(chat.port) for _ in range(200)]) as connections, Probe.http(chat.port) as probe:
        with Memory(chat) as memory:
            attack.send_all(dict.fromkeys(connections, request), 10)
            attack.settle(chat, 2)
    report("10 downloads", probe, connections=200, growth_mb=megabytes(memory.growth))
    assert memory.growth < 256e6
    assert probe.p99 < P99


# MARK: 11. A burst to a room


@pytest.mark.timeout(100)
def test_11_a_burst_to_a_room(conformance):
    members, messages, rounds = (150, 64, 3) if IS_RELEASE else (60, 64, 3)
    text = '42["to-room","r",%d]'
    payload = b"".join(frame((text % (1000 + number)).encode()) for number in range(messages))
    # A server does not mask its frames: the header has 2 bytes.
    expected = (members - 1) * messages * (2 + len('42["room","r",1000]'))
    with closing([attack.open_socketio(conformance.port, receive_buffer=1 << 20) for _ in range(members)]) as connections:
        for connection in connections:
            connection.sendall(frame(b'420["join","r"]'))
            attack.read_until(connection, b"430[")
            connection.setblocking(False)
        with Probe.socketio(conformance.port) as probe:
            time.sleep(0.5)
            quiet = probe.p99
            first = len(probe.waits)
            before, begin = attack.cpu_seconds(conformance.process.pid), time.monotonic()
            for _ in range(rounds):
                for connection in connections:
                    connection.send(payload)
                read_exactly(connections, expected)
            took, cpu = time.monotonic() - begin, attack.cpu_seconds(conformance.process.pid) - before
            time.sleep(0.1)
            del probe.waits[:first]
    cost = cpu / (members * (members - 1) * messages * rounds) * 1e6
    report("11 burst", probe, members=members, messages=messages, rounds=rounds, seconds=round(took, 2), cpu_us_a_delivery=round(cost, 2), quiet_p99_ms=round(quiet * 1000, 1))
    # The client runs on the same machine, so only the server's CPU time is measured.
    assert cost < (2.5 if IS_RELEASE else 15)
    assert probe.p99 < P99


def read_exactly(connections: list, count: int):
    missing = dict.fromkeys(connections, count)
    files = {connection.fileno(): connection for connection in connections}
    with contextlib.closing(select.epoll()) as poller:
        for file in files:
            poller.register(file, select.EPOLLIN)
        while missing:
            ready = poller.poll(30)
            assert ready, f"no more data arrives; {sum(missing.values())} bytes are missing"
            for file, _ in ready:
                got = len(files[file].recv(4 << 20))
                assert got > 0, "a member was closed"
                missing[files[file]] -= got
                assert missing[files[file]] >= 0, "more bytes arrived than were sent"
                if not missing[files[file]]:
                    del missing[files[file]]


# MARK: 12. An echo server whose clients do not read


@pytest.mark.timeout(60)
@pytest.mark.parametrize("size", [1000, 1_000_000])
def test_12_echoes_that_are_not_read(size):
    with running("ws", "--listen", "127.0.0.1:0") as server:
        with closing([attack.open_websocket(server.port, "/") for _ in range(20)]) as connections, Probe.websocket(server.port) as probe:
            while len(probe.waits) < 20:
                time.sleep(0.01)
            payload = frame(bytes(size), opcode=2) * (70_000_000 // size)
            with Memory(server) as memory:
                sent = sum(attack.send_all(dict.fromkeys(connections, payload), 15).values())
                attack.settle(server)
        report(f"12 echoes of {size}", probe, connections=20, sent_mb=megabytes(sent), growth_mb=megabytes(memory.growth))
        # The bound is the high watermark of 256 KiB, one message and one read.
        assert memory.growth <= 20 * ((1 << 20) + 3 * size) + SLACK
        assert probe.p99 < P99
