"""A program in place of an app of FLSocketIM: python-socketio 4.6 (Socket.IO 2.x on the wire), with the token in the query.

    python legacy_app.py URL TOKEN TRANSPORT [mute] [insecure]

Reads lines of JSON, {"event", "argument"?, "call"?}, and emits each; with "call", it prints the ack as {"ack": call, "arguments": […]}.
Prints each event as {"event": …, "arguments": […]}, and {"connected": true}, {"refused": …} and {"disconnected": true}. Bytes are
{"bytes": base64}. Messages are acknowledged as the iOS app does it; with `mute`, the app hangs and never answers;
with `insecure`, it accepts any certificate.
"""
import base64
import json
import os
import sys
import threading

import socketio

URL, TOKEN, TRANSPORT, *MORE = sys.argv[1:]
EVENTS = [
    "chat", "GroupChat", "onLine", "offLine", "videoChat", "_peers", "_new_peer", "_offer", "_answer", "_ice_candidate", "_remove_peer",
    "cancelVideoChat",
]
lock = threading.Lock()


def plain(value):
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    return [plain(member) for member in value] if isinstance(value, (list, tuple)) else value


def binary(value):
    if isinstance(value, dict):
        if set(value) == {"bytes"}:
            return base64.b64decode(value["bytes"])
        return {key: binary(member) for key, member in value.items()}
    return [binary(member) for member in value] if isinstance(value, list) else value


def tell(**line):
    with lock:
        print(json.dumps(plain(line)), flush=True)


client = socketio.Client(reconnection=False, ssl_verify="insecure" not in MORE)
# The library handles each packet in a separate thread, in no defined order. The apps handle packets in order.
trigger = client.eio._trigger_event
client.eio._trigger_event = lambda event, *arguments, run_async=False: trigger(event, *arguments)
client.on("connect", lambda: tell(connected=True))
client.on("disconnect", lambda: tell(disconnected=True))


def listen(event):
    def received(*arguments):
        tell(event=event, arguments=arguments)
        if event == "chat":
            if "mute" in MORE:
                threading.Event().wait()
            return "hello 我是应答"
        return None

    client.on(event, received)


for name in EVENTS:
    listen(name)
try:
    transports = ["polling", "websocket"] if TRANSPORT == "upgrade" else [TRANSPORT]
    client.connect(f"{URL}/?auth_token={TOKEN}" if TOKEN != "-" else URL, transports=transports)
except socketio.exceptions.ConnectionError as error:
    tell(refused=str(error))
    sys.exit()
for text in sys.stdin:
    line = json.loads(text)
    if line["event"] == "disconnect":
        break
    call = line.get("call")
    callback = (lambda call: lambda *arguments: tell(ack=call, arguments=arguments))(call) if call else None
    client.emit(line["event"], binary(line.get("argument")), callback=callback)
if "mute" in MORE:
    os._exit(0)  # a disconnection would wait for pending answers
client.disconnect()
