// Maintains one Engine.IO session for any number of namespaces, and reconnects it.

import { Backoff } from "./backoff.js";
import { Emitter } from "./emitter.js";
import { Engine } from "./engine.js";
import { PacketDecoder, encodePacket } from "./packets.js";
import { Socket } from "./socket.js";

/**
 * Events: "state" ({name: "closed" | "connecting" | "open" | "waiting", transport, attempt,
 * retryAt, error}). `retryAt` is in ms since 1970.
 */
export class SocketManager extends Emitter {
  #options;
  #sockets = new Map();
  #engine = null;
  #decoder = null;
  #backoff;
  #retryTimer = 0;
  #state = { name: "closed", attempt: 0 };

  /**
   * Options:
   * - path: "/socket.io/" by default
   * - transports: ["polling", "websocket"] by default
   * - query: further parameters of each address
   * - timeout: of the opening of a session and of a namespace, in ms, 20,000 by default
   * - reconnection: false, or the options of Backoff: {from, to} in ms and {jitter}
   * - trace: called with {direction, transport, data} for each packet
   */
  constructor(url, options = {}) {
    super();
    this.#options = { path: "/socket.io/", transports: ["polling", "websocket"], timeout: 20_000, reconnection: {}, ...options };
    this.url = new URL(this.#options.path, url);
    this.#backoff = new Backoff(this.#options.reconnection || {});
    // Reconnects immediately when the network is available again or the page is shown again. Closes
    // the session when the network is lost.
    globalThis.addEventListener?.("online", () => this.retryNow());
    globalThis.addEventListener?.("offline", () => this.drop());
    globalThis.document?.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.resume();
    });
  }

  get state() { return this.#state; }
  get timeout() { return this.#options.timeout; }
  get transport() { return this.#engine?.isOpen ? this.#engine.transport : null; }
  get engineID() { return this.#engine?.id ?? null; }

  /**
   * Returns the socket of a namespace, which is created on first use. `auth` is a value, or a
   * function that is called at each attempt.
   */
  socket(namespace = "/", options = {}) {
    if (!this.#sockets.has(namespace)) this.#sockets.set(namespace, new Socket(this, namespace, options));
    return this.#sockets.get(namespace);
  }

  /** Starts the next attempt without further delay. */
  retryNow() {
    if (this.#state.name !== "waiting") return;
    clearTimeout(this.#retryTimer);
    this.#open();
  }

  /**
   * Continues after a suspension: closes a session whose ping is overdue, and starts the next
   * attempt without further delay.
   */
  resume() {
    this.#engine?.checkHeartbeat();
    this.retryNow();
  }

  // --- for Socket ---

  /** @internal Connects a socket, and opens the session if necessary. */
  join(socket) {
    if (this.#engine?.isOpen) socket.engineOpened();
    else if (this.#state.name === "closed") this.#open();
    else this.retryNow();
  }

  /** @internal Closes the session if no socket uses it any longer. */
  left() {
    if ([...this.#sockets.values()].some((socket) => socket.wanted)) return;
    clearTimeout(this.#retryTimer);
    this.#backoff.reset();
    this.#engine?.close();
    this.#engine = null;
    this.#change({ name: "closed", attempt: 0 });
  }

  /** @internal */
  send(packet) {
    for (const frame of encodePacket(packet)) this.#engine?.send(frame);
  }

  /** @internal A namespace accepted the connection, which resets the backoff. */
  joined() {
    this.#backoff.reset();
  }

  /** @internal */
  drop() {
    this.#engine?.close();
  }

  // --- the session ---

  #open() {
    const { transports, query, timeout, trace } = this.#options;
    const engine = new Engine(this.url, { transports, query, timeout, trace });
    this.#engine = engine;
    this.#decoder = new PacketDecoder();
    engine.on("open", () => {
      this.#change({ name: "open", attempt: 0, transport: engine.transport });
      for (const socket of this.#sockets.values()) if (socket.wanted) socket.engineOpened();
    });
    engine.on("upgrade", () => this.#change({ ...this.#state, transport: engine.transport }));
    engine.on("message", (frame) => this.#received(engine, frame));
    engine.on("close", (reason, error) => {
      if (engine === this.#engine) this.#dropped(reason, error);
    });
    this.#change({ name: "connecting", attempt: this.#backoff.attempt });
    engine.open();
  }

  #received(engine, frame) {
    if (engine !== this.#engine) return;
    let packet;
    try {
      packet = this.#decoder.add(frame);
    } catch (error) {
      console.warn("Socket.IO: a malformed packet", error);
      engine.close();
      return;
    }
    if (packet) this.#sockets.get(packet.namespace)?.received(packet);
  }

  #dropped(reason, error) {
    this.#engine = null;
    const sockets = [...this.#sockets.values()];
    for (const socket of sockets) socket.engineClosed(reason, error);
    // A listener may have called connect or disconnect.
    if (this.#engine || !sockets.some((socket) => socket.wanted)) {
      if (!this.#engine) this.#change({ name: "closed", attempt: 0, error });
      return;
    }
    if (!this.#options.reconnection) {
      for (const socket of sockets) socket.giveUp();
      this.#change({ name: "closed", attempt: 0, error });
      return;
    }
    const delay = this.#backoff.next();
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => this.#open(), delay);
    this.#change({ name: "waiting", attempt: this.#backoff.attempt, retryAt: Date.now() + delay, error });
  }

  #change(state) {
    this.#state = state;
    this.fire("state", state);
  }
}

