// The contract between the state and the views. The views read snapshots, call actions and
// subscribe to keys; they do not use the socket, the worker or the database directly.
//
// Keys of subscribe(): "session", "connection", "conversations", "conversation:ID", "thread:ID",
// "members:ID", "contacts", "users", "settings", "typing:ID", "presence", "uploads", "notice",
// "scheduled", "joinRequests". Listeners are called once per key after the changes of a task.
// Snapshots must not be modified; a change creates another object.
//
// Actions return promises, which reject with a Refusal. docs/chat-wire.md defines the types Event,
// Head, User, Member, Contact, Settings, Device, InviteLink and so on.

/**
 * @typedef {{code: string, message: string, field?: string, retryAfter?: number}} Refusal
 *   `code` is an error code of docs/chat-wire.md, or "offline", "unsent" (with `count`), "insecure", "cancelled".
 * @typedef {{phase: "starting" | "signedOut" | "signedIn", user: object | null, self: string | null,
 *   limits: object, server: object}} Session  `server` is the answer of GET /api/server.
 * @typedef {{state: "online" | "connecting" | "offline", since: number, retryAt?: number}} Connection
 * @typedef {object} Head  The Head of the wire, and `draft?` {text, ref?}, `typing?` [name],
 *   `failed?` (number of the user's messages that failed), `pending?` (number of those that are queued).
 * @typedef {object} Row  The Event of the wire (also `mine?` {reactions, votes}), and
 *   `key` (stable, unique in a thread: the client id of the user's message, else the seq), `own`,
 *   `status?` of the user's messages ("queued" | "uploading" | "sending" | "sent" | "delivered" | "read" |
 *   "failed"), `error?` (Refusal), `progress?` (0 to 1), `quote?` (Row of `ref`, null if it cannot be
 *   read), `local?` (true without a seq), `localURL?` (the picture or file before its upload).
 * @typedef {object} ThreadWindow  Rows around a place of a log, ascending, the user's unsent rows last.
 *   `rows`, `ready` (Promise), `loading`, `hasOlder`, `hasNewer`, `firstUnread` (seq | null, fixed
 *   at the opening), `total` (n of the newest message), `offset` (messages before the first row),
 *   `loadOlder()`, `loadNewer()`, `jump(seq) -> Promise<boolean>`, `jumpToEnd()`, `close()`.
 * @typedef {object} MemberList  `members`, `total`, `hasMore`, `loadMore()`, `close()`.
 * @typedef {object} Hits  `hits` (SearchHit of the wire, `local?`), `people` [User],
 *   `conversations` [Head], `hasMore`, `more() -> Promise<Hits>`.
 * @typedef {{request(name: string, body?: object): Promise<any>, listen(listener: (event: object) => void): void}} Port
 *   The connection to the core: a worker, another tab's worker, the page itself, or the sample.
 */

export class ChatState {
  #listeners = new Map();
  #dirty = new Set();

  /** @param {Port} port */
  constructor(port) { this.port = port; }

