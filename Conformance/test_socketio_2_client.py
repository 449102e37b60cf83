"""python-socketio 4.6, a client of Socket.IO 2.x (Engine.IO 3), against our server. It lives in an environment of its own."""
import functools
import json
import pathlib
import subprocess

import pytest

from support.process import ROOT, ServerProcess

PYTHON = ROOT / ".venv-socketio4" / "bin" / "python"
PEER = pathlib.Path(__file__).parent / "peers" / "python_socketio_4_client.py"
TRANSPORTS = ["polling", "websocket", "polling,websocket"]
CHECKS = [
    "texts_and_binary_come_back", "acks_go_both_ways", "namespaces_share_a_connection", "a_refusal_carries_its_data", "rooms_are_reached",
    "the_session_upgrades",
]

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason=f"no {PYTHON.relative_to(ROOT)}: scripts/bootstrap makes it")


@pytest.fixture(scope="module")
def outcome():
    server = ServerProcess("conformance-server", "--port", "0", "--allow-eio3")

    @functools.cache
    def run(transports):
        done = subprocess.run([PYTHON, PEER, server.url, transports], capture_output=True, text=True, timeout=120)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    yield run
    server.stop()


@pytest.mark.parametrize("transports", TRANSPORTS)
@pytest.mark.parametrize("check", CHECKS)
def test_socketio_2_client(outcome, transports, check):
    failure = outcome(transports)[check]
    assert failure is None, failure
