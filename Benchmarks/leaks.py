#!/usr/bin/env python3
"""Measures the memory that clients leave behind in the Socket.IO server: leaks.py [BINARY].

BINARY is an `ApusConformance`; default: .build/release/ApusConformance.

Runs three scenarios, each in several rounds against one server. The first round warms up the allocator.
A round ends when the server has closed every descriptor and every session has timed out. Prints the
resident memory of the server before and after, and fails if the last round exceeds the first by more
than a tenth.

- handshakes: 100,000 polling handshakes without a further request
- vanish: 10,000 clients that join three rooms each and do not close: half on WebSocket, with open and
  silent sockets, half on polling
- rooms: 1,000 rooms joined and left by one client

Loopback only. Sessions time out after two seconds (pingInterval and pingTimeout of one second each).
"""
import asyncio
import json
import os
import pathlib
import struct
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("APUS_CONFORMANCE_BINARY", str(ROOT / ".build" / "release" / "ApusConformance"))
ROUNDS = int(os.environ.get("APUS_LEAK_ROUNDS", "4"))
SCALE = float(os.environ.get("APUS_LEAK_SCALE", "1"))
LIFE = 2.0  # seconds until a silent session times out
EVENT = "42"


class Server:
    def __init__(self):
        self.process = subprocess.Popen(
            [BINARY, "server", "--port", "0", "--ping-interval", "1000", "--ping-timeout", "1000"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = int(self.process.stdout.readline().rpartition(":")[2])

    def resident(self) -> float:
        return int(open(f"/proc/{self.process.pid}/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    async def rest(self, descriptors: int):
        """Waits until the server has closed everything that the clients left."""
        deadline = time.monotonic() + 90
        while self.descriptors() > descriptors and time.monotonic() < deadline:
            await asyncio.sleep(0.2)
        if self.descriptors() > descriptors:
            sys.exit(f"the server kept {self.descriptors() - descriptors} descriptors open")
        await asyncio.sleep(LIFE + 1)


class Full(Exception):
    """The server has `maximumClients` sessions."""


class HTTP:
    """One keep-alive connection."""

    def __init__(self, port):
        self.port = port

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def exchange(self, method, query, body=b""):
        head = f"{method} /socket.io/?EIO=4&transport=polling{query} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
        self.writer.write(head.encode() + body)
        fields = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(fields.partition("content-length:")[2].split("\r\n", 1)[0])
        body = await self.reader.readexactly(length)
        if " 503 " in fields[:16]:
            raise Full
        if " 200 " not in fields[:16]:
            raise RuntimeError(f"{fields[:16]} {body!r}")
        return body

    async def handshake(self):
        while True:
            try:
                return json.loads((await self.exchange("GET", ""))[1:])["sid"]
            except Full:  # the server has its maximum of sessions: the oldest time out within two seconds
                await asyncio.sleep(0.1)

    def close(self):
        self.writer.close()


def join(room, ack):
    return f'{EVENT}{ack}["join",{json.dumps(room)}]'


def frame(text):
    payload = text.encode()
    assert len(payload) < 126
    return bytes([0x81, 0x80 | len(payload)]) + b"\0\0\0\0" + payload  # a mask of zeros does not change the payload


class WebSocket:
    async def open(self, port):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        self.writer.write(
            b"GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
        answer = await self.reader.readuntil(b"\r\n\r\n")
        assert b" 101 " in answer[:16], answer
        return self

    async def receive(self):
        first, length = await self.reader.readexactly(2)
        if length == 126:
            (length,) = struct.unpack(">H", await self.reader.readexactly(2))
        return (await self.reader.readexactly(length)).decode()

    async def until(self, start):
        while not (text := await self.receive()).startswith(start):
            if text == "2":
                self.writer.write(frame("3"))

    def send(self, text):
        self.writer.write(frame(text))

    def close(self):
        self.writer.close()


async def each(count, width, work):
    """Runs `work(index)` for every index below `count`, `width` of them concurrently."""
    indices = iter(range(count))

    async def worker():
        for index in indices:
            await work(index)

    await asyncio.gather(*(worker() for _ in range(width)))


async def handshakes(server):
    count, width = int(100_000 * SCALE), 32
    connections = [await HTTP(server.port).open() for _ in range(width)]
    share = count // width

    async def work(connection):
        for _ in range(share):
            await connection.handshake()

    await asyncio.gather(*(work(connection) for connection in connections))
    for connection in connections:
        connection.close()


async def vanish(server):
    half = int(5_000 * SCALE)
    silent = []

    async def by_websocket(index):
        socket = await WebSocket().open(server.port)
        silent.append(socket)
        await socket.until("0")
        socket.send("40")
        await socket.until("40")
        for ack, room in enumerate(["all", f"own {index}", f"some {index % 100}"]):
            socket.send(join(room, ack))
            await socket.until(f"43{ack}[")

    async def by_polling(index):
        connection = await HTTP(server.port).open()
        sid = await connection.handshake()
        rooms = ["all", f"own {half + index}", f"some {index % 100}"]
        body = "\x1e".join(["40", *(join(room, ack) for ack, room in enumerate(rooms))])
        await connection.exchange("POST", f"&sid={sid}", body.encode())
        connection.close()

    await each(half, 64, by_websocket)
    await each(half, 64, by_polling)
    # The silent sockets stay open until their sessions time out.
    await asyncio.sleep(LIFE + 1)
    for socket in silent:
        socket.close()


async def rooms(server):
    socket = await WebSocket().open(server.port)
    await socket.until("0")
    socket.send("40")
    await socket.until("40")
    for index in range(int(1_000 * SCALE)):
        socket.send(join(f"room {index}", index))
        socket.send(f'{EVENT}{index}["leave","room {index}"]')
        await socket.until(f"43{index}[")
        await socket.until(f"43{index}[")
    socket.close()


async def main():
    server = Server()
    failed = False
    try:
        await (await HTTP(server.port).open()).handshake()
        await asyncio.sleep(LIFE + 1)
        descriptors = server.descriptors()
        print(f"{'scenario':<12}{'before':>9}  after each round, MB resident")
        for scenario in (handshakes, vanish, rooms):
            before, after, begin = server.resident(), [], time.monotonic()
            for _ in range(ROUNDS):
                await scenario(server)
                await server.rest(descriptors)
                after.append(server.resident())
            grew = after[-1] > after[0] * 1.1
            failed = failed or grew
            figures = "".join(f"{value:8.1f}" for value in after)
            print(f"{scenario.__name__:<12}{before:9.1f}{figures}   {time.monotonic() - begin:.0f} s{'   GREW' if grew else ''}", flush=True)
    finally:
        server.process.terminate()
        server.process.wait(20)
    sys.exit(1 if failed else 0)


asyncio.run(main())
