"""The chat's requests on the wire: bursts, and the recipients of a new group."""
import asyncio

import pytest

from support.chat import ChatPeer, befriend, register
from support.process import ServerProcess

BURST = 500


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    process = ServerProcess("serve", "--port", "0", "--no-tls", "--limits", "off", "--data", str(tmp_path_factory.mktemp("chat")))
    yield process
    alive = process.is_alive
    process.stop()
    assert alive, "the server ended by itself:\n" + "".join(process.lines[-40:])


def test_every_request_of_a_burst_is_answered(server):
    async def scenario():
        peer = ChatPeer(server.url, register(server.url, "hasty"))
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
        # Refused requests do not use the budget.
        for _ in range(100):
            await peer.request("sync", {})
        await peer.close()

    asyncio.run(scenario())


def test_a_new_group_is_told_to_every_other_device(server):
    async def scenario():
        accounts = [register(server.url, name) for name in ["maker", "second", "third"]]
        for other in accounts[1:]:
            await asyncio.to_thread(befriend, server.url, accounts[0], other)
        peers = [ChatPeer(server.url, account) for account in [accounts[0], *accounts]]  # the creator has two devices
        heads: list[list[dict]] = [[] for _ in peers]
        for peer, told in zip(peers, heads):
            peer.sio.on("head", lambda push, told=told: told.extend(push["heads"]), namespace="/chat")
            await peer.open()
        users = [account["user"]["name"] for account in accounts[1:]]
        made = await peers[0].request("conversation.create", {"id": "create", "kind": "group", "title": "swifts", "users": users})
        conv = made["head"]["conv"]
        await peers[0].send(conv, "1", "hello")
        deadline = asyncio.get_running_loop().time() + 15

        def is_told(peer, told):
            return any(head["conv"] == conv for head in told) and any(event.get("id") == "1" for event in peer.events)

        while not all(is_told(*each) for each in list(zip(peers, heads))[1:]):
            assert asyncio.get_running_loop().time() < deadline, heads
            await asyncio.sleep(0.02)
        assert made["head"]["members"] == 3 and "invited" not in made
        for peer in peers:
            await peer.close()

    asyncio.run(scenario())
