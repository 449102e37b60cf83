"""Connections up to the limit of file descriptors (docs/hazards.md, 15): the accept loop waits without spinning, and recovers."""
import os
import resource
import socket
import time

import pytest
import requests
from support.process import ServerProcess
from support.transfer import hash_of, make_file, send

CLIENTS = 80


def cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def flood(server: ServerProcess, check):
    """Uses all of the server's descriptors. It must wait without spinning, and `check` must succeed after they are released."""
    clients = []
    try:
        most = server.descriptors() + 20
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (most, most))
        for _ in range(CLIENTS):
            clients.append(socket.create_connection(("127.0.0.1", server.port), timeout=10))
        deadline = time.monotonic() + 40
        while server.descriptors() < most - 3:  # allows for temporary files
            assert time.monotonic() < deadline, f"{server.descriptors()} of {most} descriptors are used"
            time.sleep(0.05)
        before = cpu_seconds(server.process.pid)
        time.sleep(1)
        spent = cpu_seconds(server.process.pid) - before
        assert spent < 0.6, f"{spent} s of CPU time in an idle second"
    finally:
        for client in clients:
            client.close()
    check()


linux = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs Linux: limits and CPU time of another process")

@linux
@pytest.mark.parametrize("arguments", [["serve", "--port", "0", "--no-tls"], ["conformance", "suite", "engineio", "--port", "0"]], ids=["chat", "engine.io"])
def test_the_accept_loop_survives_a_flood(arguments, tmp_path):
    server = ServerProcess(*arguments, *(["--data", str(tmp_path)] if arguments[0] == "serve" else []))
    path = "/" if arguments[0] == "serve" else "/engine.io/?EIO=4&transport=polling"
    try:
        assert requests.get(server.url + path, timeout=30).status_code == 200

        def check():
            assert requests.get(server.url + path, timeout=60).status_code == 200

        flood(server, check)
    finally:
        server.stop()


@linux
def test_a_receiver_of_files_survives_a_flood(tmp_path):
    """Silent connections are closed at the deadline of the handshake; a sender can then connect."""
    server = ServerProcess("receive", "--plain", "--listen", "127.0.0.1:0", "--into", str(tmp_path / "inbox"))
    expected = make_file(tmp_path / "file", 1 << 20, 15)

    def check():
        deadline = time.monotonic() + 60
        while send(tmp_path / "file", server.port).end(60) != 0:
            assert time.monotonic() < deadline, "no client is accepted after the flood"
        assert hash_of(tmp_path / "inbox" / "file") == expected

    try:
        flood(server, check)
    finally:
        server.stop()
