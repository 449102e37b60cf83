"""`apus bench` puts its load on servers of others too, and tells what happened as JSON. No test of speed."""
import json
import pathlib
import socket
import subprocess
import sys
import time

import pytest

from support.process import BINARY, free_port

BENCHMARKS = pathlib.Path(__file__).resolve().parent.parent / "Benchmarks"


@pytest.fixture(scope="module", params=["websocket/python_websockets.py", "peer_python_socketio.py"])
def peer(request):
    port = free_port()
    process = subprocess.Popen([sys.executable, str(BENCHMARKS / request.param), str(port)], stdin=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert process.poll() is None, f"{request.param} ended"
                time.sleep(0.05)
        yield ("ws", port) if "websocket" in request.param else ("socketio", port)
    finally:
        process.kill()  # aiohttp would wait a minute for its last clients
        process.wait(10)


def bench(*arguments):
    command = [str(BINARY), "bench", *map(str, arguments), "--duration", "0.5", "--warmup", "0.1", "--connections", "4", "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("options", [[], ["--binary"], ["--ack"], ["--ack", "--rate", "200"], ["--broadcast"], ["--polling"], ["--polling", "--ack", "--binary"]])
def test_every_message_is_answered(peer, options):
    kind, port = peer
    if kind == "ws" and {"--ack", "--broadcast", "--polling"} & set(options):
        pytest.skip("a row of Socket.IO")
    result = bench(kind, f"{'ws' if kind == 'ws' else 'http'}://127.0.0.1:{port}", *options)
    assert result["messages"] > 0
    assert result["setUp"] == {**result["setUp"], "opened": 4, "failed": 0}
    assert result["lost"] == 0 and result["unanswered"] == 0
    assert result["latency"]["p50"] <= result["latency"]["p99"] <= result["latency"]["maximum"]


def test_nobody_there_is_an_error():
    done = subprocess.run([str(BINARY), "bench", "ws", f"ws://127.0.0.1:{free_port()}/"], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert done.returncode != 0
    assert "no connection" in done.stderr
