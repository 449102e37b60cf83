"""The chat server closes slow and silent clients at the deadline, on both listeners, and serves others (docs/hazards.md, 14 and 15)."""
import os
import socket
import ssl
import threading
import time

import pytest
import requests

from support.chat import bearer, register
from support.process import ADDRESS, ServerProcess

# The server's deadline for a request is 10 seconds. The other 15 allow for a busy machine.
DEADLINE = 25


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    process = ServerProcess("serve", "--port", "0", "--tls-port", "0", "--data", str(tmp_path_factory.mktemp("chat")))
    yield process
    alive = process.is_alive
    process.stop()
    assert alive, "the server ended by itself:\n" + "".join(process.lines[-40:])


@pytest.fixture(scope="module")
def tls_port(server):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        for line in list(server.lines):
            for match in ADDRESS.finditer(line):
                if line[match.start():].startswith("https") and int(match.group(2)):
                    return int(match.group(2))
        time.sleep(0.05)
    raise AssertionError("no https address:\n" + "".join(server.lines))


def seconds_until_closed(connection: socket.socket, drip: bytes = b"") -> float:
    """Sends a byte of `drip` at intervals and returns the time until the close. A connection that outlives the deadline fails the test."""
    begin = time.monotonic()
    connection.settimeout(0.5)
    while time.monotonic() - begin < DEADLINE:
        try:
            if drip:
                connection.sendall(drip[:1])
                drip = drip[1:]
            if not connection.recv(65536):
                return time.monotonic() - begin
        except TimeoutError:
            continue
        except OSError:
            return time.monotonic() - begin
    raise AssertionError(f"still open after {DEADLINE} s")


def hello() -> bytes:
    """Returns a TLS ClientHello."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing).do_handshake()
    return outgoing.read()


def wrapped(port: int) -> socket.socket:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=10))


PEERS = {
    "says nothing": (False, b"", b""),
    "half a head": (False, b"GET / HTTP/1.1\r\nHos", b""),
    "a head that trickles": (False, b"GET / HTTP/1.1\r\nX: ", b"x" * 200),
    "half a body": (False, b"POST /api/login HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{", b""),
    "a body that trickles": (False, b"POST /api/login HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n{", b" " * 200),
    "says nothing to TLS": (True, b"", b""),
    "half a ClientHello": (True, None, b""),
    "a head that trickles through TLS": ("wrapped", b"GET / HTTP/1.1\r\nX: ", b"x" * 200),
}


@pytest.mark.timeout(110)
def test_slow_peers_are_closed_and_another_client_is_served_meanwhile(server, tls_port):
    took: dict[str, float | Exception] = {}

    def slow(name: str, tls, first: bytes | None, drip: bytes):
        try:
            connection = wrapped(tls_port) if tls == "wrapped" else socket.create_connection(("127.0.0.1", tls_port if tls else server.port), timeout=10)
            with connection:
                if first is None:
                    first = hello()
                    first = first[: len(first) // 2]
                connection.sendall(first)
                took[name] = seconds_until_closed(connection, drip)
        except Exception as error:  # reported below by name
            took[name] = error

    threads = [threading.Thread(target=slow, args=(name, *peer)) for name, peer in PEERS.items()]
    with requests.Session() as session:
        # This connection is kept alive: between two requests it may be idle for longer than the deadline of a request.
        account = register(server.url, "patient")
        session.headers.update(bearer(account))
        assert session.get(server.url + "/health", timeout=10).json()["status"] == "ok"
        for thread in threads:
            thread.start()
        longest = 0.0
        while any(thread.is_alive() for thread in threads):
            before = time.monotonic()
            assert requests.get(server.url + "/health", timeout=10).json()["status"] == "ok"
            longest = max(longest, time.monotonic() - before)
            time.sleep(0.2)
        for thread in threads:
            thread.join()
        assert session.get(server.url + "/health", timeout=10).json()["status"] == "ok"
    failures = {name: value for name, value in took.items() if isinstance(value, Exception)}
    assert not failures and took.keys() == PEERS.keys()
    assert min(took.values()) > 5, f"closed too soon: {took}"
    assert longest < 5, f"another client waited {longest:.1f} s"


@pytest.mark.timeout(60)
def test_an_upload_may_take_longer_than_a_request(server):
    headers = {**bearer(register(server.url, "slowly")), "Tus-Resumable": "1.0.0"}
    blob = os.urandom(300_000)
    path = requests.post(f"{server.url}/api/uploads", headers={**headers, "Upload-Length": "300000"}, timeout=10).headers["Location"]

    def body():
        for start in range(0, len(blob), 25_000):
            time.sleep(1.1)  # 12 pieces: 13 seconds
            yield blob[start : start + 25_000]

    part = {**headers, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    response = requests.patch(server.url + path, data=body(), headers=part, timeout=40)
    assert (response.status_code, response.headers["Upload-Offset"]) == (204, "300000"), response.text
    # The stored file is complete.
    got = requests.get(f"{server.url}/api/blobs/{response.headers['Chat-Blob']}", headers=headers, timeout=20)
    assert (got.status_code, got.headers["content-length"], got.content) == (200, "300000", blob)
