"""A raw peer of version 2 of the framed protocol, which can send any frames."""
import hashlib
import json
import socket
import struct

TYPES = ["hello", "message", "offer", "accept", "data", "ack", "cancel", "cancelled", "done", "complete", "error", "ping", "pong", "bye"]


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 if crc & 1 else crc >> 1
    return crc ^ 0xFFFFFFFF


def chunk(offset: int, data: bytes) -> bytes:
    start = struct.pack(">Q", offset)
    return start + struct.pack(">I", crc32c(start + data)) + data


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class RawSender:
    """Connects without TLS and sends `hello`."""

    def __init__(self, port: int):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.connection.sendall(b"APUS\x02\0\0\0")
        self.send("hello", 0, {"version": 2, "capabilities": [], "limits": {"header": 65536, "body": 1 << 20}})
        assert self.next()[0] == "hello"

    def send(self, name: str, stream: int = 1, header: dict | None = None, body: bytes = b""):
        text = b"" if header is None else json.dumps(header).encode()
        self.connection.sendall(struct.pack(">BBHIQ", TYPES.index(name), 0, stream, len(text), len(body)) + text + body)

    def next(self) -> tuple[str, int, dict]:
        """Returns the name, stream and header of the next frame. Raises EOFError at the end of the connection."""
        kind, _, stream, header, body = struct.unpack(">BBHIQ", self._read(16))
        fields = json.loads(self._read(header) or b"{}")
        self._read(body)
        return TYPES[kind], stream, fields

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self.connection.recv(count - len(data))
            if not piece:
                raise EOFError(f"{count} bytes wanted, {len(data)} came")
            data += piece
        return data

    def offer(self, name: str, content: bytes, stream: int = 1, whole: bool = False, **members) -> tuple[str, int, dict]:
        """Offers a file and returns the next frame of its stream."""
        header = {"id": f"raw/{name}/{stream}", "name": name, "size": len(content), **members}
        if whole:
            header["sha256"] = sha256(content)
        self.send("offer", stream, header, chunk(0, content) if whole and content else b"")
        return self.next()

    def close(self):
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
