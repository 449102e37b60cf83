"""The model behind `chatmock`: the logs, members and verbs of docs/chat-wire.md in memory, as far as the page uses them."""

import copy
import hashlib
import itertools
import json
import secrets
import time

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
MESSAGES = {"text", "image", "audio", "video", "file", "location", "card", "call", "poll", "bundle"}
DEFAULTS = {"write": "members", "invite": "members", "manage": "admins", "pin": "admins", "mention_all": "admins", "join": "closed",
            "listed": False, "history": "all", "slow": 0, "expire": 0, "receipts": True}
LIMITS = {"request_bytes": 131072, "text_length": 8000, "blob_bytes": 104857600, "group_members": 10000, "edit_seconds": 172800, "recall_seconds": 172800}
RANKS = ["guest", "reader", "member", "admin", "owner"]


class Refused(Exception):
    def __init__(self, code, message=None, **more):
        super().__init__(code)
        self.answer = {"error": {"code": code, "message": message or code, **more}}


def now():
    return int(time.time() * 1000)


def identifier():
    return "".join(secrets.choice(ALPHABET) for _ in range(13))


def preview(event):
    body = event.get("body") or {}
    text = body.get("text") or body.get("question") or body.get("title") or body.get("name")
    found = {key: event.get(key) for key in ("seq", "n", "sender", "at", "kind", "state")} | {"text": text and text[:160], "users": body.get("users")}
    if event["kind"] == "call":
        found |= {"call": body.get("state"), "duration": body.get("duration")}
    if event["kind"] == "audio":
        found |= {"voice": body.get("voice"), "duration": body.get("duration")}
    return {key: value for key, value in found.items() if value is not None}


class Log:
    def __init__(self, kind, **values):
        self.conv, self.kind, self.values = identifier(), kind, values
        self.events, self.n, self.pins, self.members, self.version, self.links, self.at = [], 0, [], {}, 1, {}, now()
        self.settings = dict(DEFAULTS, **({"write": "admins"} if kind == "channel" else {}))

    @property
    def seq(self):
        return len(self.events)

    def joined(self):
        return [name for name, member in self.members.items() if member["state"] == "joined"]


