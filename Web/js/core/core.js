// The core of the page: the account, the heads, the outbox, the logs and the connection. It runs in
// the worker of one tab, or in the page if the browser has no workers or locks.

import { advancing, expiring, isBlank, movesUp, preview, reading } from "./applying.js";
import { Connection } from "./connection.js";
import { Database } from "./database.js";
import { Expiry } from "./expiry.js";
import { Logs } from "./logs.js";
import { Outbox } from "./outbox.js";
import { OwnValues, drafted, owning } from "./own.js";
import { showsReceipts } from "./receipts.js";
import { Refusal, deviceDescription, get, post, uuid } from "./requests.js";
import { searchCache } from "./search.js";
import { upload } from "./uploads.js";

const UNCHANGING = new Set(["history", "sync", "members", "readers", "reactions", "scheduled", "conversation.info", "directory", "link.list", "link.info", "settings", "users", "people", "contacts", "devices", "search", "typing", "subscribe", "signal", "call.servers"]);
const PAGES_OF_REQUESTS = 5;
const NAMING = ["events", "heads", "nudges"]; // the parts of pushes from which a removed conversation is discarded

/** Returns whether a contact is a request whose time is unknown. */
const isUntold = ({ state, at }) => (state === "asked" || state === "asking") && !at;
const NEW = () => ({ phase: "signedOut", user: null, self: null, limits: {}, server: {}, clock: 0 });

export class Core {
  database = null;
  wasOnline = false;
  #session = { ...NEW(), phase: "starting" };
  #cached = { epoch: undefined, since: undefined };
  #heads = new Map();
  #users = new Map();
  #contacts = [];
  #settings = {};
  #received = new Map();
  #shown = new Map(); // tab -> conversations
  #dirty = new Set();
  #listed = null; // during a sync without a token: the conversations that its pages contain
  #doubtful = new Set(); // the conversations that pushes during a sync without a token contain, but the sync does not
  #judged = 0; // the number of held pushes that arrived before the end of the last sync
  #timers = new Map();
  #connection = new Connection(this);
  #outbox = new Outbox(this);
  #own = new OwnValues(this);
  #logs = new Logs(this);
  #noticed; // the time of the newest notice
  #expiry = new Expiry(this);
  #listener;
  #ready;

  constructor(listener = () => {}) {
    this.#listener = listener;
    this.#ready = this.#start();
  }

