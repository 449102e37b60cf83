// The chat of one account: connection, conversations, people, outbox. It knows nothing of the page.
//
// Events: "connection" (state), "conversations", "conversation" (id), "event" (event, conversation: new from somebody), "people",
// "ended" (reason: the session is over, sign in again).

import { Emitter, SocketManager } from "../socketio/index.js";
import { ChatError } from "./api.js";
import { isSame } from "./conflict.js";
import { Conversation } from "./conversation.js";
import { ReadMarks } from "./marks.js";
import { Outbox, makeClientID } from "./outbox.js";
import { Sender } from "./sender.js";
import { limited, onceAtATime } from "./tasks.js";
import { wellFormed } from "./text.js";

const OVERLAP = 10_000; // of the server's clock, at a reconnection: seq makes it harmless (rule 5)
const GAP_PATIENCE = 500; // what came too early may just have overtaken
const PAGE = 60;
const PULL = 200;
const PULLS = 4; // at a time: the server answers one after the other, and refuses more than it lets wait

export class ChatClient extends Emitter {
  #manager; #socket; #sender; #marks;
  #syncedAt = 0; // the server's time of the last list of heads
  #gapTimers = new Map();
  #ended = false;
  #farewell = null;
  #ready = false; // hello and heads are in
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
    this.loaded = false; // the first list of conversations has come
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

  /** Goes to sleep; the outbox stays. */
  stop() {
    this.#ended = true;
    for (const timer of this.#gapTimers.values()) clearTimeout(timer);
    this.#socket.disconnect();
  }

  retryNow() {
    if (this.#socket.wanted) this.#manager.retryNow();
    else this.#socket.connect();
  }

  /** Somebody, as far as is known. Without a connection nobody is known to be online. */
  person(id) {
    const person = this.people.get(id) ?? { id, name: "…", display: "…", online: false };
    return this.#ready ? person : { ...person, online: false };
  }

  /** The newest first, what waits in the outbox counted. */
  sortedConversations() {
    const waiting = new Map(this.outbox.entries.map((entry) => [entry.conv, entry.at]));
    const time = (conversation) => Math.max(conversation.updatedAt, waiting.get(conversation.id) ?? 0);
    return [...this.conversations.values()].sort((a, b) => time(b) - time(a));
  }

  get unread() { return [...this.conversations.values()].reduce((sum, conversation) => sum + conversation.unread, 0); }

  // --- what the user does ---

  /** Stores the message in the outbox and sends it as soon as that is possible; it is shown at once. */
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

  /** One page of the people found: {users, next}; `next` asks for the page after it, and is null on the last one. */
  async findPeople(query, after = null) {
    const { users, next = null } = await this.request("users", { ...(query ? { query: wellFormed(query) } : {}), ...(after ? { after } : {}) });
    this.#learn(users);
    return { users: users.filter((user) => user.id !== this.user.id), next };
  }

  /** Loads the history above what is held; on first opening, the newest page. Resolves to whether anything came. */
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

  /** Everything up to message n was seen. It is shown as read at once; the server is told until it has heard it. */
  markRead(id, n) {
    const conversation = this.conversations.get(id);
    if (!conversation || n <= conversation.read) return;
    conversation.readUpTo(n);
    this.#changed(id);
    this.#marks.tell(conversation);
  }

  // --- for Sender ---

  /** One request, one answer; a refusal is thrown. */
  async request(name, payload, timeout = 15_000) {
    const [answer] = await this.#socket.emitWithAck(name, [payload], { timeout });
    if (answer?.error) throw new ChatError(answer.error.code, answer.error.message);
    return answer ?? {};
  }

  /** The same for an answer that may come in pages: `take` gets each, the last is returned. */
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

  /** The log has the message already. */
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
      if (this.#farewell === "logged_out" || this.#farewell === "expired") return this.#end(this.#farewell);
      // The server stops or sent us away: later it may take us again.
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
    socket.on("bye", (farewell) => { this.#farewell = farewell?.reason ?? null; });
  }

  #end(reason) {
    if (this.#ended) return;
    this.stop();
    this.fire("ended", reason);
  }

  /** After every connection: who is there, what has changed since, and out with what waited. */
  async #catchUp() {
    this.#farewell = null;
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
    if (this.#socket.id !== connection) return; // dropped meanwhile; the next connection catches up again
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
    console.warn("Catching up failed; trying again", error);
    if (this.#socket.connected) setTimeout(() => this.#socket.connected && this.#catchUp().catch((again) => this.#catchUpFailed(again)), 2000);
  }

  #learn(users) {
    for (const user of users) this.people.set(user.id, { ...this.people.get(user.id), ...user });
  }

  #askForStrangers = onceAtATime(async () => {
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
    if (this.#ready && head.members.some((member) => !this.people.has(member.user))) this.#askForStrangers();
  }

  #eventPushed(event) {
    const conversation = this.conversations.get(event.conv);
    if (!conversation) {
      // Its head has not come yet, or was lost.
      if (this.#ready) this.#refreshHeads();
      return;
    }
    const applied = conversation.applyEvent(event);
    for (const each of applied) {
      if (each.sender === this.user.id) this.#dropDelivered(each); // its ack was lost or is late
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

  /** What came too early may have overtaken its predecessor; what is still missing after a moment is pulled. */
  #watchGap(conversation) {
    if (!conversation?.log.hasGap || this.#gapTimers.has(conversation.id)) return;
    this.#gapTimers.set(conversation.id, setTimeout(() => {
      this.#gapTimers.delete(conversation.id);
      if (conversation.log.hasGap && this.connected) this.#pull(conversation);
    }, GAP_PATIENCE));
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
      if (this.connected) console.warn("Pulling a gap failed; the next event or connection asks again", error);
    } finally {
      conversation.pulling = false;
      this.#changed(conversation.id);
    }
  }

  /** A message whose ack was lost with the connection: the log holds it already. */
  #dropDelivered(event) {
    const entry = event.sender === this.user.id && this.outbox.find(event.id);
    if (entry && isSame(entry, event)) this.outbox.remove(entry.id);
  }

  // Changes of one turn are told once.
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
