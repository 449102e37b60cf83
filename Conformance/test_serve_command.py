"""Tests `apus serve`: clients of Socket.IO 2.x, and ports in use by another program."""
import contextlib
import hashlib
import re
import socket
import ssl
import subprocess
import time

import pytest
import requests

from support import matrix
from support.chathost import ChatHost
from support.peers import Certificate, end
from support.process import BINARY, ServerProcess

# A client of Socket.IO 2.x (python-socketio 4.6, EIO=3): URL, namespace, transports.
CLIENT = """
import sys, socketio
url, namespace, transports = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
client = socketio.Client(reconnection=False)
events = []
client.on("welcome", lambda data: events.append(data), namespace=namespace)
try:
    client.connect(url, transports=transports, namespaces=[namespace])
except socketio.exceptions.ConnectionError as error:
    print("refused", error)
    sys.exit(1)
def ask(event, data):
    return client.call(event, data, namespace=namespace, timeout=10)
if namespace == "/":
    print(ask("chatMessage", {"message": "hello"})["status"], ask("customEvent", {"a": 1})["receivedData"]["a"])
    back = ask("binaryAckTest", {"binaryData": b"\\x00\\xff", "text": "b"})
    print(back["size"], back["binaryData"])
    print(ask("add", (1, 2)), events[0]["message"])
client.disconnect()
print("done")
"""


