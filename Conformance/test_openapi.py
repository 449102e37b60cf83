"""The HTTP interface of the chat against its description, `docs/openapi.json`, with schemathesis."""
import json
import os
import pathlib
import subprocess

import pytest
import requests

from support.process import ROOT, ServerProcess

SCHEMATHESIS = ROOT / ".venv-schemathesis" / "bin" / "schemathesis"
DOCUMENT = ROOT / "docs" / "openapi.json"
DEVICE = {"name": "schemathesis", "platform": "linux"}
PASSWORD = "correct horse"

# `unsupported` is 501, which the check would call an error of the server.
CONFIGURATION = """
[checks.not_a_server_error]
expected-statuses = ["2xx", "4xx", 501]
"""
HOOKS = """
import schemathesis
schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
"""
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,ignored_auth"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chat")
    process = ServerProcess("conformance", "chat-routes", "--folder", str(folder), "--without-limits")
    yield process
    alive = process.is_alive
    process.stop()
    assert alive, "the server ended by itself:\n" + "".join(process.lines[-40:])


@pytest.fixture(scope="module")
def token(server) -> str:
    answer = requests.post(server.url + "/api/register", json={"name": "alice", "password": PASSWORD, "device": DEVICE}, timeout=10)
    assert answer.status_code == 200, answer.text
    return answer.json()["access"]


def run(server, folder: pathlib.Path, *arguments: str):
    if not SCHEMATHESIS.exists():
        pytest.skip("scripts/bootstrap installs schemathesis into .venv-schemathesis")
    configuration = folder / "schemathesis.toml"
    configuration.write_text(CONFIGURATION)
    (folder / "hooks.py").write_text(HOOKS)
    result = subprocess.run(
        [str(SCHEMATHESIS), "--config-file", str(configuration), "run", str(DOCUMENT), "--url", server.url, "--checks", CHECKS,
         "--seed", "1", "--generation-database", "none", "--suppress-health-check", "all",
         "--no-color", "--warnings", "off", "--request-timeout", "10", *arguments],
        capture_output=True, text=True, cwd=folder, timeout=120, env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(folder)},
    )
    assert result.returncode == 0, result.stdout[-12_000:] + result.stderr[-2_000:]
    assert not any("crash" in line.lower() or "Fatal error" in line for line in server.lines)


def test_the_document_is_valid():
    document = json.loads(DOCUMENT.read_text())
    assert document["openapi"].startswith("3.1")
    assert "/api/uploads" in document["paths"]


def test_every_operation_answers_a_session_as_described(server, token, tmp_path):
    # Without those that end the session of the token.
    run(
        server, tmp_path, "-H", f"Authorization: Bearer {token}", "--max-examples", "8", "--exclude-path", "/api/logout",
        "--exclude-path", "/api/account/delete", "--phases", "coverage,fuzzing",
    )


def test_every_operation_answers_without_a_session_as_described(server, tmp_path):
    run(server, tmp_path, "--max-examples", "4", "--phases", "fuzzing")
