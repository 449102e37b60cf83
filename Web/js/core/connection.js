// The connection to the namespace `/chat`: it sends `hello`, synchronizes the heads, and renews the
// session before its access token expires.

import { SocketManager } from "/js/socketio/index.js";
import { Refusal, deviceDescription, post, refusal } from "./requests.js";

const MOST_HELD = 10_000; // the maximum number of pushes in #held
const RENEWED = 120_000; // ms before the expiry of the access token; browsers delay timers of hidden tabs by up to 60 s
const FINAL = new Set(["signed_out", "account_closed", "protocol_error", "version"]);

export class Connection {
  #core;
  #manager = null;
  #socket = null;
  #isReady = false;
  #held = []; // [name, body] of the pushes that arrived before the connection was ready
  #state = { state: "offline", since: Date.now() };
  #waiting = new Set();
  #isWanted = false;
  #pause = 0; // ms, the delay that the server requested
  #expiresAt = null; // the time, by the clock of the server, at which the access token expires; null before a sign-in
  #renewal = 0; // the timer of the renewal
  #renewing = null; // the promise of a renewal

  constructor(core) { this.#core = core; }

  get state() { return this.#state; }
  get isReady() { return this.#isReady; }

  start() {
    if (!this.#manager) {
      this.#manager = new SocketManager(globalThis.location.origin, { transports: ["websocket", "polling"], reconnection: { from: 300, to: 15_000 } });
      this.#manager.on("state", (state) => this.#managed(state));
      this.#socket = this.#manager.socket("/chat");
      this.#socket.on("connect", () => this.#hello());
      this.#socket.on("disconnect", (reason) => {
        this.#lost();
        if (reason === "io server disconnect") this.#again();
      });
      this.#socket.on("connect_error", (error) => this.#refused(error.data));
      this.#socket.on("bye", (body) => this.#goodbye(body));
      for (const name of ["event", "head", "mark", "presence", "typing", "user", "signal"]) this.#socket.on(name, (body) => this.#pushed(name, body));
    }
    this.#isWanted = true;
    this.#change("connecting");
    this.#socket.connect();
  }

  stop() {
    this.#isWanted = false;
    clearTimeout(this.#renewal);
    this.#socket?.disconnect();
    this.#lost();
    this.#change("offline");
  }

  /** Handles an event of a page that a worker may not receive: "online", "offline" or "shown". */
  network(event) {
    if (event === "offline") this.#manager?.drop();
    else this.#manager?.resume();
  }

  /**
   * Sends a request (docs/chat-wire.md) and returns its answer. Waits up to 5 s for a connection
   * that is being established. Fails if the data of the server was replaced meanwhile: the positions
   * in the request are then those of other messages.
   */
  async call(verb, body) {
    if (!this.#isReady) {
      const { epoch } = this.#core.cached;
      await this.#untilReady();
      if (epoch !== undefined && epoch !== this.#core.cached.epoch) throw new Refusal({ code: "offline", message: "The data of the server was replaced while the request waited." });
    }
    const [answer] = await this.#socket.emitWithAck(verb, [clean(body)]).catch((error) => { throw refusal(error); });
    if (answer?.error) throw new Refusal(answer.error);
    return answer ?? {};
  }

  /**
   * Handles the answer that begins or renews a session. The socket stays open when the access token
   * expires, but pictures, files and uploads need a valid one.
   */
  granted({ access_expires_at: expiresAt }) {
    this.restore(expiresAt);
    this.#core.database.setMeta("access", expiresAt);
    this.#renewLater();
  }

  /** Sets the time at which the access token of a stored session expires. */
  restore(expiresAt = 0) { this.#expiresAt = expiresAt; }

  #renewLater() {
    clearTimeout(this.#renewal);
    if (this.#expiresAt === null) return;
    const left = this.#expiresAt - this.#core.now;
    this.#renewal = setTimeout(() => { if (this.#isWanted) this.renew(); }, Math.max(1000, left - Math.min(RENEWED, left / 2)));
  }

  /**
   * Renews the session with the refresh cookie, and connects if there is no connection. Requests
   * during a renewal join it.
   */
  renew() {
    this.#renewing ??= this.#renew().finally(() => { this.#renewing = null; });
    return this.#renewing;
  }

  async #renew() {
    if (!this.#isReady) this.#change("connecting");
    try {
      this.granted(await post("/api/refresh", { refresh: "cookie" }));
      if (this.#isWanted) this.#socket.connect();
    } catch (error) {
      if (error.code === "unauthorized") { this.stop(); return this.#core.dismissed("signed_out"); }
      clearTimeout(this.#renewal);
      this.#renewal = setTimeout(() => { if (this.#isWanted) this.renew(); }, 3000);
    }
  }

  async #hello() {
    try {
      const { epoch, since } = this.#core.cached;
      const [answer] = await this.#socket.emitWithAck("hello", [clean({ version: 1, features: [], device: deviceDescription(), epoch, sync: { since } })]);
      if (answer.error) throw new Refusal(answer.error);
      let sync = await this.#core.welcomed(answer, this.#held);
      while (sync) sync = await this.#page(sync);
      this.#isReady = true;
      this.#change("online");
      for (const resolve of this.#waiting) resolve();
      this.#waiting.clear();
      this.#core.connected();
      this.#renewLater(); // by the clock of the server
      for (const [name, body] of this.#held.splice(0)) this.#core.pushed(name, body);
    } catch (error) {
      if (error.code === "unauthorized") await this.renew();
      else console.warn("hello:", error);
      this.#manager?.drop();
    }
  }

  async #page(request) {
    const [answer] = await this.#socket.emitWithAck("sync", [clean(request)]);
    if (answer.error?.code === "resync") return { since: undefined };
    if (answer.error) throw new Refusal(answer.error);
    return this.#core.synced(answer, request, this.#held);
  }

  #untilReady() {
    if (this.#state.state === "offline") throw new Refusal({ code: "offline", message: "There is no connection." });
    return new Promise((resolve, reject) => {
      this.#waiting.add(resolve);
      setTimeout(() => { if (this.#waiting.delete(resolve)) reject(new Refusal({ code: "offline", message: "There is no connection." })); }, 5000);
    });
  }

  /**
   * Handles a failed connection. A refusal without a code means that the server was not reached; the
   * manager then tries again.
   */
  #refused(refusal) {
    if (refusal?.code === "unauthorized") this.renew();
    else if (refusal?.code) {
      this.#pause = refusal.retry_after ?? 2000;
      this.#again();
    }
  }

  #goodbye({ reason, retry_after: pause }) {
    this.#pause = pause ?? 0;
    if (!FINAL.has(reason)) return;
    this.stop();
    this.#core.dismissed(reason);
  }

  /**
   * Reconnects after the delay that the server requested, with a random variation. The manager does
   * not reconnect after a refusal or a close by the server.
   */
  #again() {
    if (!this.#isWanted) return;
    this.#change("connecting");
    const delay = this.#pause + 200 + Math.random() * Math.max(800, this.#pause / 2);
    this.#pause = 0;
    setTimeout(() => { if (this.#isWanted) this.#socket.connect(); }, delay);
  }

  /**
   * Handles a push. Those that arrive during the sync of the heads are processed after it, because
   * they may be newer.
   */
  #pushed(name, body) {
    if (this.#isReady) this.#core.pushed(name, body);
    else if (this.#held.length < MOST_HELD) this.#held.push([name, body]);
    else this.#manager.drop();
  }

  #lost() {
    const wasReady = this.#isReady;
    this.#isReady = false;
    this.#held = [];
    if (wasReady) this.#core.disconnected();
  }

  #managed({ name, attempt = 0, retryAt }) {
    if (name === "open") return;
    if (name === "waiting" && this.#isWanted) this.#change(attempt >= 2 || navigator.onLine === false ? "offline" : "connecting", retryAt);
    else if (name === "closed" && !this.#isWanted) this.#change("offline");
  }

  #change(state, retryAt) {
    if (this.#state.state === state && this.#state.retryAt === retryAt) return;
    this.#state = { state, since: this.#state.state === state ? this.#state.since : Date.now(), retryAt };
    this.#core.emit({ type: "connection", connection: this.#state });
  }
}

const clean = (body) => JSON.parse(JSON.stringify(body ?? {}));
