"""The verbs of `chatmock` for conversations, members, own settings and people."""

import secrets

from support.chatmodel import ChatModel, Log, Refused, now

LINK_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"


class PeopleModel(ChatModel):
    # Conversations

    def do_conversation_open(self, user, body):
        if body["user"] not in self.users:
            raise Refused("not_found")
        log = self.open_pair(user, body["user"])
        self.push_heads(log, user)
        return {"head": self.head(user, log)}

    def do_conversation_create(self, user, body):
        log = Log(body["kind"], **{key: body[key] for key in ("title", "avatar", "about") if body.get(key)})
        self.logs[log.conv] = log
        log.settings.update(body.get("settings") or {})
        log.members[user] = {"role": "owner", "state": "joined", "since": now(), "read": 0, "floor": 0}
        self.append(log, user, "conversation.create", {"kind": body["kind"], "title": body["title"]})
        invited = self.add_members(log, user, body.get("users") or [])[1]
        return {"head": self.head(user, log), "invited": invited}

    def add_members(self, log, user, names):
        added, invited = [], []
        for name in names:
            if name not in self.users or log.members.get(name, {}).get("state") in ("joined", "banned"):
                continue
            friend = self.contacts[name].get(user, {}).get("state") == "friend"
            (added if friend else invited).append(name)
            log.members[name] = {"role": "member", "state": "joined" if friend else "invited", "since": now(), "read": log.n, "floor": log.n, "by": user}
        if added:
            self.append(log, user, "member.join", {"users": added, "via": "add"})
        if invited:
            self.append(log, user, "member.invite", {"users": invited})
        log.version += 1
        self.touch(log)
        self.push_heads(log)
        return added, invited

    def do_conversation_info(self, user, body):
        log = self.log(user, body["conv"])
        return {"head": self.head(user, log), "created_at": log.events[0]["at"] if log.events else log.at, **({"about": log.values["about"]} if "about" in log.values else {})}

    def do_conversation_set(self, user, body):
        log = self.log(user, body["conv"])
        self.manage(log, user, "manage")
        changes = {key: body[key] for key in ("title", "about", "avatar", "settings") if key in body}
        log.settings.update(changes.get("settings") or {})
        log.values.update({key: value for key, value in changes.items() if key != "settings"})
        event = self.append(log, user, "conversation.set", changes)
        self.push_heads(log)
        return self.changed(log, body, event)

    def do_conversation_delete(self, user, body):
        log = self.log(user, body["conv"])
        names = log.joined() if body.get("for_all") else [user]
        for name in names:
            log.members[name]["state"] = "left"
            self.push(name, "head", {"gone": [log.conv]})
        self.touch(log)
        return self.changed(self.selves[user], body)

    def do_directory(self, user, body):
        listed = [log for log in self.logs.values() if log.settings["listed"] and body.get("query", "").lower() in log.values.get("title", "").lower()]
        return {"conversations": [{"conv": log.conv, "kind": log.kind, "title": log.values["title"], "members": len(log.joined()), "join": log.settings["join"]} for log in listed]}

    # Members

    def do_members(self, user, body):
        log = self.log(user, body["conv"], ("joined", "invited"))
        word, state = body.get("query", "").lower(), body.get("state", "joined")
        names = sorted((name for name, member in log.members.items() if member["state"] == state), key=lambda name: (-self.rank(log, name), name))
        names = [name for name in names if word in name or word in self.users[name].get("nick", "").lower()]
        start = int(body.get("page") or 0)
        members = [{"user": self.user(name, user), **{key: log.members[name][key] for key in ("role", "since", "read", "by") if key in log.members[name]}} for name in names[start:start + 100]]
        return {"members": members, "version": log.version, "total": len(log.joined()), **({"page": str(start + 100)} if start + 100 < len(names) else {})}

    def do_member_add(self, user, body):
        log = self.log(user, body["conv"])
        self.manage(log, user, "invite")
        added, invited = self.add_members(log, user, body["users"])
        return {**self.changed(log, body), "added": added, "invited": invited}

    def do_member_answer(self, user, body):
        log = self.log(user, body["conv"], ("invited",))
        log.members[user]["state"] = "joined" if body["accept"] else "left"
        if not body["accept"]:
            self.touch(log, user)
            self.push(user, "head", {"gone": [log.conv]})
            return self.changed(log, body)
        return self.changed(log, body, self.moved(log, user, "member.join", {"users": [user], "via": "invite"}))

    def moved(self, log, user, kind, content):
        log.version += 1
        event = self.append(log, user, kind, content)
        self.push_heads(log)
        return event

    def do_member_join(self, user, body):
        log = next((log for log in self.logs.values() if body.get("link") in log.links), None) if "link" in body else self.logs.get(body.get("conv"))
        if log is None or ("link" not in body and log.settings["join"] == "closed"):
            raise Refused("not_found")
        if log.members.get(user, {}).get("state") != "joined":
            log.members[user] = {"role": "member", "state": "joined", "since": now(), "read": log.n, "floor": log.n}
            self.moved(log, user, "member.join", {"users": [user], "via": "link" if "link" in body else "directory"})
        return {"head": self.head(user, log)}

    def do_member_leave(self, user, body):
        log = self.log(user, body["conv"])
        if log.members[user]["role"] == "owner" and len(log.joined()) > 1:
            raise Refused("forbidden")
        event = self.moved(log, user, "member.leave", {})
        log.members[user]["state"] = "left"
        self.touch(log)
        self.push(user, "head", {"gone": [log.conv]})
        return self.changed(log, body, event)

    def expel(self, user, body, kind, state):
        log = self.log(user, body["conv"])
        names = [name for name in body["users"] if name in log.members]
        if any(self.rank(log, name) >= self.rank(log, user) for name in names) or self.rank(log, user) < 3:
            raise Refused("forbidden")
        event = self.moved(log, user, kind, {"users": names})
        for name in names:
            log.members[name]["state"] = state
            self.push(name, "head", {"gone": [log.conv]})
        return self.changed(log, body, event)

    def do_member_remove(self, user, body):
        return self.expel(user, body, "member.remove", "removed")

    def do_member_ban(self, user, body):
        return self.expel(user, body, "member.ban", "banned")

    def do_member_unban(self, user, body):
        return self.expel(user, body, "member.unban", "removed")

    def do_member_role(self, user, body):
        log = self.log(user, body["conv"])
        self.manage(log, user)
        for name in body["users"]:
            log.members[name]["role"] = body["role"]
        if body["role"] == "owner":
            log.members[user]["role"] = "admin"
        return self.changed(log, body, self.moved(log, user, "member.role", {"users": body["users"], "role": body["role"]}))

    def do_link_create(self, user, body):
        log = self.log(user, body["conv"])
        self.manage(log, user, "invite")
        code = "".join(secrets.choice(LINK_LETTERS) for _ in range(16))
        log.links[code] = {"code": code, "role": body.get("role", "member"), "by": user, "at": now(), "used": 0, **{key: body[key] for key in ("expires_at", "uses") if key in body}}
        return {"link": log.links[code]}

    def do_link_list(self, user, body):
        return {"links": list(self.log(user, body["conv"]).links.values())}

    def do_link_revoke(self, user, body):
        log = self.log(user, body["conv"])
        log.links.pop(body["code"], None)
        return self.changed(log, body)

    def do_link_info(self, user, body):
        for log in self.logs.values():
            if body["code"] in log.links:
                return {"title": log.values["title"], "kind": log.kind, "members": len(log.joined()), "join": "open", "by": self.user(log.links[body["code"]]["by"], user)}
        raise Refused("not_found")

    # Own settings

    def own_change(self, user, body, kind, values):
        log = self.log(user, body["conv"])
        own = self.own.setdefault((user, log.conv), {})
        for key, value in values.items():
            if value:
                own[key] = value
            else:
                own.pop(key, None)
        self.touch(log, user)
        event = self.append(self.selves[user], user, kind, {"conv": log.conv, **values})
        self.push_heads(log, user)
        return self.changed(self.selves[user], body, event)

    def do_own_set(self, user, body):
        values = {key: body[key] for key in ("archived", "muted_until", "marked_unread", "folders") if key in body}
        if "pinned" in body:
            values["pinned_at"] = now() if body["pinned"] else 0
        return self.own_change(user, body, "self.unread" if "marked_unread" in body else "self.pin", values)

    def do_draft(self, user, body):
        draft = {"text": body["text"], "at": now(), **({"ref": body["ref"]} if "ref" in body else {})} if body["text"] else None
        return self.own_change(user, body, "self.draft", {"draft": draft})

    def do_settings(self, user, body):
        return {"settings": {"last_seen": "contacts", "avatar": "all", "add": "contacts", "find": "all", "receipts": True, "typing": True, "folders": []} | self.settings.get(user, {})}

    def do_settings_set(self, user, body):
        self.settings.setdefault(user, {}).update(body["settings"])
        return self.changed(self.selves[user], body, self.append(self.selves[user], user, "self.set", {"users": [user]}))

    def do_profile_set(self, user, body):
        for key in ("nick", "avatar", "status"):
            if body.get(key):
                self.users[user][key] = body[key]
            elif key in body:
                self.users[user].pop(key, None)
        for name in self.users:
            self.push(name, "user", {"users": [self.user(user, name)]})
        return {"user": self.user(user, user)}

    # People

    def do_users(self, user, body):
        return {"users": [self.user(name, user) for name in body["names"] if name in self.users]}

    def do_people(self, user, body):
        word = body["query"].lower().lstrip("@")
        return {"users": [self.user(name, user) for name, each in self.users.items() if name != user and (word in name or word in each.get("nick", "").lower())]}

    def do_contacts(self, user, body):
        found = sorted(self.contacts[user].items())
        return {"contacts": [{"user": self.user(name, user), **each} for name, each in found if body.get("state", each["state"]) == each["state"]]}

    def contact(self, user, other, kind, state, incoming=False, **more):
        if other not in self.users:
            raise Refused("not_found")
        if state is None:
            self.contacts[user].pop(other, None)
        else:
            self.contacts[user][other] = {"at": now(), **self.contacts[user].get(other, {}), "state": state, **more}
        return self.append(self.selves[user], user, kind, {"user": other, **({"incoming": True} if incoming else {})})

    def do_contact_request(self, user, body):
        other = body["user"]
        if self.contacts.get(other, {}).get(user, {}).get("state") == "asking":
            return self.do_contact_answer(user, dict(body, accept=True))
        event = self.contact(user, other, "contact.request", "asking")
        if self.contacts[other].get(user, {}).get("state") != "blocked":
            self.contact(other, user, "contact.request", "asked", incoming=True, **({"text": body["text"]} if "text" in body else {}))
        return self.changed(self.selves[user], body, event)

    def do_contact_answer(self, user, body):
        event = self.contact(user, body["user"], "contact.accept" if body["accept"] else "contact.remove", "friend" if body["accept"] else None)
        if body["accept"]:
            self.contact(body["user"], user, "contact.accept", "friend", incoming=True)
        return self.changed(self.selves[user], body, event)

    def do_contact_remove(self, user, body):
        return self.changed(self.selves[user], body, self.contact(user, body["user"], "contact.remove", None))

    def do_contact_alias(self, user, body):
        state = self.contacts[user].get(body["user"], {}).get("state", "friend")
        return self.changed(self.selves[user], body, self.contact(user, body["user"], "contact.alias", state, alias=body["alias"]))

    def do_block(self, user, body):
        return self.changed(self.selves[user], body, self.contact(user, body["user"], "contact.block", "blocked"))

    def do_unblock(self, user, body):
        return self.changed(self.selves[user], body, self.contact(user, body["user"], "contact.unblock", None))

    def do_report(self, user, body):
        return {}

    def do_scheduled(self, user, body):
        return {"scheduled": [each for each in self.scheduled.get(user, {}).values() if body.get("conv", each["conv"]) == each["conv"]]}

    def do_schedule(self, user, body):
        self.log(user, body["conv"])
        self.scheduled.setdefault(user, {})[body["id"]] = body
        return {"scheduled": body}

    def do_unschedule(self, user, body):
        self.scheduled.get(user, {}).pop(body["of"], None)
        return self.changed(self.selves[user], body)

    def do_push_set(self, user, body):
        return {}
