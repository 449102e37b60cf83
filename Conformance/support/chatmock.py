"""A server of docs/chat-wire.md in memory, for tests of the page's core that need its faults.

Tests use `running()`. Faults: `drop_acks` (verbs whose requests are performed and not answered), `refuse` (verb -> error object), `down`
(no connection is accepted), `disconnect()`, `slow` (seconds before each answer), `cut_uploads` (number of PATCHes that are cut in the
middle).
"""

import asyncio
import base64
import contextlib
import hashlib
import mimetypes
import pathlib
import secrets
import struct
import threading

import socketio
from aiohttp import web

from support.chatmodel import LIMITS, ChatModel, Refused, identifier, now

ROOT = pathlib.Path(__file__).resolve().parents[2]
PASSWORD = "apus-demo"
DEMO = {"alice": "Alice Lindqvist", "bob": "Bob Marsh", "carol": "Carol Okafor", "weilin": "陈维林"}
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; font-src 'self'; media-src 'self' blob:; "
          "connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
STATUS = {"bad_request": 400, "unauthorized": 401, "forbidden": 403, "not_found": 404, "conflict": 409, "too_large": 413, "unsupported": 501, "too_many": 429, "limit": 422, "too_late": 410, "resync": 409}


class ChatMock:
    def __init__(self, files=None):
        self.model = ChatModel()
        self.files = files  # path -> bytes, in place of the folder `Web/`
        self.passwords, self.access, self.refresh, self.sids, self.uploads = {}, {}, {}, {}, {}
        self.drop_acks, self.refuse, self.down, self.slow, self.cut_uploads, self.lifetime = set(), {}, False, 0, 0, 900_000
        self.requests, self.pushes = [], []
        self.loop = self.url = None
        self.model.push = self.push
        for name, nick in DEMO.items():
            self.model.add_user(name, nick)
            self.passwords[name] = PASSWORD
        for other in ("bob", "carol"):
            self.model.befriend("alice", other)
        self.sio = socketio.AsyncServer(async_mode="aiohttp", cors_allowed_origins=[], ping_interval=5, ping_timeout=5)
        self.sio.register_namespace(self.namespace())
        self.app = web.Application(client_max_size=1 << 27, middlewares=[self.guard])
        self.sio.attach(self.app)
        add = self.app.router.add_route
        add("GET", "/api/server", self.server)
        for name in ("login", "refresh", "logout"):
            add("POST", f"/api/{name}", getattr(self, f"post_{name}"))
        add("POST", "/api/uploads", self.create_upload)
        add("*", "/api/uploads/{id}", self.upload)
        add("GET", "/{path:.*}", self.file)

    # Socket.IO

    def namespace(self):
        mock = self

        class Namespace(socketio.AsyncNamespace):
            async def on_connect(self, sid, environ, auth):
                user = mock.user_of(environ["aiohttp.request"], (auth or {}).get("token"))
                if user is None:
                    raise socketio.exceptions.ConnectionRefusedError("unauthorized", {"code": "unauthorized"})
                mock.sids[sid] = {"user": user, "hello": False, "device": mock.device_of(environ["aiohttp.request"])}

            async def on_disconnect(self, sid, reason=None):
                session = mock.sids.pop(sid, None)
                if session and not any(each["user"] == session["user"] for each in mock.sids.values()):
                    mock.presence(session["user"], False)

            async def trigger_event(self, event, *args):
                if event in ("connect", "disconnect"):
                    return await super().trigger_event(event, *args)
                return await mock.received(args[0], event, args[1] if len(args) > 1 else {})

        return Namespace("/chat")

    async def received(self, sid, verb, body):
        session = self.sids.get(sid)
        if session is None:
            return None
        self.requests.append((session["user"], verb, body))
        if self.slow:
            await asyncio.sleep(self.slow)
        answer = self.answer(session, sid, verb, body)
        if verb in self.drop_acks:
            await asyncio.sleep(3600)
        await self.flush(after=True)
        return answer

    def answer(self, session, sid, verb, body):
        user = session["user"]
        try:
            if verb in self.refuse:
                return {"error": self.refuse[verb]}
            if verb == "hello":
                return self.hello(session, body)
            if not session["hello"]:
                raise Refused("unauthorized")
            if verb == "typing":
                log = self.model.log(user, body["conv"])
                for name in log.joined():
                    if name != user:
                        self.push(name, "typing", {"conv": log.conv, "user": user, **({"stopped": True} if body.get("stopped") else {})})
                return {}
            if verb == "subscribe":
                return {}
            return self.extra(user, session, verb, body) or self.model.answer(user, verb, body)
        except Refused as refused:
            return refused.answer
        except KeyError as error:
            return {"error": {"code": "bad_request", "message": f"{error} is missing.", "field": str(error).strip("'")}}

    def extra(self, user, session, verb, body):
        if verb == "devices":
            return {"devices": [dict(each, current=key == session["device"]) for key, each in self.model.devices[user].items()]}
        if verb == "device.remove":
            for key in list(self.model.devices[user]):
                if key == body.get("device") or (body.get("others") and key != session["device"]):
                    self.end_device(user, key)
            return {"conv": self.model.selves[user].conv, "id": body["id"], "at": now()}
        return None

    def hello(self, session, body):
        user, session["hello"] = session["user"], True
        self.presence(user, True)
        answer = {"version": 1, "features": ["edit", "react"], "limits": LIMITS, "epoch": self.model.epoch, "at": now(), "user": self.model.user(user, user),
                  "device": session["device"], "self": self.model.selves[user].conv}
        if "sync" in body and body.get("epoch", self.model.epoch) == self.model.epoch:
            try:
                answer["sync"] = self.model.do_sync(user, body["sync"])
            except Refused:
                pass
        return answer

    def presence(self, user, online):
        (self.model.online.add if online else self.model.online.discard)(user)
        for name, contact in self.model.contacts[user].items():
            if contact["state"] == "friend":
                self.push(name, "presence", {"users": [{"user": user, "online": online, "last_seen": now()}]})
        asyncio.ensure_future(self.flush())

    def push(self, user, name, value):
        self.pushes.append((user, name, value))

    async def flush(self, after=False):
        """Sends the pushes; after the answer of the request if there is one."""
        pushes, self.pushes = self.pushes, []

        async def send():
            for user, name, value in pushes:
                for sid, session in list(self.sids.items()):
                    if session["user"] == user and session["hello"]:
                        await self.sio.emit(name, value, to=sid, namespace="/chat")

        if after:
            self.loop.call_later(0.005, lambda: asyncio.ensure_future(send()))
        else:
            await send()

    # Sessions

    @web.middleware
    async def guard(self, request, handler):
        if self.down and request.path.startswith(("/api/", "/socket.io/")):
            request.transport.abort()
            return web.Response(status=503)
        try:
            response = await handler(request)
        except Refused as refused:
            response = web.json_response(refused.answer, status=STATUS.get(refused.answer["error"]["code"], 500))
        if not response.prepared:
            response.headers["Content-Security-Policy"] = POLICY
            response.headers["Cache-Control"] = "no-store"
        await self.flush()
        return response

    def cookie(self, request, name):
        return request.cookies.get(f"{name}-{request.url.port}")

    def session_of(self, request, token=None):
        header = request.headers.get("Authorization", "")
        return self.access.get(token or header.removeprefix("Bearer ") or self.cookie(request, "access"))

    def user_of(self, request, token=None):
        session = self.session_of(request, token)
        return session and session[0]

    def device_of(self, request):
        return (self.session_of(request) or (None, identifier()))[1]

    def authorized(self, request):
        user = self.user_of(request)
        if user is None:
            raise Refused("unauthorized")
        return user

    def begin(self, request, user, device=None, description=None, **more):
        device = device or identifier()
        self.model.devices[user].setdefault(device, {"device": device, "name": (description or {}).get("name", "Browser"), "platform": "web", "at": now(), "last_seen": now()})
        access, refresh = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
        self.access[access], self.refresh[refresh] = (user, device), (user, device)
        cookies = request.headers.get("Chat-Session") == "cookie"
        shown = ("cookie", "cookie") if cookies else (access, refresh)
        response = web.json_response({"user": self.model.user(user, user), "device": device, "access": shown[0], "access_expires_at": now() + self.lifetime, "refresh": shown[1], **more})
        if cookies:
            for name, value in (("access", access), ("refresh", refresh)):
                response.set_cookie(f"{name}-{request.url.port}", value, httponly=True, samesite="Strict", max_age=86400)
        return response

    def end_device(self, user, device):
        self.model.devices[user].pop(device, None)
        for tokens in (self.access, self.refresh):
            for token in [token for token, session in tokens.items() if session == (user, device)]:
                del tokens[token]
        for sid, session in list(self.sids.items()):
            if session["user"] == user and session["device"] == device:
                asyncio.ensure_future(self.dismiss(sid))

    async def dismiss(self, sid):
        await self.sio.emit("bye", {"reason": "signed_out"}, to=sid, namespace="/chat")
        await self.sio.disconnect(sid, namespace="/chat")

    async def server(self, request):
        return web.json_response({"name": "Apus", "version": "mock", "registration": "open", "features": ["edit"], "limits": LIMITS})

    async def post_login(self, request):
        body = await request.json()
        if self.passwords.get(body["name"]) != body["password"]:
            raise Refused("unauthorized")
        return self.begin(request, body["name"], description=body["device"])

    async def post_refresh(self, request):
        body = await request.json()
        token = self.cookie(request, "refresh") if body["refresh"] == "cookie" else body["refresh"]
        if token not in self.refresh:
            raise Refused("unauthorized")
        return self.begin(request, *self.refresh[token])

    async def post_logout(self, request):
        session = self.session_of(request) or self.refresh.get(self.cookie(request, "refresh"))
        if session:
            self.end_device(*session)
        response = web.json_response({})
        for name in ("access", "refresh"):
            response.del_cookie(f"{name}-{request.url.port}")
        return response

    # Files

    async def create_upload(self, request):
        user, key = self.authorized(request), secrets.token_hex(8)
        pairs = (pair.split(" ") for pair in request.headers.get("Upload-Metadata", "").split(","))
        metadata = {pair[0]: base64.b64decode(pair[1]).decode() for pair in pairs if len(pair) == 2}
        self.uploads[key] = {"user": user, "length": int(request.headers["Upload-Length"]), "data": bytearray(), "metadata": metadata}
        return web.Response(status=201, headers={"Location": f"/api/uploads/{key}", "Tus-Resumable": "1.0.0"})

    async def upload(self, request):
        upload = self.uploads.get(request.match_info["id"])
        if upload is None or upload["user"] != self.authorized(request):
            raise Refused("not_found")
        headers = {"Tus-Resumable": "1.0.0"}
        if request.method == "DELETE":
            del self.uploads[request.match_info["id"]]
            return web.Response(status=204, headers=headers)
        if request.method == "PATCH":
            if int(request.headers["Upload-Offset"]) != len(upload["data"]):
                return web.Response(status=409, headers=headers)
            data = await request.read()
            if self.cut_uploads > 0:
                self.cut_uploads -= 1
                upload["data"] += data[:len(data) // 2]
                request.transport.abort()
                return web.Response(status=500)
            upload["data"] += data
            if len(upload["data"]) == upload["length"]:
                headers |= self.store(bytes(upload["data"]), upload["metadata"].get("type", "application/octet-stream"))
        headers |= {"Upload-Offset": str(len(upload["data"])), "Upload-Length": str(upload["length"])}
        return web.Response(status=204 if request.method == "PATCH" else 200, headers=headers)

    def store(self, data, kind):
        blob = hashlib.sha256(data).hexdigest()
        self.model.blobs[blob] = data, kind
        size = struct.unpack(">II", data[16:24]) if data.startswith(b"\x89PNG") and len(data) >= 24 else None
        return {"Chat-Blob": blob, "Chat-Type": kind, "Chat-Size": str(len(data)), **({"Chat-Width": str(size[0]), "Chat-Height": str(size[1])} if size else {})}

    async def file(self, request):
        path = request.match_info["path"] or "index.html"
        if path in ("join", "test"):
            path = "index.html"
        if self.files is not None and path != "test.html":
            if path not in self.files:
                raise Refused("not_found")
            return web.Response(body=self.files[path], content_type=mimetypes.guess_type(path)[0] or "application/octet-stream")
        if path == "test.html":
            return web.Response(text="<!doctype html><meta charset=utf-8><title>Modules</title>", content_type="text/html")
        folder = ROOT / "Web"
        target = (folder / path).resolve()
        if not target.is_relative_to(folder) or not target.is_file():
            raise Refused("not_found")
        return web.FileResponse(target)

    async def disconnect_all(self):
        for sid in list(self.sids):
            await self.sio.disconnect(sid, namespace="/chat")
        for socket in list(self.sio.eio.sockets.values()):
            await socket.close(wait=False)

    # For tests, from another thread

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    def disconnect(self):
        self.call(self.disconnect_all())

    def pair(self, one, other):
        """Returns the id of the conversation of two users."""
        return self.model.open_pair(one, other).conv

    def do(self, user, verb, /, **body):
        """Performs a request of a user without a browser, sends its pushes, and returns its answer."""

        async def run():
            answer = self.model.answer(user, verb, body)
            await self.flush()
            return answer

        return self.call(run())


async def serve(mock, port):
    mock.loop = asyncio.get_running_loop()
    runner = web.AppRunner(mock.app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    mock.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    return runner


@contextlib.contextmanager
def running(files=None):
    """Runs a mock server in a separate thread and yields it."""
    mock, started = ChatMock(files), threading.Event()

    async def live():
        mock.stop = asyncio.Event()
        runner = await serve(mock, 0)
        started.set()
        await mock.stop.wait()
        await runner.cleanup()

    thread = threading.Thread(target=asyncio.run, args=(live(),), daemon=True)
    thread.start()
    if not started.wait(10):
        raise RuntimeError("The mock does not start.")
    try:
        yield mock
    finally:
        mock.loop.call_soon_threadsafe(mock.stop.set)
        thread.join(5)
