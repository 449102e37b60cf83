"""Uploads over TCP connections that are cut, slow, and resumed."""
import base64
import hashlib
import socket
import time

import pytest
import requests

from support.process import ServerProcess

TUS = {"Tus-Resumable": "1.0.0"}
BYTES = "application/offset+octet-stream"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("chat")


def start(folder) -> ServerProcess:
    return ServerProcess("conformance", "chat-routes", "--folder", str(folder), "--without-limits")


def sign_in(server, name: str) -> dict:
    answer = requests.post(
        server.url + "/api/register", json={"name": name, "password": "correct horse", "device": {"name": "x", "platform": "linux"}}, timeout=10)
    assert answer.status_code == 200, answer.text
    return {"Authorization": "Bearer " + answer.json()["access"], **TUS}


def create(server, headers: dict, length: int) -> str:
    answer = requests.post(
        server.url + "/api/uploads", timeout=10,
        headers={**headers, "Upload-Length": str(length), "Upload-Metadata": "name " + base64.b64encode(b"a.bin").decode()})
    assert answer.status_code == 201, answer.text
    return answer.headers["Location"]


def offset(server, headers: dict, path: str) -> int:
    return int(requests.head(server.url + path, headers=headers, timeout=10).headers["Upload-Offset"])


def begin(server, headers: dict, path: str, at: int, length: int, data: bytes) -> socket.socket:
    """Sends the head of a PATCH and a part of its body, and returns the open connection."""
    connection = socket.create_connection(("127.0.0.1", server.port))
    head = f"PATCH {path} HTTP/1.1\r\nHost: localhost\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head += f"Upload-Offset: {at}\r\nContent-Type: {BYTES}\r\nContent-Length: {length}\r\n\r\n"
    connection.sendall(head.encode() + data)
    return connection


def wait_for_bytes(folder, path: str, count: int):
    """Waits until the server has written `count` bytes. A HEAD request would end the transfer."""
    part = folder / "uploads" / (path.rsplit("/", 1)[1] + ".part")
    deadline = time.monotonic() + 20
    while not part.exists() or part.stat().st_size < count:
        assert time.monotonic() < deadline, f"the upload has less than {count} bytes"
        time.sleep(0.02)


def patch(server, headers: dict, path: str, at: int, data: bytes) -> requests.Response:
    return requests.patch(server.url + path, headers={**headers, "Upload-Offset": str(at), "Content-Type": BYTES}, data=data, timeout=20)


def test_a_cut_transfer_keeps_what_came_and_a_killed_server_what_was_told(folder):
    content = bytes(range(256)) * 8_192  # 2 MiB
    server = start(folder)
    headers = sign_in(server, "cut")
    path = create(server, headers, len(content))
    connection = begin(server, headers, path, 0, len(content), content[:1_000_000])
    wait_for_bytes(folder, path, 1_000_000)
    connection.close()
    told = offset(server, headers, path)
    server.kill()
    assert told == 1_000_000
    server = start(folder)
    try:
        assert offset(server, headers, path) == told
        assert patch(server, headers, path, told - 1, content[told - 1:]).status_code == 409
        answer = patch(server, headers, path, told, content[told:])
        assert answer.status_code == 204, answer.text
        assert answer.headers["Chat-Blob"] == hashlib.sha256(content).hexdigest()
        blob = requests.get(server.url + "/api/blobs/" + answer.headers["Chat-Blob"], headers=headers, timeout=10)
        assert blob.content == content
        assert not list((folder / "uploads").glob("*.part"))
    finally:
        server.stop()


def test_a_dead_connection_does_not_hold_an_upload(folder):
    server = start(folder)
    try:
        headers = sign_in(server, "dead")
        path = create(server, headers, 20)
        dead = begin(server, headers, path, 0, 20, b"0123456789")
        # The client resumes over another connection. The first one stays open and silent.
        wait_for_bytes(folder, path, 10)
        assert offset(server, headers, path) == 10
        answer = patch(server, headers, path, 10, b"abcdefghij")
        assert answer.status_code == 204, answer.text
        dead.sendall(b"XXXXXXXXXX")
        blob = requests.get(server.url + "/api/blobs/" + answer.headers["Chat-Blob"], headers=headers, timeout=10)
        assert blob.content == b"0123456789abcdefghij"
        dead.close()
    finally:
        server.stop()


def test_slow_transfers_of_one_account_leave_room_for_others(folder):
    server = start(folder)
    try:
        slow = sign_in(server, "slow")
        other = sign_in(server, "other")
        connections = []
        for _ in range(6):
            path = create(server, slow, 1_000)
            connections.append(begin(server, slow, path, 0, 1_000, b"x"))
        path = create(server, other, 3)
        assert patch(server, other, path, 0, b"abc").status_code == 204
        for connection in connections:
            connection.close()
    finally:
        server.stop()
