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

# The status of `unsupported` is 501, which the check would report as an error of the server.
CONFIGURATION = """
[checks.not_a_server_error]
expected-statuses = ["2xx", "4xx", 501]
"""
# Most requests with generated names and conversations would be refused at the first look-up.
HOOKS = """
import json, os, zlib
import schemathesis
schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
REAL = json.loads(os.environ.get("APUS_REAL", "{}"))

@schemathesis.hook
def map_body(context, body):
    if context.operation.path.endswith(("conversation.delete", "member.leave", "member.role")):
        return body
    if isinstance(body, dict) and REAL and zlib.crc32(repr(sorted(body.items(), key=repr)).encode()) % 4:
        return {name: REAL.get(name, value) for name, value in body.items()}
    return body
"""
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,ignored_auth"


def call(server, path: str, body: dict, token: str | None = None) -> dict:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = requests.post(server.url + path, json=body, headers=headers, timeout=20)
    assert answer.status_code == 200, answer.text
    return answer.json()


def register(server, name: str) -> str:
    return call(server, "/api/register", {"name": name, "password": PASSWORD, "device": DEVICE})["access"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chat")
    process = ServerProcess("serve", "--port", "0", "--no-tls", "--limits", "off", "--directory", "open", "--data", str(folder))
    yield process
    alive = process.is_alive
    process.stop()
    assert alive, "the server ended by itself:\n" + "".join(process.lines[-40:])


@pytest.fixture(scope="module")
def token(server) -> str:
    return register(server, "alice")


@pytest.fixture(scope="module")
def real(server, token) -> dict:
    """Creates a group with messages, and returns the values to which requests refer."""
    register(server, "bobby")
    group = call(server, "/api/chat/conversation.create", {"id": "c1", "kind": "group", "title": "Fuzz", "users": ["bobby"]}, token)
    conversation = group["head"]["conv"]
    for number in range(3):
        message = {"conv": conversation, "id": f"m{number}", "kind": "text", "body": {"text": f"message {number}"}}
        sent = call(server, "/api/chat/send", message, token)
    return {"conv": conversation, "ref": sent["seq"], "seq": sent["seq"], "seqs": [sent["seq"]], "user": "bobby", "users": ["bobby"]}


def run(server, folder: pathlib.Path, *arguments: str, real: dict | None = None):
    if not SCHEMATHESIS.exists():
        pytest.skip("scripts/bootstrap installs schemathesis into .venv-schemathesis")
    configuration = folder / "schemathesis.toml"
    configuration.write_text(CONFIGURATION)
    (folder / "hooks.py").write_text(HOOKS)
    result = subprocess.run(
        [str(SCHEMATHESIS), "--config-file", str(configuration), "run", str(DOCUMENT), "--url", server.url, "--checks", CHECKS,
         "--seed", "1", "--generation-database", "none", "--suppress-health-check", "all",
         "--no-color", "--warnings", "off", "--request-timeout", "10", *arguments],
        capture_output=True, text=True, cwd=folder, timeout=120,
        env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(folder), "APUS_REAL": json.dumps(real or {})},
    )
    assert result.returncode == 0, result.stdout[-12_000:] + result.stderr[-2_000:]
    assert not any("crash" in line.lower() or "Fatal error" in line for line in server.lines)


def test_the_document_is_valid():
    document = json.loads(DOCUMENT.read_text())
    assert document["openapi"].startswith("3.1")
    assert "/api/uploads" in document["paths"]


def test_every_operation_answers_a_session_as_described(server, token, real, tmp_path):
    # The requests that end the session of the token are excluded.
    run(
        server, tmp_path, "-H", f"Authorization: Bearer {token}", "--max-examples", "8", "--exclude-path", "/api/logout",
        "--exclude-path", "/api/account/delete", "--phases", "coverage,fuzzing", real=real,
    )


def test_every_operation_answers_without_a_session_as_described(server, tmp_path):
    run(server, tmp_path, "--max-examples", "4", "--phases", "fuzzing")
