"""Previews of pictures and films by the media tools, and files that attack a decoder (docs/hazards.md, 21 and 22)."""
import hashlib
import json
import pathlib
import shutil
import struct
import subprocess
import zlib

import pytest
import requests

from support.chat import ask, bearer, befriend, register
from support.samplemedia import chunk, ffmpeg, jpeg, png, processes, wait_until, webp_size
from support.process import ServerProcess

TOOLS = ["vipsthumbnail", "ffmpeg", "ffprobe"]
needs_tools = pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason=f"{', '.join(TOOLS)} are not installed")
ACTIVE = "sandbox; default-src 'none'"


class Host:
    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.process = ServerProcess("serve", "--port", "0", "--no-tls", "--limits", "off", "--data", str(folder))
        self.url = self.process.url
        self.account, self.other = register(self.url, "alice"), register(self.url, "bobby")
        befriend(self.url, self.account, self.other)
        self.conversation = ask(self.url, self.account, "conversation.open", {"id": "open", "user": "bobby"})["head"]["conv"]

    def upload(self, data: bytes) -> requests.Response:
        """Uploads a file and returns the last answer."""
        tus = {**bearer(self.account), "Tus-Resumable": "1.0.0"}
        made = requests.post(f"{self.url}/api/uploads", timeout=30, headers={**tus, "Upload-Length": str(len(data))})
        assert made.status_code == 201, made.text
        return requests.patch(
            self.url + made.headers["Location"], data=data, timeout=60,
            headers={**tus, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"})

    def blob(self, data: bytes) -> str:
        answer = self.upload(data)
        assert answer.status_code == 204, answer.text
        return answer.headers["Chat-Blob"]

    def measured(self, make, field: str = "Chat-Thumb") -> requests.Response:
        """Uploads `make(n)` for increasing n until the server examines a file within the time that an upload waits for it."""
        for number in range(30):
            answer = self.upload(make(number))
            assert answer.status_code == 204, answer.text
            if field in answer.headers:
                return answer
        raise AssertionError("no file was examined in time")

    def get(self, blob: str, size: str | None = None, account=None, **headers) -> requests.Response:
        return requests.get(
            f"{self.url}/api/blobs/{blob}", params={"size": size} if size else {}, headers={**bearer(account or self.account), **headers},
            timeout=60)

    def send(self, kind: str, **body) -> dict:
        """Sends a message and returns its body as the other user receives it."""
        seq = ask(self.url, self.account, "send", {"conv": self.conversation, "id": f"{kind}-{body['blob'][:8]}", "kind": kind, "body": body})["seq"]
        events = ask(self.url, self.other, "history", {"conv": self.conversation, "from": seq, "limit": 1})["events"]
        return events[0]["body"]

    def leftovers(self) -> list[str]:
        """Returns the files that unfinished uploads and previews have left on the disk."""
        work = self.folder / "previews" / "work"
        return [path.name for path in work.iterdir()] + [
            path.name for path in (self.folder / "uploads").iterdir() if path.suffix not in (".info", ".offset")]


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp("media"))
    yield host
    alive = host.process.is_alive
    host.process.stop()
    assert alive, "the server ended by itself:\n" + "".join(host.process.lines[-40:])


# --- previews


@needs_tools
def test_a_picture_is_upright_and_without_its_position(host):
    answer = host.measured(lambda number: jpeg(1_200, 800 + number * 3, orientation=6))
    blob = answer.headers["Chat-Blob"]
    width = int(answer.headers["Chat-Width"])
    assert 800 <= width < 900 and answer.headers["Chat-Height"] == "1200"
    assert len(answer.headers["Chat-Thumb"]) == 28
    for size, expected in [("thumbnail", (round(width / 4), 300)), ("preview", (width, 1_200))]:
        shown = host.get(blob, size)
        assert shown.status_code == 200 and shown.headers["Content-Type"] == "image/webp"
        assert abs(webp_size(shown.content)[0] - expected[0]) <= 1 and webp_size(shown.content)[1] == expected[1]
        assert b"Exif" not in shown.content and b"EXIF" not in shown.content and b"SecretGPS" not in shown.content
    assert b"SecretGPS" not in host.get(blob).content
    assert host.leftovers() == []


@needs_tools
def test_a_message_without_a_blurhash_gets_one(host):
    blob = host.measured(lambda number: png(640, 480, extra=chunk(b"pHYs", struct.pack(">IIB", number + 1, 1, 0)))).headers["Chat-Blob"]
    body = host.send("image", blob=blob, width=1, height=1, size=1, type="image/png")
    assert (body["width"], body["height"], len(body["thumb"])) == (640, 480, 28)
    # The server keeps the preview of the sender.
    assert host.send("image", blob=host.blob(png(641, 480)), width=1, height=1, size=1, type="image/png", thumb="0000")["thumb"] == "0000"
    shown = host.get(blob, "thumbnail", host.other)
    assert shown.status_code == 200 and webp_size(shown.content) == (300, 225)
    stranger = register(host.url, "stranger")
    assert host.get(blob, "thumbnail", stranger).status_code == 404
    assert requests.get(f"{host.url}/api/blobs/{blob}?size=thumbnail", timeout=10).status_code == 401
    tag = shown.headers["ETag"]
    assert host.get(blob, "thumbnail", host.other, **{"If-None-Match": tag}).status_code == 304
    assert host.get(blob, "thumbnail", host.other, Range="bytes=0-3").content == b"RIFF"


@needs_tools
def test_an_animation_moves_in_its_preview_only(host):
    blob = host.blob(ffmpeg("-f", "lavfi", "-i", "testsrc=size=400x200:duration=1:rate=5", "gif"))
    preview, thumbnail = host.get(blob, "preview").content, host.get(blob, "thumbnail").content
    assert webp_size(preview) == (400, 200) and preview.count(b"ANMF") == 5
    assert webp_size(thumbnail) == (300, 150) and b"ANMF" not in thumbnail


@needs_tools
@pytest.mark.parametrize("form, codecs", [
    ("mp4", ["-c:v", "mpeg4", "-c:a", "aac"]), ("mov", ["-c:v", "mjpeg", "-c:a", "aac"]), ("webm", ["-c:v", "libvpx", "-c:a", "libopus"])])
def test_a_film_has_a_poster_and_its_measurements(host, form, codecs):
    film = ffmpeg(
        "-f", "lavfi", "-i", "testsrc=size=320x180:duration=3:rate=10", "-f", "lavfi", "-i", "sine=duration=3", *codecs, form)
    def longer(number: int) -> bytes:
        return film + (bytes(number) if form == "webm" else struct.pack(">I", 8 + number) + b"free" + bytes(number))

    blob = host.measured(longer).headers["Chat-Blob"]
    body = host.send("video", blob=blob, width=1, height=1, size=1, type="video/mp4", duration=1)
    assert (body["width"], body["height"], len(body["thumb"])) == (320, 180, 28)
    assert body["type"].startswith("video/") and 2_900 <= body["duration"] <= 3_200
    assert host.get(blob, "preview", host.other).headers["Content-Type"] == "image/jpeg"
    assert webp_size(host.get(blob, "thumbnail", host.other).content) == (300, 169)
    assert host.get(blob, account=host.other, Range="bytes=10-19").content == film[10:20]


@needs_tools
@pytest.mark.parametrize("form, options", [
    ("mp4", ["-c:v", "mpeg4", "-c:a", "aac"]), ("mp4", ["-c:v", "mpeg4", "-c:a", "aac", "-movflags", "+frag_keyframe+empty_moov"]),
    ("mov", ["-c:v", "mjpeg", "-c:a", "aac", "-movflags", "use_metadata_tags+faststart"]), ("m4a", ["-vn", "-c:a", "aac"]),
    ("webm", ["-c:v", "libvpx", "-c:a", "libopus"]), ("webm", ["-c:v", "libvpx", "-c:a", "libopus", "-live", "1"])],
    ids=["mp4", "fragments", "mov", "m4a", "webm", "live webm"])
def test_a_film_keeps_its_frames_and_not_its_position(host, tmp_path, form, options):
    """ffprobe finds the metadata of a film before the upload, and not after it."""
    secrets = ["location=+52.5200+013.4050/", "com.apple.quicktime.location.ISO6709=+52.5200+013.4050/", "title=SecretTitle", "comment=SecretText"]
    film = ffmpeg(
        "-f", "lavfi", "-i", "testsrc=size=320x180:duration=2:rate=10", "-f", "lavfi", "-i", "sine=duration=2",
        *[part for secret in secrets for part in ("-metadata", secret)], "-metadata", "creation_time=2024-02-03T04:05:06Z",
        "-metadata:s:a", "handler_name=SecretCamera", "-metadata:s:a", "title=SecretTrack", *options, form)
    if form in ("mp4", "mov"):  # filmed upright
        matrix = film.index(struct.pack(">9i", 1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30), film.index(b"tkhd"))
        film = film[:matrix] + struct.pack(">9i", 0, 1 << 16, 0, -1 << 16, 0, 0, 180 << 16, 0, 1 << 30) + film[matrix + 36:]

    def examined(data: bytes) -> tuple[str, dict, str]:
        """Returns the metadata and the streams according to ffprobe, and the hashes of the frames."""
        path = tmp_path / "film"
        path.write_bytes(data)
        about = subprocess.run(
            ["ffprobe", "-v", "error", "-show_format", "-show_streams", "-show_chapters", "-of", "json", path], check=True, capture_output=True,
            text=True, timeout=60).stdout
        streams = [{key: value for key, value in stream.items() if key != "tags"} for stream in json.loads(about)["streams"]]
        hashes = subprocess.run(
            ["ffmpeg", "-v", "error", "-i", path, "-map", "0", "-c", "copy", "-f", "streamhash", "-"], check=True, capture_output=True, text=True,
            timeout=60).stdout
        return about, {"streams": streams}, hashes

    before, streams, hashes = examined(film)
    assert "Secret" in before and ("rotation" in before) == (form in ("mp4", "mov"))
    blob = host.blob(film)
    cleaned = host.get(blob)
    assert cleaned.headers["Content-Type"].startswith(("video/", "audio/")) and len(cleaned.content) == len(film)
    assert hashlib.sha256(cleaned.content).hexdigest() == blob
    for secret in [b"Secret", b"52.52", b"013.40", b"2024-02-03"]:
        assert secret not in cleaned.content
    after, kept, same = examined(cleaned.content)
    assert (kept, same) == (streams, hashes)
    for secret in ["Secret", "52.52", "creation_time"]:
        assert secret not in after
    # An upload of the cleaned film is the same blob.
    assert host.blob(cleaned.content) == blob
    assert host.leftovers() == []


@needs_tools
def test_a_recording_of_a_browser_is_audio(host):
    sound = ffmpeg("-f", "lavfi", "-i", "sine=duration=2", "-c:a", "libopus", "webm")
    blob = host.measured(lambda number: sound + bytes(number), "Chat-Duration").headers["Chat-Blob"]
    body = host.send("audio", blob=blob, size=1, type="audio/webm", duration=1)
    assert body["type"] == "audio/webm" and 1_900 <= body["duration"] <= 2_200
    assert host.get(blob).headers["Content-Type"] == "audio/webm"
    assert host.get(blob, "thumbnail").status_code == 404


# --- hostile files

SCRIPT = b"<script>alert(1)</script>"
POLYGLOTS = {
    "GIF and script": b"GIF89a/*" + bytes(40) + b"*/=1;alert(1)",
    "picture with a page": png(2, 2, extra=chunk(b"tEXt", b"Comment\0" + SCRIPT)),
    "picture before a page": png(2, 2) + b"<html>" + SCRIPT,
    "picture before an archive": png(2, 2) + b"PK\x03\x04" + bytes(60) + b"PK\x05\x06" + bytes(18),
    "PDF and page": b"%PDF-1.7\n" + SCRIPT,
    "page": b"<!doctype html>" + SCRIPT,
    "SVG": b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'>" + SCRIPT + b"</svg>",
    "XML and SVG": b"<?xml version='1.0'?><svg>" + SCRIPT + b"</svg>",
    "JPEG and script": b"\xff\xd8\xff\xe0\x2f\x2a" + bytes(60) + b"*/=alert(1);/*",
    "WebP and page": b"RIFF" + struct.pack("<I", 60) + b"WEBPVP8 " + SCRIPT + bytes(40),
    "playlist": b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n",
    "film and playlist": b"\0\0\0\x18ftypisom\0\0\0\0isommp42" + b"#EXTM3U\nfile:///etc/passwd\n" * 9,
}


@pytest.mark.parametrize("name", POLYGLOTS)
def test_a_file_of_two_kinds_is_harmless(host, name):
    blob = host.blob(POLYGLOTS[name])
    served = host.get(blob)
    assert served.headers["X-Content-Type-Options"] == "nosniff" and served.headers["Content-Security-Policy"] == ACTIVE
    kind = served.headers["Content-Type"]
    if kind.startswith(("image/", "video/")):
        assert SCRIPT not in served.content and b"PK" not in served.content
    else:
        assert kind == "application/octet-stream" and served.headers["Content-Disposition"] == "attachment"
    assert "svg" not in kind and "html" not in kind
    preview = host.get(blob, "preview")
    assert preview.status_code == 404 or preview.headers["Content-Type"].startswith("image/")
    assert b"root:" not in preview.content
    assert host.leftovers() == []


@pytest.mark.parametrize("width, height", [(50_000, 50_000), (50_000, 1), (1, 50_000), (16_384, 16_384), (2**31 - 1, 2**31 - 1)])
def test_a_flood_of_pixels_is_refused(host, width, height):
    before = host.process.resident_bytes()
    answer = host.upload(png(width, height, zlib.compress(bytes(100_000))))
    assert answer.status_code == 413, answer.text
    assert host.process.resident_bytes() - before < 16 << 20
    assert host.leftovers() == []


def test_a_bomb_of_allowed_pixels_is_decoded_outside_the_server(host):
    """A file of 40 kB whose picture has 38 MB in memory."""
    bomb = png(6_200, 6_200)
    assert len(bomb) < 64 << 10
    before = host.process.resident_bytes()
    blob = host.blob(bomb)
    assert host.get(blob, "preview").status_code == 200
    assert host.process.resident_bytes() - before < 24 << 20
    assert host.leftovers() == []


def gif_bomb(frames: int) -> bytes:
    """Returns an animation of many large pictures with a few bytes each."""
    screen = b"GIF89a" + struct.pack("<HHBBB", 6_000, 6_000, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    # A clear code and an end: the decoder fills the rest.
    picture = b"\x21\xf9\x04\0\0\0\0\0" + b"," + struct.pack("<HHHHB", 0, 0, 6_000, 6_000, 0) + b"\x02\x02\x4c\x01\0"
    return screen + picture * frames + b";"


@pytest.mark.parametrize("data", [
    gif_bomb(2_000),
    # Sizes of 4 GB in the headers of parts.
    b"\x89PNG\r\n\x1a\n" + b"\xff\xff\xff\xffIHDR" + bytes(40),
    png(2, 2)[:33] + b"\xff\xff\xff\xf0IDAT" + bytes(40),
    b"RIFF\xff\xff\xff\xffWEBPVP8 \xff\xff\xff\xff" + bytes(40),
    b"\0\0\0\x18ftypisom\0\0\0\0isommp42" + b"\xff\xff\xff\xffmoov" + bytes(40),
    b"\0\0\0\x18ftypisom\0\0\0\0isommp42" + b"\0\0\0\x01mdat\x7f\xff\xff\xff\xff\xff\xff\xff" + bytes(40),
    b"\x1a\x45\xdf\xa3\x01\xff\xff\xff\xff\xff\xff\xfe" + bytes(40),
    b"OggS" + b"\xff" * 60, b"fLaC\x00\xff\xff\xff" + bytes(40), b"RIFF\xff\xff\xff\xffWAVEfmt \xff\xff\xff\xff",
    b"ID3\x04\0\0\x7f\x7f\x7f\x7f" + bytes(40),
], ids=["GIF", "PNG header", "PNG data", "WebP", "moov", "mdat", "Matroska", "Ogg", "FLAC", "WAV", "ID3"])
def test_a_file_that_announces_more_than_it_has_is_harmless(host, data):
    before = host.process.resident_bytes()
    blob = host.blob(data)
    assert host.get(blob).headers["X-Content-Type-Options"] == "nosniff"
    assert host.get(blob, "thumbnail").status_code in (200, 404)
    assert host.process.resident_bytes() - before < 24 << 20
    wait_until(lambda: host.leftovers() == [], message=str(host.leftovers()))
    assert requests.get(host.url + "/health", timeout=10).json()["status"] == "ok"


# --- tools that fail


def stand_in(folder: pathlib.Path, name: str, script: str):
    path = folder / name
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)


def test_a_tool_that_does_not_end_is_ended(tmp_path, monkeypatch):
    """The tools are replaced with scripts that start a child and sleep."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for name in TOOLS:
        stand_in(bin_folder, name, f"sleep 6543 & exec sleep 6543 # {name}\n")
    monkeypatch.setenv("PATH", f"{bin_folder}:/usr/local/bin:/usr/bin:/bin")
    host = Host(tmp_path / "data")
    try:
        film = b"\0\0\0\x18ftypisom\0\0\0\0isommp42" + bytes(100)
        blob = host.blob(film)
        # The tool does not delay the message.
        body = host.send("video", blob=blob, width=64, height=48, size=1, type="video/mp4", duration=1)
        assert "thumb" not in body and body["width"] == 64
        mine = [pid for pid in processes("6543")]
        assert mine
        assert host.get(blob, "preview").status_code == 404
        wait_until(lambda: not set(mine) & set(processes("6543")), message="a process of the tool is alive")
        wait_until(lambda: host.leftovers() == [])
        # Running tools end with the server.
        host.blob(film + b"2")
        mine = processes("6543")
        assert mine
        host.process.stop()
        wait_until(lambda: not set(mine) & set(processes("6543")), message="a process of the tool is alive")
        assert host.leftovers() == []
    finally:
        host.process.stop()


def test_a_server_without_tools_says_so_and_serves_the_original(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    host = Host(tmp_path / "data")
    try:
        picture = png(400, 400)
        blob = host.blob(picture)
        shown = host.get(blob, "thumbnail")
        assert shown.headers["Content-Type"] == "image/png" and shown.content == picture
        assert shown.headers["Cache-Control"] == "private, max-age=60"
        notices = [line for line in host.process.lines if "no previews" in line]
        assert len(notices) == 2, host.process.lines
    finally:
        host.process.stop()
