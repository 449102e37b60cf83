"""A client that does not read receives heads in place of messages, and requests the missed messages afterwards."""
import asyncio
import json
import os
import signal
import subprocess
import sys
import time

import pytest
import socketio

from support.chathost import ChatHost

READER = """
import asyncio, json, sys, socketio
url, token = sys.argv[1:]
# `socketio.Client` would handle each packet on a thread of its own, in any order.
client = socketio.AsyncClient(reconnection=False)
say = lambda *what: print(json.dumps(what), flush=True)
client.on("event", lambda push: say("event", [event["seq"] for event in push["events"]]), namespace="/chat")
client.on("head", lambda push: say("head", [head["seq"] for head in push.get("heads", []) + push.get("nudges", [])]), namespace="/chat")
client.on("bye", lambda push: say("bye", push["reason"]), namespace="/chat")
client.on("disconnect", lambda *_: say("closed"), namespace="/chat")
async def run():
    await client.connect(url, auth={"token": token}, namespaces=["/chat"], transports=["websocket"])
    await client.call("hello", {"version": 1, "device": {"name": "T", "platform": "test"}}, namespace="/chat")
    say("ready")
    while line := await asyncio.to_thread(sys.stdin.readline):
        say("answer", await client.call("history", json.loads(line), namespace="/chat"))
    await client.disconnect()
asyncio.run(run())
"""
TEXT = "x" * 8_000
COUNT = 2_000  # 16 MB: more than the buffers of the kernel for a connection on the loopback


@pytest.fixture
def server(tmp_path):
    host = ChatHost(tmp_path, options=["--limits", "off"])
    yield host
    host.stop()


async def send_all(server, pair):
    """Sends the messages of Alice and returns the seq of the last one."""
    sender = socketio.AsyncClient(reconnection=False)
    await sender.connect(server.url, auth={"token": server.tokens["alice"]}, namespaces=["/chat"], transports=["websocket"])
    await sender.call("hello", {"version": 1, "device": {"name": "T", "platform": "test"}}, namespace="/chat")
    for number in range(COUNT):
        request = {"id": f"m{number}", "conv": pair, "kind": "text", "body": {"text": TEXT}}
        if number % 50 == 49:
            answer = await sender.call("send", request, namespace="/chat", timeout=20)
            assert "error" not in answer, answer
        else:
            await sender.emit("send", request, namespace="/chat", callback=lambda answer: None)
    await sender.disconnect()
    return answer["seq"]


def next_push(reader, wanted):
    """Returns the next push of this name. The last coalesced head may arrive before it."""
    while True:
        name, content = json.loads(reader.stdout.readline())
        if name == wanted:
            return content
        assert name == "head", (name, content)


def ask(reader, request):
    reader.stdin.write(json.dumps(request) + "\n")
    reader.stdin.flush()
    return next_push(reader, "answer")


def test_a_stalled_reader_gets_heads_and_catches_up(server):
    pair = server.pair("alice", "bob")
    first = server.do("alice", "send", conv=pair, kind="text", body={"text": "first"})["seq"]
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, server.url, server.tokens["bob"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert json.loads(reader.stdout.readline()) == ["ready"]
        os.kill(reader.pid, signal.SIGSTOP)
        started = time.monotonic()
        last = asyncio.run(send_all(server, pair))
        assert time.monotonic() - started < 25, "the machine is too slow for the limit of 30 s of a stalled connection"
        os.kill(reader.pid, signal.SIGCONT)
        seqs, pushes = [], []
        while last not in seqs:
            push = json.loads(reader.stdout.readline())
            assert push[0] in ("event", "head"), push
            pushes.append(push)
            seqs += push[1]
        events = [seq for name, seen in pushes if name == "event" for seq in seen]
        # The reader may drain its queue at times, and receive events again after a gap.
        assert events == sorted(set(events)), "events are pushed in order, and once"
        assert len(events) < COUNT, "the kernel took all: the reader was not stalled"
        heads = [push for push in pushes if push[0] == "head"]
        assert 0 < len(heads) <= 60, "one coalesced frame a second at most"
        # The reader requests the missed messages, and then receives messages as before.
        known, position = {first, *events}, first
        while position < last:
            if position + 1 in known:
                position += 1
                continue
            answer = ask(reader, {"conv": pair, "from": position + 1, "limit": 200})
            assert answer["events"][0]["seq"] == position + 1
            known.update(event["seq"] for event in answer["events"])
        after = server.do("alice", "send", conv=pair, kind="text", body={"text": "after"})["seq"]
        assert next_push(reader, "event") == [after]
    finally:
        os.kill(reader.pid, signal.SIGCONT)
        reader.stdin.close()
        reader.wait(20)
        reader.stdout.close()
