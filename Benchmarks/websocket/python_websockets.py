"""An echo server with Python's `websockets` on uvloop: python_websockets.py PORT"""
import asyncio
import sys

import uvloop
from websockets.asyncio.server import serve


async def echo(connection):
    async for message in connection:
        await connection.send(message)


async def main():
    async with serve(echo, "127.0.0.1", int(sys.argv[1]), compression=None, backlog=4096) as server:
        await server.serve_forever()


uvloop.run(main())
