// A state without a server: an in-memory core with sample data, for the development of views.
//
//   const state = createSampleState();               // signed in, with data
//   createSampleState({ phase: "signedOut" });       // the sign-in form
//   createSampleState({ offline: true, empty: true, slow: 400 });

import { applying } from "../core/applying.js";
import { ME, USERS, eventAt, heads, members, now } from "./data.js";
import { Store } from "../state/store.js";

export const createSampleState = (options = {}) => new Store(new SamplePort(options));

const refusal = (code, message = code, more = {}) => Object.assign(new Error(message), { code, ...more });
let serial = 0;

class SamplePort {
  #emit = () => {};
  #heads = new Map();
  #changed = new Map(); // "conv seq" -> event in its newest form
  #added = new Map(); // conv -> events after the generated ones
  #failed = new Map();
  #users = new Map(USERS.map((user) => [user.name, user]));
  #hasTotp = false;
  #contacts = ["bob", "carol", "weilin", "xiaoyu", "haoran"].map((name) => ({ user: this.#users.get(name), state: "friend", at: now, ...(name === "haoran" && { alias: "浩然（同事）" }) }));
  #settings = { last_seen: "contacts", avatar: "all", add: "contacts", find: "all", receipts: true, typing: true, folders: [{ name: "Friends" }] };

  constructor(options) {
    this.options = options;
    this.phase = options.phase ?? "signedIn";
    if (!options.empty) for (const head of heads()) this.#heads.set(head.conv, head);
    this.#contacts.push({ user: this.#users.get("grace"), state: "asked", text: "We met at the regatta", at: now }, { user: this.#users.get("ivan"), state: "asking", at: now }, { user: this.#users.get("b0b"), state: "blocked", at: now });
  }

