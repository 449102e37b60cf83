// An Engine.IO 4 client: one session over HTTP long-polling, WebSocket, or polling upgraded to
// WebSocket.
//
// Events: "open" (handshake), "message" (string | Uint8Array), "upgrade", "close" (reason, error).
// An Engine is used once; SocketManager creates a new one for each attempt.

import { Emitter } from "./emitter.js";
import { SocketError } from "./errors.js";
import { PacketType, decodeFrame, decodePayload, encodeFrame, encodePayload, encodeText, payloadSize } from "./enginepackets.js";

const PROBE_TIMEOUT = 10_000;
const MAXIMUM_PACKETS_A_POST = 64;

export class Engine extends Emitter {
  #url; #transports; #query; #trace; #timeout;
  #state = "idle"; // idle → opening → open → closed
  #transport;
  #handshake = null;
  #queue = [];
  #socket = null; // the WebSocket in use or being probed
  #abort = new AbortController();
  #poll = null; // the pending GET
  #post = null; // the pending POST
  #paused = false; // true from the answer to the probe until the upgrade packet; no polling request may start meanwhile
  #openTimer = 0;
  #heartbeatTimer = 0;
  #lastPing = 0;

  /**
   * @param {string|URL} url      the server's origin and Engine.IO path, http(s)
   * @param {object} options      transports: "polling", "websocket" or both, the first of which opens
   *                              the session; query: further parameters of the address; timeout of
   *                              the opening in ms, 20,000 by default; trace: called with
   *                              ({direction, transport, data}) for each packet
   */
  constructor(url, { transports = ["polling", "websocket"], query = {}, timeout = 20_000, trace = null } = {}) {
    super();
    this.#url = new URL(url);
    this.#transports = transports;
    this.#query = query;
    this.#timeout = timeout;
    this.#trace = trace;
    this.#transport = transports[0];
  }

