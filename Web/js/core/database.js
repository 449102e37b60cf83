// The cache of one account in IndexedDB. Without IndexedDB, the page works, but no data is kept
// after the page is closed.

const NAME = "apus-chat";
const VERSION = 2;
const INDEXES = { at: "at", expires_at: "expires_at" }; // of the events
const STORES = { meta: "key", heads: "conv", cursors: "conv", users: "name", outbox: "key", events: ["conv", "seq"] };

export class Database {
  #db = null;

  static async open(name = NAME) {
    const database = new Database();
    try {
      database.#db = await new Promise((resolve, reject) => {
        const request = indexedDB.open(name, VERSION);
        request.onupgradeneeded = () => {
          const { result, transaction } = request;
          for (const [store, keyPath] of Object.entries(STORES)) if (!result.objectStoreNames.contains(store)) result.createObjectStore(store, { keyPath });
          const events = transaction.objectStore("events");
          for (const [index, keyPath] of Object.entries(INDEXES)) if (!events.indexNames.contains(index)) events.createIndex(index, keyPath);
        };
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
        request.onblocked = () => reject(new Error("blocked"));
      });
      database.#db.onversionchange = () => database.close();
    } catch (error) {
      console.warn("No cache:", error);
    }
    return database;
  }

  close() { this.#db?.close(); this.#db = null; }

  async get(store, key) { return this.#run(store, "readonly", (each) => each.get(key)); }
  async all(store) { return (await this.#run(store, "readonly", (each) => each.getAll())) ?? []; }

  /** Returns the values of several stores, read in one transaction. */
  async stores(...names) {
    if (!this.#db) return Object.fromEntries(names.map((name) => [name, []]));
    return new Promise((resolve, reject) => {
      const transaction = this.#db.transaction(names, "readonly");
      const requests = names.map((name) => [name, transaction.objectStore(name).getAll()]);
      transaction.oncomplete = () => resolve(Object.fromEntries(requests.map(([name, request]) => [name, request.result])));
      transaction.onerror = transaction.onabort = () => reject(transaction.error);
    });
  }

  put(store, ...values) { return values.length ? this.#run(store, "readwrite", (each) => { for (const value of values) each.put(value); }) : Promise.resolve(); }
  delete(store, ...keys) { return this.#run(store, "readwrite", (each) => { for (const key of keys) each.delete(key); }); }
  async meta(key) { return (await this.get("meta", key))?.value; }
  setMeta(key, value) { return this.put("meta", { key, value }); }

  /** Returns the stored events from `from` to `to` in ascending order. Some may be missing. */
  async events(conv, from, to) {
    return (await this.#run("events", "readonly", (each) => each.getAll(IDBKeyRange.bound([conv, from], [conv, to])))) ?? [];
  }

  /**
   * Returns the newest stored events up to `to`, at most `limit` and without a gap, in
   * ascending order.
   */
  async trailing(conv, to, limit) {
    if (!this.#db) return [];
    return new Promise((resolve) => {
      const found = [];
      const request = this.#db.transaction("events").objectStore("events").openCursor(IDBKeyRange.bound([conv, 0], [conv, to]), "prev");
      request.onerror = () => resolve(found.reverse());
      request.onsuccess = () => {
        const cursor = request.result;
        if (!cursor || found.length === limit || (found.length > 0 && found.at(-1).seq !== cursor.value.seq + 1)) return resolve(found.reverse());
        found.push(cursor.value);
        cursor.continue();
      };
    });
  }

  /** Returns the number of stored events or, with `conv`, of the stored events of its log up to `last`. */
  async count(conv, last = Infinity) {
    return (await this.#run("events", "readonly", (each) => each.count(conv === undefined ? undefined : IDBKeyRange.bound([conv, 0], [conv, last])))) ?? 0;
  }

  forget(conv, below = Infinity) { return this.#run("events", "readwrite", (each) => each.delete(IDBKeyRange.bound([conv, 0], [conv, below]))); }

  /**
   * Calls `visit` with the stored events of one log, or of all logs without `conv`, newest first,
   * until it returns false. `after` ({conv, seq, at}) is the last event of an earlier scan, which
   * is continued.
   */
  async scan({ conv, after }, visit) {
    if (!this.#db) return;
    await new Promise((resolve) => {
      const events = this.#db.transaction("events").objectStore("events");
      const all = after ? IDBKeyRange.upperBound(after.at) : null;
      const request = conv === undefined ? events.index("at").openCursor(all, "prev") : events.openCursor(IDBKeyRange.bound([conv, 0], [conv, after ? after.seq : Infinity], false, Boolean(after)), "prev");
      let isPassing = Boolean(after) && conv === undefined;
      request.onerror = resolve;
      request.onsuccess = () => {
        const cursor = request.result;
        if (!cursor) return resolve();
        if (isPassing) {
          const order = indexedDB.cmp([cursor.key, cursor.primaryKey], [after.at, [after.conv, after.seq]]);
          if (order > 0) return cursor.continuePrimaryKey(after.at, [after.conv, after.seq]);
          isPassing = false;
          if (order === 0) return cursor.continue();
        }
        if (visit(cursor.value) === false) return resolve();
        cursor.continue();
      };
    });
  }

  /**
   * Returns the stored events that have expired at `now`, and the time at which the next one
   * expires.
   */
  async expired(now) {
    if (!this.#db) return { events: [], next: undefined };
    const events = await this.#run("events", "readonly", (each) => each.index("expires_at").getAll(IDBKeyRange.upperBound(now)));
    const next = await this.#run("events", "readonly", (each) => each.index("expires_at").openCursor(IDBKeyRange.lowerBound(now, true)));
    return { events: events ?? [], next: next?.key };
  }

  /** Removes the values of all stores except those in `kept`. */
  async wipe(kept = []) {
    if (!this.#db) return;
    await Promise.all(Object.keys(STORES).filter((store) => !kept.includes(store)).map((store) => this.#run(store, "readwrite", (each) => each.clear())));
  }

  #run(store, mode, work) {
    if (!this.#db) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const transaction = this.#db.transaction(store, mode);
      const request = work(transaction.objectStore(store));
      transaction.oncomplete = () => resolve(request?.result);
      transaction.onerror = transaction.onabort = () => reject(transaction.error);
    });
  }
}
