// One conversation's log as far as this page holds it: a gapless run of events, low … high. Pure: no clock, no network.
//
// Rule 2: seq = high + 1 is applied, at most high is ignored, what lies beyond waits in `early` until the gap is pulled. The cursor
// never crosses a hole.

/** Beyond this many missing events a fresh window is cheaper than pulling them all. */
export const FAR_BEHIND = 400;
const MAXIMUM_EARLY = 500;

export class ConversationLog {
  events = []; // ascending, seq = low … high without a hole
  high = 0; // the cursor
  resets = 0; // how often it was started afresh
  #early = new Map(); // seq → event, beyond the hole

  /** Starts at the newest event; older ones are loaded as the reader asks. */
  constructor(head) {
    this.reset(head);
  }

  get low() { return this.high - this.events.length + 1; }
  get hasGap() { return this.#early.size > 0; }
  get newest() { return this.events.at(-1) ?? null; }

  /** A fresh window: everything older is asked for again when it is looked at, so no gap is left inside. */
  reset(head) {
    this.resets += 1;
    this.high = head.seq;
    this.events = head.last && head.last.seq === head.seq ? [head.last] : [];
    for (const seq of this.#early.keys()) if (seq <= this.high) this.#early.delete(seq);
    const next = this.#early.get(this.high + 1);
    if (next) this.add(next);
  }

  /** Takes an event in; answers the events that became visible by it, in order. */
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

  /** Takes in what stood before the window. Anything that would not join on without a hole is left out. */
  prepend(older) {
    for (const event of [...older].sort((a, b) => b.seq - a.seq)) {
      if (event.seq === this.low - 1) this.events.unshift(event);
    }
  }
}
