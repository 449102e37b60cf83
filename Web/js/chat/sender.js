// Empties the outbox: one message of a conversation at a time, so that they arrive in the order they were written.

import { ChatError, uploadBlob } from "./api.js";
import { Backoff } from "../socketio/backoff.js";
import { isStored, renewedID } from "./conflict.js";
import { pause } from "./tasks.js";

/** Refusals that pass. Any other one, also of a code that is not known here, takes the message out of the way of the next. */
const PASSING = new Set(["network", "storage", "too_many"]);
/** A defect of the server may pass as well, but not for ever. */
const MOST_DEFECTS = 5;
const ACK_TIMEOUT = 20_000;

export class Sender {
  #chat; #wait;
  #running = new Set(); // conversations being worked on

  /**
   * `chat`: {token, user, outbox, connected, request(event, payload, timeout), acknowledged(entry, ack), delivered(entry),
   * outboxChanged(conv), expired()}.
   */
  constructor(chat, { wait = pause } = {}) {
    this.#chat = chat;
    this.#wait = wait;
  }

  /** Starts work on every conversation that has something to send. */
  flush() {
    for (const entry of this.#chat.outbox.entries) if (entry.state !== "failed") this.#run(entry.conv);
  }

  async #run(conversation) {
    if (this.#running.has(conversation)) return;
    this.#running.add(conversation);
    const backoff = new Backoff();
    let defects = 0;
    try {
      while (this.#chat.connected) {
        const entry = this.#chat.outbox.of(conversation).find((each) => each.state !== "failed");
        if (!entry) return;
        try {
          await this.#send(entry);
          backoff.reset();
          defects = 0;
        } catch (error) {
          if (error instanceof ChatError && error.code === "unauthorized") return this.#chat.expired();
          if (error instanceof ChatError && error.code === "internal") defects += 1;
          if (error instanceof ChatError && !PASSING.has(error.code) && (error.code !== "internal" || defects >= MOST_DEFECTS)) {
            defects = 0;
            entry.state = "failed";
            entry.error = { code: error.code, message: error.message };
            await this.#chat.outbox.update(entry);
            this.#chat.outboxChanged(conversation);
          } else {
            // Not known whether it arrived: the same id again, later. The server recognises it.
            await this.#wait(backoff.next());
          }
        }
      }
    } finally {
      this.#running.delete(conversation);
    }
  }

  async #send(entry) {
    if (entry.isDoubted) {
      // The server knows the id with other content: a second id is safe once it is certain that this message is not there.
      const { user, outbox } = this.#chat;
      if (await isStored(entry, user.id, (payload) => this.#chat.request("sync", payload))) return this.#chat.delivered(entry);
      entry = await outbox.renew(entry, renewedID(entry.id));
    }
    if (entry.file && !entry.body.blob) {
      const { blob, width, height, size, type } = await uploadBlob(this.#chat.token, entry.file);
      entry.body = { ...entry.body, blob, width, height, size, type };
      await this.#chat.outbox.update(entry); // a retry sends the very same payload
    }
    const { conv, id, kind, body, ref } = entry;
    const ack = await this.#chat.request("send", { conv, id, kind, body, ...(ref ? { ref } : {}) }, ACK_TIMEOUT);
    await this.#chat.acknowledged(entry, ack);
  }
}
