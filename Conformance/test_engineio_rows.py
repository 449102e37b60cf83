"""Tests Engine.IO 3 and 4 over sockets against `ApusConformance suite engineio`: handshake, messages, heartbeat, close, upgrade.

Written from the protocol documents. The times are those of the public suites: pingInterval 300 ms, pingTimeout 200 ms.
"""
import asyncio
import json

import aiohttp
import pytest

from support.process import ServerProcess

INTERVAL, TIMEOUT = 0.3, 0.2


class Version:
    """The encoding of one version; the tests are the same for both."""

    def __init__(self, number):
        self.number = number

    def __repr__(self):
        return f"EIO{self.number}"

    def payload(self, *packets):
        if self.number == 4:
            return "\x1e".join(packets)
        return "".join(f"{len(packet.encode('utf-16-le')) // 2}:{packet}" for packet in packets)

    @property
    def base64(self):
        return "bAQIDBA==" if self.number == 4 else "b4AQIDBA=="

    @property
    def frame(self):
        return b"\x01\x02\x03\x04" if self.number == 4 else b"\x04\x01\x02\x03\x04"


@pytest.fixture(scope="module")
def server():
    process = ServerProcess("conformance", "suite", "engineio", "--port", "0")
    yield process
    process.stop()


@pytest.fixture(params=[Version(4), Version(3)], ids=repr)
def version(request):
    return request.param


class Client:
    def __init__(self, server, version, session):
        self.server, self.version, self.session = server, version, session

    def url(self, **fields):
        fields = {"EIO": str(self.version.number), **fields}
        return f"{self.server.url}/engine.io/?" + "&".join(f"{name}={value}" for name, value in fields.items() if value is not None)

    async def get(self, **fields):
        async with self.session.get(self.url(**{"transport": "polling", **fields})) as answer:
            return answer.status, await answer.read()

    async def post(self, body, **fields):
        async with self.session.post(self.url(**{"transport": "polling", **fields}), data=body, headers={"Content-Type": "text/plain"}) as answer:
            return answer.status, (await answer.read()).decode()

    async def handshake(self, **fields):
        """Opens a polling session that accepts text only, and returns its sid."""
        if self.version.number == 3:
            fields = {"b64": "1", **fields}
        status, body = await self.get(**fields)
        assert status == 200
        return json.loads(body[body.index(b"0{") + 1 :])["sid"]

    def web_socket(self, **fields):
        return self.session.ws_connect(self.url(**{"transport": "websocket", **fields}))


def run(server, version, scenario):
    async def main():
        # A separate connection for every request, as a browser may do.
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session:
            async with asyncio.timeout(30):
                await scenario(Client(server, version, session))

    asyncio.run(main())


def test_handshake_by_polling(server, version):
    async def scenario(client):
        status, body = await client.get()
        assert status == 200
        text = body.decode()
        if version.number == 3:
            length, text = text.split(":", 1)
            assert int(length) == len(text)
        assert text[0] == "0"
        terms = json.loads(text[1:])
        assert set(terms) == {"sid", "upgrades", "pingInterval", "pingTimeout", "maxPayload"}
        assert terms["upgrades"] == ["websocket"]
        assert (terms["pingInterval"], terms["pingTimeout"], terms["maxPayload"]) == (300, 200, 1_000_000)

    run(server, version, scenario)


@pytest.mark.parametrize(
    "fields, method",
    [
        ({"EIO": None}, "GET"), ({"EIO": "abc"}, "GET"), ({"EIO": "5"}, "GET"),
        ({"transport": None}, "GET"), ({"transport": "abc"}, "GET"), ({}, "POST"), ({}, "PUT"), ({}, "DELETE"),
        ({"sid": "nobody"}, "GET"), ({"sid": "nobody"}, "POST"),
    ],
)
def test_refused_by_polling(server, version, fields, method):
    async def scenario(client):
        async with client.session.request(method, client.url(**{"transport": "polling", **fields})) as answer:
            assert answer.status == 400
            assert set(await answer.json()) == {"code", "message"}

    run(server, version, scenario)


@pytest.mark.parametrize("fields", [{"EIO": None}, {"EIO": "abc"}, {"transport": None}, {"transport": "abc"}])
def test_refused_by_websocket_before_any_upgrade(server, version, fields):
    async def scenario(client):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
            await client.web_socket(**fields)
        assert refusal.value.status == 400

    run(server, version, scenario)


def test_handshake_by_websocket(server, version):
    async def scenario(client):
        async with client.web_socket() as socket:
            text = await socket.receive_str()
            assert text[0] == "0" and json.loads(text[1:])["upgrades"] == []

    run(server, version, scenario)


@pytest.mark.parametrize("packets", [["4hello"], ["4test1", "4test2", "4test3"], ["4€😀"], ["4hello", "BASE64"]])
def test_messages_by_polling(server, version, packets):
    async def scenario(client):
        body = version.payload(*(version.base64 if packet == "BASE64" else packet for packet in packets))
        sid = await client.handshake()
        assert await client.post(body, sid=sid) == (200, "ok")
        status, answer = await client.get(sid=sid)
        assert (status, answer.decode()) == (200, body)

    run(server, version, scenario)


