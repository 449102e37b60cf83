"""`apus serve --blob-store` with moto, whose requests botocore verifies: uploads, downloads, faults and `kill -9`."""
import hashlib
import io
import os
import shutil
import sqlite3
import threading
import time

import pytest
import requests

from support.chat import ask, bearer, befriend, register, upload
from support.peers import Certificate
from support.process import ServerProcess
from support.samplemedia import png, wait_until, webp_size

tus = pytest.importorskip("tusclient.client")
objectstore = pytest.importorskip("support.objectstore")
LONG = os.environ.get("APUS_LONG") == "1"
BYTES = "application/offset+octet-stream"


@pytest.fixture(scope="module")
def moto():
    store = objectstore.ObjectStore()
    yield store
    store.close()


@pytest.fixture
def store(moto, monkeypatch):
    for name, value in objectstore.ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    moto.is_down, moto.held = False, None
    moto.requests.clear()
    moto.reached.clear()
    moto.released.clear()
    yield moto
    moto.released.set()
    assert moto.problems == []


def serve(store, folder, *options, url: str | None = None) -> ServerProcess:
    return ServerProcess(
        "serve", "--port", "0", "--no-tls", "--limits", "off", "--data", str(folder), *store.options(folder.parent.name, url), *options)


def create(server, account, length: int) -> tuple[str, dict]:
    fields = {**bearer(account), "Tus-Resumable": "1.0.0"}
    made = requests.post(server.url + "/api/uploads", headers={**fields, "Upload-Length": str(length)}, timeout=30)
    assert made.status_code == 201, made.text
    return made.headers["Location"], fields


def patch(server, path, fields, offset: int, data) -> requests.Response:
    return requests.patch(
        server.url + path, data=data, timeout=120, headers={**fields, "Upload-Offset": str(offset), "Content-Type": BYTES})


def get(server, account, blob, **headers) -> requests.Response:
    return requests.get(f"{server.url}/api/blobs/{blob}", headers={**bearer(account), **headers}, timeout=60)


