// A minimal event emitter: the base of Engine and SocketManager, and a part of Socket.

export class Emitter {
  #listeners = new Map();

  /** Adds a listener and returns a function that removes it. */
  on(name, listener) {
    if (!this.#listeners.has(name)) this.#listeners.set(name, new Set());
    this.#listeners.get(name).add(listener);
    return () => this.off(name, listener);
  }

  once(name, listener) {
    const remove = this.on(name, (...values) => {
      remove();
      listener(...values);
    });
    return remove;
  }

  off(name, listener) {
    this.#listeners.get(name)?.delete(listener);
  }

  /** Calls the listeners of `name`. If one throws, the others are still called. */
  fire(name, ...values) {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
      try {
        listener(...values);
      } catch (error) {
        console.error(`A listener of "${name}" failed`, error);
      }
    }
  }
}
