"""Tests the WebSocket client (`apus ws URL`) with independent servers, directly and through nginx, a CONNECT proxy and a SOCKS5 proxy."""
import http.server
import json
import os
import re
import subprocess
import threading

import pytest

from support.peers import Certificate, folder, free_port, microsocks, nginx, node_server, python_server, squid
from support.process import BINARY, ROOT

USER, PASSWORD = "swift", "apus apus:#1"  # with characters that a URL must escape
SECRET = f"{USER}:apus%20apus%3A%231"



def apus(url: str, *options: str, lines: str | bytes = "", timeout: float = 60) -> subprocess.CompletedProcess:
    data = lines.encode() if isinstance(lines, str) else lines
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return subprocess.run(
        [str(BINARY), "ws", url, *options], input=data, capture_output=True, timeout=timeout, cwd=ROOT,
        env={**environment, "SWIFT_BACKTRACE": "enable=no"})


def talk(url: str, *options: str):
    """Sends lines, one of them large, and compares the echoes."""
    lines = ["hello", "在吗？ 🐦", "x" * 125, "x" * 126, "é" * 40_000, "last"]
    result = apus(url, *options, lines="".join(line + "\n" for line in lines))
    assert result.returncode == 0, result.stderr.decode()
    assert result.stdout.decode().splitlines() == lines
    return result


@pytest.fixture(scope="module", params=["websockets", "websockets, deflate", "node ws", "node ws, deflate"])
def peer(request):
    compress = "deflate" in request.param
    with (node_server if request.param.startswith("node") else python_server)(compress) as port:
        yield f"ws://127.0.0.1:{port}", compress


@pytest.fixture(scope="module")
def upstream():
    with python_server(compress=True) as port:
        yield port


@pytest.fixture(scope="module")
def secure():
    with folder() as place:
        certificate = Certificate(place)
        with python_server(certificate=certificate) as port:
            yield f"wss://localhost:{port}", certificate


def test_echo(peer):
    url, compress = peer
    talk(url + "/", *(["--compress"] if compress else []))


def test_offering_compression_to_any_server(peer):
    url, compress = peer
    result = talk(url + "/", "--compress")
    assert ("permessage-deflate" in result.stderr.decode()) == compress


def test_a_binary_file(peer, tmp_path):
    url, compress = peer
    data = os.urandom(300_000)
    (tmp_path / "bytes").write_bytes(data)
    result = apus(url + "/", "--commands", *(["--compress"] if compress else []), lines=f"/file {tmp_path}/bytes\n")
    assert result.returncode == 0, result.stderr.decode()
    assert result.stdout == data


def test_verbose_output(peer):
    url, _ = peer
    result = apus(url + "/", "--commands", "--verbose", lines="hello\n/hex 00 ff 10\n/ping are you there\n//slash\n/close 4003 enough\n")
    assert result.returncode == 0, result.stderr.decode()
    shown = result.stdout.decode()
    assert re.search(r"← text 5 B[^\n]*: hello", shown), shown
    assert re.search(r"← binary 3 B[^\n]*: 00 ff 10", shown), shown
    assert re.search(r"✓ pong in [0-9.]+ ms", shown), shown
    assert re.search(r"← text 6 B[^\n]*: /slash", shown), shown
    assert "4003" in result.stderr.decode()


def test_the_server_closes(peer):
    url, _ = peer
    result = apus(url + "/close", "--stay")
    assert result.returncode == 1
    assert "4001" in result.stderr.decode() and "bye" in result.stderr.decode()


def test_the_server_aborts_the_connection(peer):
    url, _ = peer
    result = apus(url + "/cut", "--stay")
    assert result.stdout == b"last words\n"
    assert result.returncode == 69, result.stderr.decode()


def test_fragments_of_the_server(peer):
    url, compress = peer
    result = apus(url + "/fragments", "--stay", *(["--compress"] if compress else []))
    assert (result.returncode, result.stdout) == (0, b"first second third\n"), result.stderr.decode()


def test_a_ping_of_the_server_is_answered(peer):
    url, _ = peer
    result = apus(url + "/ping", "--stay")
    assert (result.returncode, result.stdout) == (0, b"pong are you there\n"), result.stderr.decode()


def test_headers_and_subprotocol(peer):
    url, _ = peer
    result = apus(url + "/headers", "--header", "X-One: 1", "--header", "Cookie: a=b; c=d", "--subprotocol", "news", "--subprotocol", "chat", "--stay")
    assert result.returncode == 0, result.stderr.decode()
    fields = json.loads(result.stdout)
    assert (fields["x-one"], fields["cookie"]) == ("1", "a=b; c=d")
    assert [name.strip() for name in fields["sec-websocket-protocol"].split(",")] == ["news", "chat"]
    assert "chat" in result.stderr.decode()


