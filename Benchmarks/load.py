"""A plain load for one Socket.IO server: load.py NAME PORT COMMAND…

Starts the command, measures echo and ack round trips a second (50 connections, 4 in flight, 64 bytes, 4 s) and the memory of 1,000 idle
connections, and ends it. Python is the bottleneck of the wall-clock rate; the rate per CPU-second of the server is what compares.
"""
import asyncio
import os
import subprocess
import sys
import time

import aiohttp

CONNECTIONS, DEPTH, SECONDS, IDLE = 50, 4, 4, 1000
TEXT = "x" * 64


def cpu_seconds(pid: int) -> float:
    fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> int:
    return int(open(f"/proc/{pid}/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def connect(session, url):
    connection = await session.ws_connect(url, max_msg_size=0)
    await connection.receive_str()
    await connection.send_str("40")
    await connection.receive_str()
    return connection


async def talk(connection, outgoing, expected, stop, counter):
    for _ in range(DEPTH):
        await connection.send_str(outgoing)
    while time.monotonic() < stop:
        text = await connection.receive_str()
        if text == "2":
            await connection.send_str("3")
        elif text.startswith(expected):
            counter[0] += 1
            await connection.send_str(outgoing)


async def measure(name, port, pid):
    url = f"ws://127.0.0.1:{port}/socket.io/?EIO=4&transport=websocket"
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        for what, outgoing, expected in [("echo", f'42["echo","{TEXT}"]', '42["echo"'), ("ack", f'421["ack","{TEXT}"]', "431[")]:
            connections = [await connect(session, url) for _ in range(CONNECTIONS)]
            counter, begin, cpu = [0], time.monotonic(), cpu_seconds(pid)
            await asyncio.gather(*(talk(connection, outgoing, expected, begin + SECONDS, counter) for connection in connections))
            seconds, spent = time.monotonic() - begin, cpu_seconds(pid) - cpu
            print(f"{name}: {what} {counter[0] / seconds:,.0f}/s, {counter[0] / max(spent, 0.01):,.0f} per CPU-second of the server")
            for connection in connections:
                await connection.close()
        before = resident(pid)
        idle = [await connect(session, url) for _ in range(IDLE)]
        await asyncio.sleep(2)
        print(f"{name}: {(resident(pid) - before) / IDLE / 1024:.1f} KiB per idle connection ({IDLE})")
        for connection in idle:
            await connection.close()


def main():
    name, port, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        import socket

        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        asyncio.run(measure(name, port, server.pid))
    finally:
        server.terminate()
        server.wait(10)


if __name__ == "__main__":
    main()
