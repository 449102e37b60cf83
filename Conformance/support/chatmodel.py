"""The model behind `chatmock`: the logs, members and verbs of docs/chat-wire.md in memory, as far as the page uses them."""

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

    def push_heads(self, log, *names):
        for name in names or list(log.members):
            if name in log.members and log.members[name]["state"] in ("joined", "invited", "requested"):
                self.push(name, "head", {"heads": [self.head(name, log)]})

    def target(self, log, ref):
        if not 1 <= ref <= log.seq:
            raise Refused("not_found")
        return log.events[ref - 1]

    def rank(self, log, user):
        return RANKS.index(log.members[user]["role"])

    def manage(self, log, user, setting=None):
        if self.rank(log, user) < 3 and (setting is None or log.settings[setting] == "admins"):
            raise Refused("forbidden")

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
        """The answer of a verb. A request with an id is answered once and then from memory."""
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

    def changed(self, log, body, event=None):
        return {"conv": log.conv, "id": body.get("id"), "at": now(), **({"seq": event["seq"]} if event else {})}

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
        if "thread" in body or "edits" in body:
            events = self.related(log, body)
        mine = [{"seq": each["seq"], **({"reactions": each["reacted"][user]} if each["reacted"].get(user) else {}), **({"votes": each["voted"][user]} if user in each["voted"] else {})}
                for each in events if each["reacted"].get(user) or user in each["voted"]]
        return {"conv": log.conv, "events": [self.shown(user, each) for each in events], "mine": mine, "seq": log.seq, "min_seq": low}

    def related(self, log, body):
        """The events of a thread, or a message in its first form and its edits."""
        low, high, limit = body.get("from", 1), body.get("before", log.seq + 1), body.get("limit", 50)
        if "edits" in body:
            target = log.events[body["edits"] - 1]
            first = {key: value for key, value in target.items() if key not in ("state", "edited_at")} | {"body": target.get("first", target.get("body"))}
            events = [first, *(each for each in log.events if each["kind"] == "edit" and each["ref"] == body["edits"])]
        else:
            events = [each for each in log.events if each["seq"] == body["thread"] or each.get("thread") == body["thread"]]
        events = [each for each in events if low <= each["seq"] < high]
        return events[:limit] if "from" in body else events[-limit:]

    def do_send(self, user, body):
        log = self.log(user, body["conv"])
        kind, content = body["kind"], body["body"]
        if log.members[user]["role"] in ("reader", "guest") or (log.settings["write"] == "admins" and self.rank(log, user) < 3):
            raise Refused("forbidden")
        if kind == "text" and not 1 <= len(content.get("text", "")) <= 8000:
            raise Refused("bad_request", field="body.text")
        if "blob" in content and content["blob"] not in self.blobs:
            raise Refused("not_found", field="body.blob")
        self.sends += 1
        event = self.append(log, user, kind, content, body.get("ref"), body.get("silent", False), id=body["id"], **({"thread": body["thread"]} if "thread" in body else {}))
        if "thread" in body:
            first = self.target(log, body["thread"])
            first["replies"] = {"count": first.get("replies", {}).get("count", 0) + 1, "seq": event["seq"]}
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

    def do_readers(self, user, body):
        log = self.log(user, body["conv"])
        n = self.target(log, body["seq"]).get("n", 0)
        return {"readers": [{"user": name, "read": True, "received": True} for name in log.joined() if name != user and log.members[name]["read"] >= n]}

    def do_search(self, user, body):
        hits, words = [], body["query"].lower().split()
        for log in self.logs.values():
            if log.members.get(user, {}).get("state") != "joined" or body.get("conv", log.conv) != log.conv:
                continue
            for event in log.events:
                text = str((event.get("body") or {}).get("text", ""))
                if all(word in text.lower() for word in words) and "n" in event:
                    hits.append({"event": self.shown(user, event), "snippet": text[:160], "ranges": [{"offset": text.lower().find(words[0]), "length": len(words[0])}]})
        return {"hits": sorted(hits, key=lambda hit: -hit["event"]["at"])[:30]}

    def change(self, user, body, kind, content, own=False):
        log = self.log(user, body["conv"])
        target = self.target(log, body["ref"])
        if own and target["sender"] != user and self.rank(log, user) < 3:
            raise Refused("forbidden")
        return log, target, lambda **more: self.changed(log, body, self.append(log, user, kind, content, body["ref"], **more))

    def do_edit(self, user, body):
        _, target, done = self.change(user, body, "edit", {"body": body["body"]})
        if target["sender"] != user:
            raise Refused("forbidden")
        target.setdefault("first", target["body"])
        target.update(body=body["body"], state="edited", edited_at=now())
        return done()

    def do_recall(self, user, body):
        _, target, done = self.change(user, body, "recall", None, own=True)
        target.update(state="recalled", reacted={}, voted={})
        target.pop("body", None)
        return done()

    def do_react(self, user, body):
        _, target, done = self.change(user, body, "react", {key: body[key] for key in ("key", "remove") if key in body})
        keys = [key for key in target["reacted"].get(user, []) if key != body["key"]] + ([] if body.get("remove") else [body["key"]])
        target["reacted"][user] = keys
        return done()

    def do_reactions(self, user, body):
        target = self.target(self.log(user, body["conv"]), body["ref"])
        return {"reactions": [{"user": name, "key": key, "at": target["at"]} for name, keys in target["reacted"].items() for key in keys]}

    def do_vote(self, user, body):
        _, target, done = self.change(user, body, "vote", {"options": body["options"]})
        target["voted"][user] = body["options"]
        target["votes"] = [sum(index in votes for votes in target["voted"].values()) for index in range(len(target["body"]["options"]))]
        return done(votes=target["votes"])

    def do_poll_close(self, user, body):
        _, target, done = self.change(user, body, "poll.close", None, own=True)
        target["body"]["closed"] = True
        return done()

    def do_pin(self, user, body):
        log, _, done = self.change(user, body, "pin", {"remove": True} if body.get("remove") else {})
        log.pins = [seq for seq in log.pins if seq != body["ref"]]
        if not body.get("remove"):
            log.pins.insert(0, body["ref"])
        return done()

    def do_hide(self, user, body):
        log = self.log(user, body["conv"])
        self.hidden.update((user, log.conv, seq) for seq in body["seqs"])
        return self.changed(self.selves[user], body, self.append(self.selves[user], user, "self.hide", {"conv": log.conv, "seqs": body["seqs"]}))

    def do_forward(self, user, body):
        source, log = self.log(user, body["from"]), self.log(user, body["conv"])
        events = [self.target(source, seq) for seq in body["seqs"]]
        origin = lambda each: {} if body.get("anonymous") else {"sender": each["sender"], "nick": self.users[each["sender"]].get("nick", each["sender"])}
        if body.get("bundle"):
            items = [{"at": each["at"], "kind": each["kind"], "body": each["body"], **origin(each)} for each in events]
            made = [self.append(log, user, "bundle", {"title": body.get("title", "Messages"), "items": items}, id=body["id"])]
        else:
            made = [self.append(log, user, each["kind"], dict(each["body"], forwarded={"at": each["at"], **origin(each)}), id=f"{body['id']}-{index}") for index, each in enumerate(events)]
        return {"conv": log.conv, "id": body["id"], "seqs": [each["seq"] for each in made], "at": now()}
