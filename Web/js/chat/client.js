// The chat client of one account: connection, conversations, users, outbox. Independent of the
// page.
//
// Events: "connection" (state), "conversations", "conversation" (id), "event" (event, conversation:
// a new message of another user), "people", "ended" (reason: the session has ended, sign in again).

import { Emitter, SocketManager } from "../socketio/index.js";
import { ChatError } from "./api.js";
import { isSame } from "./conflict.js";
import { Conversation } from "./conversation.js";
import { ReadMarks } from "./marks.js";
import { Outbox, makeClientID } from "./outbox.js";
import { Sender } from "./sender.js";
import { limited, onceAtATime } from "./tasks.js";
import { wellFormed } from "./text.js";

const OVERLAP = 10_000; // ms of the server's clock, subtracted at a sync (docs/chat-rules.md, 5)
const GAP_DELAY = 500; // ms before missing events are pulled (docs/chat-rules.md, 2)
const PAGE = 60;
const PULL = 200;
const PULLS = 4; // at the same time: the server answers them one after the other, and limits pending requests

export class ChatClient extends Emitter {
  #manager; #socket; #sender; #marks;
  #syncedAt = 0; // the server's time of the last list of heads
  #gapTimers = new Map();
  #ended = false;
  #closeReason = null; // of the server's `bye`
  #ready = false; // hello and sync are complete
  #pulls = limited(PULLS);

  static async open(session) {
    return new ChatClient(session, await Outbox.open(session.user.id));
  }

  constructor(session, outbox) {
    super();
    this.token = session.token;
    this.user = session.user;
    this.outbox = outbox;
    this.people = new Map([[session.user.id, session.user]]);
    this.conversations = new Map();
    this.loaded = false; // the first list of conversations is complete
    this.#sender = new Sender(this);
    this.#marks = new ReadMarks(this);
    this.#manager = new SocketManager(location.origin);
    this.#socket = this.#manager.socket("/chat", { auth: () => ({ token: this.token }) });
    this.#listen();
  }

