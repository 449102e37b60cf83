"""The chat's requests on the wire: bursts, and the recipients of a new group."""
import asyncio

import pytest

from support.chat import ChatPeer, register
from support.process import ServerProcess

BURST = 500


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    process = ServerProcess("serve", "--port", "0", "--no-tls", "--data", str(tmp_path_factory.mktemp("chat")))
    yield process
    alive = process.is_alive
    process.stop()
    assert alive, "the server ended by itself:\n" + "".join(process.lines[-40:])


def test_every_request_of_a_burst_is_answered(server):
    async def scenario():
        peer = ChatPeer(server.url, register(server.url, "hasty", "a long password"))
        await peer.open()
        answers: asyncio.Queue = asyncio.Queue()
        for _ in range(BURST):
            await peer.sio.emit("sync", {}, namespace="/chat", callback=answers.put_nowait)
        codes = []
        for _ in range(BURST):
            answer = await asyncio.wait_for(answers.get(), 30)
            codes.append(answer.get("error", {}).get("code"))
        # The number of refused requests depends on timing, but no other error may occur.
        assert set(codes) <= {None, "too_many"} and None in codes
        # Refused requests no longer count.
        for _ in range(100):
            await peer.request("sync", {})
        await peer.close()

    asyncio.run(scenario())


def test_a_new_group_is_sent_once_to_every_device_but_its_creators(server):
    async def scenario():
        accounts = [register(server.url, name, "a long password") for name in ["maker", "second", "third"]]
        peers = [ChatPeer(server.url, account) for account in [accounts[0], *accounts]]  # the creator has two devices
        heads: list[list[dict]] = [[] for _ in peers]
        for peer, told in zip(peers, heads):
            peer.sio.on("head", told.append, namespace="/chat")
            await peer.open()
        made = await peers[0].request("create", {"title": "swifts", "members": [peer.user for peer in peers[1:]]})
        # Pushes arrive in order: the group's announcement precedes the message.
        await peers[0].send(made["head"]["conv"], "1", "hello")
        deadline = asyncio.get_running_loop().time() + 15
        while not all(peer.events for peer in peers[1:]):
            assert asyncio.get_running_loop().time() < deadline
            await asyncio.sleep(0.02)
        assert heads == [[], [made["head"]], [made["head"]], [made["head"]]]
        assert {member["user"] for member in made["head"]["members"]} == {peer.user for peer in peers}
        for peer in peers:
            await peer.close()

    asyncio.run(scenario())
