// A contiguous part of a log as rows; no event within it is missing. Pages extend it at both ends.
// New events extend it only if it reaches the end of the log.

import { applying, expiring, isBlank, isMessage, keeping } from "../core/applying.js";

const PAGE = 80;
const MOST = 2000; // the maximum number of loaded events; events at the opposite end are dropped
const LONGEST = 3_600_000; // ms, the maximum duration of a timer
const SILENT = /^(edit|preview$|recall|react|vote|poll\.close|call\.update|hidden|self\.|contact\.|device\.)/;

export class ThreadWindow {
  #store;
  #events = [];
  #rows = null;
  #cache = new Map(); // key -> [event, signature, row]
  #low = 1;
  #end = null; // the end of an empty log
  #isAtEnd = true; // whether the rows reached the last reported end of the log
  #isSeeking = false; // until the first unread message is found, no rows are shown, so that no message is marked as read
  #pending = null;
  #version = 0;
  #isReplacing = false;
  #arrived = []; // the events since the last request of #replace, whose page may lack them
  #timer = 0; // fires when the next message expires
  #root = null; // in a thread: the message that began it
  #isAtBeginning = false; // in a thread: whether the first reply is loaded

  /** With `thread`, the window contains the replies of one thread and the message that began it. */
  constructor(store, conv, thread) {
    this.#store = store;
    this.conv = conv;
    this.thread = thread;
    this.firstUnread = null;
    this.loading = true;
    this.ready = this.#open();
  }