  listen(listener) { this.#emit = listener; }

  blobURL(blob) {
    const hue = [...String(blob)].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 360, 0);
    return `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 12 8"><rect width="12" height="8" fill="hsl(${hue} 45% 70%)"/><circle cx="9" cy="2" r="1" fill="#fff8"/><path d="M0 8l4-5 3 3 2-2 3 4z" fill="hsl(${hue} 40% 40%)"/></svg>`)}`;
  }

  async request(name, body = {}) {
    if (this.options.slow) await new Promise((done) => setTimeout(done, this.options.slow));
    switch (name) {
      case "start": return this.#snapshot();
      case "login":
        if (body.password === "wrong") throw refusal("unauthorized");
        return this.#enter();
      case "register": return this.#enter({ recovery: ["k3v9-2m7q", "p4w8-x1ta", "9zrd-ke55", "h0mm-7vqc"] });
      case "password": return this.#enter({});
      case "totp": return { secret: "JBSWY3DPEHPK3PXP", uri: "otpauth://totp/Apus:alice?secret=JBSWY3DPEHPK3PXP&issuer=Apus" };
      case "totpConfirm": if (body.code !== "123456") throw refusal("forbidden"); this.#hasTotp = true; return {};
      case "totpDelete": this.#hasTotp = false; return {};
      case "edits": return [{ at: now, body: { text: "The newest text" } }, { at: now - 60_000, body: { text: "The first text" } }];
      case "recovery": return { recovery: ["k3v9-2m7q", "p4w8-x1ta"] };
      case "logout": case "deleteAccount":
        if (name === "logout" && this.#failed.size && !body.force) throw refusal("unsent", "Messages are not sent.", { count: this.#failed.size });
        this.phase = "signedOut";
        this.#emit({ type: "snapshot", ...this.#snapshot() });
        return {};
      case "history": return this.#history(body);
      case "send": return this.#send(body);
      case "retry": return this.#retry(body.key);
      case "discard": return this.#discard(body.key);
      case "mark": return this.#mark(body);
      case "draft": return this.#change(body.conv, (head) => ({ ...head, own: { ...head.own, draft: body.text ? { text: body.text, ref: body.ref, at: Date.now() } : undefined } }));
      case "typing": case "show": return {};
      case "upload": return { blob: `sample-${(serial += 1)}`, type: body.file?.type ?? "image/png", size: body.file?.size ?? 1, width: 640, height: 640 };
      case "search": return this.#search(body);
      case "verb": return this.#verb(body.verb, body.body ?? {});
      default: throw refusal("unsupported", name);
    }
  }

  #snapshot() {
    const isIn = this.phase === "signedIn";
    const limits = { request_bytes: 131_072, text_length: 8000, blob_bytes: 104_857_600, group_members: 10_000, edit_seconds: 172_800, recall_seconds: 172_800 };
    const state = this.options.offline ? "offline" : "online";
    if (isIn && this.#failed.size === 0 && this.#heads.has("1pairbob00000")) {
      this.#failed.set("failed-1", { key: "failed-1", conv: "1pairbob00000", kind: "text", body: { text: "This one did not reach the server." }, status: "failed", error: { code: "forbidden", message: "Not permitted." }, at: now - 30_000 });
    }
    return {
      session: { phase: this.phase, user: isIn ? this.#users.get(ME) : null, self: "0s1e2f3c4v5n6", limits, server: { name: "Apus", registration: "open", limits } },
      connection: { state, since: now }, ...(isIn && {
        heads: [...this.#heads.values()], users: [...this.#users.values()], contacts: this.#contacts, settings: this.#settings, outbox: [...this.#failed.values()],
        marks: [{ conv: "1pairbob00000", user: "bob", read: 416 }, { conv: "1rowingclub00", user: "bob", read: 99_990 }, { conv: "1pairweilin00", user: "weilin", read: 255, received: 260 }],
      }),
    };
  }

  #enter(answer = {}) {
    this.phase = "signedIn";
    this.#emit({ type: "snapshot", ...this.#snapshot() });
    return answer;
  }

  #head(conv) {
    const head = this.#heads.get(conv);
    if (!head) throw refusal("not_found");
    return head;
  }

  #event(conv, seq) {
    const size = this.#head(conv).seq;
    const added = this.#added.get(conv) ?? [];
    return this.#changed.get(`${conv} ${seq}`) ?? eventAt(conv, seq) ?? added[seq - (size - added.length) - 1] ?? null;
  }

  #history({ conv, from, before, around, limit = 50 }) {
    const { seq } = this.#head(conv);
    const first = from ?? (before !== undefined ? before - limit : around !== undefined ? around - Math.floor(limit / 2) : seq - limit + 1);
    const events = [];
    for (let each = Math.max(1, first); each < first + limit && each <= seq; each += 1) {
      const event = this.#event(conv, each);
      if (event) events.push(event);
    }
    return { conv, events, seq, min_seq: 1 };
  }

  #change(conv, change) {
    const head = change(this.#head(conv));
    this.#heads.set(conv, head);
    this.#emit({ type: "heads", heads: [head] });
    return { conv, id: `r${(serial += 1)}`, at: Date.now() };
  }

  /** Appends an event to the log and reports it. */
  #append(conv, event) {
    const head = this.#head(conv);
    const isMessage = !event.ref || event.body?.text !== undefined || event.body?.blob !== undefined;
    const whole = { conv, seq: head.seq + 1, ...(isMessage && { n: head.n + 1 }), at: Date.now(), ...event };
    if (!this.#added.has(conv)) this.#added.set(conv, []);
    this.#added.get(conv).push(whole);
    const target = !isMessage && event.ref && this.#event(conv, event.ref);
    if (target) this.#changed.set(`${conv} ${event.ref}`, applying(target, whole, ME));
    this.#heads.set(conv, { ...head, seq: whole.seq, n: whole.n ?? head.n, at: whole.at });
    this.#emit({ type: "events", conv, events: [whole] });
    return whole;
  }

  #send({ conv, kind, body, ref, file }) {
    const key = `own-${(serial += 1)}-${Date.now()}`;
    const item = { key, conv, kind, body, ref, file, status: this.options.offline ? "queued" : file ? "uploading" : "sending", progress: file ? 0.4 : undefined, at: Date.now() };
    this.#emit({ type: "outbox", item });
    if (!this.options.offline) setTimeout(() => this.#finish(item), file ? 1500 : 250);
    return key;
  }

  #finish(item) {
    if (String(item.body.text).includes("fail")) {
      const failed = { ...item, status: "failed", error: { code: "forbidden", message: "Not permitted." } };
      this.#failed.set(item.key, failed);
      return this.#emit({ type: "outbox", item: failed });
    }
    const body = item.file ? { width: 1280, height: 853, size: item.file.size, type: item.file.type, name: item.file.name, ...item.body, blob: `sample-${(serial += 1)}` } : item.body;
    this.#append(item.conv, { sender: ME, id: item.key, kind: item.kind, body, ref: item.ref });
    this.#emit({ type: "outbox", item, removed: true });
    const peer = this.#head(item.conv).peer?.name;
    if (!peer) return;
    setTimeout(() => this.#emit({ type: "typing", conv: item.conv, user: peer }), 800);
    setTimeout(() => {
      this.#emit({ type: "marks", marks: [{ conv: item.conv, user: peer, read: this.#head(item.conv).n }] });
      this.#append(item.conv, { sender: peer, id: `b-${serial}`, kind: "text", body: { text: "好的 — got it!" } });
    }, 2500);
  }

  #retry(key) {
    const item = this.#failed.get(key);
    if (!item) throw refusal("not_found");
    this.#failed.delete(key);
    const again = { ...item, status: "sending", error: undefined, body: { text: String(item.body.text).replaceAll("fail", "fa1l") } };
    this.#emit({ type: "outbox", item: again });
    setTimeout(() => this.#finish(again), 500);
  }

  #discard(key) {
    const item = this.#failed.get(key);
    this.#failed.delete(key);
    if (item) this.#emit({ type: "outbox", item, removed: true });
  }

  #mark({ conv, read }) {
    return this.#change(conv, (head) => (read <= head.read ? head : { ...head, read, unread: Math.max(0, head.n - read), mentions: 0, own: { ...head.own, marked_unread: undefined } }));
  }

  #search({ query, conv }) {
    const word = query.toLocaleLowerCase();
    const found = [];
    for (const head of conv ? [this.#head(conv)] : this.#heads.values()) {
      for (let seq = head.seq; seq > Math.max(0, head.seq - 400) && found.length < 30; seq -= 1) {
        const event = this.#event(head.conv, seq);
        const at = event?.body?.text?.toLocaleLowerCase().indexOf(word) ?? -1;
        if (at >= 0) found.push({ event, snippet: event.body.text.slice(0, 160), ranges: [{ offset: [...event.body.text.slice(0, at)].length, length: [...query].length }] });
      }
    }
    return { hits: found };
  }

  #contact(name, change) {
    const rest = this.#contacts.filter((each) => each.user.name !== name);
    const before = this.#contacts.find((each) => each.user.name === name) ?? { user: this.#users.get(name), at: Date.now() };
    const after = change(before);
    this.#contacts = after ? [...rest, after] : rest;
    this.#emit({ type: "contacts", contacts: this.#contacts });
    return {};
  }

  #verb(verb, body) {
    const { conv, ref, user } = body;
    const people = (query = "") => [...this.#users.values()].filter((each) => `${each.name} ${each.nick}`.toLocaleLowerCase().includes(query.toLocaleLowerCase()) && each.name !== ME);
    switch (verb) {
      case "edit": case "recall": case "react": case "pin": case "vote": case "poll.close": return this.#changeOf(verb, body);
      case "hide": for (const seq of body.seqs) this.#changed.set(`${conv} ${seq}`, { conv, seq, kind: "hidden" }); return {};
      case "forward": return { seqs: body.seqs.map((seq) => this.#append(conv, { ...this.#event(body.from, seq), conv, seq: this.#head(conv).seq + 1, n: this.#head(conv).n + 1, at: Date.now(), sender: ME, id: `f${(serial += 1)}`, ref: undefined }).seq) };
      case "users": return { users: body.names.flatMap((name) => this.#users.get(name) ?? []) };
      case "people": return { users: people(body.query) };
      case "members": {
        const names = conv && members(conv);
        const all = names.map((name, index) => ({ user: this.#users.get(name), role: index === 1 ? "owner" : index === 0 ? this.#head(conv).role ?? "member" : "member", since: now - 9e9 }));
        const list = all.filter((each) => `${each.user.name} ${each.user.nick}`.toLocaleLowerCase().includes((body.query ?? "").toLocaleLowerCase()));
        return { members: list, version: 1, total: Math.max(this.#head(conv).members, list.length) };
      }
      case "readers": return { readers: members(conv).slice(1, 5).map((name, index) => ({ user: name, read: index < 2, received: true })) };
      case "reactions": return { reactions: (this.#event(conv, ref)?.reactions ?? []).flatMap(({ key, count }) => people().slice(0, count).map((each) => ({ user: each.name, key }))) };
      case "devices": return { authenticator: this.#hasTotp, devices: [{ device: "d1", name: "Firefox on Linux", platform: "web", at: now - 9e8, last_seen: now, address: "192.0.2.7", current: true }, { device: "d2", name: "iPhone von Alice", platform: "ios", at: now - 9e9, last_seen: now - 4e6, address: "198.51.100.20" }] };
      case "conversation.info": return { head: this.#head(conv), about: "Every Tuesday at six, from April to October. 每周二晚上六点。", created_at: now - 9e10, by: "bob" };
      case "conversation.open": return { head: this.#open(user) };
      case "conversation.create": return { head: this.#create({ kind: body.kind, title: body.title, role: "owner", members: 1 + (body.users?.length ?? 0) }) };
      case "conversation.set": return this.#change(conv, (head) => ({ ...head, ...(body.title && { title: body.title }), settings: { ...head.settings, ...body.settings } }));
      case "own.set": return this.#change(conv, (head) => ({ ...head, own: { ...head.own, ...("pinned" in body && { pinned_at: body.pinned ? Date.now() : undefined }), ...("archived" in body && { archived: body.archived }), ...("muted_until" in body && { muted_until: body.muted_until }), ...("marked_unread" in body && { marked_unread: body.marked_unread }) } }));
      case "member.answer": return this.#change(conv, (head) => ({ ...head, state: body.accept ? undefined : "left" }));
      case "member.leave": case "conversation.delete": this.#heads.delete(conv); this.#emit({ type: "heads", gone: [conv] }); return {};
      case "directory": return { conversations: [{ conv: "1channelnews0", kind: "channel", title: "Apus releases", about: "What is new", members: 812, join: "open" }, { conv: "1other0000000", kind: "group", title: "自行车 Cycling", members: 44, join: "approval" }] };
      case "link.list": return { links: [{ code: "k7Qm2ZtX9bVw4NsA", role: "member", by: ME, at: now, used: 3, uses: 50, expires_at: now + 6e8 }] };
      case "link.create": return { link: { code: "aaQm2ZtX9bVw4NsB", role: body.role ?? "member", by: ME, at: now, used: 0 } };
      case "link.info": return { title: "Rowing club Kiel", kind: "group", members: 14, join: "open", by: this.#users.get("bob") };
      case "scheduled": return { scheduled: [] };
      case "settings.set": this.#settings = { ...this.#settings, ...body.settings }; this.#emit({ type: "settings", settings: this.#settings }); return {};
      case "profile.set": this.#users.set(ME, { ...this.#users.get(ME), ...JSON.parse(JSON.stringify(body)) }); this.#emit({ type: "session", session: this.#snapshot().session }); return { user: this.#users.get(ME) };
      case "contact.request": return this.#contact(user, (each) => ({ ...each, state: "asking" }));
      case "contact.answer": return this.#contact(user, (each) => (body.accept ? { ...each, state: "friend" } : null));
      case "contact.remove": case "unblock": return this.#contact(user, () => null);
      case "contact.alias": return this.#contact(user, (each) => ({ ...each, alias: body.alias || undefined }));
      case "block": return this.#contact(user, (each) => ({ ...each, state: "blocked" }));
      default: return {};
    }
  }

  #changeOf(verb, { conv, ref, body, key, remove, options }) {
    const target = this.#event(conv, ref);
    if (!target) throw refusal("not_found");
    const votes = verb === "vote" ? (target.votes ?? target.body.options.map(() => 0)).map((count, index) => count + (options.includes(index) ? 1 : 0) - (target.mine?.votes?.includes(index) ? 1 : 0)) : undefined;
    const content = { edit: { body }, react: { key, remove }, vote: { options }, pin: { remove } }[verb];
    this.#append(conv, { sender: ME, kind: verb, ref, body: content, ...(votes && { votes }) });
    return {};
  }

  #open(user) {
    const found = [...this.#heads.values()].find((head) => head.kind === "pair" && head.peer.name === user);
    return found ?? this.#create({ kind: "pair", peer: this.#users.get(user), members: 2 });
  }

  #create(values) {
    const head = { conv: `9new${String((serial += 1)).padStart(9, "0")}`, members_version: 1, seq: 0, n: 0, read: 0, unread: 0, at: Date.now(), own: {}, settings: {}, ...values };
    this.#heads.set(head.conv, head);
    this.#emit({ type: "heads", heads: [head] });
    return head;
  }
}
