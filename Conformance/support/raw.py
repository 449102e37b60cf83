"""Raw Engine.IO, for requests that client libraries do not send."""
import json
import os
import socket
import struct

import requests
import websocket

PATH = "/socket.io/"


def polling(port: int, method: str = "GET", body: bytes | str | None = None, headers: dict | None = None, timeout: float = 15, **query) -> requests.Response:
    return requests.request(method, f"http://127.0.0.1:{port}{PATH}", params=query, data=body, headers=headers, timeout=timeout)


def open_polling(port: int) -> str:
    """Opens a polling session without a namespace. Returns its sid."""
    response = polling(port, EIO="4", transport="polling")
    assert response.status_code == 200, response.text
    assert response.text.startswith("0{"), response.text
    return json.loads(response.text[1:])["sid"]


def open_joined_polling(port: int) -> str:
    sid = open_polling(port)
    answer = polling(port, "POST", "40", EIO="4", transport="polling", sid=sid)
    assert (answer.status_code, answer.text) == (200, "ok")
    assert polling(port, EIO="4", transport="polling", sid=sid).text.startswith("40{")
    return sid


def is_gone(port: int, sid: str) -> bool:
    response = polling(port, EIO="4", transport="polling", sid=sid)
    return response.status_code == 400 and response.json() == {"code": 1, "message": "Session ID unknown"}


def open_websocket(port: int, **query) -> websocket.WebSocket:
    text = "&".join(f"{key}={value}" for key, value in {"EIO": "4", "transport": "websocket", **query}.items())
    return websocket.create_connection(f"ws://127.0.0.1:{port}{PATH}?{text}", timeout=10)


def open_joined_websocket(port: int) -> websocket.WebSocket:
    connection = open_websocket(port)
    assert connection.recv().startswith("0{")
    connection.send("40")
    assert connection.recv().startswith("40{")
    return connection


def closing(connection: websocket.WebSocket, timeout: float = 10) -> tuple[int | None, list]:
    """Reads until the server closes. Returns the close code (None if the TCP connection ended without one) and the messages before it."""
    connection.settimeout(timeout)
    before = []
    try:
        while True:
            opcode, data = connection.recv_data(control_frame=True)
            if opcode == websocket.ABNF.OPCODE_CLOSE:
                return (struct.unpack("!H", data[:2])[0] if len(data) >= 2 else 1005), before
            if opcode == websocket.ABNF.OPCODE_TEXT:
                before.append(data.decode())
            elif opcode == websocket.ABNF.OPCODE_BINARY:
                before.append(data)
    except (websocket.WebSocketConnectionClosedException, ConnectionError):
        return None, before
    finally:
        connection.shutdown()


def frame(payload: bytes, opcode: int = 1, final: bool = True, masked: bool = True, reserved: int = 0, announced: int | None = None, wide: bool = False) -> bytes:
    """Returns a client's frame, possibly invalid. `announced` is the length in its header."""
    length = len(payload) if announced is None else announced
    head = bytes([(0x80 if final else 0) | (reserved << 4) | opcode])
    mask_bit = 0x80 if masked else 0
    if length < 126 and not wide:
        head += bytes([mask_bit | length])
    elif length < 65536 and not wide:
        head += bytes([mask_bit | 126]) + struct.pack("!H", length)
    else:
        head += bytes([mask_bit | 127]) + struct.pack("!Q", length)
    if not masked:
        return head + payload
    key = os.urandom(4)
    return head + key + bytes(byte ^ key[index & 3] for index, byte in enumerate(payload))


def exchange(port: int, request: bytes, timeout: float = 10) -> bytes:
    """Sends bytes on a new connection and returns everything received until the server closes or is silent for `timeout`."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        connection.sendall(request)
        answer = b""
        try:
            while chunk := connection.recv(65536):
                answer += chunk
        except (TimeoutError, ConnectionError):
            pass
        return answer
