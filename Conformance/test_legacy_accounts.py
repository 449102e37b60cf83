"""The routes of FLSocketIM, and the authentication of its Socket.IO connections."""
import base64
import re
import struct
import subprocess
import zlib

import pytest
import requests

from support import chat, matrix
from support.legacy import PASSWORD, LegacyApp, LegacyHost

pytestmark = pytest.mark.skipif(not matrix.PYTHON_4.exists(), reason="python-socketio 4.6 is not installed")


def png(width=8, height=6, text=b"secret place"):
    """Returns a picture with metadata, which the server removes."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    lines = zlib.compress((b"\0" + b"\x40\x80\xc0" * width) * height)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"tEXt", b"Comment\0" + text) + chunk(b"IDAT", lines) + chunk(b"IEND", b""))


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = LegacyHost(tmp_path_factory.mktemp("legacy"))
    yield host
    host.stop()


def test_registers_and_signs_in_by_forms_and_json(host):
    answer = host.post("/register", {"userName": "formuser", "password": PASSWORD})
    assert answer["code"] == 1 and set(answer["data"]) == {"auth_token", "auth_date"}
    # The apps do not escape the query.
    assert re.fullmatch("[A-Za-z0-9_-]+", answer["data"]["auth_token"])
    assert host.post("/mobileLogin", {"userName": "FormUser", "password": PASSWORD})["code"] == 1
    assert host.post("/mobileLogin", json={"userName": "formuser", "password": PASSWORD})["code"] == 1


@pytest.mark.parametrize("path, form", [
    ("/mobileLogin", {"userName": "formuser2", "password": "a wrong password"}), ("/mobileLogin", {"userName": "nobody", "password": PASSWORD}),
    ("/mobileLogin", {}), ("/register", {"userName": "formuser2", "password": PASSWORD}), ("/register", {"userName": "abc", "password": PASSWORD}),
    ("/register", {"userName": "_abcd", "password": PASSWORD}), ("/register", {"userName": "<b>abcd", "password": PASSWORD}),
    ("/register", {"userName": "shortpass", "password": "123456"}), ("/register", {}),
])
def test_refusals_are_answers_with_the_code_minus_1(host, path, form):
    host.post("/register", {"userName": "formuser2", "password": PASSWORD})
    answer = host.post(path, form)
    assert answer["code"] == -1 and answer["data"] == {} and answer["message"]


@pytest.mark.parametrize("transport", ["websocket", "polling"])
def test_a_socket_without_a_valid_token_is_refused(host, transport):
    account = chat.register(host.url, f"new{transport}")
    for token in ["-", "", "x" * 76, account["access"], account["refresh"]]:
        app = LegacyApp(host.legacy, token, transport)
        assert app.refused and not app.connected, token
        app.close()


def test_passwords_and_tokens_are_not_stored_as_they_are(host):
    token = host.register("secretive")
    assert host.post("/mobileLogin", {"userName": "secretive", "password": PASSWORD})["code"] == 1
    stored = b"".join(path.read_bytes() for path in host.folder.rglob("*") if path.is_file())
    assert b"secretive" in stored
    # The last 32 bytes of a token are secret. No file must contain them as bytes or as text.
    secret = base64.urlsafe_b64decode(token)[-32:]
    for form in [PASSWORD.encode(), token.encode(), secret, secret.hex().encode()]:
        assert form not in stored


def test_a_token_of_the_apps_opens_nothing_else(host):
    token = host.register("onlyold")
    for text in [token, "a." + token, "l." + token]:
        response = requests.post(
            f"{host.url}/api/chat/sync", json={}, headers={"Authorization": "Bearer " + text}, timeout=30)
        assert response.status_code == 401, text


def test_a_session_that_is_ended_closes_the_socket_and_refuses_the_token(host):
    token = host.register("revoked")
    new = requests.post(f"{host.url}/api/login", json={"name": "revoked", "password": PASSWORD, "device": chat.DEVICE}, timeout=30).json()
    with LegacyApp(host.legacy, token) as app:
        devices = chat.ask(host.url, new, "devices", {})["devices"]
        old = next(device for device in devices if device["platform"] == "legacy")
        chat.ask(host.url, new, "device.remove", {"id": "end", "device": old["device"]})
        app.wait(lambda: app.disconnected)
    assert LegacyApp(host.legacy, token).refused


def test_the_directory_needs_an_open_one(tmp_path):
    with pytest.raises(RuntimeError, match="directory"):
        LegacyHost(tmp_path, "--directory", "exact")


def test_lists_users_with_their_pictures(host):
    path = host.post("/uploadFiles", files={"image": ("../../evil.html", png(), "text/html")})["data"]["path"]
    assert re.fullmatch(r"images/[A-Za-z0-9_-]{20}\.png", path)
    shown = host.file(path)
    assert shown.status_code == 200 and shown.headers["Content-Type"] == "image/png"
    assert b"secret place" not in shown.content and shown.headers["X-Content-Type-Options"] == "nosniff"
    token = host.register("pictured", headImageUrl=path)
    host.register("plainuser")
    with LegacyApp(host.legacy, token):
        data = host.users()
    users = {user["name"]: user for user in data["allUser"]}
    assert "pictured" in data["onLineUsers"] and "plainuser" not in data["onLineUsers"]
    assert users["plainuser"] == {"name": "plainuser", "nickname": "plainuser", "headImageUrl": ""}
    # The picture of an account has a permanent path, which differs from that of the upload.
    kept = users["pictured"]["headImageUrl"]
    assert kept != path and host.file(kept).content == shown.content


def test_users_that_hide_are_not_listed(host):
    account = chat.register(host.url, "hiddenuser")
    assert "hiddenuser" in {user["name"] for user in host.users()["allUser"]}
    chat.ask(host.url, account, "settings.set", {"id": "hide", "settings": {"find": "none"}})
    assert "hiddenuser" not in {user["name"] for user in host.users()["allUser"]}


@pytest.mark.parametrize("content", [b"<html><script>alert(1)</script>", b"#!/bin/sh\n", b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", png()[:60]])
def test_only_pictures_are_uploaded_without_an_account(host, content):
    assert host.post("/uploadFiles", files={"image": ("a.png", content, "image/png")})["code"] == -1


def test_an_upload_without_an_account_has_at_most_a_megabyte(host):
    large = png()[:-12] + b"\0" * (1 << 20) + png()[-12:]
    assert host.post("/uploadFiles", files={"image": ("a.png", large, "image/png")})["code"] == -1


@pytest.mark.parametrize("name", ["x", "../chat.key", "%2e%2e%2fchat.key", "0" * 64, "0" * 64 + "-" + "0" * 32 + ".png", "location.png/x"])
def test_paths_that_the_server_has_not_made_are_not_found(host, name):
    assert host.file("images/" + name).status_code == 404


def test_uploads_without_an_account_have_a_budget(tmp_path):
    """The budget is that of an address. Clients on the server's machine have no budget, so a proxy names other addresses."""
    behind = LegacyHost(tmp_path, "--trusted-proxy", "127.0.0.1")

    def upload(address):
        return behind.post("/uploadFiles", files={"image": ("a.png", png(), "image/png")}, headers={"X-Forwarded-For": address})

    try:
        answers = []
        while len(answers) < 2_000 and (not answers or answers[-1]["code"] == 1):
            answers.append(upload("203.0.113.9"))
        assert len(answers) > 100 and answers[-1]["code"] == -1 and answers[-1]["message"], len(answers)
        assert upload("203.0.113.10")["code"] == 1
    finally:
        behind.stop()


def test_the_port_with_tls(tmp_path):
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)], capture_output=True)
    if made.returncode != 0:
        pytest.skip("no openssl")
    secure = LegacyHost(tmp_path / "data", "--tls-port", "0", "--certificate", str(certificate), "--key", str(key), "--legacy-tls")
    try:
        assert secure.legacy.startswith("https://")
        form = {"userName": "secure", "password": PASSWORD}
        answer = requests.post(secure.legacy + "/register", data=form, verify=str(certificate), timeout=30).json()
        assert answer["code"] == 1
        with LegacyApp(secure.legacy, answer["data"]["auth_token"], "websocket", "insecure") as app:
            assert app.send("secure", "secure", {"type": "txt", "msg": "over TLS"})["bodies"]["msg"] == "over TLS"
        with pytest.raises(requests.exceptions.RequestException):
            requests.get(secure.legacy.replace("https:", "http:") + "/allUsers", timeout=30).raise_for_status()
    finally:
        secure.stop()


def test_the_listener_has_no_other_routes(host):
    for path in ["/", "/index.html", "/api/server", "/health", "/chat.key"]:
        assert requests.get(host.legacy + path, timeout=30).status_code == 404, path
