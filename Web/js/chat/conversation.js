// A conversation: head, log and read position.

import { ConversationLog, FAR_BEHIND } from "./log.js";

export class Conversation {
  #floor = 0; // max(read, floor): unread = n − this (docs/chat-rules.md, 3)
  #seen = new Set(); // ordinals above #floor that were on the screen, with unseen ones below

  constructor(head, me) {
    this.id = head.conv;
    this.me = me;
    this.log = new ConversationLog(head);
    this.loading = null; // the pending request for older events
    this.opened = false; // the history was shown
    this.toldRead = 0; // the read position that the server has confirmed
    this.applyHead(head);
  }

  get unread() { return Math.max(0, this.n - this.#floor); }
  get read() { return this.#floor; }
  /** Whether the first unread message is in the log. */
  get holdsUnread() { return (this.log.events.find((event) => event.n != null)?.n ?? Infinity) <= this.#floor + 1; }
  get isPair() { return this.kind === "pair"; }
  get partner() { return this.members.find((member) => member.user !== this.me)?.user ?? this.me; }
  get canLoadOlder() { return this.log.low > Math.max(1, this.minSeq); }
  get last() { return this.log.newest ?? this.#lastOfHead; }
  get updatedAt() { return Math.max(this.#updatedAt, this.log.newest?.at ?? 0); }
  #lastOfHead = null;
  #updatedAt = 0;

  /**
   * Applies a head. Returns what the log lacks: "nothing", "gap" (to pull) or "window" (the log was
   * reset).
   */
  applyHead(head) {
    this.kind = head.kind;
    this.title = head.title ?? null;
    this.members = head.members.map((member) => ({ ...member }));
    this.minSeq = head.min_seq ?? 1;
    this.n = Math.max(this.n ?? 0, head.n);
    this.confirmRead(Math.max(head.read, head.n - head.unread));
    this.#lastOfHead = head.last ?? null;
    this.#updatedAt = head.updated_at;
    const missing = head.seq - this.log.high;
    if (missing <= 0) return "nothing";
    if (!this.opened || missing > FAR_BEHIND) {
      this.log.reset(head);
      return "window";
    }
    return "gap";
  }

  /** Applies an event. Returns the events that became visible. */
  applyEvent(event) {
    const applied = this.log.add(event);
    for (const next of applied) {
      if (next.n == null) continue;
      this.n = Math.max(this.n, next.n);
      if (next.sender === this.me) this.confirmRead(next.n); // the server does the same (docs/chat-rules.md, 3)
      const sender = this.members.find((member) => member.user === next.sender);
      if (sender) sender.read = Math.max(sender.read, next.n);
    }
    return applied;
  }

  /** Applies a read position, which only increases. */
  applyMark(user, read) {
    if (user === this.me) this.confirmRead(read);
    const member = this.members.find((each) => each.user === user);
    if (member) member.read = Math.max(member.read, read);
  }

  /**
   * Records the ordinals that were on the screen. Returns the new read position: the last ordinal
   * without unseen ones before it.
   */
  see(ordinals) {
    for (const n of ordinals) if (n > this.#floor && n <= this.n) this.#seen.add(n);
    let read = this.#floor;
    while (this.#seen.has(read + 1)) read += 1;
    return read;
  }

  /**
   * The number of messages after `from`, up to `to`, that are unread and were not on the screen.
   */
  unseen(from, to) {
    const first = Math.max(from, this.#floor);
    const seen = [...this.#seen].filter((n) => n > first && n <= to).length;
    return Math.max(0, to - first - seen);
  }

  hasSeen(n) { return n <= this.#floor || this.#seen.has(n); }

  /** Sets the read position locally. */
  readUpTo(n) {
    this.#floor = Math.max(this.#floor, Math.min(n, this.n));
    for (const seen of this.#seen) if (seen <= this.#floor) this.#seen.delete(seen);
  }

  /** Sets a read position that the server has confirmed. */
  confirmRead(n) {
    this.toldRead = Math.max(this.toldRead, n);
    this.readUpTo(n);
  }

  /** Whether another member has read the message with ordinal n. */
  isReadByOthers(n) {
    return this.members.some((member) => member.user !== this.me && member.read >= n);
  }
}
