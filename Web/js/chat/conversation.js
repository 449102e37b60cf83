// A conversation as the page sees it: head, log, unread.

import { ConversationLog, FAR_BEHIND } from "./log.js";

export class Conversation {
  #floor = 0; // what was before our time, and what is read: unread = n − this (rule 3)

  constructor(head, me) {
    this.id = head.conv;
    this.me = me;
    this.log = new ConversationLog(head);
    this.loadingOlder = false;
    this.opened = false; // its history has been looked at
    this.applyHead(head);
  }

  get unread() { return Math.max(0, this.n - this.#floor); }
  get read() { return this.#floor; }
  get isPair() { return this.kind === "pair"; }
  get partner() { return this.members.find((member) => member.user !== this.me)?.user ?? this.me; }
  get canLoadOlder() { return this.log.low > Math.max(1, this.minSeq); }
  get last() { return this.log.newest ?? this.#lastOfHead; }
  get updatedAt() { return Math.max(this.#updatedAt, this.log.newest?.at ?? 0); }
  #lastOfHead = null;
  #updatedAt = 0;

  /** Takes a head; answers what the log lacks: "nothing", "gap" (pull it) or "window" (it was started afresh). */
  applyHead(head) {
    this.kind = head.kind;
    this.title = head.title ?? null;
    this.members = head.members.map((member) => ({ ...member }));
    this.minSeq = head.min_seq ?? 1;
    this.n = Math.max(this.n ?? 0, head.n);
    this.#floor = Math.max(this.#floor, head.read, head.n - head.unread);
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

  /** Takes an event; answers those that became visible. */
  applyEvent(event) {
    const applied = this.log.add(event);
    for (const next of applied) {
      if (next.n == null) continue;
      this.n = Math.max(this.n, next.n);
      if (next.sender === this.me) this.#floor = Math.max(this.#floor, next.n); // own messages are read
      const sender = this.members.find((member) => member.user === next.sender);
      if (sender) sender.read = Math.max(sender.read, next.n);
    }
    return applied;
  }

  /** A receipt only moves forward; one that comes late changes nothing. */
  applyMark(user, read) {
    if (user === this.me) this.#floor = Math.max(this.#floor, Math.min(read, this.n));
    const member = this.members.find((each) => each.user === user);
    if (member) member.read = Math.max(member.read, read);
  }

  /** Whether somebody else has read the message with ordinal n. */
  isReadByOthers(n) {
    return this.members.some((member) => member.user !== this.me && member.read >= n);
  }
}