@pytest.mark.parametrize("size", [1, 3 << 20, (20 << 20) + 7])
def test_tuspy_uploads_and_ranges_come_back(store, tmp_path, size):
    content, prefix = os.urandom(size), tmp_path.name
    server = serve(store, tmp_path / "data")
    try:
        account = register(server.url, "alice")
        peer = tus.TusClient(server.url + "/api/uploads", headers=bearer(account))
        peer.uploader(file_stream=io.BytesIO(content), chunk_size=7 << 20).upload()
        blob = hashlib.sha256(content).hexdigest()
        assert store.content(prefix, blob) == content
        assert store.unfinished() == []
        assert ("POST uploads" in store.requests) == (size > 8 << 20)
        answer = get(server, account, blob)
        assert answer.status_code == 200 and answer.content == content and int(answer.headers["Content-Length"]) == size
        for first, last in [(0, 0), (size // 2, size - 1), (size // 3, size // 3 + 99_999)]:
            part = get(server, account, blob, Range=f"bytes={first}-{last}")
            assert part.status_code == 206 and part.content == content[first:last + 1]
        assert get(server, account, blob, Range=f"bytes={size}-").status_code == 416
        head = requests.head(f"{server.url}/api/blobs/{blob}", headers=bearer(account), timeout=30)
        assert head.status_code == 200 and int(head.headers["Content-Length"]) == size
        # The same bytes from another user are not stored again.
        other = register(server.url, "bobby")
        puts = len([name for name in store.requests if name.startswith("PUT")])
        assert upload(server.url, other, content) == blob
        assert len([name for name in store.requests if name.startswith("PUT")]) == puts
        assert not (tmp_path / "data" / "blobs").exists()
        assert list((tmp_path / "data" / "objects").iterdir()) == []
        assert not list((tmp_path / "data" / "uploads").glob("*.part"))
    finally:
        server.stop()


@pytest.mark.skipif(not shutil.which("vipsthumbnail"), reason="vipsthumbnail is not installed")
def test_a_preview_is_made_of_the_upload_and_again_of_the_object(store, tmp_path):
    server = serve(store, tmp_path / "data")
    try:
        alice, bobby = register(server.url, "alice"), register(server.url, "bobby")
        befriend(server.url, alice, bobby)
        conversation = ask(server.url, alice, "conversation.open", {"id": "open", "user": "bobby"})["head"]["conv"]
        blob = upload(server.url, alice, png(640, 480), "a.png")
        body = {"blob": blob, "width": 640, "height": 480, "size": 1, "type": "image/png"}
        seq = ask(server.url, alice, "send", {"conv": conversation, "id": "image", "kind": "image", "body": body})["seq"]

        def thumbnail(account):
            return requests.get(f"{server.url}/api/blobs/{blob}?size=thumbnail", headers=bearer(account), timeout=60)

        wait_until(lambda: thumbnail(bobby).headers.get("Content-Type") == "image/webp")
        assert webp_size(thumbnail(bobby).content) == (300, 225)
        for path in (tmp_path / "data" / "previews").rglob("*.thumbnail"):
            path.unlink()
        wait_until(lambda: thumbnail(bobby).headers.get("Content-Type") == "image/webp")
        assert webp_size(thumbnail(bobby).content) == (300, 225)
        assert get(server, bobby, blob).status_code == 200
        ask(server.url, alice, "recall", {"conv": conversation, "id": "recall", "ref": seq})
        assert get(server, bobby, blob).status_code == 404
    finally:
        server.stop()


def test_a_store_that_is_down_refuses_the_end_of_an_upload_and_loses_nothing(store, tmp_path):
    content = os.urandom((9 << 20) + 1)
    server = serve(store, tmp_path / "data")
    try:
        account = register(server.url, "alice")
        kept = upload(server.url, account, b"kept")
        path, fields = create(server, account, len(content))
        assert patch(server, path, fields, 0, content[:5 << 20]).status_code == 204
        store.is_down = True
        refused = patch(server, path, fields, 5 << 20, content[5 << 20:])
        assert refused.status_code == 503 and refused.json()["error"]["code"] == "unavailable"
        assert int(refused.headers["Retry-After"]) == 5
        down = get(server, account, kept)
        assert down.status_code == 503 and down.json()["error"]["code"] == "unavailable"
        assert requests.get(server.url + "/ready", timeout=10).status_code == 200
        told = requests.head(server.url + path, headers=fields, timeout=30)
        assert told.headers["Upload-Offset"] == str(len(content)) and "Chat-Blob" not in told.headers
        store.is_down = False
        done = patch(server, path, fields, len(content), b"")
        assert done.status_code == 204 and done.headers["Chat-Blob"] == hashlib.sha256(content).hexdigest()
        assert get(server, account, done.headers["Chat-Blob"]).content == content
        assert get(server, account, kept).content == b"kept"
        assert "The object store failed" in "".join(server.lines)
        assert objectstore.ENVIRONMENT["AWS_SECRET_ACCESS_KEY"] not in "".join(server.lines)
    finally:
        server.stop()


@pytest.mark.parametrize("kind", [("PUT partNumber uploadId", 2), ("POST uploadId", 1)], ids=["parts", "end"])
def test_a_copy_that_kill_interrupts_is_completed_by_the_next_start(store, tmp_path, kind):
    content = os.urandom((20 << 20) + 7)
    blob = hashlib.sha256(content).hexdigest()
    server = serve(store, tmp_path / "data")
    account = register(server.url, "alice")
    path, fields = create(server, account, len(content))
    store.held = kind

    def send():
        try:
            patch(server, path, fields, 0, content)
        except requests.RequestException:
            pass

    sender = threading.Thread(target=send)
    sender.start()
    assert store.reached.wait(60)
    assert len(store.unfinished()) == 1
    server.kill()
    store.held = None
    sender.join()
    server = serve(store, tmp_path / "data")
    try:
        wait_until(lambda: "Chat-Blob" in requests.head(server.url + path, headers=fields, timeout=30).headers)
        assert get(server, account, blob).content == content
        assert store.content(tmp_path.name, blob) == content
        store.released.set()
        wait_until(lambda: store.unfinished() == [])
        assert list((tmp_path / "data" / "objects").iterdir()) == []
    finally:
        server.stop()


def test_memory_does_not_grow_with_the_file(store, tmp_path):
    mib = 1_024 if LONG else 160
    server = serve(store, tmp_path / "data", "--upload-size", str(mib), "--upload-quota", str(mib))
    try:
        account = register(server.url, "alice")
        upload(server.url, account, os.urandom(10 << 20))  # opens the connections
        path, fields = create(server, account, (mib - 10) << 20)
        piece, before, peak, done = os.urandom(1 << 20), server.resident_bytes(), [0], threading.Event()

        def watch():
            while not done.wait(0.05):
                peak[0] = max(peak[0], server.resident_bytes())

        watcher = threading.Thread(target=watch)
        watcher.start()
        offset, start = 0, time.monotonic()
        while offset < (mib - 10) << 20:
            answer = patch(server, path, fields, offset, piece * min(16, mib - 10 - (offset >> 20)))
            if answer.status_code == 503:  # the copy takes longer than the server waits
                assert int(answer.headers["Retry-After"]) <= 5
                offset = (mib - 10) << 20
                wait_until(lambda: "Chat-Blob" in requests.head(server.url + path, headers=fields, timeout=30).headers, seconds=300)
                break
            assert answer.status_code == 204, answer.text
            offset = int(answer.headers["Upload-Offset"])
        blob = requests.head(server.url + path, headers=fields, timeout=30).headers["Chat-Blob"]
        stored, received = time.monotonic(), 0
        with requests.get(f"{server.url}/api/blobs/{blob}", headers=bearer(account), stream=True, timeout=120) as answer:
            for data in answer.iter_content(1 << 20):
                received += len(data)
        end = time.monotonic()
        done.set()
        watcher.join()
        assert received == (mib - 10) << 20
        growth = (peak[0] - before) >> 20
        print(f"{mib - 10} MiB: up with the copy {(mib - 10) / (stored - start):.0f} MiB/s, down {(mib - 10) / (end - stored):.0f} MiB/s, "
              f"memory {before / 2**20:.1f} MiB, grew by {growth} MiB")
        assert growth < 32
    finally:
        server.stop()


def test_credentials_of_a_file_and_refusals_of_options(store, tmp_path, monkeypatch):
    for name in objectstore.ENVIRONMENT:
        monkeypatch.delenv(name)
    with pytest.raises(RuntimeError, match="AWS_ACCESS_KEY_ID"):
        serve(store, tmp_path / "data")
    file = tmp_path / "credentials"
    file.write_text("[default]\naws_access_key_id = x\n")
    with pytest.raises(RuntimeError, match="--s3-credentials-file"):
        serve(store, tmp_path / "data", "--s3-credentials-file", str(file))
    for option in ["--s3-region", "--s3-ca"]:
        with pytest.raises(RuntimeError, match=f"{option} requires --blob-store"):
            ServerProcess("serve", "--port", "0", "--no-tls", "--data", str(tmp_path / "data"), option, "r")
    key, secret = objectstore.ENVIRONMENT.values()
    file.write_text(f"[default]\naws_access_key_id = {key}\naws_secret_access_key = {secret}\n")
    server = serve(store, tmp_path / "data", "--s3-credentials-file", str(file))
    try:
        account = register(server.url, "alice")
        assert get(server, account, upload(server.url, account, b"file")).content == b"file"
    finally:
        server.stop()


def test_a_store_with_a_certificate_of_a_private_authority_needs_the_authority(store, tmp_path):
    certificate = Certificate(tmp_path)
    with store.encrypted(certificate) as url:
        server = serve(store, tmp_path / "data", url=url)
        try:
            account = register(server.url, "alice")
            path, fields = create(server, account, 6)
            assert patch(server, path, fields, 0, b"secure").status_code == 503
            assert "The object store failed" in "".join(server.lines)
        finally:
            server.stop()
        assert store.requests == []
        server = serve(store, tmp_path / "data", "--s3-ca", str(certificate.certificate), url=url)
        try:
            done = patch(server, path, fields, 6, b"")
            assert done.status_code == 204 and store.content(tmp_path.name, done.headers["Chat-Blob"]) == b"secure"
            assert get(server, account, done.headers["Chat-Blob"]).content == b"secure"
        finally:
            server.stop()
        for file, message in [("missing", "cannot read the file .*--s3-ca"), (str(certificate.key), "are not valid PEM certificates")]:
            with pytest.raises(RuntimeError, match=message):
                serve(store, tmp_path / "data", "--s3-ca", file, url=url)


@pytest.mark.skipif(not LONG, reason="takes a minute (APUS_LONG=1)")
def test_a_collection_removes_objects_and_returns_the_quota(store, tmp_path):
    server = serve(store, tmp_path / "data", "--upload-size", "1", "--upload-quota", "1")
    account = register(server.url, "alice")
    blob = upload(server.url, account, os.urandom(900_000))
    full = requests.post(
        server.url + "/api/uploads", headers={**bearer(account), "Tus-Resumable": "1.0.0", "Upload-Length": "900000"}, timeout=30)
    assert full.status_code == 422
    server.stop()
    # Eight days pass.
    with sqlite3.connect(tmp_path / "data" / "chat.sqlite") as database:
        database.execute("UPDATE blob SET created_at = created_at - ?", (8 * 86_400_000,))
    database.close()
    server = serve(store, tmp_path / "data", "--upload-size", "1", "--upload-quota", "1")
    try:
        assert store.keys(tmp_path.name) == [f"{tmp_path.name}/{blob[:2]}/{blob}"]
        wait_until(lambda: store.keys(tmp_path.name) == [], seconds=150)
        assert len(upload(server.url, account, os.urandom(900_000))) == 64
    finally:
        server.stop()
