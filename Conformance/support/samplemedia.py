"""Pictures, films and recordings for the tests of media. ffmpeg generates those that must be decodable."""
import binascii
import pathlib
import struct
import subprocess
import time
import zlib


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", binascii.crc32(name + data))


def png(width: int, height: int, data: bytes | None = None, extra: bytes = b"") -> bytes:
    """Returns a black PNG of one channel. `data` replaces the compressed pixels."""
    if data is None:
        packer = zlib.compressobj(9)
        data = b"".join([*(packer.compress(bytes(width + 1)) for _ in range(height)), packer.flush()])
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def ffmpeg(*arguments: str) -> bytes:
    """Returns the output of ffmpeg, which writes to a file because some formats cannot be written to a pipe."""
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / ("out." + arguments[-1])
        subprocess.run(["ffmpeg", "-v", "error", *arguments[:-1], str(path)], check=True, timeout=120, stdin=subprocess.DEVNULL)
        return path.read_bytes()


def jpeg(width: int, height: int, orientation: int = 1) -> bytes:
    """Returns a JPEG with an orientation and a position in its Exif metadata."""
    picture = ffmpeg("-f", "lavfi", "-i", f"testsrc=size={width}x{height}:duration=1:rate=1", "-frames:v", "1", "jpg")
    tiff = b"MM\0*\0\0\0\x08" + struct.pack(">H", 2)
    tiff += struct.pack(">HHIHH", 0x0112, 3, 1, orientation, 0) + struct.pack(">HHII", 0x8825, 4, 1, 38) + bytes(4)
    tiff += struct.pack(">HHHI4s", 1, 0x001D, 2, 12, struct.pack(">I", 56)) + bytes(4) + b"SecretGPS1\0\0"
    exif = b"Exif\0\0" + tiff
    return picture[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + picture[2:]


def webp_size(data: bytes) -> tuple[int, int]:
    """Returns the size in pixels of a WebP picture."""
    assert data[:4] == b"RIFF" and data[8:12] == b"WEBP", data[:16]
    kind = data[12:16]
    if kind == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1
    return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF


def processes(text: str) -> list[int]:
    """Returns the ids of the processes whose command line contains a text."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if text.encode() in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                pass
    return found


def wait_until(condition, seconds: float = 60, message: str = ""):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, message or "the condition did not come true"
        time.sleep(0.05)
