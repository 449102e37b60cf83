// The cache of one account in IndexedDB. Without IndexedDB everything still works, and nothing is
// kept.

const NAME = "apus-chat";
const STORES = { meta: "key", heads: "conv", cursors: "conv", users: "name", outbox: "key", events: ["conv", "seq"] };

export class Database {
  #db = null;

  static async open(name = NAME) {
    const database = new Database();
    try {
      database.#db = await new Promise((resolve, reject) => {
        const request = indexedDB.open(name, 1);
        request.onupgradeneeded = () => {
          for (const [store, keyPath] of Object.entries(STORES)) request.result.createObjectStore(store, { keyPath });
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

  /** The values of several stores, read in one transaction. */
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

  /** The events of a part of a log, ascending, perhaps with holes. */
  async events(conv, from, to) {
    return (await this.#run("events", "readonly", (each) => each.getAll(IDBKeyRange.bound([conv, from], [conv, to])))) ?? [];
  }

  /** The newest events at or below `to` that follow each other without a hole. */
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

  /** The number of events; with `conv`, of those of a log up to `last`. */
  async count(conv, last = Infinity) {
    return (await this.#run("events", "readonly", (each) => each.count(conv === undefined ? undefined : IDBKeyRange.bound([conv, 0], [conv, last])))) ?? 0;
  }

  forget(conv, below = Infinity) { return this.#run("events", "readwrite", (each) => each.delete(IDBKeyRange.bound([conv, 0], [conv, below]))); }

  /** Calls `visit` with each message, newest last in its log, until it returns false. */
  async scan(visit) {
    if (!this.#db) return;
    await new Promise((resolve) => {
      const request = this.#db.transaction("events").objectStore("events").openCursor(null, "prev");
      request.onerror = resolve;
      request.onsuccess = () => {
        const cursor = request.result;
        if (!cursor || visit(cursor.value) === false) return resolve();
        cursor.continue();
      };
    });
  }

  /** Removes everything, such as at sign-out. `kept` are stores that stay. */
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