  /**
   * Calls the listener after each change of the key. Returns a function that removes the listener.
   */
  subscribe(key, listener) {
    if (!this.#listeners.has(key)) this.#listeners.set(key, new Set());
    this.#listeners.get(key).add(listener);
    return () => {
      const listeners = this.#listeners.get(key);
      listeners?.delete(listener);
      if (listeners?.size === 0) this.#listeners.delete(key);
    };
  }

  /** @protected */
  changed(...keys) {
    if (this.#dirty.size === 0) queueMicrotask(() => this.#flush());
    for (const key of keys) this.#dirty.add(key);
  }

  #flush() {
    const keys = [...this.#dirty];
    this.#dirty.clear();
    for (const key of keys) {
      for (const listener of [...(this.#listeners.get(key) ?? [])]) {
        try { listener(key); } catch (error) { console.error(error); }
      }
    }
  }

  // --- Snapshots, implemented by the Store ---
  // session, account (the signed-in User or null), connection, settings, notice ({kind, …} | null)
  // conversations({filter: "all" | "unread" | "people" | "groups" | "channels" | "archived" | "everything" | "folder:NAME", query}) -> Head[]
  // conversation(id) -> Head | null            thread(id, {thread}) -> ThreadWindow      event(id, seq) -> Row | null
  // members(id, query, state) -> MemberList    contacts(state = "friend") -> Contact[]
  // user(name) -> User, with `alias?`          typing(id) -> [name]         draft(id) -> {text, ref?} | null
  // refresh(name) -> Promise<User>
  // presence(name) -> {online, last_seen?} | null              unread -> number of the badge
  // uploads -> [{key, conv, name, progress}]   unsent -> number of the user's messages not yet sent
  // describe = (head, event) -> {title, body}: the texts of a notification, set by the views
  // oncall = (conv, events), onsignal = (signal): called with the events of logs and the signals of calls
  // blobURL(blob, size?, {user} or {conv} of a picture) -> string
  // search(query, {conv, sender, kinds, from_at, until_at}) -> Promise<Hits>

  /**
   * @protected Sends a request (docs/chat-wire.md). The core adds an `id` to a request that makes a
   * change.
   */
  verb(verb, body = {}) { return this.port.request("verb", { verb, body }); }

  // --- Account ---
  signIn({ name, password, code }) { return this.port.request("login", { name, password, code }); }
  /** Resolves to {recovery: [codes]}, which the server returns only once. */
  register({ name, password, nick, invitation }) { return this.port.request("register", { name, password, nick, invitation }); }
  recover({ name, recovery, password }) { return this.port.request("password", { name, recovery, new: password }); }
  changePassword({ old, password }) { return this.port.request("password", { old, new: password }); }
  recoveryCodes(password) { return this.port.request("recovery", { password }); }
  /** Resolves to {secret, uri} of an authenticator, which `confirmTotp` enables. */
  makeTotp(password) { return this.port.request("totp", { password }); }
  confirmTotp(code) { return this.port.request("totpConfirm", { code }); }
  removeTotp(password) { return this.port.request("totpDelete", { password }); }
  deleteAccount(password) { return this.port.request("deleteAccount", { password }); }
  /**
   * Signs out and wipes this device. Rejects with `unsent` while messages wait, unless `force` is
   * true (false by default).
   */
  signOut({ force = false } = {}) { return this.port.request("logout", { force }); }
  setProfile({ nick, avatar, status }) { return this.verb("profile.set", { nick, avatar, status }); }
  setSettings(settings) { return this.verb("settings.set", { settings }); }
  async sessions() { return (await this.verb("devices")).devices; }
  /** Resolves to whether a sign-in requires a code of an authenticator. */
  async hasTotp() { return Boolean((await this.verb("devices")).authenticator); }
  endSession(device) { return this.verb("device.remove", { device }); }
  endOtherSessions() { return this.verb("device.remove", { others: true }); }
  setPush(kind, data) { return this.verb("push.set", { kind, data }); }

  // --- Messages ---
  /**
   * Queues a message of `kind`, "text" by default. `file` is the Blob of a kind that has one,
   * `poster` the still picture of a video. Resolves to the key of the row.
   */
  send(conv, { kind = "text", body = {}, ref, thread, silent, file, poster } = {}) { return this.port.request("send", { conv, kind, body, ref, thread, silent, file, poster }); }
  reply(conv, ref, message) { return this.send(conv, { ...message, ref }); }
  retry(key) { return this.port.request("retry", { key }); }
  discard(key) { return this.port.request("discard", { key }); }
  cancelUpload(key) { return this.discard(key); }
  edit(conv, ref, body) { return this.verb("edit", { conv, ref, body }); }
  removePreview(conv, ref) { return this.verb("preview.remove", { conv, ref }); }
  recall(conv, ref) { return this.verb("recall", { conv, ref }); }
  hide(conv, seqs) { return this.verb("hide", { conv, seqs }); }
  react(conv, ref, key, remove = false) { return this.verb("react", { conv, ref, key, remove: remove || undefined }); }
  pin(conv, ref, remove = false) { return this.verb("pin", { conv, ref, remove: remove || undefined }); }
  vote(conv, ref, options) { return this.verb("vote", { conv, ref, options }); }
  closePoll(conv, ref) { return this.verb("poll.close", { conv, ref }); }
  forward(conv, from, seqs, { bundle, title, anonymous, silent } = {}) { return this.verb("forward", { conv, from, seqs, bundle, title, anonymous, silent }); }
  schedule(conv, message, at) { return this.verb("schedule", { conv, kind: "text", ...message, send_at: at }); }
  async scheduled(conv) { return (await this.verb("scheduled", { conv })).scheduled; }
  unschedule(of) { return this.verb("unschedule", { of }); }
  /** Resolves to {readers, page?}. */
  readers(conv, seq, page) { return this.verb("readers", { conv, seq, page }); }
  /** Resolves to the versions of an edited message, newest first: [{at, body}]. */
  edits(conv, seq) { return this.port.request("edits", { conv, seq }); }
  /** Resolves to {reactions, page?}: the reactions with all keys, or with `key`. */
  reactions(conv, ref, { key, page } = {}) { return this.verb("reactions", { conv, ref, key, page }); }
  /** Sets the read position to the message with the number `n`. */
  mark(conv, n) { return this.port.request("mark", { conv, read: n }); }
  markUnread(conv, on = true) { return this.setOwn(conv, { marked_unread: on }); }
  saveDraft(conv, text, ref) { return this.port.request("draft", { conv, text, ref }); }
  sendTyping(conv, stopped = false) { return this.port.request("typing", { conv, stopped }); }
  /** Sets the conversations on the screen, at most 20. */
  show(convs) { return this.port.request("show", { convs }); }
  /**
   * Uploads a picture for a profile or a group. Resolves to {blob, type, size, width?, height?}.
   */
  upload(file) { return this.port.request("upload", { file }); }

  // --- Conversations ---
  /** Resolves to the id of the pair conversation. */
  async openConversation(user) { return (await this.verb("conversation.open", { user })).head.conv; }
  /** Resolves to {head, invited?}. */
  createGroup({ kind = "group", title, about, avatar, users, settings }) { return this.verb("conversation.create", { kind, title, about, avatar, users, settings }); }
  info(conv) { return this.verb("conversation.info", { conv }); }
  setConversation(conv, { title, about, avatar, settings }) { return this.verb("conversation.set", { conv, title, about, avatar, settings }); }
  deleteConversation(conv, forAll = false) { return this.verb("conversation.delete", { conv, for_all: forAll || undefined }); }
  directory(query, page) { return this.verb("directory", { query: query || undefined, page }); }
  /**
   * Sets values of the user for a conversation: pinned, archived, muted_until (ms since 1970; 0
   * ends the mute), notify ("all" or "mentions"), marked_unread, folders.
   */
  setOwn(conv, values) { return this.verb("own.set", { conv, ...values }); }
  invite(conv, users) { return this.verb("member.add", { conv, users }); }
  answerInvitation(conv, accept) { return this.verb("member.answer", { conv, accept }); }
  join({ conv, link }) { return this.verb("member.join", { conv, link }); }
  approve(conv, user, accept) { return this.verb("member.approve", { conv, user, accept }); }
  leave(conv) { return this.verb("member.leave", { conv }); }
  removeMembers(conv, users) { return this.verb("member.remove", { conv, users }); }
  ban(conv, users, until) { return this.verb("member.ban", { conv, users, until }); }
  unban(conv, users) { return this.verb("member.unban", { conv, users }); }
  setRole(conv, users, role) { return this.verb("member.role", { conv, users, role }); }
  muteMembers(conv, users, until) { return this.verb("member.mute", { conv, users, until }); }
  async createLink(conv, { role, expires_at, uses, approval } = {}) { return (await this.verb("link.create", { conv, role, expires_at, uses, approval: approval || undefined })).link; }
  async links(conv) { return (await this.verb("link.list", { conv })).links; }
  revokeLink(conv, code) { return this.verb("link.revoke", { conv, code }); }
  linkInfo(code) { return this.verb("link.info", { code }); }

  // --- Calls ---
  /** Resolves to {call, at}: the new call, or the running one. */
  startCall(conv, media) { return this.verb("call.start", { conv, media }); }
  /** Resolves to {seq?}. `seq` is absent if the request changed nothing. */
  updateCall(conv, call, state, id) { return this.verb("call.update", { id, conv, call, state }); }
  callServers() { return this.verb("call.servers"); }
  /**
   * Sends a signal to the devices of the user `to`; without `to`, to the devices of other users
   * in the call.
   */
  signal(conv, call, to, device, data) { return this.verb("signal", { conv, call, to, device, data }); }
  /** Requests the event of a call. Resolves to null if it cannot be read. */
  async callEvent(conv, seq) { return (await this.verb("history", { conv, around: seq, limit: 1 })).events.find((event) => event.seq === seq && event.kind === "call") ?? null; }

  // --- People ---
  /** Resolves to {users, page?}. */
  people(query, page) { return this.verb("people", { query, page }); }
  requestContact(user, { text, alias } = {}) { return this.verb("contact.request", { user, text: text || undefined, alias: alias || undefined }); }
  answerContact(user, accept) { return this.verb("contact.answer", { user, accept }); }
  removeContact(user) { return this.verb("contact.remove", { user }); }
  setAlias(user, alias) { return this.verb("contact.alias", { user, alias }); }
  block(user) { return this.verb("block", { user }); }
  unblock(user) { return this.verb("unblock", { user }); }
  report({ conv, seqs, user, reason, text }) { return this.verb("report", { conv, seqs, user, reason, text: text || undefined }); }
}
