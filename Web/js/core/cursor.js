// Follows the log of one conversation without skipping missing events.
//
// The methods perform no I/O; they return actions. `apply` is a list of events, `pull` is a range
// of the log to request, and `wait` is the time in milliseconds after which to call `timerFired`.
// The method `page` also returns `gap`; the method `restart` returns only the events.

const PATIENCE = 500;
const FARTHEST = 400; // events; if more are missing, only the newest events are requested
const SLOWEST = 30_000;

export class LogCursor {
  #state = "idle"; // "waiting": events are missing and a timer runs; "pulling": a request is pending
  #held = new Map();
  #fruitless = 0;

  /**
   * `isPrimed`: whether the events up to the cursor are known. If they are not, missing events are
   * skipped.
   */
  constructor({ cursor = 0, isPrimed = false } = {}) {
    this.cursor = cursor;
    this.head = cursor;
    this.isPrimed = isPrimed;
  }

  get isBehind() { return this.head > this.cursor; }

  /** Handles a pushed event, or an acknowledged message of this device. */
  received(event) {
    if (event.seq <= this.cursor) return {};
    this.head = Math.max(this.head, event.seq);
    this.#held.set(event.seq, event);
    if (event.seq === this.cursor + 1) {
      const apply = this.#drain();
      if (this.#state === "waiting" && !this.isBehind) this.#state = "idle";
      return { apply };
    }
    return this.#waits();
  }

  /** Handles the end of the log that the server reported. Its events usually follow immediately. */
  announced(head) {
    this.head = Math.max(this.head, head);
    return this.isBehind ? this.#waits() : {};
  }

  /**
   * Handles the end of the log of a conversation that the user has left. A nudge before it may have
   * announced later events.
   */
  ended(head) { this.head = Math.max(this.cursor, head); }

  /** Handles a new connection, after the sync of the heads. */
  resumed() { return this.isBehind && this.#state !== "pulling" ? this.#pull() : {}; }

  timerFired() {
    if (this.#state !== "waiting") return {};
    if (this.isBehind) return this.#pull();
    this.#state = "idle";
    return {};
  }

  disconnected() { this.#state = "idle"; }

  /** Handles the answer to a pull. `gap` is the `seq` of the last missing event before `apply`. */
  page(events, head) {
    this.head = Math.max(this.head, head);
    const before = this.cursor;
    const fresh = events.filter((event) => event.seq > before);
    let gap;
    if (fresh.length > 0 && fresh[0].seq - 1 > before) {
      if (this.isPrimed) gap = fresh[0].seq - 1;
      this.cursor = fresh[0].seq - 1;
    }
    for (const event of fresh) this.#held.set(event.seq, event);
    const apply = this.#drain();
    return { apply, gap, ...this.#after(this.cursor > before) };
  }

  pullFailed() { return this.#state === "pulling" ? this.#after(false) : {}; }

  /** Moves the cursor to `seq`. The events before it are not requested. */
  restart(seq) {
    this.cursor = Math.max(this.cursor, seq);
    this.head = Math.max(this.head, this.cursor);
    return this.#drain();
  }

  #waits() {
    if (this.#state !== "idle") return {};
    this.#state = "waiting";
    return { wait: PATIENCE };
  }

  #after(madeProgress) {
    this.#state = "idle";
    if (!this.isBehind) { this.#fruitless = 0; return {}; }
    if (madeProgress) { this.#fruitless = 0; return this.#pull(); }
    // The server reports events that it does not deliver. An immediate retry would cause a busy
    // loop.
    this.#state = "waiting";
    return { wait: Math.min(SLOWEST, 1000 * 2 ** this.#fruitless++) };
  }

  #pull() {
    this.#state = "pulling";
    const isNear = this.isPrimed && this.head - this.cursor <= FARTHEST;
    return { pull: isNear ? { from: this.cursor + 1, limit: 200 } : { limit: 80 } };
  }

  #drain() {
    const events = [];
    for (const seq of this.#held.keys()) if (seq <= this.cursor) this.#held.delete(seq);
    while (this.#held.has(this.cursor + 1)) {
      this.cursor += 1;
      events.push(this.#held.get(this.cursor));
      this.#held.delete(this.cursor);
    }
    if (events.length > 0) this.isPrimed = true;
    return events;
  }
}