class ChatModel:
    """Answers verbs. `push(user, name, object)` is called for each push."""

    def __init__(self):
        self.users, self.logs, self.pairs, self.selves, self.contacts, self.own = {}, {}, {}, {}, {}, {}
        self.answers, self.touched, self.gone, self.hidden, self.settings, self.scheduled = {}, {}, {}, set(), {}, {}
        self.commits, self.epoch = itertools.count(1), "e1"
        self.commit, self.online, self.blobs, self.devices = 0, set(), {}, {}
        self.push = lambda user, name, value: None
        self.sends = 0

    def saved(self):
        """Returns a copy of the data for `restore`."""
        return copy.deepcopy({key: value for key, value in vars(self).items() if key != "push"})

    def restore(self, saved, epoch):
        """Replaces the data with an earlier state, under another epoch."""
        vars(self).update(copy.deepcopy(saved), epoch=epoch)

    # Users

    def add_user(self, name, nick=None):
        self.users[name] = {"name": name, **({"nick": nick} if nick else {})}
        self.contacts[name], self.devices[name] = {}, {}
        log = Log("self")
        self.logs[log.conv], self.selves[name] = log, log
        log.members[name] = {"role": "owner", "state": "joined", "since": now(), "read": 0, "floor": 0}
        self.touch(log)

    def user(self, name, viewer=None):
        alias = self.contacts.get(viewer, {}).get(name, {})
        seen = viewer == name or alias.get("state") == "friend"
        return dict(self.users[name], **({"online": name in self.online} if seen else {}))

    def befriend(self, one, other):
        for left, right in ((one, other), (other, one)):
            self.contacts[left][right] = {"state": "friend", "at": now()}

    # Logs

    def touch(self, log, *names):
        self.commit = next(self.commits)
        for name in names or log.members:
            self.touched[name, log.conv] = self.commit

    def log(self, user, conv, states=("joined",)):
        log = self.logs.get(conv)
        if log is None or log.members.get(user, {}).get("state") not in states:
            raise Refused("not_found")
        return log

    def head(self, user, log):
        member = log.members[user]
        own = self.own.get((user, log.conv), {})
        head = {"conv": log.conv, "kind": log.kind, "members": len(log.joined()), "members_version": log.version, "seq": log.seq, "n": log.n, "at": log.at, **log.values}
        head.pop("about", None)
        if member["state"] != "joined":
            head.update(state=member["state"], peer=self.user(member.get("by", user), user), seq=0, n=0)
            return head
        unread = [each for each in log.events if each.get("n", 0) > max(member["read"], member["floor"]) and each["sender"] != user]
        named = [each for each in unread if any(entity.get("user") == user or entity["type"] == "all" for entity in (each.get("body") or {}).get("entities", []))]
        head.update(read=member["read"], unread=len(unread), mentions=len(named), pins=log.pins)
        if member["role"] != "member":
            head["role"] = member["role"]
        if member["floor_seq"] if "floor_seq" in member else 0:
            head["min_seq"] = member["floor_seq"]
        if log.kind == "pair":
            head["peer"] = self.user(next(name for name in log.members if name != user), user)
        elif log.kind != "self":
            head["settings"] = log.settings
        shown = next((each for each in reversed(log.events) if "n" in each or each["kind"].startswith(("member", "conversation"))), None)
        if shown:
            head["last"] = preview(shown)
        if own:
            head["own"] = own
        return head

    def append(self, log, sender, kind, body=None, ref=None, silent=False, **more):
        event = {"conv": log.conv, "seq": log.seq + 1, "sender": sender, "at": max(now(), log.at), "kind": kind, "reacted": {}, "voted": {}, **more}
        if kind in MESSAGES or "." in kind and not kind.startswith(("member.", "conversation.", "poll.", "call.", "self.", "contact.", "device.")):
            log.n += 1
            event["n"] = log.n
            member = log.members.get(sender)
            if member and member["read"] == log.n - 1:
                member["read"] = log.n
        if body is not None:
            event["body"] = body
        if ref is not None:
            event["ref"] = ref
        if kind == "poll":
            event["votes"] = [0] * len(body["options"])
        log.events.append(event)
        log.at = event["at"]
        self.touch(log)
        for name in log.joined():
            if not (kind == "hide" or (name, log.conv, event["seq"]) in self.hidden):
                self.push(name, "event", {"events": [self.shown(name, event)], **({"silent": True} if silent else {})})
        return event

    def shown(self, user, event):
        if (user, event["conv"], event["seq"]) in self.hidden:
            return {key: event[key] for key in ("conv", "seq", "n") if key in event} | {"kind": "hidden"}
        plain = {key: value for key, value in event.items() if key not in ("reacted", "voted", "first")}
        counts = {}
        for keys in event["reacted"].values():
            for key in keys:
                counts[key] = counts.get(key, 0) + 1
        if counts:
            plain["reactions"] = [{"key": key, "count": count} for key, count in sorted(counts.items(), key=lambda each: -each[1])]
        return plain

    def rank(self, log, user):
        return RANKS.index(log.members[user]["role"])

    def open_pair(self, user, other):
        key = tuple(sorted((user, other)))
        if key not in self.pairs:
            log = self.pairs[key] = Log("pair")
            self.logs[log.conv] = log
            for name in key:
                log.members[name] = {"role": "member", "state": "joined", "since": now(), "read": 0, "floor": 0}
            self.touch(log)
        return self.pairs[key]

    # Verbs

    def answer(self, user, verb, body, device=None):
        """Returns the answer to a request. A repeated request with an id gets the first answer."""
        method = getattr(self, "do_" + verb.replace(".", "_"), None)
        if method is None:
            raise Refused("unsupported")
        key = (user, body.get("conv") if verb == "send" else None, body.get("id"))
        if body.get("id") is None:
            return method(user, body)
        digest = hashlib.sha256(json.dumps([verb, body], sort_keys=True).encode()).hexdigest()
        if key in self.answers:
            before, answer = self.answers[key]
            if before != digest:
                raise Refused("conflict")
            return answer
        answer = method(user, body)
        self.answers[key] = digest, answer
        return answer

    def do_sync(self, user, body):
        since = body.get("since")
        epoch, _, token = (since or f"{self.epoch}.0").partition(".")
        if epoch != self.epoch or not token.isdigit():
            raise Refused("resync")
        found = [(commit, conv) for (name, conv), commit in self.touched.items() if name == user and commit > int(token)]
        heads = [self.head(user, self.logs[conv]) for _, conv in found if self.logs[conv].members.get(user, {}).get("state") in ("joined", "invited", "requested")]
        heads.sort(key=lambda head: (-(head.get("own") or {}).get("pinned_at", 0), -head["at"]))
        gone = [conv for _, conv in found if self.logs[conv].members.get(user, {}).get("state") not in ("joined", "invited", "requested")] if since else []
        start = int(body.get("page") or 0)
        more = {"page": str(start + 100)} if start + 100 < len(heads) else {}
        return {"heads": heads[start:start + 100], "gone": gone, "token": f"{self.epoch}.{self.commit}", "badge": sum(head.get("unread", 0) for head in heads), **more}

    def do_history(self, user, body):
        log = self.log(user, body["conv"])
        low, limit = max(1, log.members[user].get("floor_seq", 1)), body.get("limit", 50)
        first = log.seq - limit + 1
        if "from" in body:
            first = max(low, body["from"])
        elif "before" in body:
            first, limit = max(low, body["before"] - limit), min(limit, body["before"] - low)
        elif "around" in body:
            first = body["around"] - limit // 2
        first = max(first, low)
        events = log.events[first - 1:first - 1 + max(0, limit)]
        mine = [{"seq": each["seq"], **({"reactions": each["reacted"][user]} if each["reacted"].get(user) else {}), **({"votes": each["voted"][user]} if user in each["voted"] else {})}
                for each in events if each["reacted"].get(user) or user in each["voted"]]
        return {"conv": log.conv, "events": [self.shown(user, each) for each in events], "mine": mine, "seq": log.seq, "min_seq": low}

    def do_send(self, user, body):
        log = self.log(user, body["conv"])
        kind, content = body["kind"], body["body"]
        if log.members[user]["role"] in ("reader", "guest") or (log.settings["write"] == "admins" and self.rank(log, user) < 3):
            raise Refused("forbidden")
        if kind == "text" and not 1 <= len(content.get("text", "")) <= 8000:
            raise Refused("bad_request", field="body.text")
        if "blob" in content and content["blob"] not in self.blobs:
            raise Refused("not_found", field="blob")
        self.sends += 1
        event = self.append(log, user, kind, content, body.get("ref"), body.get("silent", False), id=body["id"])
        return {"conv": log.conv, "id": body["id"], "seq": event["seq"], "n": event["n"], "at": event["at"]}

    def do_mark(self, user, body):
        log = self.log(user, body["conv"])
        member = log.members[user]
        if body.get("read", 0) > member["read"]:
            member["read"] = min(body["read"], log.n)
            self.own.get((user, log.conv), {}).pop("marked_unread", None)
            self.touch(log, user)
        mark = {"conv": log.conv, "user": user, **{key: body[key] for key in ("read", "received") if key in body}}
        for name in log.joined():
            if name != user or "read" in body:
                self.push(name, "mark", {"marks": [mark]})
        head = self.head(user, log)
        return {"conv": log.conv, "read": head["read"], "unread": head["unread"], "mentions": head["mentions"]}

    def do_draft(self, user, body):
        log = self.log(user, body["conv"])
        own = self.own.setdefault((user, log.conv), {})
        own.pop("draft", None)
        if body["text"]:
            own["draft"] = {"text": body["text"], "at": now(), **({"ref": body["ref"]} if "ref" in body else {})}
        self.touch(log, user)
        return {"conv": log.conv, "id": body["id"], "at": now()}

    def do_conversation_info(self, user, body):
        log = self.log(user, body["conv"])
        return {"head": self.head(user, log), "created_at": log.events[0]["at"] if log.events else log.at, **({"about": log.values["about"]} if "about" in log.values else {})}

    def do_members(self, user, body):
        log = self.log(user, body["conv"], ("joined", "invited"))
        word, state = body.get("query", "").lower(), body.get("state", "joined")
        names = sorted((name for name, member in log.members.items() if member["state"] == state), key=lambda name: (-self.rank(log, name), name))
        names = [name for name in names if word in name or word in self.users[name].get("nick", "").lower()]
        start = int(body.get("page") or 0)
        members = [{"user": self.user(name, user), **{key: log.members[name][key] for key in ("role", "since", "read", "by") if key in log.members[name]}} for name in names[start:start + 100]]
        return {"members": members, "version": log.version, "total": len(log.joined()), **({"page": str(start + 100)} if start + 100 < len(names) else {})}

    def do_settings(self, user, body):
        return {"settings": {"last_seen": "contacts", "avatar": "all", "add": "contacts", "find": "all", "receipts": True, "typing": True, "folders": []} | self.settings.get(user, {})}

    def do_users(self, user, body):
        return {"users": [self.user(name, user) for name in body["names"] if name in self.users]}

    def do_people(self, user, body):
        word = body["query"].lower().lstrip("@")
        return {"users": [self.user(name, user) for name, each in self.users.items() if name != user and (word in name or word in each.get("nick", "").lower())]}

    def do_contacts(self, user, body):
        found = sorted(self.contacts[user].items())
        return {"contacts": [{"user": self.user(name, user), **each} for name, each in found if body.get("state", each["state"]) == each["state"]]}
