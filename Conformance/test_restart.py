"""Restarts the server (SIGKILL or SIGTERM) with 200 Apus clients in one process: all reconnect, and nothing acknowledged is lost.

`Benchmarks/restart` does the same with 5,000 clients and prints figures.
"""
import pytest

from support import clients


@pytest.mark.timeout(200)
@pytest.mark.parametrize("transport", ["websocket", "upgrade"])
@pytest.mark.parametrize("graceful", [False, True], ids=["SIGKILL", "SIGTERM"])
def test_all_clients_reconnect(tmp_path, transport, graceful):
    figures = clients.live_through_a_restart(tmp_path, 200, transport=transport, graceful=graceful, pause=500)
    print(figures)
    assert figures["back_seconds"] < 15
