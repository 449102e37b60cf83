// Removes the content of expired messages. The server sends no event when a message expires, so
// each client removes the content by the clock of the server.

import { expiring, isBlank } from "./applying.js";

const LONGEST = 3_600_000; // ms, the maximum duration of a timer; the clock is then checked, because timers stop while a device sleeps
const PAUSE = 20; // ms that are added to a timer, so that it does not fire too early

/**
 * Returns the time at which the last message of a log expires. The current setting applies to it,
 * because a change of the setting would be the last event.
 */
const endOf = ({ settings, last }) => (settings?.expire > 0 && last?.n !== undefined && !isBlank(last) ? last.at + settings.expire * 1000 : Infinity);

export class Expiry {
  #core;
  #timer = 0;
  #at = Infinity; // the time for which the timer is set

  constructor(core) { this.#core = core; }

  clear() {
    clearTimeout(this.#timer);
    this.#at = Infinity;
  }

  /** Handles stored events, some of which may expire. */
  stored(events) {
    const first = events.reduce((least, { expires_at: at }) => Math.min(least, at ?? Infinity), Infinity);
    if (first < this.#at) this.#wait(first);
  }

  /**
   * Handles changed heads. The last message of a log expires in its head even if it is not stored
   * on this device.
   */
  heads(heads) {
    const first = Math.min(...heads.map(endOf));
    if (first < this.#at) this.#wait(first);
  }

  /** Removes the content of expired messages, and sets the timer for the next one. */
  async sweep() {
    this.#at = Infinity;
    const { database, now } = this.#core;
    const { events, next } = await database.expired(now);
    await database.put("events", ...events.map((event) => expiring(event)));
    for (const conv of new Set(events.map((event) => event.conv))) {
      const ended = events.filter((event) => event.conv === conv);
      this.#core.expired(conv, new Set(ended.map(({ seq }) => seq)), ended.filter(({ state }) => state === "edited").map(({ seq }) => seq));
    }
    for (const head of [...this.#core.heads]) if (endOf(head) <= now) this.#core.expired(head.conv, new Set([head.last.seq]));
    this.heads([...this.#core.heads]);
    if (next !== undefined && next < this.#at) this.#wait(next);
  }

  #wait(at) {
    this.#at = at;
    clearTimeout(this.#timer);
    const delay = Math.min(LONGEST, Math.max(0, at - this.#core.now) + PAUSE);
    this.#timer = setTimeout(() => this.sweep().catch((error) => console.warn("expiry:", error)), delay);
  }
}
