// One namespace of a session: events in both directions, and acks with a timeout.

import { Emitter } from "./emitter.js";
import { SocketError } from "./errors.js";
import { PacketType } from "./packets.js";

/**
 * Events of the connection: "connect", "connect_error" (error), "disconnect" (reason). All others
 * are events of the server with their arguments; if the server requests an ack, the last argument
 * is a function. `onAny` receives each event of the server as (name, arguments).
 */
export class Socket {
  #manager; #auth;
  #local = new Emitter(); // connect, connect_error, disconnect
  #remote = new Emitter(); // events of the server, separate so that they cannot trigger local events
  #any = new Set();
  #acks = new Map();
  #nextAck = 0;
  #joinTimer = 0;
  #joining = 0;

  constructor(manager, namespace, { auth = undefined } = {}) {
    this.#manager = manager;
    this.#auth = auth;
    this.namespace = namespace;
    this.id = null;
    this.wanted = false; // true between connect() and disconnect()
  }

  get connected() { return this.id !== null; }

  on(name, listener) { return this.#of(name).on(String(name), listener); }
  once(name, listener) { return this.#of(name).once(String(name), listener); }
  off(name, listener) { this.#of(name).off(String(name), listener); }
  onAny(listener) { this.#any.add(listener); return () => this.#any.delete(listener); }

  #of(name) {
    return name === "connect" || name === "connect_error" || name === "disconnect" ? this.#local : this.#remote;
  }

  connect() {
    if (this.wanted) return this;
    this.wanted = true;
    this.#manager.join(this);
    return this;
  }

  disconnect() {
    if (!this.wanted) return this;
    this.wanted = false;
    if (this.connected) this.#manager.send({ type: PacketType.disconnect, namespace: this.namespace });
    this.#ended("io client disconnect");
    this.#manager.left();
    return this;
  }

  /**
   * Sends an event. While not connected, it returns false and sends nothing; the application must
   * queue its messages.
   */
  emit(name, ...values) {
    if (!this.connected) return false;
    this.#manager.send({ type: PacketType.event, namespace: this.namespace, data: [name, ...values] });
    return true;
  }

  /**
   * Sends an event, and resolves to the arguments of its ack. Rejects after `timeout` ms, 10,000 by
   * default, or immediately when the connection is lost.
   */
  emitWithAck(name, values = [], { timeout = 10_000 } = {}) {
    return new Promise((resolve, reject) => {
      if (!this.connected) return reject(new SocketError("not_connected", "Not connected."));
      const id = this.#nextAck++;
      const timer = setTimeout(() => {
        this.#acks.delete(id);
        reject(new SocketError("ack_timeout", `No ack of "${name}" within ${timeout} ms.`));
      }, timeout);
      this.#acks.set(id, { resolve, reject, timer });
      this.#manager.send({ type: PacketType.event, namespace: this.namespace, id, data: [name, ...values] });
    });
  }

  // --- for SocketManager ---

  /** @internal */
  async engineOpened() {
    const attempt = ++this.#joining;
    let auth;
    try {
      auth = typeof this.#auth === "function" ? await this.#auth() : this.#auth;
    } catch (error) {
      this.wanted = false;
      this.#local.fire("connect_error", new SocketError("connect_error", error.message));
      return this.#manager.left();
    }
    if (attempt !== this.#joining || !this.wanted) return;
    this.#manager.send({ type: PacketType.connect, namespace: this.namespace, data: auth });
    clearTimeout(this.#joinTimer);
    this.#joinTimer = setTimeout(() => this.#manager.drop(), this.#manager.timeout);
  }

  /** @internal */
  engineClosed(reason, error) {
    if (this.wanted && !this.connected) {
      this.#local.fire("connect_error", error ?? new SocketError("transport", reason));
    }
    this.#ended(reason);
  }

  /** @internal */
  giveUp() { this.wanted = false; }

  /** @internal */
  received(packet) {
    switch (packet.type) {
      case PacketType.connect:
        if (!this.wanted || this.connected) return;
        clearTimeout(this.#joinTimer);
        this.id = packet.data?.sid ?? "";
        this.#manager.joined();
        return this.#local.fire("connect");
      case PacketType.connectError: {
        clearTimeout(this.#joinTimer);
        this.wanted = false;
        const { message = "Refused.", data } = packet.data ?? {};
        this.#local.fire("connect_error", new SocketError("connect_error", message, data));
        return this.#manager.left();
      }
      case PacketType.disconnect:
        this.wanted = false;
        this.#ended("io server disconnect");
        return this.#manager.left();
      case PacketType.event: return this.#event(packet);
      case PacketType.ack: {
        const waiting = this.#acks.get(packet.id);
        if (!waiting) return; // a late or unexpected ack
        this.#acks.delete(packet.id);
        clearTimeout(waiting.timer);
        return waiting.resolve(packet.data);
      }
    }
  }

  #event({ data: [name, ...values], id }) {
    if (!this.connected) return;
    if (id !== undefined) {
      let done = false;
      values.push((...answer) => {
        if (done || !this.connected) return;
        done = true;
        this.#manager.send({ type: PacketType.ack, namespace: this.namespace, id, data: answer });
      });
    }
    for (const listener of this.#any) listener(String(name), values);
    this.#remote.fire(String(name), ...values);
  }

  #ended(reason) {
    this.#joining++;
    clearTimeout(this.#joinTimer);
    const was = this.connected;
    this.id = null;
    for (const { reject, timer } of this.#acks.values()) {
      clearTimeout(timer);
      reject(new SocketError("disconnected", `The connection was closed before the ack (${reason}).`));
    }
    this.#acks.clear();
    if (was) this.#local.fire("disconnect", reason);
  }
}
