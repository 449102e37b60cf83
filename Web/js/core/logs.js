// The logs of the conversations: cursors, the cache of events, and pages for windows.

import { applying, isBlank, keeping, repeats } from "./applying.js";
import { LogCursor } from "./cursor.js";
import { Refusal } from "./requests.js";

const PULLS = 3;
const MOST_CACHED = 30_000; // events of all logs, about 15 MB
const KEPT = [1000, 200, 40]; // the number of events per log that each successive pass over the logs keeps

export class Logs {
  #core;
  #cursors = new Map();
  #timers = new Map();
  #queue = []; // [conv, range]
  #pulling = 0;
  #keeping = Promise.resolve(); // the storing of the last events

  constructor(core) { this.#core = core; }

  get #database() { return this.#core.database; }

  restore(cursors) { for (const { conv, cursor, isPrimed } of cursors) this.#cursors.set(conv, new LogCursor({ cursor, isPrimed })); }
  cursor(conv) { return this.#cursors.get(conv)?.cursor ?? 0; }

  clear() {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    for (const each of [this.#cursors, this.#timers]) each.clear();
    this.#queue = [];
  }

  gone(conv) {
    this.#cursors.delete(conv);
    this.#database.forget(conv);
    this.#database.delete("cursors", conv);
  }

  /**
   * Handles the end of a log that a sync or a push reported. The cursor of an unknown log begins
   * there.
   */
  announced(conv, seq, isSync) {
    const cursor = this.#cursors.get(conv);
    if (!cursor) return this.#cursors.set(conv, new LogCursor({ cursor: seq }));
    if (!cursor.isPrimed) {
      if (seq > cursor.cursor) this.#core.emit({ type: "gap", conv });
      return void cursor.restart(seq);
    }
    if (isSync) cursor.head = Math.max(cursor.head, seq);
    else this.#act(conv, cursor.announced(seq));
  }

  /** Handles the end of the log of a conversation that the user has left. */
  ended(conv, seq) { this.#cursors.get(conv)?.ended(seq); }

  connected() { for (const [conv, cursor] of this.#cursors) this.#act(conv, cursor.resumed()); }

  disconnected() {
    this.#queue = [];
    for (const cursor of this.#cursors.values()) cursor.disconnected();
  }

  received(events) {
    for (const event of events) this.#act(event.conv, this.#of(event.conv, event.seq - 1).received(event));
  }

  /** Loads the newest page of conversations that are likely to be opened. */
  async prefetch(convs) {
    for (const conv of convs) {
      if (!this.#core.isOnline) return;
      if (!(this.#cursors.get(conv)?.isPrimed)) await this.page({ conv, limit: 40 }).catch(() => {});
    }
  }

  /**
   * Bounds the cache to `most` events, 30,000 by default: removes the oldest events of
   * conversations, first of those whose last change is the oldest. Removed events are requested
   * again when they are shown.
   */
  async trim(most = MOST_CACHED) {
    let count = await this.#database.count();
    const logs = [...this.#cursors].sort(([one], [other]) => (this.#core.head(one)?.at ?? 0) - (this.#core.head(other)?.at ?? 0));
    for (const kept of KEPT) {
      for (const [conv, { cursor }] of logs) {
        if (count <= most) return;
        const removed = cursor > kept ? await this.#database.count(conv, cursor - kept) : 0;
        if (removed > 0) await this.#database.forget(conv, cursor - kept);
        count -= removed;
      }
    }
  }

  /**
   * Returns a page of a log: from the cache if it is complete there, else from the server. Without
   * a connection, it may be incomplete.
   */
  async page({ conv, from, before, around, limit = 50, thread }) {
    const head = this.#core.head(conv);
    const known = this.#cursors.get(conv);
    const low = head?.min_seq ?? 1;
    const isOffline = this.#core.connectionState === "offline" || (this.#core.connectionState === "connecting" && !this.#core.wasOnline);
    if (thread === undefined && known?.isPrimed) {
      const isNewest = from === undefined && before === undefined && around === undefined;
      const first = Math.max(low, from ?? (before !== undefined ? before - limit : around !== undefined ? around - (limit >> 1) : known.cursor - limit + 1));
      const last = Math.min(known.cursor, isNewest ? known.cursor : before !== undefined ? before - 1 : first + limit - 1);
      let events = await this.#database.events(conv, first, last);
      const isWhole = events.length > 0 && events.length === last - first + 1;
      const isCurrent = isNewest || from !== undefined ? !known.isBehind || isOffline : true;
      if (!isWhole && isOffline && from === undefined) events = await this.#database.trailing(conv, around !== undefined ? around : last, limit);
      if (isWhole ? isCurrent : isOffline && events.length > 0) {
        return { conv, events, seq: Math.max(known.cursor, events.at(-1).seq), min_seq: isWhole ? low : events[0].seq, isPartial: !isWhole };
      }
      if (isOffline && before !== undefined) return { conv, events: [], seq: known.cursor, min_seq: before, isPartial: true };
    }
    if (thread !== undefined && known?.isPrimed && isOffline && from === undefined) {
      const events = (await this.#database.events(conv, thread, (before ?? Infinity) - 1)).filter((event) => event.thread === thread);
      return { conv, events: events.slice(-limit), seq: known.cursor, min_seq: low };
    }
    if (isOffline && this.#core.connectionState === "offline") throw new Refusal({ code: "offline", message: "There is no connection." });
    const page = await this.#core.call("history", { conv, from, before, around, limit, thread });
    return thread === undefined ? this.#adopt(conv, page) : { ...page, events: withMine(page) };
  }

  /** Returns the newest versions of an edited message, newest first. */
  async edits({ conv, seq }) {
    const { events } = await this.#core.call("history", { conv, edits: seq, limit: 200 });
    const versions = events.map((event) => ({ at: event.at, body: event.seq === seq ? event.body : event.body?.body }));
    return versions.filter(({ body }) => body).reverse();
  }

  /** Stores a page of the server. A page that extends beyond the cursor advances it. */
  async #adopt(conv, page) {
    const events = withMine(page);
    const cursor = this.#of(conv, page.seq);
    if (events.length === 0 && page.seq <= cursor.cursor && !cursor.isPrimed) {
      cursor.isPrimed = true; // an empty log is completely known
      this.#saveCursor(conv, cursor);
    } else if (events.length > 0) {
      const last = events.at(-1).seq;
      if (!cursor.isPrimed && last >= cursor.cursor) {
        const after = cursor.restart(last);
        cursor.isPrimed = true;
        await this.#put(events);
        this.#saveCursor(conv, cursor);
        this.#apply(conv, after);
      } else await this.#put(events.filter((event) => event.seq <= cursor.cursor));
      if (cursor.isPrimed && last > cursor.cursor && events[0].seq <= cursor.cursor + 1) {
        for (const event of events.filter((each) => each.seq > cursor.cursor)) this.#act(conv, cursor.received(event));
      }
    }
    return { ...page, events, mine: undefined };
  }

  #of(conv, begin) {
    if (!this.#cursors.has(conv)) this.#cursors.set(conv, new LogCursor({ cursor: Math.max(0, begin) }));
    return this.#cursors.get(conv);
  }

  #act(conv, { apply, gap, wait, pull }) {
    if (gap !== undefined) {
      this.#database.forget(conv, gap);
      if (apply?.length) this.#put(apply);
      this.#core.emit({ type: "gap", conv });
    }
    if (apply?.length) this.#apply(conv, apply);
    if (wait !== undefined) {
      clearTimeout(this.#timers.get(conv));
      this.#timers.set(conv, setTimeout(() => {
        const cursor = this.#cursors.get(conv);
        if (cursor && this.#core.isOnline) this.#act(conv, cursor.timerFired());
      }, wait));
    }
    if (pull) {
      this.#queue.push([conv, pull]);
      this.#pullNext();
    }
  }

  async #pullNext() {
    if (this.#pulling >= PULLS || this.#queue.length === 0) return;
    const [conv, range] = this.#queue.shift();
    const cursor = this.#cursors.get(conv);
    if (!cursor) return this.#pullNext();
    this.#pulling += 1;
    try {
      const page = await this.#core.call("history", { conv, ...range });
      this.#act(conv, cursor.page(withMine(page), page.seq));
    } catch (error) {
      if (error.code === "not_found") this.gone(conv);
      else this.#act(conv, cursor.pullFailed());
    } finally {
      this.#pulling -= 1;
      this.#pullNext();
    }
  }

  /** Stores new events at the end of a log, applies them to their targets, and reports them. */
  #apply(conv, events) {
    if (events.length === 0) return;
    const stamped = events.map((event) => ({ ...event, asOf: Math.max(event.asOf ?? 0, event.seq) }));
    this.#core.applied(conv, stamped);
    const cursor = this.#cursors.get(conv);
    // Batches are stored one after another, because each reads the targets that the former changed.
    this.#keeping = this.#keeping.then(() => this.#keep(conv, stamped, cursor)).catch((error) => console.warn("cache:", error));
  }

  async #keep(conv, events, cursor) {
    if (!cursor || this.#cursors.get(conv) !== cursor) return; // the log was removed since
    await this.#put(events);
    for (const change of events) {
      const place = change.n === undefined ? change.ref : change.thread;
      if (place === undefined) continue;
      const [target] = await this.#database.events(conv, place, place);
      if (!target || target.asOf >= change.seq) continue;
      const after = applying(target, change, this.#core.user?.name);
      if (after !== target) await this.#put([{ ...after, asOf: change.seq }]);
      if (change.kind === "recall" || (repeats(change) && isBlank(after))) await this.blankEdits(conv, [change.ref], after.state);
    }
    if (this.#cursors.get(conv) === cursor) await this.#saveCursor(conv, cursor, events.at(-1).seq);
  }

  /**
   * Removes the content of the edits and previews of messages without content. `state`: the state
   * of the messages.
   */
  async blankEdits(conv, seqs, state) {
    const edits = (await this.#database.events(conv, Math.min(...seqs), Infinity)).filter((event) => repeats(event) && event.body && seqs.includes(event.ref));
    await this.#database.put("events", ...edits.map(({ body: _, ...event }) => ({ ...event, state })));
  }

  async #put(events) {
    const kept = await Promise.all(events.map((event) => this.#kept(event, events)));
    await this.#database.put("events", ...kept);
    this.#core.stored(kept);
  }

  /**
   * Returns the event as it is stored, which depends on the state of the message whose content it
   * repeats.
   */
  async #kept(event, others) {
    if (!repeats(event) || !event.body) return event;
    return keeping(event, others.find(({ seq }) => seq === event.ref) ?? (await this.#database.get("events", [event.conv, event.ref])));
  }

  /** Stores a cursor. `stored` is the last event that the cache contains. */
  #saveCursor(conv, { cursor, isPrimed }, stored = cursor) { return this.#database.put("cursors", { conv, cursor: Math.min(cursor, stored), isPrimed }); }
}

/**
 * Returns the events of a page with the user's reactions and votes, and with `asOf`, the `seq` up
 * to which their changes are included.
 */
function withMine(page) {
  const mine = new Map((page.mine ?? []).map(({ seq, ...each }) => [seq, each]));
  return page.events.map((event) => ({ ...event, ...(mine.has(event.seq) && { mine: mine.get(event.seq) }), asOf: page.seq }));
}
