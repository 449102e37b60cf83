// Sends read positions until the server has confirmed them (docs/chat-rules.md, 10). Each
// conversation has one pending request at a time; the next one carries the newest position.

import { ChatError } from "./api.js";
import { Backoff } from "../socketio/backoff.js";
import { pause } from "./tasks.js";

/** Errors after which a retry cannot succeed. */
const FINAL = new Set(["bad_request", "forbidden", "not_found"]);

export class ReadMarks {
  #chat; #wait;
  #running = new Set(); // conversations with a pending request

  /** `chat`: {connected, conversations, request(event, payload)}. */
  constructor(chat, { wait = pause } = {}) {
    this.#chat = chat;
    this.#wait = wait;
  }

  /** Starts with all conversations that have an unconfirmed position. */
  flush() {
    for (const conversation of this.#chat.conversations.values()) this.tell(conversation);
  }

  async tell(conversation) {
    if (this.#running.has(conversation.id)) return;
    this.#running.add(conversation.id);
    const backoff = new Backoff();
    try {
      while (this.#chat.connected && conversation.read > conversation.toldRead) {
        const read = conversation.read;
        try {
          await this.#chat.request("mark", { conv: conversation.id, read });
          conversation.confirmRead(read);
        } catch (error) {
          if (error instanceof ChatError && FINAL.has(error.code)) conversation.confirmRead(read);
          else await this.#wait(backoff.next());
        }
      }
    } finally {
      this.#running.delete(conversation.id);
    }
  }
}
