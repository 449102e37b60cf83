"""A server with Python's `websockets` for the WebSocket tests: websockets_server.py [--compress] [--certificate PEM --key PEM]

Prints `listening on 127.0.0.1:PORT`. It echoes every message, except on these paths (the same as in node_ws.js):

| path | behaviour |
|---|---|
| `/close` | closes with 4001 "bye" |
| `/headers` | sends the request's header fields as a JSON object, names in lower case, and closes |
| `/fragments` | sends "first second third" in three fragments and closes |
| `/ping` | pings with "are you there", sends "pong are you there" after the pong, and closes |
| `/cut` | sends "last words" and closes the TCP connection without a Close frame |
| `/refuse` | answers 403 with the body `no` |

The server selects the subprotocol `chat` if it is offered.
"""
import argparse
import asyncio
import http
import json
import ssl

from websockets.asyncio.server import serve

arguments = argparse.ArgumentParser()
arguments.add_argument("--compress", action="store_true")
arguments.add_argument("--certificate")
arguments.add_argument("--key")
options = arguments.parse_args()


async def talk(connection):
    match connection.request.path:
        case "/close":
            await connection.close(4001, "bye")
        case "/headers":
            await connection.send(json.dumps({name.lower(): value for name, value in connection.request.headers.raw_items()}))
        case "/fragments":
            await connection.send(["first ", "second ", "third"])
        case "/ping":
            await (await connection.ping("are you there"))
            await connection.send("pong are you there")
        case "/cut":
            await connection.send("last words")
            connection.transport.close()
        case _:
            async for message in connection:
                await connection.send(message)


def refuse(connection, request):
    return connection.respond(http.HTTPStatus.FORBIDDEN, "no") if request.path == "/refuse" else None


def choose(connection, offered):
    return "chat" if "chat" in offered else None


async def main():
    context = None
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate, options.key)
    async with serve(
        talk, "127.0.0.1", 0, compression="deflate" if options.compress else None, process_request=refuse, select_subprotocol=choose,
        max_size=64 << 20, ssl=context,
    ) as server:
        print(f"listening on 127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        await server.serve_forever()


asyncio.run(main())
