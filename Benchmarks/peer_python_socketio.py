"""The python-socketio server for the comparison: peer_python_socketio.py PORT"""
import sys

import socketio
from aiohttp import web

try:
    import uvloop

    uvloop.install()
except ImportError:
    pass

sio = socketio.AsyncServer(async_mode="aiohttp")


@sio.on("echo")
async def echo(sid, value):
    await sio.emit("echo", value, to=sid)


@sio.on("ack")
async def ack(sid, value):
    return value


@sio.on("bc")
async def broadcast(sid, value):
    await sio.emit("bc", value)


app = web.Application()
sio.attach(app)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None, backlog=4096)
