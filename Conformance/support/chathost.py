"""The chat server with the page of `Web/` and some accounts, and helpers for requests."""

import contextlib
import itertools
import json
import shutil
import urllib.error
import urllib.request

from support.page import page_folder
from support.process import ServerProcess

PASSWORD = "apus-demo"
USERS = {"alice": "Alice Lindqvist", "bob": "Bob Marsh", "carol": "Carol Okafor", "weilin": "陈维林"}


class ChatHost:
    """A chat server on which Bob and Carol are contacts of Alice."""

    def __init__(self, folder, port=0, options=(), page=None):
        self.folder = folder
        self.page = page or page_folder()
        self.options = options
        self._serial = itertools.count()
        self.process = self._start(port)
        self.port = self.process.port
        self.tokens = {}
        for name, nick in USERS.items():
            self.register(name, nick)
        for other in ("bob", "carol"):
            self.befriend("alice", other)

    def _start(self, port):
        return ServerProcess(
            "serve", "--port", str(port), "--no-tls", "--data", str(self.folder), "--directory", "open", "--page", str(self.page),
            *self.options)

    def register(self, name, nick, **more):
        account = {"name": name, "password": PASSWORD, "nick": nick, "device": {"name": "Test", "platform": "test"}, **more}
        self.tokens[name] = self.post("/api/register", account)["access"]

    def befriend(self, one, other):
        self.do(one, "contact.request", user=other)
        self.do(other, "contact.answer", user=one, accept=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def post(self, path, body, token=None):
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        try:
            return json.load(urllib.request.urlopen(request, timeout=30))
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {error.code} {error.read().decode()}") from error

    def ask(self, user, verb, body):
        """Sends a request over HTTP."""
        return self.post(f"/api/chat/{verb}", body, self.tokens[user])

    def do(self, actor, verb, /, **body):
        """Sends a changing request over HTTP."""
        return self.ask(actor, verb, {"id": f"test-{next(self._serial)}", **body})

    def pair(self, one, other):
        """Returns the id of the conversation of two users."""
        return self.do(one, "conversation.open", id=f"open-{other}", user=other)["head"]["conv"]

    def log(self, conv, user="alice"):
        """Returns the messages of a log."""
        return [event for event in self.do(user, "history", conv=conv, limit=200)["events"] if event.get("n")]

    def restart(self):
        """Kills the server and starts it again with the same port and data."""
        self.process.kill()
        self.process = self._start(self.port)

    def back_up(self, folder):
        """Copies the data while the server is stopped."""
        self.process.kill()
        shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns("*.admin"))  # a socket
        self.process = self._start(self.port)

    def restore(self, folder):
        """Replaces the data with a copy. The server renews its data epoch."""
        self.process.kill()
        shutil.rmtree(self.folder)
        shutil.copytree(folder, self.folder)
        self.process = self._start(self.port)

    def stop(self):
        self.process.stop()


@contextlib.contextmanager
def running_host(folder, page=None):
    host = ChatHost(folder, options=("--limits", "off"), page=page)
    try:
        yield host
    finally:
        host.stop()
