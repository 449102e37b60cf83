"""Hazard 15: a flood up to the limit of descriptors. The accept loop waits rather than spins, and recovers."""
import os
import resource
import socket
import time

import pytest
import requests
from support.process import ServerProcess

CLIENTS = 80


def cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs Linux: limits and CPU time of another process")
@pytest.mark.parametrize("arguments", [["serve", "--port", "0"], ["serve", "--conformance", "engineio", "--port", "0"]], ids=["chat", "engine.io"])
def test_the_accept_loop_survives_a_flood(arguments, tmp_path):
    server = ServerProcess(*arguments, *(["--data", str(tmp_path)] if "--conformance" not in arguments else []))
    path = "/" if "--conformance" not in arguments else "/engine.io/?EIO=4&transport=polling"
    clients = []
    try:
        assert requests.get(server.url + path, timeout=30).status_code == 200
        most = server.descriptors() + 20
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (most, most))
        for _ in range(CLIENTS):
            clients.append(socket.create_connection(("127.0.0.1", server.port), timeout=10))
        deadline = time.monotonic() + 40
        while server.descriptors() < most - 3:  # a file may come and go
            assert time.monotonic() < deadline, f"{server.descriptors()} of {most} descriptors are used"
            time.sleep(0.05)
        before = cpu_seconds(server.process.pid)
        time.sleep(1)
        spent = cpu_seconds(server.process.pid) - before
        assert spent < 0.6, f"{spent} s of CPU in a second of doing nothing"
        for client in clients:
            client.close()
        assert requests.get(server.url + path, timeout=60).status_code == 200
    finally:
        for client in clients:
            client.close()
        server.stop()
