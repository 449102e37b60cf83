"""Tests the WebSocket server (`apus ws --listen`) with Python's `websockets` and Node's `ws`, directly and through nginx."""
import asyncio
import hashlib
import json
import os
import re
import ssl
import subprocess

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from support.peers import nginx, node_client
from support.process import BINARY, ServerProcess

TEXTS = ["hello", "", "在吗？ 🐦 \x00 \u2028", "x" * 125, "x" * 126, "é" * 40_000, "abc " * 200_000]
SIZES = [0, 1, 125, 126, 65_535, 65_536, 1 << 20]


def echo_server(*options):
    return ServerProcess("ws", "--listen", "127.0.0.1:0", "--max-message", str(32 << 20), *options)


@pytest.fixture(scope="module")
def server():
    process = echo_server("--compress", "--subprotocol", "chat")
    yield process
    assert process.is_alive, "".join(process.lines[-40:])
    process.stop()


@pytest.fixture(scope="module")
def proxy(server):
    with nginx(server.port) as ports:
        yield ports


@pytest.fixture(params=["direct", "nginx ws", "nginx wss"])
def address(request, server):
    """A URL and its TLS context."""
    if request.param == "direct":
        return f"ws://127.0.0.1:{server.port}/", None
    plain, secure, certificate = request.getfixturevalue("proxy")
    if request.param == "nginx ws":
        return f"ws://127.0.0.1:{plain}/", None
    return f"wss://localhost:{secure}/", certificate.client_context()


async def exchange(connection):
    for value in [*TEXTS, *(os.urandom(size) for size in SIZES)]:
        await connection.send(value)
        assert await connection.recv() == value
    await connection.send(["frag", "men", "", "ted"])
    assert await connection.recv() == "fragmented"
    await connection.send([b"\x00", b"\xff" * 70_000, b"\x01"])
    assert await connection.recv() == b"\x00" + b"\xff" * 70_000 + b"\x01"


@pytest.mark.parametrize("compression", [None, "deflate"])
def test_python_websockets(address, compression):
    url, tls = address

    async def run():
        async with connect(url, compression=compression, max_size=64 << 20, ssl=tls, proxy=None) as connection:
            await asyncio.wait_for(exchange(connection), 60)
            # The library has no property for the agreed extensions; the response contains them.
            agreed = connection.response.headers.get("Sec-WebSocket-Extensions")
            assert (agreed is not None and "permessage-deflate" in agreed) == (compression is not None)
            assert await asyncio.wait_for(await connection.ping("12345"), 10) < 10
            await connection.close(4002, "done")
            assert connection.close_code == 4002

    asyncio.run(run())


@pytest.mark.parametrize("compress", [False, True])
def test_node_ws(server, proxy, compress):
    for url in (f"ws://127.0.0.1:{server.port}/", f"ws://127.0.0.1:{proxy[0]}/"):
        result = node_client(url, compress)
        assert result.returncode == 0, result.stderr
        answer = json.loads(result.stdout)
        # An endpoint echoes the code it received (RFC 6455 section 5.5.1).
        assert (answer["count"], answer["code"]) == (14, 4002)
        assert answer["extensions"] == ("permessage-deflate" if compress else "")


def test_subprotocol(server):
    async def run():
        async with connect(f"ws://127.0.0.1:{server.port}/", subprotocols=["news", "chat"], proxy=None) as connection:
            assert connection.subprotocol == "chat"
        async with connect(f"ws://127.0.0.1:{server.port}/", proxy=None) as connection:
            assert connection.subprotocol is None

    asyncio.run(run())


def test_many_at_once_keep_their_order(server):
    async def talk(number):
        async with connect(f"ws://127.0.0.1:{server.port}/", proxy=None) as connection:
            for count in range(200):
                await connection.send(f"{number} {count}")
            for count in range(200):
                assert await connection.recv() == f"{number} {count}"

    async def run():
        await asyncio.wait_for(asyncio.gather(*(talk(number) for number in range(50))), 60)

    asyncio.run(run())


def test_a_message_above_the_limit_closes_with_1009():
    server = ServerProcess("ws", "--listen", "127.0.0.1:0", "--max-message", "1000")
    try:

        async def run():
            async with connect(f"ws://127.0.0.1:{server.port}/", proxy=None) as connection:
                await connection.send("x" * 1000)
                assert len(await connection.recv()) == 1000
                await connection.send("x" * 1001)
                with pytest.raises(ConnectionClosed):
                    await connection.recv()
                assert connection.close_code == 1009

        asyncio.run(run())
    finally:
        server.stop()


def test_tls_with_the_printed_fingerprint():
    server = echo_server("--tls")
    try:
        (fingerprint,) = [match.group(1) for line in server.lines if (match := re.search(r"sha256 ([0-9a-f]{64})", line))]

        async def run():
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            async with connect(f"wss://127.0.0.1:{server.port}/", ssl=context, proxy=None) as connection:
                certificate = connection.transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
                assert hashlib.sha256(certificate).hexdigest() == fingerprint
                await exchange(connection)

        asyncio.run(run())
    finally:
        server.stop()


def test_a_unix_socket(tmp_path):
    import websockets.asyncio.client

    path = str(tmp_path / "echo")
    server = ServerProcess("ws", "--listen", f"unix:{path}", is_ready=lambda line: path in line)
    try:

        async def run():
            async with websockets.asyncio.client.unix_connect(path, "ws://localhost/") as connection:
                await exchange(connection)

        asyncio.run(run())
        ours = subprocess.run(
            [str(BINARY), "ws", "ws://localhost/", "--unix", path], input="through a file\n", capture_output=True, text=True, timeout=30)
        assert (ours.returncode, ours.stdout) == (0, "through a file\n"), ours.stderr
    finally:
        server.stop()


def test_sigterm_closes_with_going_away():
    server = echo_server()

    async def run():
        async with connect(f"ws://127.0.0.1:{server.port}/", proxy=None) as connection:
            await connection.send("hello")
            assert await connection.recv() == "hello"
            server.process.terminate()
            with pytest.raises(ConnectionClosed):
                await asyncio.wait_for(connection.recv(), 20)
            assert connection.close_code == 1001

    try:
        asyncio.run(run())
        assert server.process.wait(20) == 0
    finally:
        server.stop()
