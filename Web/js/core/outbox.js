// The user's messages that the log does not contain. They are sent one at a time and in order within
// a conversation, and persist across reloads. Texts can be sent before unfinished uploads; files are
// sent in their order. An acknowledged message is stored until its event is applied; after a reload
// it is sent again, because the server may have been restored from a backup meanwhile. A server that
// has the message repeats its first answer. A reference to a message that the restored server does not
// have at its position is removed, and a file that it does not have is uploaded again.

import { Refusal, refusal, uuid } from "./requests.js";
import { cancel, upload, uploaded } from "./uploads.js";

export class Outbox {
  #core;
  #items = new Map();
  #busy = new Set(); // conversations with a pending request
  #uploads = new Map(); // key -> AbortController
  #pauses = new Map(); // conversation -> the time before which no message is sent
  #attempts = new Map();
  #renewed = new Set(); // keys of messages whose file was uploaded again
  #cited = new Map(); // key -> [seq, identity or null] of each message that an item refers to in the data of another epoch

  constructor(core) { this.#core = core; }

  get items() { return [...this.#items.values()]; }
  /** The items as the page receives them. */
  get shown() { return this.items.map(shown); }
  /** The number of messages that a sign-out would lose. */
  get unsent() { return this.items.filter((item) => item.status !== "sent").length; }

  restore(items, cited = []) {
    this.#cited = new Map(cited);
    for (const item of items) this.#items.set(item.key, item.status === "failed" ? item : { ...item, status: "queued" });
  }

  clear() {
    for (const controller of this.#uploads.values()) controller.abort();
    for (const each of [this.#items, this.#busy, this.#uploads, this.#pauses, this.#attempts, this.#renewed, this.#cited]) each.clear();
  }

  async add({ key = uuid(), conv, kind, body, ref, thread, silent, file, poster }) {
    if (this.#items.has(key)) return key;
    const item = { key, conv, kind, body, ref, thread, silent, file, poster, status: "queued", at: Date.now() };
    await this.#set(item);
    this.run();
    return key;
  }

  async retry(key) {
    const item = this.#items.get(key);
    if (!item) return;
    this.#pauses.delete(item.conv);
    this.#attempts.delete(key);
    this.#renewed.delete(key);
    await this.#set({ ...item, status: "queued", error: undefined });
    this.run();
  }

  async discard(key) {
    const item = this.#items.get(key);
    if (!item) return;
    this.#uploads.get(key)?.abort();
    if (item.address) cancel(item.address);
    await this.#remove(item);
  }

  /**
   * Handles a server whose data was replaced and may lack the acknowledged messages: sends them
   * again, in the order of writing and with the same ids. Called before the log is removed, to store
   * which messages the items refer to: in the new log, other messages can have their positions.
   */
  async requeue() {
    for (const { seq: _, ...item } of this.#items.values()) {
      const { key, conv } = item;
      const refs = [item.ref, item.thread].filter((seq) => seq !== undefined);
      if (refs.length > 0 && !this.#cited.has(key)) {
        this.#cited.set(key, await Promise.all(refs.map(async (seq) => [seq, identity((await this.#core.database.events(conv, seq, seq))[0])])));
      }
      if (item.status === "sent") this.#items.set(key, { ...item, status: "queued" });
    }
    await this.#saveCited();
  }

  #saveCited() { return this.#core.database.setMeta("cited", [...this.#cited]); }

  /**
   * Removes the reference of an item to a message that the server does not have at its position.
   * Returns whether there was one. Throws `not_found` if the server does not have the message that
   * began the thread of the item: outside of its thread, a reply would be a message without context.
   */
  async #verify({ key, conv }) {
    const lost = [];
    for (const [seq, known] of this.#cited.get(key)) {
      const found = known && (await this.#core.call("history", { conv, from: seq, limit: 1 })).events[0];
      if (!known || found?.seq !== seq || identity(found) !== known) lost.push(seq);
    }
    const item = this.#items.get(key);
    if (!item) return false;
    if (lost.includes(item.thread)) throw new Refusal({ code: "not_found", message: "The server does not have the message that began this thread.", field: "thread" });
    await this.#set({ ...item, ref: lost.includes(item.ref) ? undefined : item.ref });
    this.#cited.delete(key);
    await this.#saveCited();
    return lost.length > 0;
  }

  /** Removes the acknowledged messages up to `cursor`, which are now shown from the log. */
  applied(conv, cursor) {
    for (const item of this.#items.values()) if (item.conv === conv && item.seq <= cursor) this.#remove(item);
  }

  /**
   * Handles the loss of the connection: ends the delays. Pending messages are sent again with the
   * same ids.
   */
  disconnected() { this.#pauses.clear(); }

  /** Sends the next message of each conversation, and uploads files. */
  run() {
    if (!this.#core.isOnline) return;
    const taken = new Set(this.#busy);
    const uploading = new Set(); // conversations with an unfinished upload
    for (const item of this.#items.values()) {
      if (item.status === "failed" || item.status === "sent") continue;
      if (item.file && !item.body.blob) { uploading.add(item.conv); this.#upload(item); continue; }
      if (taken.has(item.conv) || (item.file && uploading.has(item.conv))) continue;
      taken.add(item.conv);
      if ((this.#pauses.get(item.conv) ?? 0) <= Date.now()) this.#send(item);
    }
  }

  async #send(item) {
    this.#busy.add(item.conv);
    const { key, conv } = item;
    let hasLost = false;
    try {
      this.#show({ ...item, status: "sending" });
      if (this.#cited.has(key)) hasLost = await this.#verify(item);
      const { kind, body, ref, thread, silent } = (item = this.#items.get(key) ?? item);
      const ack = await this.#core.call("send", { id: key, conv, kind, body, ref, thread, silent });
      if (!this.#items.has(key)) return;
      this.#show({ ...this.#items.get(key), status: "sent", seq: ack.seq });
      this.#core.acknowledged({ conv, seq: ack.seq, n: ack.n, sender: this.#core.user?.name, id: key, at: ack.at, kind, body, ...(ref !== undefined && { ref }), ...(thread !== undefined && { thread }) });
    } catch (error) {
      // The server has the message with its references, and the log will contain it.
      if (hasLost && error.code === "conflict" && this.#items.has(key)) await this.#remove(item);
      else if (!await this.#renew(key, error)) await this.#failed(item, refusal(error));
    } finally {
      this.#busy.delete(conv);
      this.run();
    }
  }

  /**
   * Uploads the file of a message again if the server refused the message because it has lost the
   * file. Returns whether the message waits for the upload.
   */
  async #renew(key, error) {
    const { code, field } = refusal(error);
    const item = this.#items.get(key);
    if (code !== "not_found" || field !== "blob" || !item?.file || this.#renewed.has(key)) return false;
    this.#renewed.add(key);
    const body = { ...item.body, blob: undefined, ...(item.poster && { poster: undefined }) };
    await this.#set({ ...item, body, address: undefined, status: "queued" });
    return true;
  }

  async #upload(item) {
    if (this.#uploads.has(item.key) || this.#uploads.size >= 2 || (this.#pauses.get(item.key) ?? 0) > Date.now()) return;
    const controller = new AbortController();
    this.#uploads.set(item.key, controller);
    let latest = { ...item, status: "uploading", progress: 0 };
    try {
      this.#show(latest);
      if (item.poster && !item.body.poster) {
        const { blob } = await upload(item.poster, { name: "poster.jpg", signal: controller.signal });
        await this.#set((latest = { ...latest, body: { ...latest.body, poster: blob } }));
      }
      const blob = await upload(item.file, {
        name: item.body.name, address: item.address, signal: controller.signal,
        began: (address) => this.#set((latest = { ...latest, address })),
        progress: (progress) => this.#show((latest = { ...latest, progress })),
      });
      if (!this.#items.has(item.key)) return;
      await this.#set({ ...latest, ...uploaded(latest, blob), status: "queued", progress: 1 });
    } catch (error) {
      if (this.#items.has(item.key)) await this.#failed(latest, refusal(error));
    } finally {
      this.#uploads.delete(item.key);
      this.run();
    }
  }

  async #failed(item, error) {
    if (!this.#items.has(item.key)) return;
    if (error.code === "unauthorized") this.#core.refused();
    if (!error.isTemporary && error.code !== "unauthorized") return this.#set({ ...item, status: "failed", error: error.plain });
    const attempt = (this.#attempts.get(item.key) ?? 0) + 1;
    this.#attempts.set(item.key, attempt);
    const delay = error.retryAfter ?? Math.min(30_000, 500 * 2 ** Math.min(attempt, 7)) * (0.5 + Math.random() / 2);
    this.#pauses.set(item.file && !item.body.blob ? item.key : item.conv, Date.now() + delay);
    setTimeout(() => this.run(), delay + 5);
    await this.#set({ ...item, status: "queued" });
  }

  async #set(item) {
    this.#items.set(item.key, item);
    this.#core.emit({ type: "outbox", item: shown(item) });
    await this.#core.database.put("outbox", item);
  }

  #show(item) {
    this.#items.set(item.key, item);
    this.#core.emit({ type: "outbox", item: shown(item) });
  }

  async #remove(item) {
    this.#items.delete(item.key);
    if (this.#cited.delete(item.key)) this.#saveCited();
    this.#core.emit({ type: "outbox", item: shown(item), removed: true });
    await this.#core.database.delete("outbox", item.key);
  }
}

/** Returns an item without the values that only the outbox uses. */
const shown = ({ address: _, poster: __, ...item }) => item;

/** Returns a text that distinguishes an event from other events at its position. */
const identity = (event) => (event ? `${event.id ?? event.at} ${event.sender}` : null);
