// Sends the messages of the outbox, one of each conversation at a time, in the order of writing
// (docs/chat-rules.md, 1).

import { ChatError, uploadBlob } from "./api.js";
import { Backoff } from "../socketio/backoff.js";
import { isStored, renewedID } from "./conflict.js";
import { pause } from "./tasks.js";

/**
 * Temporary errors. After any other one, unknown codes included, the message fails and the next one
 * is sent.
 */
const PASSING = new Set(["network", "storage", "too_many"]);
/** The maximum number of retries after an internal error of the server. */
const MOST_DEFECTS = 5;
const ACK_TIMEOUT = 20_000;

export class Sender {
  #chat; #wait;
  #running = new Set(); // conversations with a running loop

  /**
   * `chat`: {token, user, outbox, connected, request(event, payload, timeout),
   * acknowledged(entry, ack), delivered(entry), outboxChanged(conv), expired()}.
   */
  constructor(chat, { wait = pause } = {}) {
    this.#chat = chat;
    this.#wait = wait;
  }

  /** Starts sending in every conversation with queued messages. */
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
            // The server may have the message. A retry with the same id is safe.
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
      // The server has other content under this id. A new id is safe if the log does not contain
      // the message.
      const { user, outbox } = this.#chat;
      if (await isStored(entry, user.id, (payload) => this.#chat.request("sync", payload))) return this.#chat.delivered(entry);
      entry = await outbox.renew(entry, renewedID(entry.id));
    }
    if (entry.file && !entry.body.blob) {
      const { blob, width, height, size, type } = await uploadBlob(this.#chat.token, entry.file);
      entry.body = { ...entry.body, blob, width, height, size, type };
      await this.#chat.outbox.update(entry); // a retry sends the same payload
    }
    const { conv, id, kind, body, ref } = entry;
    const ack = await this.#chat.request("send", { conv, id, kind, body, ...(ref ? { ref } : {}) }, ACK_TIMEOUT);
    await this.#chat.acknowledged(entry, ack);
  }
}
