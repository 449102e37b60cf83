"""A server with python-socketio 5.x or 4.6 (Socket.IO 2.x on the wire), for the tests of the Apus client.

    python python_socketio_server.py [PORT]      (pip install "python-socketio>=5.11,<6" aiohttp)
    on Python 3.9                                (pip install python-socketio==4.6.1 python-engineio==3.14.2 "aiohttp<3.9")

Prints `listening on 127.0.0.1:PORT` and serves until its standard input closes or it is terminated. The default PORT is 0, a free port.
`--ping-interval SECONDS` (a value below 1 is announced as 0, which the client must accept), `--ping-timeout SECONDS`,
`--http-only` (no upgrade offered), `--any-version` (accepts any EIO version, like Node's Socket.IO 2.x), `--msgpack`
(packets as MessagePack; pip install msgpack).

| namespace | client sends | server does |
|---|---|---|
| `/` and `/custom` | connects | emits `early` with "before connect" in the connect handler: it arrives before the CONNECT packet |
| | `echo` any arguments | emits `echo` with the same arguments to the sender |
| | `ack` any arguments | acknowledges with the same arguments |
| | `emit-back` any arguments | emits `question` with the same arguments, waits for its ack, acknowledges with that ack's arguments |
| | `silent` | never acknowledges |
| | `wait` seconds | acknowledges with the number after that time |
| | `auth` | acknowledges with the auth of the connect |
| | `transport` | acknowledges with the session's transport, `polling` or `websocket` |
| | `leave-me` | disconnects the sender from the namespace |
| | `burst` n | emits `burst` 0 … n-1 |
| | `bc` value | emits `bc` with the value to all clients in the namespace |
| | `join` / `leave` room | joins, leaves; acknowledges with the sender's rooms as an array |
| | `to-room` room, value | emits `room` with room and value to the others in that room |
| `/private` | CONNECT with auth other than {"token": "secret"} | refuses: message "unauthorized", data {"code": "unauthorized"} |
| any other | CONNECT | refused with the string "Unable to connect" |
"""

import argparse
import asyncio
import sys

import socketio
from aiohttp import web

arguments = argparse.ArgumentParser()
arguments.add_argument("port", nargs="?", type=int, default=0)
arguments.add_argument("--ping-interval", type=float, default=25)
arguments.add_argument("--ping-timeout", type=float, default=20)
arguments.add_argument("--http-only", action="store_true")
arguments.add_argument("--any-version", action="store_true")
arguments.add_argument("--msgpack", action="store_true")
options = arguments.parse_args()

is_version_4 = not hasattr(socketio, "AsyncSimpleClient")
sio = socketio.AsyncServer(
    async_mode="aiohttp",
    **({} if is_version_4 else {"namespaces": ["/", "/custom", "/private"]}),
    ping_interval=options.ping_interval,
    ping_timeout=options.ping_timeout,
    allow_upgrades=not options.http_only,
    max_http_buffer_size=5_000_000,
    **({"serializer": "msgpack"} if options.msgpack else {}),
)

translate_request = sio.eio._async["translate_request"]


class WholeBody:
    """Reads the complete body of a POST.

    python-engineio (3.14 and 4.15 with aiohttp) requests Content-Length bytes from the stream, and aiohttp returns those that are available.
    A body that arrives in two segments is truncated, and its packet and session are lost. This affected one session in 25 on a busy
    machine, with bodies above 64 KiB, the size of a segment on the loopback interface. No client can prevent it.
    """

    def __init__(self, stream):
        self.stream = stream

    async def read(self, length):
        return await self.stream.readexactly(length)


def translate_whole_request(request):
    environ = translate_request(request)
    environ["wsgi.input"] = WholeBody(environ["wsgi.input"])
    if options.any_version:
        environ["QUERY_STRING"] = environ["QUERY_STRING"].replace("EIO=4", "EIO=3" if is_version_4 else "EIO=4")
    return environ


sio.eio._async = {**sio.eio._async, "translate_request": translate_whole_request}


def register(namespace):
    auths = {}

    @sio.on("connect", namespace=namespace)
    async def connect(sid, environ, auth=None):
        auths[sid] = auth
        await sio.emit("early", "before connect", to=sid, namespace=namespace)

    @sio.on("disconnect", namespace=namespace)
    async def disconnect(sid, reason=None):
        auths.pop(sid, None)

    @sio.on("echo", namespace=namespace)
    async def echo(sid, *values):
        await sio.emit("echo", tuple(values), to=sid, namespace=namespace)

    @sio.on("ack", namespace=namespace)
    async def ack(sid, *values):
        return tuple(values)

    @sio.on("emit-back", namespace=namespace)
    async def emit_back(sid, *values):
        answer = await sio.call("question", tuple(values), sid=sid, namespace=namespace, timeout=10)
        return tuple(answer) if isinstance(answer, (tuple, list)) else (answer,)

    @sio.on("silent", namespace=namespace)
    async def silent(sid, *values):
        await asyncio.sleep(3600)

    @sio.on("wait", namespace=namespace)
    async def wait(sid, seconds):
        await asyncio.sleep(seconds)
        return (seconds,)

    @sio.on("auth", namespace=namespace)
    async def auth(sid):
        return (auths.get(sid),)

    @sio.on("transport", namespace=namespace)
    async def transport(sid):
        return sio.transport(sid) if is_version_4 else sio.transport(sid, namespace=namespace)

    @sio.on("leave-me", namespace=namespace)
    async def leave_me(sid):
        await sio.disconnect(sid, namespace=namespace)

    def maybe(result):
        return result if asyncio.iscoroutine(result) else asyncio.sleep(0)  # 5.x returns a coroutine for rooms, 4.6 does not

    @sio.on("bc", namespace=namespace)
    async def broadcast(sid, value):
        await sio.emit("bc", value, namespace=namespace)

    @sio.on("join", namespace=namespace)
    async def join(sid, room):
        await maybe(sio.enter_room(sid, room, namespace=namespace))
        return (sorted(sio.rooms(sid, namespace=namespace)),)

    @sio.on("leave", namespace=namespace)
    async def leave(sid, room):
        await maybe(sio.leave_room(sid, room, namespace=namespace))
        return (sorted(sio.rooms(sid, namespace=namespace)),)

    @sio.on("to-room", namespace=namespace)
    async def to_room(sid, room, value):
        await sio.emit("room", (room, value), room=room, skip_sid=sid, namespace=namespace)

    @sio.on("burst", namespace=namespace)
    async def burst(sid, count):
        for number in range(count):
            await sio.emit("burst", number, to=sid, namespace=namespace)


register("/")
register("/custom")


@sio.on("connect", namespace="/private")
async def connect_private(sid, environ, auth=None):
    if auth != {"token": "secret"}:
        raise socketio.exceptions.ConnectionRefusedError("unauthorized", {"code": "unauthorized"})


async def main():
    application = web.Application(client_max_size=5_000_000)
    sio.attach(application)
    runner = web.AppRunner(application, access_log=None, **({} if is_version_4 else {"shutdown_timeout": 0.1}))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", options.port, reuse_address=True)
    await site.start()
    print(f"listening on 127.0.0.1:{site._server.sockets[0].getsockname()[1]}", flush=True)
    # The parent process holds the other end of standard input, which closes when it exits or crashes.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