  /** "online", "connecting", "waiting" (with retryAt) or "closed". */
  get connection() {
    if (this.#ready) return { name: "online" };
    const { name, retryAt } = this.#manager.state;
    return name === "waiting" ? { name, retryAt } : { name: name === "closed" && !this.#socket.wanted ? "closed" : "connecting" };
  }

  get connected() { return this.#ready && !this.#ended; }

  start() { this.#socket.connect(); }

  /** Disconnects. The outbox remains. */
  stop() {
    this.#ended = true;
    for (const timer of this.#gapTimers.values()) clearTimeout(timer);
    this.#socket.disconnect();
  }

  retryNow() {
    if (this.#socket.wanted) this.#manager.retryNow();
    else this.#socket.connect();
  }

  /** A user. All users are shown as offline without a connection. */
  person(id) {
    const person = this.people.get(id) ?? { id, name: "…", display: "…", online: false };
    return this.#ready ? person : { ...person, online: false };
  }

  /** The conversations, newest first; messages in the outbox count. */
  sortedConversations() {
    const waiting = new Map(this.outbox.entries.map((entry) => [entry.conv, entry.at]));
    const time = (conversation) => Math.max(conversation.updatedAt, waiting.get(conversation.id) ?? 0);
    return [...this.conversations.values()].sort((a, b) => time(b) - time(a));
  }

  get unread() { return [...this.conversations.values()].reduce((sum, conversation) => sum + conversation.unread, 0); }

  // --- actions of the user ---

  /** Stores a message in the outbox, shows it, and sends it as soon as possible. */
  async write(conv, { text, file, dimensions }) {
    const entry = { id: makeClientID(), conv, at: Date.now(), after: this.conversations.get(conv)?.log.high ?? 0 };
    if (file) Object.assign(entry, { kind: "image", file, dimensions, body: text ? { text } : {} });
    else Object.assign(entry, { kind: "text", body: { text } });
    await this.outbox.add(entry);
    this.#changed(conv);
    this.#sender.flush();
  }

  async retry(id) {
    const entry = this.outbox.find(id);
    if (!entry) return;
    entry.isDoubted = entry.error?.code === "conflict";
    entry.state = "waiting";
    delete entry.error;
    await this.outbox.update(entry);
    this.#changed(entry.conv);
    this.#sender.flush();
  }

  async discard(id) {
    const entry = this.outbox.find(id);
    if (!entry) return;
    await this.outbox.remove(id);
    this.#changed(entry.conv);
  }

  async openPair(user) {
    return this.#headAnswered(await this.request("open", { with: user }));
  }

  async createGroup(title, members) {
    return this.#headAnswered(await this.request("create", { title: wellFormed(title), members }));
  }

  /**
   * One page of a user search: {users, next}. `next` requests the next page; null on the last one.
   */
  async findPeople(query, after = null) {
    const { users, next = null } = await this.request("users", { ...(query ? { query: wellFormed(query) } : {}), ...(after ? { after } : {}) });
    this.#learn(users);
    return { users: users.filter((user) => user.id !== this.user.id), next };
  }

  /**
   * Loads earlier history; on first opening, the newest page. Resolves to whether events were
   * added.
   */
  async loadOlder(id, limit = PAGE) {
    const conversation = this.conversations.get(id);
    if (!conversation) return false;
    if (conversation.loading) return conversation.loading;
    conversation.opened = true;
    if (!conversation.canLoadOlder || !this.connected) return false;
    conversation.loading = this.#loadOlder(conversation, limit).finally(() => {
      conversation.loading = null;
      this.#changed(id);
    });
    this.#changed(id);
    return conversation.loading;
  }

  async #loadOlder({ id, log }, limit) {
    const before = log.low;
    const { events } = await this.request("sync", { conv: id, before, limit });
    log.prepend(events);
    events.forEach((event) => this.#dropDelivered(event));
    return log.low < before;
  }

  /**
   * Marks the messages up to n as read: on the page at once, on the server until it confirms
   * (docs/chat-rules.md, 10).
   */
  markRead(id, n) {
    const conversation = this.conversations.get(id);
    if (!conversation || n <= conversation.read) return;
    conversation.readUpTo(n);
    this.#changed(id);
    this.#marks.tell(conversation);
  }

  // --- for Sender ---

  /** Sends a request and returns its answer. Throws an error of the server. */
  async request(name, payload, timeout = 15_000) {
    const [answer] = await this.#socket.emitWithAck(name, [payload], { timeout });
    if (answer?.error) throw new ChatError(answer.error.code, answer.error.message);
    return answer ?? {};
  }

  /** Sends a request whose answer has pages. Calls `take` with each; returns the last one. */
  async #pages(name, payload, take) {
    for (let page = null; ;) {
      const answer = await this.request(name, page === null ? payload : { ...payload, page });
      take(answer);
      if (answer.page == null || answer.page === page) return answer;
      page = answer.page;
    }
  }

  async acknowledged(entry, { seq, n, at }) {
    const conversation = this.conversations.get(entry.conv);
    const { conv, id, kind, body, ref } = entry;
    conversation?.applyEvent({ conv, seq, n, sender: this.user.id, id, at, kind, body, ...(ref ? { ref } : {}) });
    this.#watchGap(conversation);
    await this.outbox.remove(id);
    this.#changed(conv);
  }

  /** The log already contains the message. */
  async delivered(entry) {
    await this.outbox.remove(entry.id);
    this.#changed(entry.conv);
  }

  outboxChanged(conv) { this.#changed(conv); }

  expired() { this.#end("expired"); }

  // --- the connection ---

  #listen() {
    const socket = this.#socket;
    this.#manager.on("state", () => this.fire("connection", this.connection));
    socket.on("connect", () => this.#catchUp().catch((error) => this.#catchUpFailed(error)));
    socket.on("disconnect", (reason) => {
      this.#ready = false;
      this.fire("connection", this.connection);
      if (reason !== "io server disconnect" || this.#ended) return;
      if (this.#closeReason === "logged_out" || this.#closeReason === "expired") return this.#end(this.#closeReason);
      // The server shut down or closed the namespace. The client reconnects later.
      setTimeout(() => !this.#ended && socket.connect(), 1000 + Math.random() * 2000);
    });
    socket.on("connect_error", (error) => {
      if (error.data?.code === "unauthorized" || error.message === "unauthorized") return this.#end("expired");
      if (!socket.wanted && !this.#ended) setTimeout(() => !this.#ended && socket.connect(), 3000);
    });
    socket.on("event", (event) => this.#eventPushed(event));
    socket.on("head", (head) => this.#headPushed(head));
    socket.on("mark", ({ conv, user, read }) => {
      this.conversations.get(conv)?.applyMark(user, read);
      this.#changed(conv);
    });
    socket.on("presence", ({ user, online, at }) => {
      const person = this.people.get(user);
      if (!person) return;
      this.people.set(user, { ...person, online, seen: at });
      this.fire("people");
    });
    socket.on("bye", (bye) => { this.#closeReason = bye?.reason ?? null; });
  }

  #end(reason) {
    if (this.#ended) return;
    this.stop();
    this.fire("ended", reason);
  }

  /**
   * After each connection: requests users and changed heads, then starts the outbox
   * (docs/chat-rules.md, 5).
   */
  async #catchUp() {
    this.#closeReason = null;
    const connection = this.#socket.id;
    await this.#pages("hello", {}, ({ user, users }) => {
      this.user = user;
      this.#learn([user, ...users]);
    });
    const since = this.#syncedAt ? { since: Math.max(0, this.#syncedAt - OVERLAP) } : {};
    const { at } = await this.#pages("sync", since, ({ heads }) => heads.forEach((head) => this.#applyHead(head)));
    this.#syncedAt = at;
    await this.outbox.reload();
    for (const conversation of this.conversations.values()) conversation.log.events.forEach((event) => this.#dropDelivered(event));
    if (this.#socket.id !== connection) return; // disconnected in the meantime; the next connection repeats this
    this.loaded = true;
    this.#ready = true;
    this.fire("connection", this.connection);
    this.fire("people");
    this.#changed();
    this.#sender.flush();
    this.#marks.flush();
  }

  #catchUpFailed(error) {
    if (error instanceof ChatError && error.code === "unauthorized") return this.#end("expired");
    console.warn("Sync failed; trying again", error);
    if (this.#socket.connected) setTimeout(() => this.#socket.connected && this.#catchUp().catch((again) => this.#catchUpFailed(again)), 2000);
  }

  #learn(users) {
    for (const user of users) this.people.set(user.id, { ...this.people.get(user.id), ...user });
  }

  #requestUsers = onceAtATime(async () => {
    await this.#pages("hello", {}, ({ users }) => this.#learn(users));
    this.fire("people");
    this.#changed();
  });

  // --- the log ---

  #headAnswered({ head }) {
    this.#applyHead(head);
    this.#changed();
    return head.conv;
  }

  #headPushed(head) {
    this.#applyHead(head);
    this.#changed();
  }

  #applyHead(head) {
    const known = this.conversations.get(head.conv);
    if (!known) this.conversations.set(head.conv, new Conversation(head, this.user.id));
    else if (known.applyHead(head) === "gap") this.#pull(known);
    else if (known.opened && known.log.events.length <= 1) setTimeout(() => this.loadOlder(head.conv).catch(() => {}));
    if (this.#ready && head.members.some((member) => !this.people.has(member.user))) this.#requestUsers();
  }

  #eventPushed(event) {
    const conversation = this.conversations.get(event.conv);
    if (!conversation) {
      // The head has not arrived yet, or was lost.
      if (this.#ready) this.#refreshHeads();
      return;
    }
    const applied = conversation.applyEvent(event);
    for (const each of applied) {
      if (each.sender === this.user.id) this.#dropDelivered(each); // the ack was lost or is late
      else if (each.n != null && each.sender !== this.user.id) this.fire("event", each, conversation);
    }
    this.#watchGap(conversation);
    this.#changed(event.conv);
  }

  #refreshHeads = onceAtATime(async () => {
    const since = Math.max(0, this.#syncedAt - OVERLAP);
    await this.#pages("sync", { since }, ({ heads }) => heads.forEach((head) => this.#applyHead(head)));
    this.#changed();
  });

  /**
   * Pulls missing events after a delay, because pushes can arrive in reverse order
   * (docs/chat-rules.md, 2).
   */
  #watchGap(conversation) {
    if (!conversation?.log.hasGap || this.#gapTimers.has(conversation.id)) return;
    this.#gapTimers.set(conversation.id, setTimeout(() => {
      this.#gapTimers.delete(conversation.id);
      if (conversation.log.hasGap && this.connected) this.#pull(conversation);
    }, GAP_DELAY));
  }

  #pull(conversation) {
    if (conversation.pulling) return;
    conversation.pulling = true;
    this.#pulls(() => this.#pullNow(conversation));
  }

  async #pullNow(conversation) {
    try {
      while (this.#socket.connected) {
        const { events, head } = await this.request("sync", { conv: conversation.id, from: conversation.log.high + 1, limit: PULL });
        for (const event of events) {
          for (const each of conversation.applyEvent(event)) this.#dropDelivered(each);
        }
        conversation.applyHead(head);
        if (conversation.log.high >= head.seq || events.length === 0) break;
      }
    } catch (error) {
      if (this.connected) console.warn("Pull failed; the next event or connection repeats it", error);
    } finally {
      conversation.pulling = false;
      this.#changed(conversation.id);
    }
  }

  /** Removes a message from the outbox whose event is in the log. */
  #dropDelivered(event) {
    const entry = event.sender === this.user.id && this.outbox.find(event.id);
    if (entry && isSame(entry, event)) this.outbox.remove(entry.id);
  }

  // Changes of one turn are reported once.
  #dirty = null;
  #changed(id) {
    if (this.#dirty) {
      if (id) this.#dirty.add(id);
      return;
    }
    this.#dirty = new Set(id ? [id] : []);
    queueMicrotask(() => {
      const ids = this.#dirty;
      this.#dirty = null;
      this.fire("conversations");
      for (const each of ids) this.fire("conversation", each);
      if (ids.size === 0) for (const each of this.conversations.keys()) this.fire("conversation", each);
    });
  }
}
