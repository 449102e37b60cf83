"""Users who send continuously, and a journal of the acknowledged messages, which is compared with the logs afterwards."""
import asyncio
import contextlib
import itertools

import socketio

from support.chat import ChatPeer, ask, befriend, register


class JournalPeer(ChatPeer):
    """Sends messages in sequence. Each message is repeated with its id until it is acknowledged."""

    def __init__(self, url, account, journal):
        super().__init__(url, account)
        self.journal = journal
        self.sio.on("bye", self._bye, namespace="/chat")

    async def _bye(self, _):
        """Reconnects, because the library does not do so when the server ends the connection."""
        self._open.clear()
        self._returning = asyncio.create_task(self._come_back())

    async def _come_back(self):
        while not self._open.is_set() and not self.journal.is_over:
            await asyncio.sleep(0.3)
            with contextlib.suppress(socketio.exceptions.SocketIOError, asyncio.TimeoutError, OSError):
                await self.open()

    async def keep_sending(self, conversation: str, text: str):
        for number in itertools.count():
            client_id = f"{self.user}-{conversation}-{number}"
            self.journal.sent.setdefault(conversation, {})[client_id] = (self.user, text)
            while (answer := await self._attempt(conversation, client_id, text)) is None:
                if self.journal.is_over:
                    return
            self.journal.acknowledged.setdefault(conversation, {})[client_id] = answer
            if self.journal.is_over:
                return

    async def _attempt(self, conversation: str, client_id: str, text: str):
        payload = {"conv": conversation, "id": client_id, "kind": "text", "body": {"text": text}}
        try:
            await asyncio.wait_for(self._open.wait(), 20)
            answer = await self.sio.call("send", payload, namespace="/chat", timeout=3)
        except (socketio.exceptions.SocketIOError, asyncio.TimeoutError, OSError):
            await asyncio.sleep(0.05)
            return None
        if "error" not in answer:
            return answer
        error = answer["error"]
        self.journal.refusals[error["code"]] = self.journal.refusals.get(error["code"], 0) + 1
        await asyncio.sleep(min(error.get("retry_after", 200), 500) / 1000)
        return None

    async def _hello(self):
        try:
            await super()._hello()
        except AssertionError as error:  # the server cannot answer now; the next connection sends `hello` again
            self.journal.failed_hellos.append(str(error))
            await self.sio.eio.disconnect()


class Journal:
    """Four users in three pairs and one group. All use the same server."""

    def __init__(self, url: str, text: str = "a message"):
        self.url, self.text = url, text
        self.sent: dict[str, dict[str, tuple]] = {}
        self.acknowledged: dict[str, dict[str, dict]] = {}
        self.refusals: dict[str, int] = {}
        self.failed_hellos: list[str] = []
        self.is_over = False
        self.accounts = [register(url, f"user{number}") for number in range(4)]
        first, others = self.accounts[0], self.accounts[1:]
        self.members: dict[str, list[dict]] = {}
        for other in others:
            befriend(url, first, other)
            opened = ask(url, first, "conversation.open", {"id": "open-" + other["user"]["name"], "user": other["user"]["name"]})
            self.members[opened["head"]["conv"]] = [first, other]
        group = ask(url, first, "conversation.create", {"id": "group", "kind": "group", "title": "All"})["head"]["conv"]
        code = ask(url, first, "link.create", {"id": "link", "conv": group})["link"]["code"]
        for other in others:
            ask(url, other, "member.join", {"id": "join", "link": code})
        self.members[group] = self.accounts

    @property
    def count(self) -> int:
        return sum(map(len, self.acknowledged.values()))

    async def run(self, scenario):
        """Sends in each conversation while `scenario` runs, and then waits up to 30 seconds for the pending answers."""
        peers = {account["user"]["name"]: JournalPeer(self.url, account, self) for account in self.accounts}
        await asyncio.gather(*(peer.open() for peer in peers.values()))
        lanes = [
            asyncio.create_task(peers[account["user"]["name"]].keep_sending(conversation, self.text))
            for conversation, members in self.members.items() for account in members]
        try:
            await scenario
            self.is_over = True
            await asyncio.wait_for(asyncio.gather(*lanes), 30)
        finally:
            for lane in lanes:
                lane.cancel()
            await asyncio.gather(*(peer.close() for peer in peers.values()), return_exceptions=True)

    async def more(self, count: int, patience: float = 30):
        """Waits for `count` further acknowledgements. Raises TimeoutError after `patience` seconds."""
        wanted = self.count + count
        async with asyncio.timeout(patience):
            while self.count < wanted:
                await asyncio.sleep(0.02)

    def history(self, account: dict, conversation: str) -> list[dict]:
        events: list[dict] = []
        while True:
            page = ask(self.url, account, "history", {"conv": conversation, "from": len(events) + 1, "limit": 200})
            events += page["events"]
            if not page["events"] or len(events) >= page["seq"]:
                return events

    def check(self, url: str | None = None):
        """Compares the logs with the journal, then repeats some of its messages."""
        self.url = url or self.url
        for conversation, members in self.members.items():
            logs = [self.history(account, conversation) for account in members]
            for account, log in zip(members, logs):
                assert [event["seq"] for event in log] == list(range(1, len(log) + 1)), (account["user"]["name"], "a hole in the log")
                assert log == logs[0], "members see different logs"
            self._compare(conversation, [event for event in logs[0] if event["kind"] == "text"])
            self._repeat(conversation, members)
            for account in members[:1]:
                assert self.history(account, conversation) == logs[0], "a repeated message was stored"

    def _compare(self, conversation: str, messages: list[dict]):
        sent, acknowledged = self.sent[conversation], self.acknowledged.get(conversation, {})
        places: dict[str, int] = {}
        for event in messages:
            assert event["id"] not in places, f"{event['id']} is stored twice"
            assert sent[event["id"]] == (event["sender"], event["body"]["text"]), f"{event['id']} was never sent"
            places[event["id"]] = event["seq"]
        lost = [client_id for client_id in acknowledged if client_id not in places]
        assert not lost, f"{len(lost)} of {len(acknowledged)} acknowledged messages are lost, such as {lost[:3]}"
        for client_id, answer in acknowledged.items():
            assert places[client_id] == answer["seq"], (client_id, places[client_id], answer)
        last: dict[str, int] = {}
        for event in messages:
            number = int(event["id"].rsplit("-", 1)[1])
            assert number > last.get(event["sender"], -1), f"{event['id']} is out of order"
            last[event["sender"]] = number

    def _repeat(self, conversation: str, members: list[dict]):
        """Repeats messages and checks that each gets its first acknowledgement."""
        by_name = {account["user"]["name"]: account for account in members}
        acknowledged = list(self.acknowledged.get(conversation, {}).items())
        for client_id, answer in acknowledged[:: max(1, len(acknowledged) // 20)]:
            sender, text = self.sent[conversation][client_id]
            again = ask(self.url, by_name[sender], "send", {"conv": conversation, "id": client_id, "kind": "text", "body": {"text": text}})
            assert again == answer, (client_id, answer, again)
