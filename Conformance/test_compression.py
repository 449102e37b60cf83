"""Compression with independent clients: gzip and deflate of polls, permessage-deflate with the WebSockets of aiohttp and websockets."""
import asyncio
import json
import zlib

import aiohttp
import pytest
import requests
import websockets

from support.process import ServerProcess

LONG = "swift " * 2_000


@pytest.fixture(scope="module")
def compressing():
    process = ServerProcess("conformance", "server", "--port", "0", "--compression")
    yield process
    process.stop()


@pytest.mark.parametrize("coding, window", [("gzip", 31), ("deflate", 15)])
def test_polls_are_compressed_when_the_client_accepts_it(compressing, coding, window):
    url = f"{compressing.url}/socket.io/?EIO=4&transport=polling"
    sid = json.loads(requests.get(url, timeout=10).text[1:])["sid"]
    body = f'40\x1e42["echo",{json.dumps(LONG)}]'
    assert requests.post(f"{url}&sid={sid}", body, timeout=10).text == "ok"
    answer = requests.get(f"{url}&sid={sid}", headers={"Accept-Encoding": coding}, timeout=10, stream=True)
    assert answer.headers["content-encoding"] == coding
    assert answer.headers["vary"] == "Accept-Encoding"
    raw = answer.raw.read(decode_content=False)
    assert len(raw) == int(answer.headers["content-length"]) < 1000
    assert zlib.decompress(raw, window).decode().endswith(f'42["echo",{json.dumps(LONG)}]')


class AIOHTTP:
    def __init__(self, session, window):
        self.session, self.window = session, window

    async def open(self, url):
        self.socket = await self.session.ws_connect(url, compress=self.window)
        assert bool(self.socket.compress) == bool(self.window)
        return self

    async def send(self, text):
        await self.socket.send_str(text)

    async def receive(self):
        return await self.socket.receive_str()


class WebSockets:
    def __init__(self, compression):
        self.compression = compression

    async def open(self, url):
        self.socket = await websockets.connect(url, compression=self.compression)
        return self

    async def send(self, text):
        await self.socket.send(text)

    async def receive(self):
        return await self.socket.recv()


def test_own_messages_and_messages_to_many_alternate(compressing):
    """A broadcast is compressed once for clients with different contexts; every client must still be able to decompress."""

    async def main():
        url = f"ws://127.0.0.1:{compressing.port}/socket.io/?EIO=4&transport=websocket"
        async with aiohttp.ClientSession() as session, asyncio.timeout(60):
            clients = [AIOHTTP(session, 15), AIOHTTP(session, 10), AIOHTTP(session, 0), WebSockets("deflate"), WebSockets(None)]
            for client in clients:
                await client.open(url)
                assert (await client.receive())[0] == "0"
                await client.send("40")
                assert (await client.receive()).startswith("40")
            for turn in range(20):
                own, shared = f"{turn} own {LONG}", f"{turn} for all {LONG}"
                for client in clients:
                    await client.send(f'42["echo",{json.dumps(own)}]')
                    assert await client.receive() == f'42["echo",{json.dumps(own)}]'
                await clients[turn % len(clients)].send(f'42["bc",{json.dumps(shared)}]')
                for client in clients:
                    assert await client.receive() == f'42["bc",{json.dumps(shared)}]'

    asyncio.run(main())