  get user() { return this.#session.user; }
  get cached() { return this.#cached; }
  get isOnline() { return this.#connection.isReady; }
  get connectionState() { return this.#connection.state.state; }
  /** The time in ms since 1970, by the clock of the server. */
  get now() { return Date.now() + this.#session.clock; }
  get heads() { return this.#heads.values(); }
  head(conv) { return this.#heads.get(conv); }
  emit(event) { this.#listener(event); }
  call(verb, body) { return this.#connection.call(verb, body); }

  /** Handles a request of a tab. Throws a Refusal. */
  async request(name, body = {}, tab = "") {
    await this.#ready;
    switch (name) {
      case "start": return this.#snapshot();
      case "login": return this.#enter("/api/login", { ...body, device: deviceDescription() });
      case "register": return this.#enter("/api/register", { ...body, device: deviceDescription() });
      case "password": return this.#enter("/api/password", { ...body, device: deviceDescription() });
      case "recovery": return post("/api/recovery", body);
      case "totp": return post("/api/totp", body);
      case "totpConfirm": return post("/api/totp/confirm", body);
      case "totpDelete": return post("/api/totp/delete", body);
      case "deleteAccount": await post("/api/account/delete", body); await this.#leave(); return {};
      case "logout": return this.#logout(body);
      case "history": return this.#logs.page(body);
      case "edits": return this.#logs.edits(body);
      case "send": return this.#outbox.add(body);
      case "retry": return this.#outbox.retry(body.key);
      case "discard": return this.#outbox.discard(body.key);
      case "mark": return this.#own.mark(body);
      case "draft": return this.#own.draft(body);
      case "typing": return this.isOnline ? this.call("typing", { conv: body.conv, stopped: body.stopped || undefined }) : {};
      case "show": return this.#show(tab, body.convs);
      case "network": this.#connection.network(body.event); return {};
      case "upload": return upload(body.file);
      case "search": return this.#search(body);
      case "verb": return this.#verb(body.verb, body.body ?? {});
      default: throw new Refusal({ code: "unsupported", message: name });
    }
  }

  // --- The account ---

  async #start() {
    this.database = await Database.open();
    const { meta, heads, users, cursors, outbox } = await this.database.stores("meta", "heads", "users", "cursors", "outbox");
    const { session, access, epoch, since, contacts, settings, marks, drafts, cited, logout, noticed } = Object.fromEntries(meta.map(({ key, value }) => [key, value]));
    this.#session = session?.user ? { ...NEW(), ...session, phase: "signedIn" } : NEW();
    if (this.user) {
      this.#cached = { epoch, since };
      this.#noticed = noticed;
      this.#contacts = contacts ?? [];
      this.#settings = settings ?? {};
      this.#own.restore(marks, drafts);
      for (const head of heads) this.#heads.set(head.conv, head);
      for (const user of users) this.#users.set(user.name, user);
      this.#logs.restore(cursors);
      this.#outbox.restore(outbox, cited);
      this.#connection.restore(access);
      this.#connection.start();
      this.#expiry.sweep();
    } else {
      if (logout) this.#tellLogout();
      this.#learnServer();
    }
    globalThis.addEventListener?.("online", () => this.#outbox.run());
  }

  #snapshot() {
    return {
      session: this.#session, connection: this.#connection.state, heads: [...this.#heads.values()], users: [...this.#users.values()], contacts: this.#contacts,
      settings: this.#settings, outbox: this.#outbox.shown,
    };
  }

  async #learnServer() {
    const server = await get("/api/server").catch(() => null);
    if (server) this.#setSession({ server, limits: server.limits ?? {} });
  }

  async #enter(path, body) {
    const answer = await post(path, body);
    if ((await this.database.meta("session"))?.user.name !== answer.user.name) await this.#forget();
    await this.database.delete("meta", "logout");
    this.#setSession({ phase: "signedIn", user: answer.user });
    this.emit({ type: "snapshot", ...this.#snapshot() });
    if (this.isOnline) this.#connection.stop();
    this.#connection.granted(answer);
    this.#connection.start();
    return { user: answer.user, recovery: answer.recovery };
  }

  async #logout({ force }) {
    if (this.#outbox.unsent > 0 && !force) throw new Refusal({ code: "unsent", message: "Messages are not sent yet.", count: this.#outbox.unsent });
    await this.#leave();
    await this.database.setMeta("logout", true);
    await this.#tellLogout();
    return {};
  }

  /**
   * Ends the session at the server. The request is repeated until the server has answered, even
   * after a reload.
   */
  async #tellLogout() {
    try {
      await post("/api/logout", { refresh: "cookie" });
      await this.database.delete("meta", "logout");
    } catch (error) {
      if (error.isTemporary) setTimeout(() => { if (!this.user) this.#tellLogout(); }, 5000);
    }
  }

  async #leave() {
    const { server, limits } = this.#session;
    this.#connection.stop();
    await this.#forget();
    this.#session = { ...NEW(), server, limits };
    this.emit({ type: "snapshot", ...this.#snapshot() });
  }

  async #forget() {
    this.#outbox.clear();
    this.#dropCache();
    this.#own.clear();
    this.#expiry.clear();
    this.#users.clear();
    this.#contacts = [];
    this.#settings = {};
    this.#noticed = undefined;
    await this.database.wipe();
  }

  #dropCache() {
    this.#logs.clear();
    this.#heads.clear();
    this.#received.clear();
    this.#dirty.clear();
    this.#doubtful.clear();
    this.#cached = { epoch: undefined, since: undefined };
    this.wasOnline = false;
  }

  /**
   * Handles the end of the session by the server. The cache is kept for another sign-in of the same
   * user.
   */
  dismissed(reason) {
    this.#session = { ...this.#session, phase: "signedOut" };
    this.emit({ type: "notice", notice: { kind: "dismissed", reason } });
    this.emit({ type: "session", session: this.#session });
  }

  refused() { this.#connection.renew(); }

  #setSession(values) {
    this.#session = { ...this.#session, ...values };
    if (this.user) this.database.setMeta("session", { user: this.user, self: this.#session.self, limits: this.#session.limits, server: this.#session.server, clock: this.#session.clock });
    this.emit({ type: "session", session: this.#session });
  }

  // --- The connection ---

  /**
   * Handles the answer to `hello`. Returns the next request of the sync, or null after the last
   * one.
   */
  async welcomed(answer, held) {
    this.#judged = 0;
    if (this.#cached.epoch !== undefined && this.#cached.epoch !== answer.epoch) {
      await this.#outbox.requeue();
      this.#own.requeue(this.#heads.values());
      this.#dropCache();
      await this.database.wipe(["outbox", "meta"]);
      this.emit({ type: "snapshot", ...this.#snapshot() });
    }
    this.#cached.epoch = answer.epoch;
    if (this.#noticed === undefined) await this.database.setMeta("noticed", (this.#noticed = answer.at));
    await this.database.setMeta("epoch", answer.epoch);
    this.#setSession({ user: answer.user, self: answer.self, limits: answer.limits, device: answer.device, features: answer.features ?? [], push_key: answer.push_key, clock: answer.at - Date.now() });
    return answer.sync ? this.synced(answer.sync, { since: this.#cached.since }, held) : { since: undefined };
  }

  /**
   * Handles a page of a sync. `held` ([name, body]) are the pushes since the connection, which are
   * processed after the sync. The parts about conversations that the sync removes are discarded
   * from `held`.
   */
  async synced({ heads, gone = [], page, token }, { since, page: after }, held) {
    // Without a token, the server does not report removed conversations. They are those that no
    // page contains.
    if (after === undefined) this.#listed = since === undefined ? new Set() : null;
    this.#setHeads(heads, gone, true);
    if (page) return { since, page };
    const listed = this.#listed;
    const named = held.slice(listed ? 0 : this.#judged).flatMap(([, body]) => NAMING.flatMap((key) => body[key] ?? []));
    const pushed = new Set(named.map(({ conv }) => conv));
    let removed;
    if (listed) {
      this.#listed = null;
      // A conversation that only a push contains is newer than the sync, or was removed after the
      // push. The next sync determines which.
      this.#doubtful = new Set([...pushed].filter((conv) => !listed.has(conv)));
      removed = [...this.#heads.keys()].filter((conv) => !listed.has(conv) && !pushed.has(conv));
    } else {
      removed = [...this.#doubtful].filter((conv) => !pushed.has(conv));
      this.#doubtful.clear();
      for (const [, body] of held) for (const key of NAMING) body[key] = body[key]?.filter(({ conv }) => !removed.includes(conv));
    }
    if (removed.length > 0) this.#setHeads([], removed);
    this.#judged = held.length;
    this.#cached.since = token;
    await this.#saveHeads();
    // If the token is not stored, this sync is repeated after a restart.
    if (this.#doubtful.size === 0) await this.database.setMeta("since", token);
    // A conversation that moves up between two pages may be in neither of them. It changed after
    // the token was taken, so a sync from the token contains it.
    return (listed && after !== undefined) || this.#doubtful.size > 0 ? { since: token } : null;
  }

  connected() {
    this.wasOnline = true;
    this.#subscribe();
    this.#logs.connected();
    this.#outbox.run();
    this.#own.connected();
    // A report may have been lost with the former connection, and a restarted server has no earlier
    // reports.
    for (const [conv, n] of this.#received) if (n > (this.#heads.get(conv)?.read ?? 0)) this.#reportReceived(conv);
    this.#loadContacts();
    this.#loadSettings();
    const newest = [...this.#heads.values()].filter((head) => !head.state && head.seq > 0).sort((a, b) => (b.own?.pinned_at ?? 0) - (a.own?.pinned_at ?? 0) || b.at - a.at);
    this.#tellMissed();
    this.#logs.prefetch([...new Set([this.#session.self, ...newest.slice(0, 15).map((head) => head.conv)])]).then(() => this.#logs.trim());
  }

  disconnected() {
    this.#logs.disconnected();
    this.#outbox.disconnected();
  }

  pushed(name, body) {
    switch (name) {
      case "event":
        return this.#logs.received(body.events.map((event) => (body.silent ? { ...event, silent: true } : event)));
      case "head":
        this.#setHeads(body.heads ?? [], body.gone ?? []);
        for (const nudge of body.nudges ?? []) this.#nudged(nudge);
        return;
      case "mark":
        for (const mark of body.marks) if (mark.user === this.user.name && mark.read !== undefined) this.putHead(mark.conv, (head) => reading(head, mark.read));
        return this.emit({ type: "marks", marks: body.marks });
      case "presence": return this.emit({ type: "presence", users: body.users });
      case "typing": return this.emit({ type: "typing", ...body });
      case "user":
        for (const user of body.users) this.#users.set(user.name, user);
        this.database.put("users", ...body.users);
        if (body.users.some((user) => user.name === this.user.name)) this.#setSession({ user: body.users.find((user) => user.name === this.user.name) });
        return this.emit({ type: "users", users: body.users });
      case "signal": return this.emit({ type: "signal", ...body });
    }
  }

  // --- Heads and logs ---

  #setHeads(heads, gone = [], isSync = false) {
    const told = [];
    for (const conv of gone) {
      this.#heads.delete(conv);
      this.#dirty.delete(conv);
      this.database.delete("heads", conv);
      this.#logs.gone(conv);
    }
    for (const pushed of heads) {
      if (isSync) {
        this.#listed?.add(pushed.conv);
        this.#doubtful.delete(pushed.conv);
      }
      const before = this.#heads.get(pushed.conv);
      if (!before && this.#received.has(pushed.conv)) this.#reportReceived(pushed.conv);
      let head = pushed;
      const isFormer = head.state === "left" || head.state === "removed";
      if (!isFormer && before && before.seq > head.seq) head = { ...head, seq: before.seq, n: before.n, at: before.at, last: before.last, unread: before.unread, mentions: before.mentions };
      head = this.#own.applied(head);
      this.#heads.set(head.conv, head);
      this.#dirty.add(head.conv);
      told.push(head);
      if (isFormer) this.#logs.ended(head.conv, pushed.seq);
      else if (!head.state || head.state === "joined") this.#logs.announced(head.conv, pushed.seq, isSync);
    }
    if (told.length || gone.length) this.emit({ type: "heads", heads: told, gone });
    for (const { conv, last } of told) if (last?.kind === "hidden") this.#previewVisible(conv);
    this.#expiry.heads(told);
    this.#saveLater();
  }

  #nudged({ conv, seq, n, at, mentions, last }) {
    const head = this.#heads.get(conv);
    if (!head || seq <= head.seq) return;
    this.putHead(conv, (each) => ({ ...each, seq, n, at, last: last ?? each.last, unread: (each.unread ?? 0) + n - each.n, mentions: mentions ?? each.mentions }));
    this.#logs.announced(conv, seq, false);
  }

  /** Changes the head of a conversation, if it is known. */
  putHead(conv, change) {
    const head = this.#heads.get(conv);
    if (!head) return;
    const after = change(head);
    this.#heads.set(conv, after);
    this.#dirty.add(conv);
    this.emit({ type: "heads", heads: [after] });
    this.#expiry.heads([after]);
    this.#saveLater();
  }

  #saveLater() { this.later("heads", 250, () => this.#saveHeads()); }

  #saveHeads() {
    const heads = [...this.#dirty].map((conv) => this.#heads.get(conv)).filter(Boolean);
    this.#dirty.clear();
    return this.database.put("heads", ...heads);
  }

  /** Handles new events at the end of a log. */
  applied(conv, events) {
    const head = this.#heads.get(conv);
    if (head) {
      const after = advancing(head, events, this.user?.name);
      this.#heads.set(conv, after);
      this.#dirty.add(conv);
      this.#expiry.heads([after]);
      this.#saveLater();
    } else this.later(`head ${conv}`, 150, () => this.#loadHead(conv));
    this.emit({ type: "events", conv, events });
    if (conv === this.#session.self) for (const event of events) this.#applyOwn(event);
    this.#outbox.applied(conv, this.#logs.cursor(conv));
    const last = events.findLast((event) => event.n !== undefined && event.sender !== this.user?.name);
    if (last) {
      this.#received.set(conv, last.n);
      this.#reportReceived(conv);
    }
  }

  /** Reports the last received message. The head of a new conversation can follow its message. */
  #reportReceived(conv) {
    this.later(`received ${conv}`, 200, () => {
      const head = this.#heads.get(conv);
      if (this.isOnline && head && showsReceipts(head)) this.call("mark", { conv, received: this.#received.get(conv) }).catch(() => {});
    });
  }

  /** Handles events that were stored in the cache. */
  stored(events) { this.#expiry.stored(events); }

  /**
   * Handles the expiry of messages. `edited`: the `seq` of the messages whose edits in the cache
   * lose their content.
   */
  expired(conv, seqs, edited = []) {
    if (edited.length > 0) this.#logs.blankEdits(conv, edited, "expired").catch((error) => console.warn("cache:", error));
    this.putHead(conv, (head) => (head.last && seqs.has(head.last.seq) && !isBlank(head.last) ? { ...head, last: expiring({ ...head.last, text: undefined }) } : head));
  }

  /**
   * Loads the head of a conversation, such as after the first event of a new pair. `isKnown`:
   * whether a known head is to be replaced; if false, only a missing one is loaded.
   */
  async #loadHead(conv, isKnown = false) {
    if (!this.isOnline || this.#heads.has(conv) !== isKnown) return;
    const answer = await this.call("conversation.info", { conv }).catch(() => null);
    if (answer?.head && this.#heads.has(conv) === isKnown) this.#setHeads([answer.head]);
  }

  /**
   * Applies an event of the user's log: a change of settings, contacts or devices that any device
   * of the user made.
   */
  #applyOwn({ kind, at, body = {} }) {
    if (kind === "self.hide") return this.#hide(body.conv, body.seqs);
    if (kind === "self.set") return this.#loadProfile();
    if (kind.startsWith("contact.")) {
      if (body.incoming) this.#notify(at, { kind, user: body.user, text: body.text });
      return this.#loadContacts();
    }
    if (kind.startsWith("device.")) return body.device !== this.#session.device && this.#notify(at, { kind, ...body });
    const { conv, draft, ...values } = body;
    if (!conv) return;
    if (kind === "self.draft") { if (!this.#own.hasDraft(conv)) this.putHead(conv, (head) => drafted(head, draft)); }
    else this.putHead(conv, (head) => ({ ...head, own: { ...head.own, ...values } }));
  }

  /**
   * Reports changes of the account since the newest notice, such as those made while no page was
   * open.
   */
  async #tellMissed() {
    const { events } = await this.#logs.page({ conv: this.#session.self, limit: 40 }).catch(() => ({ events: [] }));
    for (const event of events) if (/^(device|contact)\./.test(event.kind) && event.at > this.#noticed) this.#applyOwn(event);
  }

  /** Reports a change of the account once, even if it happened while no page was open. */
  #notify(at, notice) {
    if (this.#noticed === undefined || !(at > this.#noticed)) return;
    this.#noticed = at;
    this.database.setMeta("noticed", at);
    this.emit({ type: "notice", notice });
  }

  async #hide(conv, seqs) {
    const events = await this.database.events(conv, Math.min(...seqs), Math.max(...seqs));
    await this.database.put("events", ...events.filter((event) => seqs.includes(event.seq)).map(({ seq, n, asOf }) => ({ conv, seq, n, kind: "hidden", asOf })));
    this.emit({ type: "hidden", conv, seqs });
    if (seqs.includes(this.#heads.get(conv)?.last?.seq)) await this.#previewVisible(conv);
  }

  /**
   * Sets the preview of a conversation whose newest message is hidden from the user. The new one is
   * the newest event in the cache that is not hidden.
   */
  async #previewVisible(conv) {
    const { last, kind } = this.#heads.get(conv) ?? {};
    const events = await this.database.trailing(conv, Infinity, 100);
    const visible = events.findLast((event) => event.seq <= last?.seq && event.kind !== "hidden" && movesUp(event, kind));
    this.putHead(conv, (head) => (head.last?.seq === last?.seq ? { ...head, last: visible && preview(visible) } : head));
  }

  acknowledged(event) {
    this.#logs.received([event]);
    this.#outbox.applied(event.conv, this.#logs.cursor(event.conv));
  }

  // --- Requests ---

  async #verb(verb, body) {
    const { id = uuid(), ...plain } = body;
    const answer = await this.call(verb, UNCHANGING.has(verb) ? plain : { id, ...plain });
    if (answer.head) this.#setHeads([answer.head]);
    if (answer.user && verb === "profile.set") this.#setSession({ user: answer.user });
    const seq = answer.seq ?? answer.call;
    if (seq && answer.conv) this.#logs.announced(answer.conv, seq, false);
    if (verb === "own.set") this.putHead(body.conv, (head) => ({ ...head, own: owning(head.own, body) }));
    if (/^contact\.|^(un)?block$/.test(verb)) this.#loadContacts();
    if (verb === "settings.set") { this.#settings = { ...this.#settings, ...body.settings }; this.emit({ type: "settings", settings: this.#settings }); }
    if (verb === "member.answer") await (body.accept ? this.#loadHead(body.conv, true) : this.#setHeads([], [body.conv]));
    if (verb === "member.leave" || verb === "conversation.delete") this.#setHeads([], [body.conv]);
    return answer;
  }

  /**
   * Searches at the server. Without a connection, or if the server has no search, searches the
   * cache of this device.
   */
  async #search(body) {
    const isLocal = typeof body.page === "object"; // the request is for a further page of results from the cache
    if (this.connectionState === "online" && !isLocal) {
      try {
        return await this.call("search", body);
      } catch (error) {
        if (error.code !== "unsupported") throw error;
      }
    }
    if (typeof body.page === "string") throw new Refusal({ code: "offline", message: "There is no connection." });
    return searchCache(this.database, body);
  }

  #show(tab, convs) {
    if (convs.length) this.#shown.set(tab, convs);
    else this.#shown.delete(tab);
    this.#subscribe();
    return {};
  }

  #subscribe() {
    const convs = [...new Set([...this.#shown.values()].flat())].slice(-20);
    if (this.isOnline) this.call("subscribe", { convs }).catch(() => {});
  }

  async #loadContacts() {
    const all = [];
    try {
      for (let page; ;) {
        const answer = await this.call("contacts", { page });
        all.push(...answer.contacts);
        if (!(page = answer.page)) break;
      }
    } catch { return; }
    if (all.some(isUntold)) await this.#tellRequests(all);
    this.#contacts = all;
    this.database.setMeta("contacts", all);
    this.emit({ type: "contacts", contacts: all });
  }

  /**
   * Adds the texts and times to contact requests, if the server has them only in the log of the
   * user.
   */
  async #tellRequests(contacts) {
    for (let before, page = 0; page < PAGES_OF_REQUESTS; page += 1) {
      const { events = [] } = await this.call("history", { conv: this.#session.self, limit: 200, before }).catch(() => ({}));
      for (const { kind, at, body } of events.toReversed()) {
        const contact = kind === "contact.request" && contacts.find((each) => isUntold(each) && each.user.name === body?.user && Boolean(body.incoming) === (each.state === "asked"));
        if (contact) Object.assign(contact, { at, ...(body.text && { text: body.text }) });
      }
      before = events[0]?.seq;
      if (!before || before === 1 || !contacts.some(isUntold)) return;
    }
  }

  /** Loads the profile and the settings, after a change by another device. */
  async #loadProfile() {
    const { name } = this.user;
    const [user] = (await this.call("users", { names: [name] }).catch(() => ({ users: [] }))).users;
    if (user && this.user?.name === name) this.#setSession({ user });
    return this.#loadSettings();
  }

  async #loadSettings() {
    const answer = await this.call("settings", {}).catch(() => null);
    if (!answer) return;
    this.#settings = answer.settings;
    this.database.setMeta("settings", answer.settings);
    this.emit({ type: "settings", settings: answer.settings });
  }

  /** Runs `work` after `delay` ms. A further call with the same key replaces it. */
  later(key, delay, work) {
    clearTimeout(this.#timers.get(key));
    this.#timers.set(key, setTimeout(work, delay));
  }
}
