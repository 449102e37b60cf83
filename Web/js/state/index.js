// Creates the state of the page, with its core.

import { watchNotifications } from "./notifications.js";
import { Store } from "./store.js";

export async function createState() {
  const store = new Store(await makePort());
  addEventListener("pagehide", () => store.show([]));
  watchNotifications(store);
  return store;
}

/**
 * Returns the port to a core in a worker, or in the page itself if the browser has no workers or
 * locks (such as over HTTP from another host).
 */
async function makePort() {
  if (navigator.locks && globalThis.Worker && globalThis.BroadcastChannel) {
    try {
      return await WorkerPort.make();
    } catch (error) {
      console.warn("No worker:", error);
    }
  }
  const { Core } = await import("../core/core.js");
  return new PagePort(Core);
}

class WorkerPort {
  #worker = new Worker(new URL("../core/worker.js", import.meta.url), { type: "module" });
  #requests = new Map();
  #serial = 0;
  #listener = () => {};
  leads = false;

  static async make() {
    const port = new WorkerPort();
    await new Promise((resolve, reject) => {
      port.#worker.onerror = (event) => reject(new Error(event.message || "The worker does not start."));
      port.#requests.set(0, { resolve, reject });
      port.#worker.postMessage({ id: 0, name: "start" });
    });
    port.#worker.onerror = (event) => console.error(event.message);
    port.#watchNetwork();
    return port;
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

  constructor() {
    this.#worker.onmessage = ({ data }) => {
      if (data.event) return data.event.type === "leading" ? (this.leads = true) : this.#listener(data.event);
      const request = this.#requests.get(data.id);
      this.#requests.delete(data.id);
      if (data.error) request?.reject(Object.assign(new Error(data.error.message), data.error));
      else request?.resolve(data.value);
    };
  }

  listen(listener) { this.#listener = listener; }

  request(name, body) {
    return new Promise((resolve, reject) => {
      this.#serial += 1;
      this.#requests.set(this.#serial, { resolve, reject });
      this.#worker.postMessage({ id: this.#serial, name, body });
    });
  }
}

class PagePort {
  leads = true;
  #listener = () => {};

  constructor(Core) { this.core = new Core((event) => this.#listener(event)); }
  listen(listener) { this.#listener = listener; }
  request(name, body) { return this.core.request(name, body, "page"); }
}