  get #head() { return this.#store.conversation(this.conv); }
  get #last() { return this.#events.at(-1)?.seq ?? this.#end ?? 0; }
  get total() { return this.#head?.n ?? 0; }
  get hasOlder() {
    if (this.#events.length === 0) return false;
    return this.thread === undefined ? this.#events[0].seq > Math.max(this.#low, this.#head?.min_seq ?? 1) : !this.#isAtBeginning;
  }
  get hasNewer() { return this.thread === undefined ? this.#last < (this.#head?.seq ?? 0) : !this.#isAtEnd; }
  get offset() { return Math.max(0, (this.#events.find((event) => event.n !== undefined)?.n ?? 1) - 1); }
  get rows() { return (this.#rows ??= this.#makeRows()); }

  close() {
    clearTimeout(this.#timer);
    this.#store.closed(this);
  }

  loadOlder() { return this.#load(() => ({ before: this.#events[0].seq }), () => this.hasOlder, 1); }
  loadNewer() { return this.#load(() => ({ from: this.#last + 1 }), () => this.hasNewer, -1); }

  /** Shows the end of the log. */
  jumpToEnd() { return this.hasNewer ? this.#replace({}) : Promise.resolve(true); }

  /** Shows a message. Resolves to whether the user can see it. */
  async jump(seq) {
    if (seq !== this.thread && !this.#events.some((event) => event.seq === seq)) await this.#replace({ around: seq });
    return this.rows.some((row) => row.seq === seq);
  }

  // --- for the Store ---

  /** Handles new events of the log, in the order of `seq`. */
  received(events) {
    if (this.#isReplacing) this.#arrived.push(...events);
    const isLoaded = this.#append(events);
    if (!isLoaded && !this.loading) this.#replace({});
    if (this.#events.length > MOST) this.#events.splice(0, this.#events.length - MOST);
    this.invalidate();
  }

  #append(events) {
    const user = this.#store.account?.name;
    const isLoaded = this.#events.length > 0 || this.#end !== null;
    for (const event of events) {
      this.#change((each) => (event.seq > each.asOf && isTarget(each, event) ? { ...applying(each, event, user), asOf: event.seq } : each));
      if (this.thread === undefined ? isLoaded && event.seq === this.#last + 1 : this.#isAtEnd && event.thread === this.thread && event.seq > this.#last) this.#events.push({ ...keeping(event, this.event(event.ref)), asOf: event.seq });
    }
    return isLoaded;
  }

  event(seq) { return seq === this.#root?.seq ? this.#root : this.#events.find((event) => event.seq === seq); }

  hidden(seqs) {
    const set = new Set(seqs);
    this.#change((event) => (set.has(event.seq) ? { conv: event.conv, seq: event.seq, n: event.n, kind: "hidden", asOf: event.asOf } : event));
    this.invalidate();
  }

  #change(change) {
    this.#events.forEach((event, index) => { this.#events[index] = change(event); });
    if (this.#root) this.#root = change(this.#root);
  }

  /** Handles a new connection. Without a connection, the window could not extend beyond the cache. */
  connected() {
    this.#low = 1;
    this.invalidate();
  }

  invalidate() {
    this.#rows = null;
    this.#store.changed(`thread:${this.conv}`);
  }

  /** Reloads the shown part, whose older pages may be outdated. */
  reset() {
    const middle = this.#isAtEnd ? undefined : this.#events[this.#events.length >> 1]?.seq;
    this.ready = this.#events.length === 0 ? this.#open() : this.#replace({ around: middle });
  }

  // --- Private ---

  async #open() {
    const { read = 0, unread = 0, n = 0 } = this.#head ?? {};
    this.#isSeeking = this.thread === undefined && unread > 0 && read < n;
    await this.#replace({});
    if (this.#isSeeking) await this.#seekUnread(read, n);
    return this;
  }

  /** Finds the first unread message, whose ordinal is known but not its `seq`. */
  async #seekUnread(read, total) {
    const user = this.#store.account?.name;
    const first = () => this.#events.find((event) => event.n > read && event.sender && event.sender !== user)?.seq ?? null;
    let around = (this.#head?.seq ?? 0) - (total - read - 1);
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const numbered = this.#events.filter((event) => event.n !== undefined);
      if (numbered.length === 0 || numbered[0].n <= read + 1 || !this.hasOlder) {
        if (numbered.length === 0 || numbered.at(-1).n > read || !this.hasNewer) break;
        around = this.#last + (read + 1 - numbered.at(-1).n);
      } else if (attempt > 0) around = this.#events[0].seq - (numbered[0].n - read - 1);
      if (!(await this.#replace({ around: Math.max(1, around) }))) break;
    }
    this.firstUnread = first();
    this.#isSeeking = false;
    this.loading = false;
    this.invalidate();
  }

  async #replace(range) {
    const version = (this.#version += 1);
    this.loading = true;
    this.#isReplacing = true;
    this.#arrived = [];
    try {
      const page = this.thread === undefined ? await this.#request(range) : await this.#threadPage(range.around);
      if (version !== this.#version) return false;
      this.#low = this.#beginning(page) ?? 1;
      this.#events = this.#merge(page);
      this.#end = this.#events.length === 0 ? page.seq : null;
      this.#isAtEnd = page.isAtEnd ?? this.#last >= page.seq;
      this.#append(this.#arrived);
      return true;
    } catch (error) {
      this.error = error;
      return false;
    } finally {
      if (version === this.#version) { this.loading = this.#isSeeking; this.#isReplacing = false; this.invalidate(); }
    }
  }

  #request(range) { return this.#store.port.request("history", { conv: this.conv, ...range, limit: PAGE, thread: this.thread }); }

  /**
   * Returns the newest replies of a thread, or those around one. The message that began the thread
   * is stored separately.
   */
  async #threadPage(around) {
    const beginning = this.#root ? null : this.#store.port.request("history", { conv: this.conv, around: this.thread, limit: 1 });
    const [before, after] = await Promise.all([this.#request(around === undefined ? {} : { before: around }), around === undefined ? null : this.#request({ from: around })]);
    const root = (await beginning)?.events.find((event) => event.seq === this.thread);
    if (root) this.#root = this.#merge({ ...(await beginning), events: [root] })[0];
    const page = { ...before, events: this.#replies(before) };
    this.#isAtBeginning = page.events.length === 0;
    if (after) Object.assign(page, { events: [...page.events, ...this.#replies(after)], mine: [...(page.mine ?? []), ...(after.mine ?? [])] });
    return { ...page, isAtEnd: (page.events.at(-1)?.seq ?? 0) >= (this.#root?.replies?.seq ?? 0) };
  }

  #replies(page) { return page.events.filter((event) => event.thread === this.thread); }

  #load(range, possible, side) {
    if (this.#pending) return this.#pending;
    if (!possible()) return Promise.resolve(false);
    this.loading = true;
    this.#pending = this.#extend(range, possible, side).finally(() => {
      this.#pending = null;
      this.loading = false;
      this.invalidate();
    });
    return this.#pending;
  }

  async #extend(range, possible, side) {
    const before = this.rows.length;
    for (let pages = 0; pages < 10 && possible(); pages += 1) {
      const version = this.#version;
      let page;
      try {
        page = await this.#request(range());
      } catch (error) { this.error = error; return false; }
      if (version !== this.#version) return false;
      this.#low = this.#beginning(page) ?? this.#low;
      const events = this.#merge(this.thread === undefined ? page : { ...page, events: this.#replies(page) });
      if (side > 0) {
        const fresh = events.filter((event) => event.seq < this.#events[0].seq);
        if (fresh.length === 0) { this.#low = this.#events[0].seq; this.#isAtBeginning = true; break; }
        const all = [...fresh, ...this.#events];
        if (all.length > MOST) this.#isAtEnd = false;
        this.#events = all.slice(0, MOST);
      } else {
        const fresh = events.filter((event) => event.seq > this.#last);
        if (this.thread === undefined ? fresh[0]?.seq !== this.#last + 1 : fresh.length === 0) { this.#isAtEnd ||= this.thread !== undefined; break; }
        this.#events = [...this.#events, ...fresh].slice(-MOST);
        this.#isAtEnd = this.#last >= (this.thread === undefined ? page.seq : this.#root?.replies?.seq ?? 0);
      }
      this.#rows = null;
      if (this.rows.length !== before) break;
    }
    return true;
  }

  /**
   * Returns the `seq` of the first message that can be loaded. The first cached one is the limit
   * only without a connection.
   */
  #beginning(page) {
    return page.isPartial && this.#store.connection.state === "online" ? 1 : page.min_seq;
  }

  #merge(page) {
    const mine = new Map((page.mine ?? []).map((each) => [each.seq, each]));
    return page.events.map((event) => ({ ...event, ...(mine.has(event.seq) && { mine: mine.get(event.seq) }), asOf: event.asOf ?? page.seq }));
  }

  #makeRows() {
    if (this.#isSeeking) return [];
    this.#expire();
    const events = this.#root ? [this.#root, ...this.#events] : this.#events;
    const known = new Map(events.map((event) => [event.seq, event]));
    const user = this.#store.account?.name;
    const rows = [];
    const keys = new Set();
    for (const event of events) {
      if (SILENT.test(event.kind)) continue;
      const own = event.sender === user;
      const key = own && event.id ? event.id : String(event.seq);
      keys.add(key);
      const quoted = isMessage(event) && event.ref !== undefined ? known.get(event.ref) ?? this.#store.quoted(this.conv, event.ref) : undefined;
      rows.push(this.#row(key, event, own, own && isMessage(event) && !isBlank(event) ? this.#store.receipt(this.conv, event.n) : undefined, quoted));
    }
    for (const item of this.#store.waiting(this.conv)) {
      if (keys.has(item.key) || !this.#isAtEnd || (this.thread !== undefined && item.thread !== this.thread)) continue;
      keys.add(item.key);
      rows.push(this.#row(item.key, item, true, item.status, item.ref === undefined ? undefined : known.get(item.ref) ?? this.#store.quoted(this.conv, item.ref)));
    }
    for (const key of this.#cache.keys()) if (!keys.has(key)) this.#cache.delete(key);
    return rows;
  }

  /** Removes the content of expired messages, and schedules the next removal. */
  #expire() {
    const { now } = this.#store;
    let next = Infinity;
    this.#change((event) => {
      if (event.expires_at <= now) return expiring(event);
      if (event.expires_at < next) next = event.expires_at;
      return event;
    });
    clearTimeout(this.#timer);
    if (next < Infinity) this.#timer = setTimeout(() => this.invalidate(), Math.min(LONGEST, next - now + 1));
  }

  /**
   * Returns the same object for the same content, so that the views can compare rows by identity.
   */
  #row(key, event, own, status, quoted) {
    const cached = this.#cache.get(key);
    if (cached && cached.event === event && cached.status === status && cached.quoted === quoted) return cached.row;
    const { asOf: _, ...row } = event;
    Object.assign(row, { key, own, ...(status && { status }) });
    if (quoted !== undefined) row.quote = quoted && { ...quoted, key: String(quoted.seq), own: quoted.sender === this.#store.account?.name };
    this.#cache.set(key, { event, status, quoted, row });
    return row;
  }
}

/** Returns whether a change or a reply concerns an event of the window. */
function isTarget(event, change) {
  if (change.n !== undefined) return change.thread === event.seq;
  return change.ref === event.seq || (change.kind === "recall" && change.ref !== undefined && change.ref === event.ref);
}
