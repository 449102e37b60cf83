// Part of a conversation's log: a run of events without holes, low … high. No clock, no network.
//
// Implements docs/chat-rules.md, 2: seq = high + 1 is applied, lower numbers are ignored, and
// higher ones wait in `early` until the missing events are pulled.

/** With more missing events than this, the log is reset to the newest event. */
export const FAR_BEHIND = 400;
const MAXIMUM_EARLY = 500;

export class ConversationLog {
  events = []; // ascending, seq = low … high
  high = 0; // the cursor
  resets = 0; // the number of resets
  #early = new Map(); // seq → event, behind the hole

  /** Starts at the newest event. Older events are loaded on demand. */
  constructor(head) {
    this.reset(head);
  }

  get low() { return this.high - this.events.length + 1; }
  get hasGap() { return this.#early.size > 0; }
  get newest() { return this.events.at(-1) ?? null; }

  /**
   * Starts again at the newest event. Older events are requested again on demand, so no gap
   * remains.
   */
  reset(head) {
    this.resets += 1;
    this.high = head.seq;
    this.events = head.last && head.last.seq === head.seq ? [head.last] : [];
    for (const seq of this.#early.keys()) if (seq <= this.high) this.#early.delete(seq);
    const next = this.#early.get(this.high + 1);
    if (next) this.add(next);
  }

  /** Adds an event. Returns the events that became visible, in order. */
  add(event) {
    if (event.seq <= this.high) return [];
    if (event.seq > this.high + 1) {
      if (this.#early.size < MAXIMUM_EARLY) this.#early.set(event.seq, event);
      return [];
    }
    const applied = [];
    for (let next = event; next; next = this.#early.get(this.high + 1)) {
      this.#early.delete(next.seq);
      this.events.push(next);
      this.high = next.seq;
      applied.push(next);
    }
    return applied;
  }

  /** Adds earlier events. Ignores events that do not adjoin the log. */
  prepend(older) {
    for (const event of [...older].sort((a, b) => b.seq - a.seq)) {
      if (event.seq === this.low - 1) this.events.unshift(event);
    }
  }
}
