"""Tests Socket.IO 5 over a plain WebSocket against `ApusConformance suite socketio`.

Written from the protocol document, "Packet encoding" and "Sample session".
"""
import asyncio
import json

import aiohttp
import pytest

from support.process import ServerProcess


@pytest.fixture(scope="module")
def server():
    process = ServerProcess("conformance", "suite", "socketio", "--port", "0")
    yield process
    process.stop()


class Socket:
    def __init__(self, socket):
        self.socket = socket

    async def send(self, text, *attachments):
        await self.socket.send_str(text)
        for bytes in attachments:
            await self.socket.send_bytes(bytes)

    async def receive(self):
        """Answers pings and returns the next packet, or None after a close."""
        while True:
            message = await self.socket.receive()
            if message.type == aiohttp.WSMsgType.TEXT:
                if message.data == "2":
                    await self.socket.send_str("3")
                    continue
                return message.data
            return message.data if message.type == aiohttp.WSMsgType.BINARY else None

    async def join(self, namespace="", auth=""):
        await self.send(f"40{namespace}{auth}")
        answer = await self.receive()
        assert answer.startswith(f"40{namespace}" + '{"sid":"'), answer
        greeting = await self.receive()
        assert greeting.startswith(f"42{namespace}" + '["auth",'), greeting
        return json.loads(greeting[greeting.index("[") :])[1]


def run(server, scenario):
    async def main():
        async with aiohttp.ClientSession() as session:
            url = f"{server.url}/socket.io/?EIO=4&transport=websocket"
            async with asyncio.timeout(20), session.ws_connect(url) as socket:
                assert (await socket.receive_str()).startswith("0{")
                await scenario(Socket(socket))

    asyncio.run(main())


@pytest.mark.parametrize("namespace", ["", "/custom,"])
@pytest.mark.parametrize("auth", ["", '{"token":"123"}'])
def test_connect(server, namespace, auth):
    async def scenario(socket):
        assert await socket.join(namespace, auth) == (json.loads(auth) if auth else {})

    run(server, scenario)


def test_unknown_namespace(server):
    async def scenario(socket):
        await socket.send("40/random")
        assert await socket.receive() == '44/random,{"message":"Invalid namespace"}'

    run(server, scenario)


def test_a_client_that_joins_no_namespace_is_closed(server):
    async def scenario(socket):
        assert await socket.receive() is None

    run(server, scenario)


@pytest.mark.parametrize("packet", ["4", "4abc", "40[]", "40null", "41{}", "42[]", "42{}", '42["connect"]', '451-["a"]x', '42"a"', "43", '40{"a":1}{'])
def test_an_invalid_packet_closes_the_connection(server, packet):
    async def scenario(socket):
        await socket.join()
        await socket.send(packet)
        assert await socket.receive() is None

    run(server, scenario)


def test_two_namespaces_and_leaving_one(server):
    async def scenario(socket):
        await socket.join()
        await socket.join("/custom,")
        await socket.send('42/custom,["message","message to custom"]')
        assert await socket.receive() == '42/custom,["message-back","message to custom"]'
        await socket.send('42["message","message to main"]')
        assert await socket.receive() == '42["message-back","message to main"]'
        await socket.send("41")
        await socket.send('42/custom,["message","still here"]')
        assert await socket.receive() == '42/custom,["message-back","still here"]'

    run(server, scenario)


def test_event_before_connect_closes_the_connection(server):
    async def scenario(socket):
        await socket.send('42["message","too early"]')
        assert await socket.receive() is None

    run(server, scenario)


def test_messages_text_and_binary(server):
    async def scenario(socket):
        await socket.join()
        await socket.send('42["message",1,"2",{"3":[true]}]')
        assert await socket.receive() == '42["message-back",1,"2",{"3":[true]}]'
        text = '["message",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]'
        await socket.send(f"452-{text}", b"\x01\x02\x03", b"\x04\x05\x06")
        assert await socket.receive() == "452-" + text.replace("message", "message-back")
        assert [await socket.receive(), await socket.receive()] == [b"\x01\x02\x03", b"\x04\x05\x06"]

    run(server, scenario)


def test_acks_text_and_binary(server):
    async def scenario(socket):
        await socket.join()
        await socket.send('42456["message-with-ack",1,"2",{"3":[false]}]')
        assert await socket.receive() == '43456[1,"2",{"3":[false]}]'
        await socket.send('452-789["message-with-ack",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]', b"\x01", b"\x02")
        assert await socket.receive() == '462-789[{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]'
        assert [await socket.receive(), await socket.receive()] == [b"\x01", b"\x02"]

    run(server, scenario)
