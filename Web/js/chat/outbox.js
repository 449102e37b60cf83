// The messages without an acknowledgement, in IndexedDB, with one queue for each account. An entry
// is removed when the server has the message or the user discards it. Every retry carries the same
// client id, so that a lost ack does not cause a duplicate (docs/chat-rules.md, 1).

import { wellFormed } from "./text.js";

const DATABASE = "apus";
const STORE = "outbox";

export class Outbox {
  #entries = []; // of this account, in the order of writing
  #database = null; // null without IndexedDB (some private windows); the queue is then kept in memory

  static async open(account) {
    const outbox = new Outbox();
    outbox.account = account;
    try {
      outbox.#database = await openDatabase();
      await outbox.reload();
    } catch (error) {
      console.warn("No IndexedDB: unsent messages do not survive a reload", error);
    }
    return outbox;
  }

  get entries() { return this.#entries; }
  of(conversation) { return this.#entries.filter((entry) => entry.conv === conversation); }
  find(id) { return this.#entries.find((entry) => entry.id === id); }

  /** Reads the queue from the database. Keeps the objects of known entries. */
  async reload() {
    if (!this.#database) return;
    const index = this.#database.transaction(STORE).objectStore(STORE).index("account");
    const stored = await settled(index.getAll(this.account));
    const known = new Map(this.#entries.map((entry) => [entry.id, entry]));
    this.#entries = stored.map((entry) => known.get(entry.id) ?? storable(entry)).sort((a, b) => a.at - b.at || a.order - b.order);
  }

  /** Stores an entry. It survives a reload after this resolves. */
  async add(entry) {
    const order = Math.max(-1, ...this.#entries.map((each) => each.order)) + 1;
    const whole = storable({ ...entry, account: this.account, order, state: "waiting" });
    this.#entries.push(whole);
    await this.#write((store) => store.put(whole));
    return whole;
  }

  async update(entry) {
    if (this.find(entry.id)) await this.#write((store) => store.put(entry));
  }

  /** Changes the id of an entry. Its position in the queue does not change. */
  async renew(entry, id) {
    const { error, isDoubted, ...rest } = entry;
    const renewed = { ...rest, id, state: "waiting" };
    this.#entries = this.#entries.map((each) => (each === entry ? renewed : each));
    await this.#write((store) => {
      store.delete(entry.id);
      store.put(renewed);
    });
    return renewed;
  }

  async remove(id) {
    const before = this.#entries.length;
    this.#entries = this.#entries.filter((entry) => entry.id !== id);
    if (this.#entries.length !== before) await this.#write((store) => store.delete(id));
  }

  async #write(change) {
    if (!this.#database) return;
    const transaction = this.#database.transaction(STORE, "readwrite", { durability: "strict" });
    change(transaction.objectStore(STORE));
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = transaction.onerror = () => reject(transaction.error);
    }).catch((error) => console.warn("The outbox could not be written", error));
  }
}

/** An entry whose text has no lone surrogates. */
function storable(entry) {
  return typeof entry.body?.text === "string" ? { ...entry, body: { ...entry.body, text: wellFormed(entry.body.text) } } : entry;
}

async function openDatabase() {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(STORE, { keyPath: "id" }).createIndex("account", "account");
  };
  return settled(request);
}

function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * A client id: 128 random bits. (crypto.randomUUID requires a secure context, which http on a LAN
 * is not.)
 */
export function makeClientID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
