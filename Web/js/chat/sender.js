// Empties the outbox: one message of a conversation at a time, so that they arrive in the order they were written.

import { ChatError, uploadBlob } from "./api.js";
import { Backoff } from "../socketio/backoff.js";

/** Refusals that another try will not change. */
const FINAL = new Set(["bad_request", "forbidden", "not_found", "conflict", "too_large"]);
const ACK_TIMEOUT = 20_000;

export class Sender {
  #chat;
  #running = new Set(); // conversations being worked on

  /** `chat`: {token, outbox, connected, request(event, payload, timeout), acknowledged(entry, ack), outboxChanged(conv), expired()}. */
  constructor(chat) {
    this.#chat = chat;
  }

  /** Starts work on every conversation that has something to send. */
  flush() {
    for (const entry of this.#chat.outbox.entries) if (entry.state !== "failed") this.#run(entry.conv);
  }

  async #run(conversation) {
    if (this.#running.has(conversation)) return;
    this.#running.add(conversation);
    const backoff = new Backoff();
    try {
      while (this.#chat.connected) {
        const entry = this.#chat.outbox.of(conversation).find((each) => each.state !== "failed");
        if (!entry) return;
        try {
          await this.#send(entry);
          backoff.reset();
        } catch (error) {
          if (error instanceof ChatError && error.code === "unauthorized") return this.#chat.expired();
          if (error instanceof ChatError && FINAL.has(error.code)) {
            entry.state = "failed";
            entry.error = { code: error.code, message: error.message };
            await this.#chat.outbox.update(entry);
            this.#chat.outboxChanged(conversation);
          } else {
            // Not known whether it arrived: the same id again, later. The server recognises it.
            await new Promise((resolve) => setTimeout(resolve, backoff.next()));
          }
        }
      }
    } finally {
      this.#running.delete(conversation);
    }
  }

  async #send(entry) {
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
