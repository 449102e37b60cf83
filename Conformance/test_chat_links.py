"""Links to files that need no session: the access of the members of a group. The log of the server contains no link."""
import os

import pytest
import requests

from support.chat import ask, bearer, befriend, register, upload
from support.process import ServerProcess


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = ServerProcess(
        "serve", "--port", "0", "--no-tls", "--limits", "off", "--data", str(tmp_path_factory.mktemp("links") / "data"), "--log-level", "trace")
    yield server
    server.stop()


def link(server, account, blob: str) -> str:
    answer = requests.post(f"{server.url}/api/blobs/{blob}/link", headers=bearer(account), timeout=30)
    assert answer.status_code == 200, answer.text
    return server.url + answer.json()["path"]


def test_the_link_of_a_removed_member_ends(server):
    alice, bobby, carol = (register(server.url, name) for name in ("alice", "bobby", "carol"))
    for other in (bobby, carol):
        befriend(server.url, alice, other)
    group = ask(server.url, alice, "conversation.create", {"id": "group", "kind": "group", "title": "Quay", "users": ["bobby"]})["head"]["conv"]
    content = os.urandom(300_000)
    blob = upload(server.url, alice, content)
    body = {"blob": blob, "name": "a.bin", "size": len(content), "type": "application/octet-stream"}
    ask(server.url, alice, "send", {"conv": group, "id": "file", "kind": "file", "body": body})
    assert requests.post(f"{server.url}/api/blobs/{blob}/link", headers=bearer(carol), timeout=30).status_code == 404
    ours, theirs = link(server, alice, blob), link(server, bobby, blob)
    for url in (ours, theirs):
        assert requests.get(url, timeout=30).content == content
        part = requests.get(url, headers={"Range": "bytes=1000-1999"}, timeout=30)
        assert part.status_code == 206 and part.content == content[1_000:2_000]
    ask(server.url, alice, "member.remove", {"id": "remove", "conv": group, "users": ["bobby"]})
    assert requests.get(theirs, timeout=30).status_code == 404
    assert requests.post(f"{server.url}/api/blobs/{blob}/link", headers=bearer(bobby), timeout=30).status_code == 404
    assert requests.get(ours, timeout=30).content == content
    forged = theirs[:-3] + ("AAA" if theirs[-3:] != "AAA" else "BBB")
    assert requests.get(forged, timeout=30).status_code == 401
    log = "".join(server.lines)
    for url in (ours, theirs):
        assert url.partition("signed=")[2] not in log
    assert "signed=" not in log
