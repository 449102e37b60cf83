"""Sound, pictures and uploads of users on the page."""

import base64
import io
import math
import struct
import wave

RECORDS = {"permissions": ["microphone", "camera"]}


def sound(seconds=0.4):
    """Returns a tone as a WAV file."""
    rate = 8000
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        count = int(rate * seconds)
        file.writeframes(b"".join(struct.pack("<h", int(9000 * math.sin(index / 3))) for index in range(count)))
    return out.getvalue()


def send_voice(page, conv, seconds=0.4):
    """Queues a voice message, as the page does at the end of a recording."""
    data = base64.b64encode(sound(seconds)).decode()
    page.evaluate(
        """async ([conv, data, duration]) => {
          const file = new Blob([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], { type: "audio/wav" });
          await chatApp.state.send(conv, { kind: "audio", file, body: { type: file.type, size: file.size, duration, voice: true, wave: "10ff80" } });
        }""",
        [conv, data, round(seconds * 1000)])


def animation():
    """Returns a GIF of one pixel and two frames."""
    frame = b"\x21\xf9\x04\x00\x0a\x00\x00\x00" + b"\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00" + b"\x02\x02\x44\x01\x00"
    loop = b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"
    return b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\x00\x00\x00\x00\xff" + loop + frame * 2 + b"\x3b"


def files(*names, size=200):
    return [{"name": name, "mimeType": "application/octet-stream", "buffer": name.encode().ljust(size, b".")} for name in names]


def attach(page, item):
    page.get_by_role("button", name="Attach").click()
    page.get_by_role("menuitem", name=item, exact=True).click()


def bodies(chat, conv, kind, user="alice"):
    """Returns the bodies of the messages of a kind in a log."""
    return [event["body"] for event in chat.log(conv, user) if event["kind"] == kind]
