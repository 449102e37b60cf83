// Creates the state of the page, with its core.

import { Store } from "./store.js";

export function createState() {
  const store = new Store(makePort());
  addEventListener("pagehide", () => store.show([]));
  return store;
}

/**
 * Returns the port to a core in a worker, or in the page itself if the browser has no workers or
 * locks (such as over HTTP from another host).
 */
function makePort() {
  if (!navigator.locks || !globalThis.Worker || !globalThis.BroadcastChannel) return new PagePort();
  try {
    return new WorkerPort();
  } catch (error) {
    console.warn("No worker:", error);
    return new PagePort();
  }
}

class WorkerPort {
  #worker = new Worker(new URL("../core/worker.js", import.meta.url), { type: "module" });
  #requests = new Map();
  #serial = 0;
  #listener = () => {};
  #instead = null; // the port that is used if the worker does not start
  leads = false;

  constructor() {
    let hasStarted = false;
    this.#worker.onmessage = ({ data }) => {
      hasStarted = true;
      if (data.event) return data.event.type === "leading" ? (this.leads = true) : this.#listener(data.event);
      const request = this.#requests.get(data.id);
      this.#requests.delete(data.id);
      if (data.error) request?.reject(Object.assign(new Error(data.error.message), data.error));
      else request?.resolve(data.value);
    };
    this.#worker.onerror = (event) => (hasStarted ? console.error(event.message) : this.#replace(event.message));
    this.#watchNetwork();
  }

  /** Handles a worker that does not start: its requests go to a core in the page. */
  #replace(message) {
    console.warn("No worker:", message);
    this.#instead = new PagePort();
    this.#instead.listen(this.#listener);
    this.leads = true;
    for (const { name, body, resolve, reject } of this.#requests.values()) this.#instead.request(name, body).then(resolve, reject);
    this.#requests.clear();
  }

  /**
   * Reports network events to the worker. A worker receives no event when the page is shown
   * again and, in some browsers, none when the network is lost.
   */
  #watchNetwork() {
    for (const event of ["online", "offline"]) addEventListener(event, () => this.request("network", { event }));
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.request("network", { event: "shown" });
    });
  }

  listen(listener) { this.#listener = listener; }

  request(name, body) {
    if (this.#instead) return this.#instead.request(name, body);
    return new Promise((resolve, reject) => {
      this.#serial += 1;
      this.#requests.set(this.#serial, { name, body, resolve, reject });
      this.#worker.postMessage({ id: this.#serial, name, body });
    });
  }
}

class PagePort {
  leads = true;
  #listener = () => {};
  #core = null;

  listen(listener) { this.#listener = listener; }
  async request(name, body) { return (await this.#load()).request(name, body, "page"); }

  /** Returns the core. If it could not be loaded, the next request loads it again. */
  async #load() {
    try {
      return await (this.#core ??= import("../core/core.js").then(({ Core }) => new Core((event) => this.#listener(event))));
    } catch (error) {
      this.#core = null;
      throw Object.assign(new Error(error.message, { cause: error }), { code: "offline" });
    }
  }
}
