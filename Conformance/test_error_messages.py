"""Tests the messages of failures of the commands: each states the reason, without the source files of dependencies."""
import re
import subprocess

import pytest

from support.peers import Certificate, folder, python_server
from support.process import BINARY, free_port

INTERNAL = re.compile(r"CNIO|\.cc\b|\.swift\b|NIOSSL|NIOPosix|errno|OPENSSL_internal|\(descriptor:")


def apus(*arguments: str, lines: str = "") -> subprocess.CompletedProcess:
    return subprocess.run([str(BINARY), *arguments], input=lines, capture_output=True, text=True, timeout=60)


def commands(address: str, tmp_path) -> dict[str, list[str]]:
    """Returns the commands that connect to a server, by name."""
    (tmp_path / "password").write_text("a password\n")
    chat = ["--user", "alice", "--register", "--password-file", str(tmp_path / "password"), "--store", str(tmp_path / "store"), "--wait", "1"]
    return {
        "ws": ["ws", f"wss://{address}/"],
        "connect": ["connect", f"https://{address}", "--timeout", "5"],
        "connect, WebSocket": ["connect", f"https://{address}", "--timeout", "5", "--transport", "websocket"],
        "chat": ["chat", "--server", f"https://{address}", *chat],
        "bench": ["bench", "ws", f"wss://{address}/", "--connections", "1", "--duration", "0.1"],
    }


NAMES = ["ws", "connect", "connect, WebSocket", "chat", "bench"]


@pytest.fixture(scope="module")
def secure():
    with folder() as place:
        certificate = Certificate(place)
        with python_server(certificate=certificate) as port:
            yield f"localhost:{port}", certificate


@pytest.mark.parametrize("name", NAMES)
def test_a_rejected_certificate(secure, name, tmp_path):
    done = apus(*commands(secure[0], tmp_path)[name])
    assert done.returncode != 0
    assert "the certificate of localhost is self-signed" in done.stderr, done.stderr
    assert not INTERNAL.search(done.stderr), done.stderr
    assert done.stderr.count("self-signed") == 1 and "retrying" not in done.stderr, done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_a_server_without_tls(name, tmp_path):
    with python_server() as port:
        done = apus(*commands(f"127.0.0.1:{port}", tmp_path)[name])
    assert done.returncode != 0
    assert "TLS" in done.stderr and not INTERNAL.search(done.stderr), done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_no_server(name, tmp_path):
    done = apus(*commands(f"127.0.0.1:{free_port()}", tmp_path)[name])
    assert done.returncode != 0
    assert "Connection refused" in done.stderr and not INTERNAL.search(done.stderr), done.stderr


@pytest.mark.parametrize("command", [["serve", "--port", "0", "--tls-port", "0", "--data", "data"], ["ws", "--listen", "0"]], ids=["serve", "ws"])
def test_a_key_of_another_certificate(command, tmp_path):
    (tmp_path / "other").mkdir()
    certificate, other = Certificate(tmp_path), Certificate(tmp_path / "other")
    done = subprocess.run(
        [str(BINARY), *command, "--certificate", str(certificate.certificate), "--key", str(other.key)], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode != 0
    assert "is the key of another certificate" in done.stderr and not INTERNAL.search(done.stderr), done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_the_advice_for_a_rejected_certificate_works(secure, name, tmp_path):
    address, certificate = secure
    command = commands(address, tmp_path)[name]
    advice = re.search("--pin FINGERPRINT", apus(*command).stderr)
    assert advice, "the option must be named"
    for options in (["--pin", certificate.fingerprint], ["--ca", str(certificate.certificate)], ["--insecure"]):
        # The server supports only WebSocket, so `connect` and `chat` fail after the TLS handshake.
        done = apus(*command, *options)
        assert "certificate" not in done.stderr, done.stderr
    done = apus(*command, "--pin", "00" * 32)
    assert done.returncode != 0 and "matches no pin" in done.stderr, done.stderr