def old_client(server: ServerProcess, namespace: str, transports: str) -> subprocess.CompletedProcess:
    python = matrix.PYTHON_4 if matrix.PYTHON_4.exists() else matrix.PYTHON_4_SERVER
    if not python.exists():
        pytest.skip("no python-socketio 4.6 (scripts/bootstrap)")
    return subprocess.run(
        [str(python), "-c", CLIENT, server.url, namespace, transports], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("transports", ["polling", "websocket", "polling,websocket"])
def test_the_demo_accepts_clients_of_socketio_2(tmp_path, transports):
    server = ServerProcess("serve", "--demo", "--port", "0", "--no-tls", "--data", str(tmp_path))
    try:
        done = old_client(server, "/", transports)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.splitlines() == ["received 1", "2 b'\\x00\\xff'", "3 Welcome to Apus", "done"]
    finally:
        server.stop()


# Two clients of Socket.IO 2.x. The first prints the events about the second.
OBSERVER = """
import queue, sys, socketio
seen, welcomes = queue.Queue(), queue.Queue()
first, second = socketio.Client(reconnection=False), socketio.Client(reconnection=False)
for name in ["userConnected", "binaryEvent", "userDisconnected", "heartbeat"]:
    first.on(name, lambda data, name=name: seen.put((name, data)))
def wait(name):
    while True:
        found, data = seen.get(timeout=60)
        if found == name:
            return data
second.on("welcome", welcomes.put)
first.connect(sys.argv[1], transports=["websocket"])
second.connect(sys.argv[1], transports=["websocket"])
other = welcomes.get(timeout=60)["socketId"]
print(wait("userConnected")["socketId"] == other)
answer = second.call("binaryEvent", {"binaryData": b"\\x00\\xff\\x01", "text": "t", "timestamp": "now"}, timeout=60)
print(answer["status"], answer["size"])
told = wait("binaryEvent")
print(told["sender"] == other, told["binaryData"], told["text"], told["timestamp"])
print(wait("heartbeat")["clients"])
second.disconnect()
gone = wait("userDisconnected")
print(gone["socketId"] == other, bool(gone["reason"]), bool(gone["timestamp"]))
first.disconnect()
"""


def test_the_demo_tells_clients_of_socketio_2_about_each_other(tmp_path):
    server = ServerProcess("serve", "--demo", "--port", "0", "--no-tls", "--data", str(tmp_path))
    try:
        python = matrix.PYTHON_4 if matrix.PYTHON_4.exists() else matrix.PYTHON_4_SERVER
        if not python.exists():
            pytest.skip("no python-socketio 4.6 (scripts/bootstrap)")
        done = subprocess.run([str(python), "-c", OBSERVER, server.url], capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.splitlines() == ["True", "received 3", "True b'\\x00\\xff\\x01' t now", "2", "True True True"]
    finally:
        server.stop()


@pytest.mark.parametrize("arguments, status", [([], 400), (["--engineio3"], 200)])
def test_other_modes_accept_them_by_option(tmp_path, arguments, status):
    server = ServerProcess("serve", "--port", "0", "--no-tls", "--data", str(tmp_path), *arguments)
    try:
        answer = requests.get(f"{server.url}/socket.io/?EIO=3&transport=polling", timeout=20)
        assert answer.status_code == status
        for transports in ("polling", "websocket"):
            # The chat refuses a client without a token. The refusal shows that the client's version was accepted.
            done = old_client(server, "/chat", transports)
            assert ("refused" in done.stdout) == (status == 400), done.stdout + done.stderr
    finally:
        server.stop()


# Ports


@contextlib.contextmanager
def taken(port: int = 0):
    """Occupies a port. A port that is already in use has the same effect."""
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            other.bind(("127.0.0.1", port))
            other.listen()
        yield port or other.getsockname()[1]


class Serve(ServerProcess):
    """A server without --tls-port."""

    def __init__(self, *arguments: str):
        super().__init__("serve", *arguments, is_ready=lambda line: "listening on http://" in line, chooses_ports=False)


def test_a_default_tls_port_in_use_is_a_warning(tmp_path):
    # The default port, occupied by this test or by another process.
    with taken(3443):
        server = Serve("--port", "0", "--data", str(tmp_path))
        try:
            done = subprocess.run([str(BINARY), "connect", server.url + "/chat", "--timeout", "10"], input="", capture_output=True, text=True, timeout=60)
            assert done.returncode == 77, "the server must answer and require a token"
        finally:
            server.stop()
        output = "".join(server.lines)
        assert "without TLS" in output and "--tls-port" in output and "https://" not in output
        assert "warning" in output and "3443" in output


@pytest.mark.parametrize("option", ["--port", "--tls-port"])
def test_a_requested_port_in_use_is_an_error(tmp_path, option):
    with taken() as port:
        ports = {"--port": "0", "--tls-port": "0", option: str(port)}
        process = subprocess.run(
            [str(BINARY), "serve", "--data", str(tmp_path), *(word for pair in ports.items() for word in pair)], capture_output=True, text=True, timeout=60)
        assert process.returncode == 1
        assert f"port {port} is already in use; select another one with {option}" in process.stderr


def test_a_certificate_requires_tls(tmp_path):
    """The option --certificate requests TLS."""
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-keyout", str(key), "-out", str(certificate)], capture_output=True)
    if made.returncode != 0:
        pytest.skip("no openssl")
    with taken(3443):
        process = subprocess.run(
            [str(BINARY), "serve", "--port", "0", "--data", str(tmp_path / "data"), "--certificate", str(certificate), "--key", str(key)],
            capture_output=True, text=True, timeout=60)
        assert process.returncode == 1 and "port 3443" in process.stderr and "--tls-port" in process.stderr


# HTTPS


class SecureServe(ServerProcess):
    """A server with a port for HTTPS. `ports` contains the port of each scheme."""

    def __init__(self, tmp_path, *arguments: str):
        super().__init__(
            "serve", "--port", "0", "--tls-port", "0", "--data", str(tmp_path / "data"), *arguments, is_ready=lambda line: "listening on https://" in line)
        found = re.findall(r"listening on (https?)://127\.0\.0\.1:(\d+)", "".join(self.lines))
        self.ports = {scheme: int(port) for scheme, port in found}


@pytest.fixture
def certificate(tmp_path):
    return Certificate(tmp_path)


def files(certificate) -> list[str]:
    return ["--certificate", str(certificate.certificate), "--key", str(certificate.key)]


def test_plain_http_redirects_to_https(tmp_path, certificate):
    server = SecureServe(tmp_path, *files(certificate))
    try:
        plain, secure = (f"{scheme}://localhost:{server.ports[scheme]}" for scheme in ("http", "https"))
        for method in ("GET", "HEAD"):
            for path in ("/", "/app.js?a=b%20c", "/nothing", "/api/blobs/" + "0" * 64):
                answer = requests.request(method, plain + path, allow_redirects=False, timeout=20)
                assert (answer.status_code, answer.headers["Location"]) == (308, secure + path)
                assert "Strict-Transport-Security" not in answer.headers
        page = requests.get(plain, verify=str(certificate.certificate), timeout=20)
        assert page.status_code == 200 and page.url.startswith(secure)
        for base in (plain, secure):
            health = requests.get(base + "/health", allow_redirects=False, verify=str(certificate.certificate), timeout=20)
            assert (health.status_code, health.json()["status"]) == (200, "ok")
        # A browser would keep the port of the plain listener, and never reach the redirect.
        assert "Strict-Transport-Security" not in page.headers
        assert requests.get(plain, headers={"Host": "a<b>"}, allow_redirects=False, timeout=20).status_code == 400
        polling = requests.get(plain + "/socket.io/?EIO=4&transport=polling", allow_redirects=False, timeout=20)
        assert polling.status_code == 200
    finally:
        server.stop()


def test_serve_prints_the_fingerprint_that_a_client_can_pin(tmp_path):
    server = SecureServe(tmp_path)
    try:
        served = ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", server.ports["https"])))
        assert f"certificate sha256 {hashlib.sha256(served).hexdigest()}\n" in server.lines
    finally:
        server.stop()


def test_no_http_listens_with_tls_only(tmp_path, certificate):
    server = SecureServe(tmp_path, "--no-http", *files(certificate))
    try:
        assert list(server.ports) == ["https"]
        for path, status in (("/", 200), ("/health", 200), ("/nothing", 404)):
            answer = requests.get(f"https://localhost:{server.ports['https']}{path}", verify=str(certificate.certificate), timeout=20)
            assert (answer.status_code, answer.headers["Strict-Transport-Security"]) == (status, "max-age=31536000")
    finally:
        server.stop()


@pytest.mark.parametrize("arguments", [[], ["--no-http"]])
def test_a_self_signed_certificate_is_never_required(tmp_path, arguments):
    server = SecureServe(tmp_path, *arguments)
    try:
        assert set(server.ports) == ({"https"} if arguments else {"http", "https"})
        for scheme, port in server.ports.items():
            with pytest.warns() if scheme == "https" else contextlib.nullcontext():
                answer = requests.get(f"{scheme}://127.0.0.1:{port}/", allow_redirects=False, verify=False, timeout=20)
            assert answer.status_code == 200 and "Strict-Transport-Security" not in answer.headers
    finally:
        server.stop()


def test_a_server_without_a_listener_is_refused(tmp_path):
    done = subprocess.run([str(BINARY), "serve", "--no-http", "--no-tls", "--data", str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 64 and "--no-http" in done.stderr


# LiveKit


@pytest.mark.parametrize(("url", "keys", "message"), [
    ("wss://media.example.org", None, "--livekit-url and --livekit-keys-file must be used together"),
    (None, "key: secret\n", "--livekit-url and --livekit-keys-file must be used together"),
    ("wss://media.example.org", "key\n", "its first line is not KEY: SECRET"),
    ("wss://media.example.org", ": secret\n", "its first line is not KEY: SECRET"),
    ("wss://media.example.org", "\nkey: secret\n", "its first line is not KEY: SECRET"),
    ("wss://media.example.org", "", "its first line is not KEY: SECRET"),
    ("https://media.example.org", "key: secret\n", "must be wss://HOST or ws://HOST:PORT"),
    ("wss://media.example.org/rtc", "key: secret\n", "must be wss://HOST or ws://HOST:PORT"),
])
def test_wrong_options_of_livekit_are_refused(tmp_path, url, keys, message):
    file = tmp_path / "livekit.keys"
    arguments = ["--livekit-url", url] if url else []
    if keys is not None:
        file.write_text(keys)
        arguments += ["--livekit-keys-file", str(file)]
    done = subprocess.run(
        [str(BINARY), "serve", "--port", "0", "--no-tls", "--data", str(tmp_path / "data"), *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 64 and message in done.stderr, done.stderr


def test_a_missing_file_of_keys_is_named(tmp_path):
    missing = tmp_path / "missing"
    done = subprocess.run(
        [str(BINARY), "serve", "--port", "0", "--no-tls", "--data", str(tmp_path), "--livekit-url", "wss://a.example", "--livekit-keys-file", str(missing)],
        capture_output=True, text=True, timeout=60)
    assert done.returncode == 64 and f"{missing} cannot be read" in done.stderr


def test_the_times_for_edits_and_recalls_are_those_of_the_operator(tmp_path):
    host = ChatHost(tmp_path, options=["--limits", "off", "--edit-hours", "0", "--recall-hours", "1"])
    try:
        conv = host.pair("alice", "bob")
        seq = host.do("alice", "send", conv=conv, kind="text", body={"text": "for ever"})["seq"]
        while int(time.time() * 1000) <= host.log(conv)[-1]["at"]:
            pass  # the limit is 0 ms
        with pytest.raises(AssertionError, match="/edit: 4"):
            host.do("alice", "edit", conv=conv, ref=seq, body={"text": "changed"})
        host.do("alice", "recall", conv=conv, ref=seq)
        assert host.log(conv)[-1]["state"] == "recalled"
    finally:
        host.stop()
    for option in ("--edit-hours", "--recall-hours"):
        refused = subprocess.run([BINARY, "serve", option, "87601"], capture_output=True, text=True, timeout=60)
        assert refused.returncode != 0 and f"{option} must be from 0 to 87600 hours, not 87601" in refused.stderr