def test_refused(peer):
    url, _ = peer
    result = apus(url + "/refuse")
    assert result.returncode == 77
    assert "403" in result.stderr.decode() and "no" in result.stderr.decode()


def test_a_server_that_answers_with_a_page():
    """The page of a web server without WebSocket is not printed."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = ("\r\n<!DOCTYPE html>\x1b[31mx" + "é" * 400 + "\n<title>A page</title>\n").encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        result = apus(f"http://127.0.0.1:{server.server_port}/")
        server.shutdown()
    error = result.stderr.decode()
    assert result.returncode == 77 and result.stdout == b"", error
    assert error == f"the server refused the connection with status 200 (text/html; charset=utf-8): <!DOCTYPE html>\ufffd[31mx{'é' * 89} …\n"


def test_no_server():
    result = apus(f"ws://127.0.0.1:{free_port()}/")
    assert (result.returncode, result.stdout) == (69, b"")


def test_a_pipe_whose_reader_closes(upstream):
    command = f"yes 'a line' | '{BINARY}' ws --proxy none ws://127.0.0.1:{upstream}/ | head -n 2; echo ${{PIPESTATUS[1]}}"
    result = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert result.stdout == "a line\na line\n141\n", result.stderr


def test_many_lines_keep_their_order(upstream):
    lines = "".join(f"{number}\n" for number in range(20_000))
    result = apus(f"ws://127.0.0.1:{upstream}/", lines=lines)
    assert (result.returncode, result.stdout.decode()) == (0, lines), result.stderr.decode()


@pytest.mark.parametrize("arguments", [["http"], ["ftp://localhost/"], ["ws://localhost/", "--header", "no colon"], [], ["--listen", "nowhere"]])
def test_wrong_arguments(arguments):
    result = subprocess.run([str(BINARY), "ws", *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
    assert result.returncode == 64, result.stderr


# TLS


def test_a_certificate_of_an_unknown_authority_is_refused(secure):
    url, _ = secure
    result = apus(url + "/", lines="secret\n")
    assert (result.returncode, result.stdout) == (69, b""), result.stderr.decode()


def test_a_private_authority(secure):
    url, certificate = secure
    talk(url + "/", "--ca", str(certificate.certificate))


def test_a_pinned_certificate(secure):
    url, certificate = secure
    talk(url + "/", "--pin", certificate.fingerprint)
    result = apus(url + "/", "--pin", "00" * 32, lines="secret\n")
    assert (result.returncode, result.stdout) == (69, b""), result.stderr.decode()


# Proxies


@pytest.mark.parametrize("compress", [[], ["--compress"]], ids=["plain", "deflate"])
def test_through_nginx(upstream, compress):
    with nginx(upstream) as (plain, secure, certificate):
        talk(f"ws://127.0.0.1:{plain}/", *compress)
        talk(f"wss://localhost:{secure}/", "--ca", str(certificate.certificate), *compress)


def test_through_a_connect_proxy_with_credentials(upstream, secure):
    url, certificate = secure
    with squid(USER, PASSWORD) as (port, log):
        talk(f"ws://127.0.0.1:{upstream}/", "--proxy", f"http://{SECRET}@127.0.0.1:{port}")
        talk(url + "/", "--proxy", f"http://{SECRET}@127.0.0.1:{port}", "--pin", certificate.fingerprint)
        for wrong in (f"http://127.0.0.1:{port}", f"http://{USER}:wrong@127.0.0.1:{port}"):
            result = apus(f"ws://127.0.0.1:{upstream}/", "--proxy", wrong)
            assert result.returncode == 69, result.stderr.decode()
            assert "407" in result.stderr.decode(), result.stderr.decode()
        seen = log.read_text()
    assert f"CONNECT 127.0.0.1:{upstream} {USER}" in seen, seen


def test_through_a_socks5_proxy_with_credentials(upstream, secure):
    url, certificate = secure
    with microsocks(USER, PASSWORD) as (port, log):
        talk(f"ws://127.0.0.1:{upstream}/", "--proxy", f"socks5://{SECRET}@127.0.0.1:{port}")
        talk(url + "/", "--proxy", f"socks5://{SECRET}@127.0.0.1:{port}", "--pin", certificate.fingerprint)
        assert str(upstream) in log.read_text()
        for wrong in (f"socks5://127.0.0.1:{port}", f"socks5://{USER}:wrong@127.0.0.1:{port}"):
            result = apus(f"ws://127.0.0.1:{upstream}/", "--proxy", wrong)
            assert result.returncode == 69, result.stderr.decode()
