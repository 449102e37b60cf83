"""The export of a user's data: a ZIP file with the data that the user may see, and no other."""
import io
import json
import zipfile

import pytest
import requests

from support.chat import ask, bearer, befriend, register, upload
from support.process import ServerProcess


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    process = ServerProcess("serve", "--port", "0", "--no-tls", "--data", str(tmp_path_factory.mktemp("chat")))
    yield process
    process.stop()


def send(url, account, conversation, number, text):
    body = {"conv": conversation, "id": f"{account['user']['name']}-{number}", "kind": "text", "body": {"text": text}}
    return ask(url, account, "send", body)


def exported(url, account):
    answer = requests.get(f"{url}/api/account/export", headers=bearer(account), timeout=60)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/zip"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="apus-export.zip"'
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert archive.testzip() is None
    return archive


def lines(archive, name):
    return [json.loads(line) for line in archive.read(name).splitlines()]


def texts(events):
    return [event["body"]["text"] for event in events if event["kind"] == "text" and "body" in event]


def test_the_archive_has_what_the_user_sees(server):
    url = server.url
    alice, bob, carol = (register(url, name) for name in ["alice", "bob", "carol"])
    for other in [bob, carol]:
        befriend(url, alice, other)
    pair = ask(url, alice, "conversation.open", {"id": "open", "user": "bob"})["head"]["conv"]
    for number in range(90):
        send(url, alice, pair, number, f"swift {number} 在吗")
    recalled = send(url, bob, pair, 0, "not for the archive")
    ask(url, bob, "recall", {"id": "recall", "conv": pair, "ref": recalled["seq"]})
    hidden = send(url, bob, pair, 1, "deleted for me")
    ask(url, alice, "hide", {"id": "hide", "conv": pair, "seqs": [hidden["seq"]]})
    # A group whose new members do not see earlier messages.
    group = ask(
        url, alice, "conversation.create",
        {"id": "create", "kind": "group", "title": "Swifts", "users": ["bob"], "settings": {"history": "join"}})["head"]["conv"]
    send(url, alice, group, 200, "before carol")
    ask(url, alice, "member.add", {"id": "add", "conv": group, "users": ["carol"]})
    send(url, alice, group, 201, "after carol")
    data = bytes(range(256)) * 1_000
    blob = upload(url, alice, data)
    upload(url, bob, b"of another user")

    archive = exported(url, alice)
    names = set(archive.namelist())
    assert {"README.txt", "profile.json", "settings.json", "devices.json", "contacts.jsonl", "scheduled.jsonl", "conversations.jsonl"} < names
    assert lines(archive, "profile.json")[0]["name"] == "alice"
    assert {contact["user"]["name"] for contact in lines(archive, "contacts.jsonl")} == {"bob", "carol"}
    assert len(lines(archive, "devices.json")[0]["devices"]) == 1
    assert {pair, group} < {head["conv"] for head in lines(archive, "conversations.jsonl")}
    written = texts(lines(archive, f"messages/{pair}.jsonl"))
    assert written == [f"swift {number} 在吗" for number in range(90)]
    assert "not for the archive" not in archive.read(f"messages/{pair}.jsonl").decode()
    assert [name for name in names if name.startswith("uploads/")] == [f"uploads/{blob}.bin"]
    assert archive.read(f"uploads/{blob}.bin") == data

    carols = exported(url, carol)
    assert texts(lines(carols, f"messages/{group}.jsonl")) == ["after carol"]
    assert f"messages/{pair}.jsonl" not in carols.namelist()
    assert not any(name.startswith("uploads/") for name in carols.namelist())


def test_a_user_without_a_session_gets_nothing(server):
    answer = requests.get(f"{server.url}/api/account/export", timeout=10)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "unauthorized"


def test_an_account_has_a_few_exports(server):
    dave = register(server.url, "dave")
    for _ in range(3):
        exported(server.url, dave)
    answer = requests.get(f"{server.url}/api/account/export", headers=bearer(dave), timeout=10)
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 3_600


def test_a_cut_export_leaves_nothing_behind(server):
    """A client that disconnects ends the export, and releases its place among the downloads."""
    erin = register(server.url, "erin")
    upload(server.url, erin, bytes(4 << 20), "large.bin")
    answer = requests.get(f"{server.url}/api/account/export", headers=bearer(erin), stream=True, timeout=10)
    assert answer.status_code == 200
    answer.raw.read(1_000)
    answer.close()
    assert server.is_alive
    assert exported(server.url, erin).namelist()[-1].startswith("uploads/")
