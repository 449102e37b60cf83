#!/usr/bin/env python3
"""A peer of the fixed header mode, written from the description of SocketDemo's protocol: a header of a length known to both sides, JSON
padded with zero bytes, the body's length under "bodyLenght", then the body.

    framed_seed_peer.py server HEADER-LENGTH             echoes messages; prints "listening 127.0.0.1:PORT"; ends when its input ends
    framed_seed_peer.py client PORT HEADER-LENGTH COUNT  sends COUNT messages, checks each echo, prints "ok COUNT"
"""
import json
import socket
import sys
import threading


def header_bytes(length: int, info: dict, body: bytes) -> bytes:
    # writeData:info: the caller's dictionary with the length added, NSJSONWritingPrettyPrinted, then zeros.
    fields = dict(info)
    fields["bodyLenght"] = len(body)
    text = json.dumps(fields, indent=2, ensure_ascii=False).encode()
    if len(text) > length:
        raise ValueError("the info is too large for the header")
    return text + bytes(length - len(text))


def read_exactly(connection: socket.socket, count: int) -> bytes | None:
    data = bytearray()
    while len(data) < count:
        chunk = connection.recv(min(65536, count - len(data)))
        if not chunk:
            if data:
                raise EOFError(f"{count} bytes wanted, {len(data)} came")
            return None
        data += chunk
    return bytes(data)


def read_message(connection: socket.socket, length: int) -> tuple[dict, bytes] | None:
    # didReadData:withTag: the zeros are removed, the rest is JSON, then a body of that length is read.
    head = read_exactly(connection, length)
    if head is None:
        return None
    fields = json.loads(head.decode().replace("\0", ""))
    body = read_exactly(connection, fields["bodyLenght"]) if fields["bodyLenght"] else b""
    if body is None:
        raise EOFError("the body did not come")
    return fields, body


def echo(connection: socket.socket, length: int) -> None:
    with connection:
        while message := read_message(connection, length):
            fields, body = message
            connection.sendall(header_bytes(length, fields, body) + body)


def serve(length: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(f"listening 127.0.0.1:{listener.getsockname()[1]}", flush=True)
        threading.Thread(target=accept, args=(listener, length), daemon=True).start()
        sys.stdin.read()


def accept(listener: socket.socket, length: int) -> None:
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=echo, args=(connection, length), daemon=True).start()


def run_client(port: int, length: int, count: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        for index in range(count):
            info = {"name": f"图{index}.png", "index": index, "last": index == count - 1}
            body = bytes((index * 7 + offset) & 255 for offset in range((index * 4099) % 70_000))
            message = header_bytes(length, info, body) + body
            if index % 3 == 0:  # in pieces that are not split at a boundary of the frame
                for start in range(0, len(message), 1009):
                    connection.sendall(message[start : start + 1009])
            else:
                connection.sendall(message)
            fields, returned = read_message(connection, length) or ({}, b"")
            assert returned == body, f"message {index} came back with {len(returned)} bytes of {len(body)}"
            assert fields == {**info, "bodyLenght": len(body)}, fields
    print(f"ok {count}", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "server":
        serve(int(sys.argv[2]))
    else:
        run_client(*map(int, sys.argv[2:5]))
