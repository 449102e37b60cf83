"""Kills `apus serve` (SIGKILL) twice during 2,000 sends by eight clients, and restarts it with the same folder.

Every acknowledged message must be stored exactly once, at the position in its acknowledgement and in each sender's order.
"""
import asyncio
import time

import pytest

from support.chat import ChatPeer, register
from support.process import ServerProcess, free_port

SENDERS, EACH = 8, 250
# The server is killed after these numbers of acknowledged messages.
KILLS = [500, 1200]


def serve(folder, port: int, tls_port: int) -> ServerProcess:
    return ServerProcess("serve", "--host", "127.0.0.1", "--port", str(port), "--tls-port", str(tls_port), "--data", str(folder), ready=30)


@pytest.mark.timeout(280)
def test_nothing_acknowledged_is_lost_and_nothing_doubled(tmp_path):
    port, tls_port = free_port(), free_port()
    server = serve(tmp_path / "data", port, tls_port)
    url = f"http://127.0.0.1:{port}"

    async def scenario():
        nonlocal server
        peers = [ChatPeer(url, register(url, f"sender{number}", "a long password")) for number in range(SENDERS)]
        await asyncio.gather(*(peer.open() for peer in peers))
        created = await peers[0].request("create", {"title": "swifts", "members": [peer.user for peer in peers[1:]]})
        conversation = created["head"]["conv"]

        async def send_all(number: int, peer: ChatPeer):
            for index in range(EACH):
                await peer.send(conversation, f"{number}-{index}", f"message {index} of {number}, 在吗？")

        async def kill_and_restart():
            nonlocal server
            for threshold in KILLS:
                while sum(len(peer.acknowledged) for peer in peers) < threshold:
                    await asyncio.sleep(0.002)
                server.kill()
                server = await asyncio.to_thread(serve, tmp_path / "data", port, tls_port)

        begin = time.monotonic()
        async with asyncio.timeout(240):
            await asyncio.gather(kill_and_restart(), *(send_all(number, peer) for number, peer in enumerate(peers)))
        print(f"{SENDERS * EACH} sends in {time.monotonic() - begin:.1f} s, {sum(peer.resent for peer in peers)} resent")
        assert sum(peer.resent for peer in peers) > 0, "the server was not killed during the sends"

        # Restarted again, so that the messages are read from the disk.
        for peer in peers:
            await peer.close()
        server.kill()
        server = await asyncio.to_thread(serve, tmp_path / "data", port, tls_port)
        reader = ChatPeer(url, {"user": {"id": peers[0].user}, "token": peers[0]._token})
        await reader.open()
        events = await reader.history(conversation)
        await reader.close()
        return peers, events

    try:
        peers, events = asyncio.run(scenario())
    except BaseException:
        print("".join(server.lines[-40:]))
        raise
    finally:
        server.kill()

    assert [event["seq"] for event in events] == list(range(1, len(events) + 1)), "the log has a gap or a duplicate"
    messages = [event for event in events if event["kind"] == "text"]
    assert [event["n"] for event in messages] == list(range(1, len(messages) + 1))
    assert len(messages) == SENDERS * EACH
    stored = {(event["sender"], event["id"]): event for event in messages}
    assert len(stored) == len(messages), "a client ID is stored twice"
    for number, peer in enumerate(peers):
        assert len(peer.acknowledged) == EACH
        for client_id, ack in peer.acknowledged.items():
            event = stored[(peer.user, client_id)]
            assert (event["seq"], event["n"], event["at"]) == (ack["seq"], ack["n"], ack["at"])
        mine = [event["id"] for event in messages if event["sender"] == peer.user]
        assert mine == [f"{number}-{index}" for index in range(EACH)], "not in the order sent"
