"""A server with the listener for the apps of FLSocketIM, and the requests of the apps."""
import base64
import json
import queue
import subprocess
import threading
import time
import uuid

import requests

from support.matrix import PYTHON_4
from support.process import ROOT, ServerProcess

PASSWORD = "a long password"
WAIT = 60


class LegacyHost:
    def __init__(self, folder, *options):
        self.folder = folder
        self.process = ServerProcess(
            "serve", "--port", "0", *([] if "--legacy-tls" in options else ["--no-tls"]), "--data", str(folder), "--directory", "open", "--legacy-port", "0", *options,
            is_ready=lambda line: "apps of FLSocketIM on" in line)
        self.legacy = next(line.split()[-1] for line in self.process.lines if line.startswith("apps of FLSocketIM on"))
        self.url = next(line.split()[-1] for line in self.process.lines if line.startswith("listening on http:"))

    def post(self, path, form=None, **more):
        """Sends a form, and returns the envelope."""
        response = requests.post(self.legacy + path, data=form, timeout=30, **more)
        assert response.status_code == 200, (path, response.status_code, response.text)
        answer = response.json()
        assert set(answer) == {"code", "message", "data"}, answer
        return answer

    def register(self, name, **more):
        """Creates an account by the routes of the apps, and returns its token."""
        answer = self.post("/register", {"userName": name, "password": PASSWORD, **more})
        assert answer["code"] == 1, answer
        return answer["data"]["auth_token"]

    def users(self):
        return requests.get(self.legacy + "/allUsers", timeout=30).json()["data"]

    def file(self, path):
        return requests.get(f"{self.legacy}/{path}", timeout=30)

    def stop(self):
        self.process.stop()


class LegacyApp:
    """An app in a child process. Waits fail after `WAIT` seconds."""

    def __init__(self, url, token, transport="websocket", *more):
        self.events: list[tuple] = []
        self._acks: dict[str, queue.Queue] = {}
        self._news = threading.Condition()
        self.refused = self.connected = self.disconnected = None
        self.process = subprocess.Popen(
            [str(PYTHON_4), str(ROOT / "Conformance" / "peers" / "legacy_app.py"), url, token, transport, *more],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, daemon=True).start()
        self.wait(lambda: self.connected or self.refused)

    def __enter__(self):
        assert self.connected, self.refused
        return self

    def __exit__(self, *_):
        self.close()

    def _read(self):
        for text in self.process.stdout:
            line = json.loads(text)
            with self._news:
                if "ack" in line:
                    self._acks[line["ack"]].put(line["arguments"])
                elif "event" in line:
                    self.events.append((line["event"], line["arguments"]))
                else:
                    for name, value in line.items():
                        setattr(self, name, value)
                self._news.notify_all()
        with self._news:
            self.disconnected = True
            self._news.notify_all()

    def wait(self, condition):
        with self._news:
            assert self._news.wait_for(condition, WAIT), (self.events, self.process.poll())

    def emit(self, event, argument=None):
        self._write({"event": event, "argument": argument})

    def call(self, event, argument, wait=WAIT):
        """Emits an event and returns the first argument of its ack; None if there is no ack within `wait` seconds."""
        call = str(uuid.uuid4())
        self._acks[call] = queue.Queue()
        self._write({"event": event, "argument": argument, "call": call})
        try:
            arguments = self._acks[call].get(timeout=wait)
        except queue.Empty:
            return None
        return arguments[0] if arguments else None

    def _write(self, line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def next(self, event):
        """Waits for the next event of this name and returns its first argument."""
        taken = []

        def found():
            for index, (name, arguments) in enumerate(self.events):
                if name == event:
                    taken.append(arguments)
                    del self.events[index]
                    return True
            return False

        self.wait(found)
        return taken[0][0] if taken[0] else None

    def has(self, event):
        return any(name == event for name, _ in self.events)

    def close(self):
        if self.process.poll() is None:
            try:
                self._write({"event": "disconnect"})
                self.process.wait(20)
            except (BrokenPipeError, subprocess.TimeoutExpired):
                self.process.kill()
        self.process.wait()

    def message(self, sender, recipient, bodies, **more):
        """Returns a message in the form of the apps."""
        return {
            "to_user": recipient, "from_user": sender, "chat_type": "chat", "sendtime": int(time.time() * 1000), "sendStatus": 0,
            "bodies": bodies, **more,
        }

    def send(self, sender, recipient, bodies, wait=WAIT, **more):
        return self.call("chat", self.message(sender, recipient, bodies, **more), wait)


def raw(data: bytes) -> dict:
    return {"bytes": base64.b64encode(data).decode()}