def test_binary_payload_of_version_3(server):
    async def scenario(client):
        sid = await client.handshake(b64=None)
        assert await client.post("6:4hello10:b4AQIDBA==", sid=sid) == (200, "ok")
        expected = b"\x00\x06\xff4hello\x01\x05\xff\x04\x01\x02\x03\x04"
        assert await client.get(sid=sid) == (200, expected)
        headers = {"Content-Type": "application/octet-stream"}
        async with client.session.post(client.url(transport="polling", sid=sid), data=expected, headers=headers) as answer:
            assert answer.status == 200
        assert await client.get(sid=sid) == (200, expected)

    run(server, Version(3), scenario)


def test_messages_by_websocket(server, version):
    async def scenario(client):
        async with client.web_socket() as socket:
            await socket.receive_str()
            await socket.send_str("4hello")
            assert await socket.receive_str() == "4hello"
            await socket.send_bytes(version.frame)
            assert await socket.receive_bytes() == version.frame

    run(server, version, scenario)


def test_an_invalid_packet_by_polling_closes_the_session(server, version):
    async def scenario(client):
        sid = await client.handshake()
        assert (await client.post("abc", sid=sid))[0] == 400
        assert (await client.get(sid=sid))[0] == 400

    run(server, version, scenario)


def test_an_invalid_packet_by_websocket_closes_the_session(server, version):
    async def scenario(client):
        async with client.web_socket() as socket:
            await socket.receive_str()
            await socket.send_str("abc")
            assert (await socket.receive()).type in {aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED}

    run(server, version, scenario)


def test_overlapping_polls_close_the_session(server, version):
    async def scenario(client):
        sid = await client.handshake()
        first = asyncio.create_task(client.get(sid=sid))
        await asyncio.sleep(0.02)
        assert (await client.get(sid=sid))[0] == 400
        assert await first == (200, version.payload("1").encode())
        assert (await client.get(sid=sid))[0] == 400

    run(server, version, scenario)


def test_heartbeat(server, version):
    async def by_polling(client):
        sid = await client.handshake()
        for _ in range(3):
            if version.number == 4:
                assert await client.get(sid=sid) == (200, b"2")
                assert (await client.post("3", sid=sid))[0] == 200
            else:
                assert (await client.post("1:2", sid=sid))[0] == 200
                assert await client.get(sid=sid) == (200, b"1:3")

    async def by_websocket(client):
        async with client.web_socket() as socket:
            await socket.receive_str()
            for _ in range(3):
                if version.number == 3:
                    await socket.send_str("2")
                    assert await socket.receive_str() == "3"
                else:
                    assert await socket.receive_str() == "2"
                    await socket.send_str("3")

    run(server, version, by_polling)
    run(server, version, by_websocket)


def test_without_heartbeat_the_session_closes(server, version):
    async def scenario(client):
        sid = await client.handshake()
        async with client.web_socket() as socket:
            await asyncio.sleep(INTERVAL + TIMEOUT)
            assert (await client.get(sid=sid))[0] == 400
            types = [(await socket.receive()).type for _ in range(3)]
            assert aiohttp.WSMsgType.CLOSE in types or aiohttp.WSMsgType.CLOSED in types

    run(server, version, scenario)


def test_the_clients_close(server, version):
    async def scenario(client):
        sid = await client.handshake()
        poll = asyncio.create_task(client.get(sid=sid))
        await asyncio.sleep(0.02)
        assert (await client.post(version.payload("1"), sid=sid))[0] == 200
        assert await poll == (200, version.payload("6").encode())
        assert (await client.get(sid=sid))[0] == 400
        async with client.web_socket() as socket:
            await socket.receive_str()
            await socket.send_str("1")
            assert (await socket.receive()).type in {aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED}

    run(server, version, scenario)


def test_upgrade(server, version):
    async def scenario(client):
        sid = await client.handshake()
        async with client.web_socket(sid=sid) as socket:
            await socket.send_str("2probe")
            assert await socket.receive_str() == "3probe"
            assert await client.get(sid=sid) == (200, version.payload("6").encode())
            # More than once: a client that polls again before it pauses must not hang.
            assert await client.get(sid=sid) == (200, version.payload("6").encode())
            await socket.send_str("5")
            await socket.send_str("4hello")
            assert await socket.receive_str() == "4hello"
            assert (await client.get(sid=sid))[0] == 400
            async with client.web_socket(sid=sid) as second:
                assert (await second.receive()).type in {aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED}
            await socket.send_str("4still here")
            assert await socket.receive_str() == "4still here"

    run(server, version, scenario)


def test_a_wrong_probe_keeps_the_session(server, version):
    async def scenario(client):
        sid = await client.handshake()
        async with client.web_socket(sid=sid) as socket:
            await socket.send_str("4hello")
            assert (await socket.receive()).type in {aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED}
        assert await client.post(version.payload("4x"), sid=sid) == (200, "ok")
        assert await client.get(sid=sid) == (200, version.payload("4x").encode())

    run(server, version, scenario)
