"""A minimal chat client for the namespace `/chat`. Like the Apus client, it resends messages that were not acknowledged."""
import asyncio
import base64

import requests
import socketio

PASSWORD = "a long password"
DEVICE = {"name": "Test", "platform": "test"}


def register(url: str, name: str, password: str = PASSWORD) -> dict:
    """Creates an account. The token of its first device is `access`."""
    response = requests.post(f"{url}/api/register", json={"name": name, "password": password, "device": DEVICE}, timeout=30)
    assert response.status_code == 200, (response.status_code, response.text)
    return response.json()


def bearer(account: dict) -> dict:
    return {"Authorization": "Bearer " + account["access"]}


def ask(url: str, account: dict, verb: str, body: dict) -> dict:
    """Sends a request over HTTP."""
    response = requests.post(f"{url}/api/chat/{verb}", json=body, headers=bearer(account), timeout=30)
    assert response.status_code == 200, (verb, response.status_code, response.text)
    return response.json()


def befriend(url: str, account: dict, other: dict):
    """Makes two users contacts."""
    ask(url, account, "contact.request", {"id": "request-" + other["user"]["name"], "user": other["user"]["name"]})
    ask(url, other, "contact.answer", {"id": "answer-" + account["user"]["name"], "user": account["user"]["name"], "accept": True})


def upload(url: str, account: dict, data: bytes, name: str = "a.bin") -> str:
    """Uploads a file with tus, and returns the id of the blob."""
    tus = {**bearer(account), "Tus-Resumable": "1.0.0"}
    made = requests.post(
        f"{url}/api/uploads", timeout=30,
        headers={**tus, "Upload-Length": str(len(data)), "Upload-Metadata": "name " + base64.b64encode(name.encode()).decode()})
    assert made.status_code == 201, made.text
    sent = requests.patch(
        url + made.headers["Location"], data=data, timeout=60,
        headers={**tus, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"})
    assert sent.status_code == 204, sent.text
    return sent.headers["Chat-Blob"]


class ChatPeer:
    def __init__(self, url: str, account: dict):
        self.user = account["user"]["name"]
        self.acknowledged: dict[str, dict] = {}
        self.events: list[dict] = []
        self.resent = 0
        self._url, self._token = url, account["access"]
        self._open = asyncio.Event()
        # Reconnects after a short delay: the server restarts within two seconds.
        self.sio = socketio.AsyncClient(reconnection=True, reconnection_delay=0.1, reconnection_delay_max=0.5, randomization_factor=0.5)
        self.sio.on("event", lambda push: self.events.extend(push["events"]), namespace="/chat")
        self.sio.on("connect", self._hello, namespace="/chat")
        self.sio.on("disconnect", self._open.clear, namespace="/chat")

    async def open(self):
        await self.sio.connect(self._url, namespaces=["/chat"], auth={"token": self._token}, transports=["websocket"], wait_timeout=20)
        await asyncio.wait_for(self._open.wait(), 20)

    async def _hello(self):
        answer = await self.sio.call("hello", {"version": 1, "device": DEVICE}, namespace="/chat", timeout=20)
        assert "error" not in answer, answer
        self._open.set()

    async def close(self):
        await self.sio.disconnect()

    async def request(self, event: str, payload: dict, timeout: float = 10) -> dict:
        await asyncio.wait_for(self._open.wait(), 20)
        answer = await self.sio.call(event, payload, namespace="/chat", timeout=timeout)
        assert "error" not in answer, (event, answer)
        return answer

    async def send(self, conversation: str, client_id: str, text: str):
        """Sends a message until the server acknowledges it, without a time limit. All attempts have the same client ID, so that the server
        can detect duplicates."""
        payload = {"conv": conversation, "id": client_id, "kind": "text", "body": {"text": text}}
        while True:
            try:
                self.acknowledged[client_id] = await self.request("send", payload, timeout=3)
                return
            except (socketio.exceptions.SocketIOError, asyncio.TimeoutError, OSError):
                self.resent += 1
                await asyncio.sleep(0.05)

    async def history(self, conversation: str) -> list[dict]:
        events: list[dict] = []
        while True:
            page = await self.request("history", {"conv": conversation, "from": len(events) + 1, "limit": 200})
            events += page["events"]
            if not page["events"] or len(events) >= page["seq"]:
                return events
