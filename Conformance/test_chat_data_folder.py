"""Only one server can use a data folder: a second one refuses to start, and kill -9 of the first releases the folder."""
import subprocess

import requests

from support.process import BINARY, ServerProcess


def arguments(folder) -> list[str]:
    return ["serve", "--port", "0", "--no-tls", "--data", str(folder)]


def refused(folder) -> str:
    result = subprocess.run([BINARY, *arguments(folder)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
    assert result.returncode != 0 and "listening" not in result.stdout
    return result.stderr


def test_the_second_server_of_a_folder_refuses_until_the_first_is_gone(tmp_path):
    folder = tmp_path / "data"
    for end in [ServerProcess.kill, ServerProcess.stop, ServerProcess.kill]:
        first = ServerProcess(*arguments(folder))
        try:
            message = refused(folder)
            assert f"another chat server uses the folder {folder};" in message, message
            assert requests.get(first.url + "/health", timeout=10).json()["status"] == "ok"
        finally:
            end(first)
    # The second server uses another path of the same folder.
    first = ServerProcess(*arguments(folder))
    try:
        (tmp_path / "link").symlink_to(folder)
        assert "another chat server uses" in refused(tmp_path / "link")
    finally:
        first.stop()
