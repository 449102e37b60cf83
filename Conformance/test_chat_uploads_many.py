"""Uploads by another tus client, and of many users at the same time, to `apus serve`."""
import hashlib
import io
import os
import socket
import threading

import pytest
import requests

from support.chat import bearer, register
from support.process import ServerProcess
from support.samplemedia import wait_until

client = pytest.importorskip("tusclient.client")
BYTES = "application/offset+octet-stream"


def serve(folder, *options) -> ServerProcess:
    return ServerProcess("serve", "--port", "0", "--no-tls", "--limits", "off", "--data", str(folder), *options)


def headers(account: dict) -> dict:
    return {**bearer(account), "Tus-Resumable": "1.0.0"}


def test_tuspy_uploads_and_resumes_after_the_server_was_killed(tmp_path):
    content = os.urandom(3 << 20)
    server = serve(tmp_path / "data")
    account = register(server.url, "alice")
    peer = client.TusClient(server.url + "/api/uploads", headers=bearer(account))
    uploader = peer.uploader(file_stream=io.BytesIO(content), chunk_size=1 << 20, metadata={"name": "a.bin"})
    uploader.upload_chunk()
    assert uploader.offset == 1 << 20
    path = uploader.url.removeprefix(server.url)
    server.kill()
    server = serve(tmp_path / "data")
    try:
        peer = client.TusClient(server.url + "/api/uploads", headers=bearer(account))
        again = peer.uploader(file_stream=io.BytesIO(content), chunk_size=1 << 20, url=server.url + path)
        # The bytes that were acknowledged before the kill are stored.
        assert again.offset == 1 << 20
        again.upload()
        told = requests.head(server.url + path, headers=headers(account), timeout=10)
        assert told.headers["Chat-Blob"] == hashlib.sha256(content).hexdigest()
        assert requests.get(f"{server.url}/api/blobs/{told.headers['Chat-Blob']}", headers=bearer(account), timeout=30).content == content
        assert not list((tmp_path / "data" / "uploads").glob("*.part"))
    finally:
        server.stop()


def test_two_hundred_uploads_at_once(tmp_path):
    """50 users with 4 transfers each, all open at the same time, from the addresses that a proxy reports."""
    server = serve(tmp_path / "data", "--trusted-proxy", "127.0.0.1")
    try:
        transfers = []
        for number in range(50):
            account = register(server.url, f"user{number}")
            for index in range(4):
                fields = {**headers(account), "X-Forwarded-For": f"192.0.2.{number + 1}"}
                content = f"{number} {index} ".encode() * 8_000
                made = requests.post(server.url + "/api/uploads", headers={**fields, "Upload-Length": str(len(content))}, timeout=30)
                assert made.status_code == 201, made.text
                transfers.append((fields, made.headers["Location"], content))
        before = server.resident_bytes()
        connections = []
        for fields, path, content in transfers:
            connection = socket.create_connection(("127.0.0.1", server.port))
            head = f"PATCH {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + "".join(
                f"{name}: {value}\r\n" for name, value in fields.items())
            head += f"Upload-Offset: 0\r\nContent-Type: {BYTES}\r\nContent-Length: {len(content)}\r\n\r\n"
            connection.sendall(head.encode() + content[:len(content) // 2])
            connections.append(connection)
        uploads = tmp_path / "data" / "uploads"
        # All transfers have started, and none has ended.
        wait_until(lambda: sum(part.stat().st_size > 0 for part in uploads.glob("*.part")) == 200)
        answers = [b""] * 200

        def finish(index):
            connections[index].sendall(transfers[index][2][len(transfers[index][2]) // 2:])
            while data := connections[index].recv(65_536):
                answers[index] += data
            connections[index].close()

        threads = [threading.Thread(target=finish, args=(index,)) for index in range(200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        for (_, _, content), answer in zip(transfers, answers):
            assert answer.startswith(b"HTTP/1.1 204") and hashlib.sha256(content).hexdigest().encode() in answer, answer
        assert server.resident_bytes() - before < 64 << 20
        assert not list(uploads.glob("*.part"))
    finally:
        server.stop()
