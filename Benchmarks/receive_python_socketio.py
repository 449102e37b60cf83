"""The python-socketio client for the comparison with `apus bench receive`: receive_python_socketio.py URL SECONDS"""
import asyncio
import json
import sys
import time

import socketio

try:
    import uvloop

    uvloop.install()
except ImportError:
    pass

BATCH, PAYLOAD = 20_000, "x" * 64


async def main(url, seconds):
    client = socketio.AsyncClient()
    count = 0

    @client.on("flood")
    async def flood(value):
        nonlocal count
        count += 1
        if count % BATCH == 0:
            await client.emit("flood", (BATCH, PAYLOAD))

    await client.connect(url, transports=["websocket"])
    await client.emit("flood", (BATCH, PAYLOAD))
    await asyncio.sleep(1)
    before, begin, cpu = count, time.monotonic(), time.process_time()
    await asyncio.sleep(seconds)
    print(json.dumps({"events": count - before, "seconds": time.monotonic() - begin, "cpuSeconds": time.process_time() - cpu}))
    await client.disconnect()


asyncio.run(main(sys.argv[1], float(sys.argv[2])))
