"""Independent servers and proxies: each is a child process on its own port with a temporary folder, and is ended by its process ID."""
import contextlib
import hashlib
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

import pytest

PEERS = pathlib.Path(__file__).resolve().parent.parent / "peers"
# The folder of Debian's Node modules.
NODE_ENVIRONMENT = {**os.environ, "NODE_PATH": "/usr/share/nodejs:/usr/lib/node_modules"}
LISTENING = re.compile(r"listening on 127\.0\.0\.1:(\d+)")


def find(program: str) -> str:
    """Returns the program's path. Skips the test if it is not installed."""
    path = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None:
        pytest.skip(f"{program} is not installed (scripts/bootstrap installs it)")
    return path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def end(process: subprocess.Popen):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def wait_for_port(port: int, process: subprocess.Popen, seconds: float = 30):
    deadline = time.monotonic() + seconds
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert process.poll() is None and time.monotonic() < deadline, f"no server listens on port {port}"
            time.sleep(0.05)


@contextlib.contextmanager
def announced(command: list, environment: dict | None = None):
    """Runs a peer that prints `listening on 127.0.0.1:PORT`, and yields its port."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        line = process.stdout.readline()
        match = LISTENING.search(line)
        assert match, f"{command} printed {line!r}"
        # Reads all output, so that the peer never blocks on a full pipe.
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield int(match.group(1))
    finally:
        end(process)


def node_server(compress: bool = False):
    return announced([find("node"), str(PEERS / "node_ws.js"), "server", *(["--compress"] if compress else [])], NODE_ENVIRONMENT)


def python_server(compress: bool = False, certificate: "Certificate | None" = None):
    files = ["--certificate", str(certificate.certificate), "--key", str(certificate.key)] if certificate else []
    return announced([sys.executable, str(PEERS / "websockets_server.py"), *(["--compress"] if compress else []), *files])


def node_client(url: str, compress: bool = False) -> subprocess.CompletedProcess:
    command = [find("node"), str(PEERS / "node_ws.js"), "client", url, *(["--compress"] if compress else [])]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, env=NODE_ENVIRONMENT)


@contextlib.contextmanager
def folder():
    """A temporary folder that is accessible to processes that have dropped root privileges."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="apus-peer-"))
    path.chmod(0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def program(command: list, port: int, cwd: pathlib.Path):
    with open(cwd / "output.log", "w") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=cwd)
        try:
            try:
                wait_for_port(port, process)
            except AssertionError as error:
                raise AssertionError(f"{error}\n{(cwd / 'output.log').read_text()[-2000:]}") from None
            yield process
        finally:
            end(process)


class Certificate:
    """A self-signed certificate for localhost and 127.0.0.1."""

    def __init__(self, place: pathlib.Path):
        self.certificate, self.key = place / "certificate.pem", place / "key.pem"
        subprocess.run(
            [find("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
             "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", self.key, "-out", self.certificate],
            check=True, stdin=subprocess.DEVNULL, capture_output=True)
        self.key.chmod(0o644)
        self.fingerprint = hashlib.sha256(ssl.PEM_cert_to_DER_cert(self.certificate.read_text())).hexdigest()

    def client_context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate))


NGINX = """
{user}
daemon off;
pid {folder}/nginx.pid;
error_log stderr warn;
worker_processes 1;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};
    server {{
        listen 127.0.0.1:{plain};
        listen 127.0.0.1:{secure} ssl;
        ssl_certificate {certificate.certificate};
        ssl_certificate_key {certificate.key};
        location / {{
            proxy_pass http://127.0.0.1:{upstream};
            proxy_http_version 1.1;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection "upgrade";
            proxy_set_header Host $http_host;
        }}
    }}
}}
"""


@contextlib.contextmanager
def nginx(upstream: int):
    """Yields (port of ws, port of wss, certificate)."""
    binary = find("nginx")
    with folder() as place:
        certificate = Certificate(place)
        plain, secure = free_port(), free_port()
        configuration = place / "nginx.conf"
        configuration.write_text(NGINX.format(
            user="user root;" if os.getuid() == 0 else "", folder=place, plain=plain, secure=secure, certificate=certificate, upstream=upstream))
        with program([binary, "-p", str(place), "-c", str(configuration)], secure, place):
            yield plain, secure, certificate


SQUID = """
http_port 127.0.0.1:{port}
auth_param basic program {helper} {folder}/passwords
auth_param basic children 1 startup=1
acl known proxy_auth REQUIRED
http_access allow known
http_access deny all
cache deny all
access_log stdio:{folder}/access.log
cache_log {folder}/cache.log
pid_filename none
coredump_dir {folder}
pinger_enable off
shutdown_lifetime 0 seconds
"""


@contextlib.contextmanager
def squid(user: str, password: str):
    """Runs a CONNECT proxy that requires credentials. Yields its port and its log."""
    binary = find("squid")
    helpers = [path for path in ("/usr/lib/squid/basic_ncsa_auth", "/usr/lib64/squid/basic_ncsa_auth") if os.path.exists(path)]
    if not helpers:
        pytest.skip("squid's basic_ncsa_auth is not installed")
    with folder() as place:
        place.chmod(0o777)  # squid drops root privileges and writes its logs here
        port = free_port()
        digest = subprocess.run([find("openssl"), "passwd", "-apr1", password], check=True, capture_output=True, text=True).stdout.strip()
        (place / "passwords").write_text(f"{user}:{digest}\n")
        configuration = place / "squid.conf"
        configuration.write_text(SQUID.format(port=port, helper=helpers[0], folder=place))
        with program([binary, "-N", "-f", str(configuration)], port, place):
            yield port, place / "access.log"


@contextlib.contextmanager
def microsocks(user: str, password: str):
    """Runs a SOCKS5 proxy that requires credentials. Yields its port and its log."""
    binary = find("microsocks")
    with folder() as place:
        port = free_port()
        with program([binary, "-i", "127.0.0.1", "-p", str(port), "-u", user, "-P", password], port, place):
            yield port, place / "output.log"
