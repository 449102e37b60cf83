// The state of the page: snapshots that are created from the answers and events of the core.

import { advancing, expiring, reading } from "../core/applying.js";
import { Positions, showsReceipts } from "../core/receipts.js";
import { ChatState } from "./api.js";
import { MemberList, search } from "./lists.js";
import { ThreadWindow } from "./window.js";

const TYPING = 6000;
const GROUPS = { people: (head) => head.kind === "pair", groups: (head) => head.kind === "group", channels: (head) => head.kind === "channel", unread: (head) => isUnread(head) };

const isUnread = (head) => (head.unread ?? 0) > 0 || Boolean(head.own?.marked_unread);

/**
 * Releases the object URL of an item's file after 60 s, because a picture or a player may still
 * read it.
 */
const release = (item) => { if (item?.localURL) setTimeout(() => URL.revokeObjectURL(item.localURL), 60_000); };

export class Store extends ChatState {
  session = { phase: "starting", user: null, self: null, limits: {}, server: {} };
  connection = { state: "connecting", since: Date.now() };
  settings = {};
  shown = [];
  notice = null;
  /** Returns the texts of a notification. Set by the views. */
  describe = (head, event) => ({ title: head.title ?? this.user(event.sender).nick ?? event.sender, body: event.body?.text ?? "" });
  /** Called with the conversation and new events of its log. */
  onevents = null;
  onread = null;
  /** Sends the service worker, if there is one, the texts that it needs to show pushes. */
  tellWords = null;
  /** `oncall` is called with the events of a log, `onsignal` with the signals of calls. */
  oncall = null;
  onsignal = null;
  #heads = new Map();
  #users = new Map();
  #wanted = new Set();
  #contacts = new Map();
  #outbox = new Map();
  #typing = new Map();
  #positions = new Map(); // conversation -> the positions up to which other members have read and received messages
  #counted = new Map(); // conversation -> the version of the members whose positions are known
  #quotes = new Map();
  #windows = new Map();
  #early = new Map(); // conversation -> events that arrived before its head
  #lists = new Set();
  #sorted = null;

