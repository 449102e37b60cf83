// The delay before the next attempt: from 1 s, doubled up to 5 s, with a random variation of ±50 %
// so that many pages do not reconnect at the same time.

export class Backoff {
  #attempt = 0;

  constructor({ from = 1000, to = 5000, jitter = 0.5, random = Math.random } = {}) {
    Object.assign(this, { from, to, jitter, random });
  }

  get attempt() { return this.#attempt; }

  next() {
    const delay = Math.min(this.from * 2 ** Math.min(this.#attempt, 20), this.to);
    this.#attempt += 1;
    return Math.round(delay * (1 + this.jitter * (2 * this.random() - 1)));
  }

  reset() { this.#attempt = 0; }
}