  get transport() { return this.#transport; }
  get id() { return this.#handshake?.sid ?? null; }
  get isOpen() { return this.#state === "open"; }

  open() {
    if (this.#state !== "idle") return;
    this.#state = "opening";
    this.#openTimer = setTimeout(
      () => this.#closed("transport error", new SocketError("timeout", "The server did not answer in time.")), this.#timeout);
    if (this.#transport === "websocket") this.#attach(this.#makeSocket());
    else this.#pollOnce();
  }

  /** Queues a message. Messages of the same task are sent together in a microtask. */
  send(data) {
    if (this.#state !== "open") return;
    this.#enqueue({ type: PacketType.message, data });
  }

  close() {
    if (this.#state === "closed") return;
    if (this.#state === "open") {
      this.#queue.push({ type: PacketType.close, data: "" });
      // Polling sends the queue and the close packet in a last POST, which may outlive the page.
      // The pending GET is aborted afterwards: the server would otherwise close the session first.
      if (this.#transport === "polling") this.#lastPost().finally(() => this.#abort.abort());
      else this.#writeFrames();
    }
    this.#closed("forced close", null, { abort: this.#transport !== "polling" || this.#state !== "open" });
  }

  /**
   * Closes the session if a ping is overdue. Timers do not run while a page is suspended, so
   * SocketManager calls this when the page is shown again.
   */
  checkHeartbeat() {
    if (this.#state !== "open" || !this.#handshake.pingInterval) return;
    const silence = performance.now() - this.#lastPing;
    if (silence > this.#handshake.pingInterval + this.#handshake.pingTimeout) {
      this.#closed("ping timeout", new SocketError("timeout", "The server sent no ping in time."));
    }
  }

  // --- one packet ---

  #received(packet) {
    this.#trace?.({ direction: "in", transport: this.#transport, data: packet.data instanceof Uint8Array ? packet.data : encodeText(packet) });
    switch (packet.type) {
      case PacketType.open: return this.#opened(packet.data);
      case PacketType.ping:
        this.#armHeartbeat();
        return this.#enqueue({ type: PacketType.pong, data: packet.data });
      case PacketType.message: return this.fire("message", packet.data);
      case PacketType.close: return this.#closed("transport close");
      default: return; // noop, and packets that only clients send
    }
  }

  #opened(text) {
    if (this.#state !== "opening") return;
    try {
      this.#handshake = JSON.parse(text);
    } catch {
      return this.#closed("parse error", new SocketError("parse", "The server's handshake is not JSON."));
    }
    clearTimeout(this.#openTimer);
    this.#state = "open";
    this.#armHeartbeat();
    this.fire("open", this.#handshake);
    const upgrades = this.#handshake.upgrades ?? [];
    if (this.#state === "open" && this.#transport === "polling" && this.#transports.includes("websocket") && upgrades.includes("websocket")) {
      this.#probe();
    }
  }

  #armHeartbeat() {
    this.#lastPing = performance.now();
    clearTimeout(this.#heartbeatTimer);
    const { pingInterval, pingTimeout } = this.#handshake ?? {};
    if (!pingInterval) return; // python-engineio can disable the heartbeat
    this.#heartbeatTimer = setTimeout(
      () => this.#closed("ping timeout", new SocketError("timeout", "The server sent no ping in time.")), pingInterval + pingTimeout);
  }

  #enqueue(packet) {
    this.#queue.push(packet);
    if (this.#queue.length === 1) queueMicrotask(() => this.#flush());
  }

  #flush() {
    if (this.#state !== "open" || this.#queue.length === 0 || this.#paused) return;
    if (this.#transport === "websocket") this.#writeFrames();
    else if (!this.#post) this.#postBatch();
  }

  #closed(reason, error, { abort = true } = {}) {
    if (this.#state === "closed") return;
    this.#state = "closed";
    clearTimeout(this.#openTimer);
    clearTimeout(this.#heartbeatTimer);
    if (abort) this.#abort.abort();
    if (this.#socket) {
      this.#socket.onopen = this.#socket.onmessage = this.#socket.onerror = this.#socket.onclose = null;
      this.#socket.close();
    }
    this.fire("close", reason, error ?? null);
  }

  #address(transport) {
    const url = new URL(this.#url);
    for (const [name, value] of Object.entries(this.#query)) url.searchParams.set(name, value);
    url.searchParams.set("EIO", "4");
    url.searchParams.set("transport", transport);
    if (this.#handshake) url.searchParams.set("sid", this.#handshake.sid);
    if (transport === "websocket") url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    return url;
  }

  // --- polling ---

  async #pollOnce() {
    while (this.#state === "opening" || (this.#state === "open" && this.#transport === "polling" && !this.#paused)) {
      this.#poll = this.#request("GET");
      const body = await this.#poll;
      this.#poll = null;
      if (body === null || this.#state === "closed") return;
      try {
        for (const packet of decodePayload(body)) {
          if (this.#state === "closed") return;
          this.#received(packet);
        }
      } catch (error) {
        return this.#closed("parse error", new SocketError("parse", error.message));
      }
      if (this.#state === "opening") {
        return this.#closed("parse error", new SocketError("parse", "The server answered without a handshake."));
      }
    }
  }

  async #postBatch() {
    const limit = this.#handshake.maxPayload || 1_000_000;
    let count = 0;
    let size = 0;
    // Sends at least one packet. If it is too large, the server refuses it with a reason.
    do { size += payloadSize(this.#queue[count++]); } while (
      count < this.#queue.length && count < MAXIMUM_PACKETS_A_POST && size + payloadSize(this.#queue[count]) <= limit);
    const batch = this.#queue.splice(0, count);
    this.#traceOut(batch);
    this.#post = this.#request("POST", encodePayload(batch));
    await this.#post;
    this.#post = null;
    this.#flush();
  }

  async #lastPost() {
    this.#traceOut(this.#queue);
    const body = encodePayload(this.#queue.splice(0));
    if (this.#post) await this.#post; // a session has one POST at a time
    await fetch(this.#address("polling"), { method: "POST", body, headers: { "Content-Type": "text/plain;charset=UTF-8" }, keepalive: body.length < 60_000 })
      .catch(() => {}); // the session has ended
  }

  /** Returns the body of the response, or null after an error, which closes the session. */
  async #request(method, body) {
    const headers = body === undefined ? {} : { "Content-Type": "text/plain;charset=UTF-8" };
    try {
      const response = await fetch(this.#address("polling"), { method, body, headers, cache: "no-store", signal: this.#abort.signal });
      const text = await response.text();
      if (response.ok) return text;
      this.#closed("transport error", new SocketError("refused", refusal(response.status, text)));
    } catch (error) {
      if (this.#state !== "closed") this.#closed("transport error", new SocketError("transport", error.message));
    }
    return null;
  }

  // --- WebSocket ---

  #makeSocket() {
    const socket = new WebSocket(this.#address("websocket"));
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    return socket;
  }

  #attach(socket) {
    socket.onopen = null;
    socket.onmessage = (event) => {
      try {
        this.#received(decodeFrame(event.data));
      } catch (error) {
        this.#closed("parse error", new SocketError("parse", error.message));
      }
    };
    socket.onerror = () => {}; // a close with its code always follows
    socket.onclose = (event) => {
      const opening = this.#state === "opening";
      this.#closed(opening ? "transport error" : "transport close", new SocketError("transport", `The WebSocket closed (${event.code}).`));
    };
  }

  #writeFrames() {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    const packets = this.#queue.splice(0);
    this.#traceOut(packets);
    for (const packet of packets) this.#socket.send(encodeFrame(packet));
  }

  #traceOut(packets) {
    if (!this.#trace) return;
    for (const packet of packets) {
      this.#trace({ direction: "out", transport: this.#transport, data: packet.data instanceof Uint8Array ? packet.data : encodeText(packet) });
    }
  }

  // --- Upgrade: open the WebSocket, send `2probe`, receive `3probe`, finish polling, send `5` ---

  #probe() {
    const socket = this.#makeSocket();
    const trace = (direction, data) => this.#trace?.({ direction, transport: "websocket", data });
    const failed = () => {
      // Only the probe failed; the session continues with polling.
      clearTimeout(timer);
      socket.onopen = socket.onmessage = socket.onerror = socket.onclose = null;
      socket.close();
      this.#socket = null;
      if (this.#paused) {
        this.#paused = false;
        if (!this.#poll) this.#pollOnce();
        this.#flush();
      }
    };
    const timer = setTimeout(failed, PROBE_TIMEOUT);
    socket.onerror = () => {};
    socket.onclose = () => failed();
    socket.onopen = () => {
      trace("out", "2probe");
      socket.send("2probe");
    };
    socket.onmessage = async (event) => {
      trace("in", event.data);
      if (event.data !== "3probe") return failed();
      this.#paused = true;
      // The server answers the pending poll with a noop, so both requests end soon. Their packets
      // are processed before the upgrade.
      await Promise.all([this.#poll, this.#post]);
      await Promise.resolve();
      if (this.#state !== "open" || socket.readyState !== WebSocket.OPEN) return;
      clearTimeout(timer);
      this.#attach(socket);
      trace("out", "5");
      socket.send("5");
      this.#transport = "websocket";
      this.#paused = false;
      this.fire("upgrade");
      this.#flush();
    };
  }
}

/** Returns the message of a refused request: that of Engine.IO's JSON error, or the status. */
function refusal(status, text) {
  try {
    const { message } = JSON.parse(text);
    if (message) return `${message} (HTTP ${status})`;
  } catch { /* not JSON */ }
  return `The server answered HTTP ${status}.`;
}