  constructor(port) {
    super(port);
    port.listen((event) => this.#received(event));
    this.started = this.#start();
  }

  /** The time in ms since 1970, by the clock of the server. */
  get now() { return Date.now() + (this.session.clock ?? 0); }
  get account() { return this.session.user; }
  get unread() { return [...this.#heads.values()].reduce((sum, head) => sum + ((head.own?.muted_until ?? 0) > Date.now() || head.own?.archived ? 0 : head.unread ?? 0), 0); }
  get unsent() { return [...this.#outbox.values()].reduce((sum, items) => sum + items.length, 0); }
  get uploads() { return [...this.#outbox.values()].flat().filter((item) => item.status === "uploading").map(({ key, conv, body, progress }) => ({ key, conv, name: body?.name, progress })); }

  conversations({ filter = "all", query = "" } = {}) {
    this.#sorted ??= [...this.#heads.values()].filter((head) => !["left", "removed", "banned"].includes(head.state)).sort(order);
    const word = query.trim().toLocaleLowerCase();
    return this.#sorted.filter((head) => {
      if (filter === "everything") return true;
      if (filter === "archived" ? !head.own?.archived : head.own?.archived && !word) return false;
      if (!this.#isIn(head, filter)) return false;
      return !word || this.#title(head).includes(word);
    });
  }

  #isIn(head, filter) {
    if (filter === "all" || filter === "archived") return true;
    if (!filter.startsWith("folder:")) return GROUPS[filter](head);
    const name = filter.slice("folder:".length);
    const folder = this.settings.folders?.find((each) => each.name === name);
    return folder?.filter ? GROUPS[folder.filter]?.(head) ?? false : head.own?.folders?.includes(name) ?? false;
  }

  conversation(id) { return this.#heads.get(id) ?? null; }
  draft(id) { return this.#heads.get(id)?.draft ?? null; }
  typing(id) { return [...(this.#typing.get(id)?.keys() ?? [])]; }
  contacts(state = "friend") { return [...this.#contacts.values()].filter((each) => each.state === state); }
  /** The contacts by name. Each change creates another object. */
  get contactIndex() { return this.#contacts; }
  contact(name) { return this.#contacts.get(name) ?? null; }

  user(name) {
    const user = this.#users.get(name);
    if (user) return user;
    if (name && this.session.phase === "signedIn") this.#want(name);
    return { name };
  }

  async people(query, page) {
    const answer = await super.people(query, page);
    this.remember(answer.users);
    return answer;
  }

  /** Requests a user again, because changes of profiles are not always pushed. */
  async refresh(name) {
    const { users } = await this.verb("users", { names: [name] }).catch(() => ({ users: [] }));
    this.remember(users);
    return this.user(name);
  }

  presence(name) {
    const user = this.#users.get(name);
    return user?.online === undefined ? null : { online: user.online, last_seen: user.last_seen };
  }

  /**
   * Returns the window on a log. With `thread`, returns a new window on the replies to that
   * message, which the caller must close.
   */
  thread(id, { thread } = {}) {
    if (thread !== undefined) {
      const window = new ThreadWindow(this, id, thread);
      this.#lists.add(window);
      return window;
    }
    if (!this.#windows.has(id)) this.#windows.set(id, new ThreadWindow(this, id));
    return this.#windows.get(id);
  }

  /**
   * Returns a message, such as a pinned one, or null while it is requested and if it cannot be
   * read. Listeners of "thread:ID" are called when it arrives.
   */
  event(id, seq) {
    const event = this.#windows.get(id)?.event(seq) ?? this.quoted(id, seq);
    return event ? { ...event, key: String(seq), own: event.sender === this.account?.name } : null;
  }

  members(id, query = "", state = "joined") {
    const list = new MemberList(this, id, query, state);
    this.#lists.add(list);
    return list;
  }

  search(query, filters = {}) { return search(this, query, filters); }
  /**
   * Resolves to a page of the messages of `kinds` in a conversation, newest first. `isBehind`:
   * whether the newest ones are missing.
   */
  async media(conv, { kinds, query = "", page }) {
    const { hits, page: next, indexed_at: indexedAt } = await this.port.request("search", { conv, kinds, query: query || undefined, page });
    return { events: hits.map(({ event }) => event), page: next, isBehind: indexedAt !== undefined };
  }

  /**
   * Returns the address of a blob. `of` is {user}, {conv} or {link} for the picture of a user or a
   * conversation, which users other than its uploader may read.
   */
  blobURL(blob, size, of = {}) {
    const query = new URLSearchParams({ ...(size && { size }), ...of }).toString();
    return this.port.blobURL?.(blob, size) ?? `/api/blobs/${encodeURIComponent(blob)}${query && `?${query}`}`;
  }

  mark(conv, n) {
    this.onread?.(conv);
    return super.mark(conv, n);
  }

  show(convs) {
    this.shown = convs;
    return super.show(convs);
  }

  async hide(conv, seqs) {
    const answer = await super.hide(conv, seqs);
    this.#windows.get(conv)?.hidden(seqs);
    return answer;
  }

  async schedule(conv, message, at) {
    const answer = await super.schedule(conv, message, at);
    this.changed("scheduled");
    return answer;
  }

  async unschedule(of) {
    const answer = await super.unschedule(of);
    this.changed("scheduled");
    return answer;
  }

  async approve(conv, user, accept) {
    const answer = await super.approve(conv, user, accept);
    this.changed("joinRequests");
    return answer;
  }

  // --- Called by windows and lists ---

  closed(part) {
    this.#lists.delete(part);
    if (this.#windows.get(part.conv) === part) this.#windows.delete(part.conv);
  }

  waiting(conv) { return this.#outbox.get(conv) ?? []; }

  receipt(conv, n) {
    const head = this.#heads.get(conv);
    if (!head || !showsReceipts(head)) return "sent";
    this.#countReaders(head);
    return this.#positions.get(conv)?.status(n, head.kind === "pair" ? 1 : (head.members ?? 1) - 1) ?? "sent";
  }

  /** Requests the positions of the members, once for each version of the member list. */
  async #countReaders({ conv, members_version: version = 0 }) {
    if (this.#counted.get(conv) === version || this.connection.state !== "online") return;
    this.#counted.set(conv, version);
    try {
      const users = new Set();
      const marks = [];
      for (let page; ;) {
        const answer = await this.verb("members", { conv, page });
        for (const { user, read, received, state } of answer.members) {
          if (state && state !== "joined") continue;
          users.add(user.name);
          if (read !== undefined) marks.push({ conv, user: user.name, read, received });
        }
        this.remember(answer.members.map((each) => each.user));
        if (!(page = answer.page)) break;
      }
      this.#positions.get(conv)?.keep(users);
      this.marked(marks);
    } catch {
      this.#counted.delete(conv);
    }
  }

  /**
   * Returns a message outside of the window: null if it cannot be read, undefined while it is
   * requested.
   */
  quoted(conv, seq) {
    const key = `${conv} ${seq}`;
    if (!this.#quotes.has(key)) {
      this.#quotes.set(key, undefined);
      this.port.request("history", { conv, around: seq, limit: 1 }).then(
        (page) => this.#quotes.set(key, page.events.find((event) => event.seq === seq && event.kind !== "hidden") ?? null),
        () => this.#quotes.delete(key),
      ).then(() => {
        for (const window of this.#windowsOf(conv)) window.invalidate();
        this.changed(`thread:${conv}`);
      });
    }
    const event = this.#quotes.get(key);
    if (event?.expires_at <= this.now) this.#quotes.set(key, expiring(event));
    return this.#quotes.get(key);
  }

  /**
   * Stores users as the server returned them. A field that is absent is not visible to this user.
   */
  remember(users) {
    let isNew = false;
    for (const user of users) {
      const before = this.#users.get(user.name);
      const alias = this.#contacts.get(user.name)?.alias;
      const after = { ...user, alias };
      if (before && JSON.stringify(before) === JSON.stringify(after)) continue;
      this.#users.set(user.name, after);
      isNew = true;
    }
    if (isNew) this.changed("users", "presence");
  }

  /** Applies read positions from pushes and from lists of members. */
  marked(marks) {
    for (const { conv, user, read, received } of marks) {
      if (user === this.account?.name) {
        if (read !== undefined) this.#update(conv, (head) => reading(head, read));
        continue;
      }
      if (!this.#positions.has(conv)) this.#positions.set(conv, new Positions());
      if (!this.#positions.get(conv).mark(user, { read, received })) continue;
      for (const window of this.#windowsOf(conv)) window.invalidate();
    }
  }

  // --- Events of the core ---

  async #start() {
    const snapshot = await this.port.request("start");
    this.#adopt(snapshot);
    return this;
  }

  #adopt({ session, connection, heads = [], users = [], contacts = [], settings, outbox = [], marks = [] }) {
    const another = session.user?.name !== this.account?.name;
    this.session = session;
    this.connection = connection;
    if (another) {
      for (const item of [...this.#outbox.values()].flat()) release(item);
      for (const each of [this.#heads, this.#users, this.#contacts, this.#outbox, this.#typing, this.#positions, this.#counted, this.#quotes, this.#windows, this.#early]) each.clear();
    }
    if (session.user) this.remember([session.user]);
    this.#setContacts(contacts);
    this.remember(users);
    this.#heads.clear();
    this.#setHeads(heads);
    this.settings = settings ?? {};
    for (const item of outbox) this.#queued(item);
    this.marked(marks);
    for (const window of this.#windows.values()) window.reset();
    this.changed("session", "connection", "conversations", "contacts", "settings", "uploads");
  }

  #received(event) {
    switch (event.type) {
      case "snapshot": return this.#adopt(event);
      case "session":
        this.session = event.session;
        if (this.account && this.session.phase === "signedIn" && this.notice?.kind === "dismissed") this.notice = null;
        return this.changed("session");
      case "connection":
        this.connection = event.connection;
        this.#counted.clear(); // changes of the positions may have been missed
        // Without a connection, the end of typing is not reported.
        if (event.connection.state !== "online") for (const [conv, users] of [...this.#typing]) for (const user of [...users.keys()]) this.#types({ conv, user, stopped: true });
        if (event.connection.state === "online") for (const window of this.#windows.values()) window.connected();
        return this.changed("connection");
      case "heads": return this.#setHeads(event.heads ?? [], event.gone ?? []);
      case "events": return this.#events(event.conv, event.events);
      case "gap": for (const window of this.#windowsOf(event.conv)) window.reset(); return;
      case "hidden": return this.#windows.get(event.conv)?.hidden(event.seqs);
      case "outbox": this.#queued(event.item, event.removed); return;
      case "marks": return this.marked(event.marks);
      case "users": return this.remember(event.users);
      case "presence": return this.remember(event.users.map(({ user, online, last_seen }) => ({ ...this.#users.get(user), name: user, online, ...(last_seen && { last_seen }) })));
      case "typing": return this.#types(event);
      case "contacts": this.#setContacts(event.contacts); return;
      case "settings": this.settings = event.settings; return this.changed("settings");
      case "signal": return this.onsignal?.(event);
      case "leading": return;
      case "notice": this.notice = event.notice; return this.changed("notice");
    }
  }

  #setHeads(heads, gone = []) {
    for (const conv of gone) {
      this.#heads.delete(conv);
      this.changed(`conversation:${conv}`, `thread:${conv}`);
    }
    this.remember(heads.flatMap((head) => (head.peer ? [head.peer] : [])));
    for (const head of heads) {
      const early = this.#early.get(head.conv);
      if (early) queueMicrotask(() => this.#tell(head.conv, early));
      this.#early.delete(head.conv);
      const version = this.#heads.get(head.conv)?.members_version;
      this.#put(head);
      if (version !== undefined && version !== head.members_version) {
        for (const list of this.#lists) if (list.conv === head.conv) list.reload?.();
      }
    }
    this.#sorted = null;
    this.changed("conversations");
  }

  #put(head) {
    const items = this.#outbox.get(head.conv) ?? [];
    const { draft: _, typing: __, failed: ___, pending: ____, ...plain } = head;
    const failed = items.filter((item) => item.status === "failed").length;
    const typing = this.typing(head.conv);
    this.#heads.set(head.conv, {
      ...plain, ...(head.own?.draft && { draft: head.own.draft }), ...(typing.length && { typing }),
      ...(failed && { failed }), ...(items.length > failed && { pending: items.length - failed }),
    });
    this.#sorted = null;
    this.changed("conversations", `conversation:${head.conv}`);
  }

  #update(conv, change) {
    const head = this.#heads.get(conv);
    if (head) this.#put(change(head));
  }

  #events(conv, events) {
    this.#update(conv, (head) => advancing(head, events, this.account?.name));
    for (const event of events) {
      for (const user of [event.sender, ...(event.body?.users ?? [])]) if (user) this.#types({ conv, user, stopped: true }); // also of removed members
      if (event.ref !== undefined) this.#quotes.delete(`${conv} ${event.ref}`);
    }
    for (const window of this.#windowsOf(conv)) window.received(events);
    if (this.#heads.has(conv)) this.#tell(conv, events);
    else this.#early.set(conv, [...(this.#early.get(conv) ?? []), ...events]);
  }

  #tell(conv, events) {
    this.onevents?.(conv, events);
    this.oncall?.(conv, events);
  }

  #windowsOf(conv) { return [...this.#lists, this.#windows.get(conv)].filter((each) => each instanceof ThreadWindow && each.conv === conv); }

  #queued(item, removed) {
    const items = this.waiting(item.conv).filter((each) => each.key !== item.key);
    const before = this.waiting(item.conv).find((each) => each.key === item.key);
    if (removed) release(before);
    else {
      const localURL = before?.localURL ?? (item.file ? URL.createObjectURL(item.file) : undefined);
      items.push({ ...item, id: item.key, sender: this.account?.name, local: true, ...(localURL && { localURL }) });
      items.sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1));
    }
    this.#outbox.set(item.conv, items);
    this.#update(item.conv, (head) => head);
    for (const window of this.#windowsOf(item.conv)) window.invalidate();
    this.changed("uploads");
  }

  #setContacts(contacts) {
    this.#contacts = new Map(contacts.map((each) => [each.user.name, each]));
    for (const [name, user] of this.#users) this.#users.set(name, { ...user, alias: this.#contacts.get(name)?.alias });
    this.remember(contacts.map((each) => each.user));
    this.changed("contacts", "users");
  }

  #types({ conv, user, stopped }) {
    const all = this.#typing.get(conv) ?? new Map();
    if (stopped && !all.has(user)) return;
    clearTimeout(all.get(user));
    if (stopped) all.delete(user);
    else all.set(user, setTimeout(() => this.#types({ conv, user, stopped: true }), TYPING));
    this.#typing.set(conv, all);
    this.#update(conv, (head) => head);
    this.changed(`typing:${conv}`);
  }

  #want(name) {
    if (this.#wanted.has(name)) return;
    this.#wanted.add(name);
    if (this.#wanted.size === 1) queueMicrotask(() => this.#learnUsers());
  }

  /** Requests the wanted users, including those that are added during the requests. */
  async #learnUsers() {
    while (this.#wanted.size > 0) {
      const names = [...this.#wanted].slice(0, 100);
      try {
        const { users } = await this.verb("users", { names });
        this.remember([...names.filter((each) => !users.some(({ name }) => name === each)).map((each) => ({ name: each })), ...users]);
        for (const window of this.#windows.values()) window.invalidate();
      } catch {
        return this.#wanted.clear(); // the users are requested again when a name is shown again
      }
      for (const name of names) this.#wanted.delete(name);
    }
  }

  #title(head) {
    const peer = head.peer && head.kind === "pair" ? this.user(head.peer.name) : null;
    return [head.title, peer?.alias, peer?.nick, peer && `@${peer.name}`].filter(Boolean).join("\n").toLocaleLowerCase();
  }
}

/**
 * Returns the time of the newest visible event of a conversation. Events of settings in the user's
 * notes do not count.
 */
const shownAt = ({ kind, at, last, draft }) => Math.max(last?.at ?? (kind === "self" ? 0 : at), draft?.at ?? 0);

function order(a, b) {
  return (b.own?.pinned_at ?? 0) - (a.own?.pinned_at ?? 0) || shownAt(b) - shownAt(a) || (a.conv < b.conv ? -1 : 1);
}
