"""A minimal chat client for the namespace `/chat`. Like the real client, it resends messages that were not acknowledged."""
import asyncio

import requests
import socketio


def register(url: str, name: str, password: str) -> dict:
    response = requests.post(f"{url}/api/register", json={"name": name, "password": password, "display": name.title()}, timeout=20)
    assert response.status_code == 201, (response.status_code, response.text)
    return response.json()


class ChatPeer:
    def __init__(self, url: str, account: dict):
        self.user = account["user"]["id"]
        self.acknowledged: dict[str, dict] = {}
        self.events: list[dict] = []
        self.resent = 0
        self._url, self._token = url, account["token"]
        # Reconnects after a short delay: the server restarts within two seconds.
        self.sio = socketio.AsyncClient(reconnection=True, reconnection_delay=0.1, reconnection_delay_max=0.5, randomization_factor=0.5)
        self.sio.on("event", self.events.append, namespace="/chat")

    async def open(self):
        await self.sio.connect(self._url, namespaces=["/chat"], auth={"token": self._token}, transports=["websocket"], wait_timeout=20)

    async def close(self):
        await self.sio.disconnect()

    async def request(self, event: str, payload: dict, timeout: float = 10) -> dict:
        answer = await self.sio.call(event, payload, namespace="/chat", timeout=timeout)
        assert "error" not in answer, (event, answer)
        return answer

    async def send(self, conversation: str, client_id: str, text: str):
        """Sends until the server acknowledges, with the same client ID, so that the server can detect duplicates."""
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
            page = await self.request("sync", {"conv": conversation, "from": len(events) + 1, "limit": 200})
            events += page["events"]
            if not page["events"] or len(events) >= page["head"]["seq"]:
                return events
