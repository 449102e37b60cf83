// A list that keeps only the rows near the viewport in the document.

import { perFrame } from "./dom.js";

const OVERSCAN = 600; // pixels above and below the viewport

/**
 * Shows rows of different heights. Heights are estimated until a row was on the screen. The first
 * visible row stays where it is when rows are added above it, and the end stays visible if it was.
 *
 * options: `key(row)`, `render(row, index)` → element, `estimate` (pixels), `signature(row, index)`
 * (a changed value renders the row again), `stick()` (whether to follow the end), `anchored` (false: added rows move
 * those below them, as in a list whose newest row is the first), `onscroll(list)`.
 */
export class VirtualList {
  #heights = new Map();
  #offsets = new Float64Array(1);
  #valid = false;
  #elements = new Map();
  #scheduled;
  #following = false;
  #ignored = -1;

  constructor(scroller, container, options) {
    this.scroller = scroller;
    this.options = { estimate: 66, stick: () => false, anchored: true, signature: () => "", ...options };
    this.rows = [];
    this.slice = container.appendChild(document.createElement(options.tag ?? "div"));
    this.slice.className = "slice";
    this.container = container;
    container.classList.add("virtual");
    this.#scheduled = perFrame(() => this.layout());
    this.onscroll = () => {
      if (this.scroller.scrollTop !== this.#ignored) this.#following = this.#sticks();
      this.#scheduled();
      this.options.onscroll?.(this);
    };
    scroller.addEventListener("scroll", this.onscroll, { passive: true });
    this.observer = new ResizeObserver(() => this.#scheduled());
    this.observer.observe(scroller);
    this.observer.observe(this.slice);
  }

  close() {
    this.scroller.removeEventListener("scroll", this.onscroll);
    this.observer.disconnect();
    this.slice.remove();
    this.closed = true;
  }

  isAtEnd() {
    return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight < 40;
  }

  #sticks() { return this.options.stick() && this.isAtEnd(); }

  setRows(rows) {
    const anchor = this.#anchor();
    this.rows = rows;
    this.#valid = false;
    this.layout(anchor);
  }

  /** Renders all rows again, such as after a change of the language. */
  invalidate() {
    for (const entry of this.#elements.values()) entry.signature = null;
    this.layout();
  }

  /** Scrolls to the end and follows it. */
  toEnd() {
    this.#following = this.options.stick();
    this.layout({ end: true });
  }

  /** Scrolls the row into view; `place` is "start", "center" or "nearest". */
  toIndex(index, place = "center") {
    if (index < 0 || index >= this.rows.length) return null;
    this.#following = false;
    const key = this.options.key(this.rows[index]);
    for (let round = 0; round < 3; round += 1) {
      this.#measure();
      const top = this.#offsets[index] + this.#lead();
      const height = this.#offsets[index + 1] - this.#offsets[index];
      const view = this.scroller.clientHeight;
      if (place === "nearest") {
        const { scrollTop } = this.scroller;
        if (top < scrollTop) this.scroller.scrollTop = top - 8;
        else if (top + height > scrollTop + view) this.scroller.scrollTop = top + height - view + 8;
      } else this.scroller.scrollTop = place === "start" ? top - 60 : top - Math.max(40, (view - height) / 2);
      this.#place();
    }
    if (place !== "start" && this.#sticks()) this.#following = true;
    return this.#elements.get(key)?.element ?? null;
  }

  element(key) {
    return this.#elements.get(key)?.element ?? null;
  }

  /** The index of the last row whose end is visible. */
  lastVisible() {
    this.#measure();
    return this.#indexAt(this.scroller.scrollTop - this.#lead() + this.scroller.clientHeight - 4);
  }

  firstVisible() {
    this.#measure();
    return this.#indexAt(this.scroller.scrollTop - this.#lead());
  }

  get count() {
    return this.#elements.size;
  }

  layout(anchor = this.#anchor()) {
    if (this.closed || this.scroller.clientHeight === 0) return;
    for (let round = 0; round < 4; round += 1) {
      this.#measure();
      this.container.style.height = `${this.#offsets[this.rows.length]}px`;
      if (anchor?.end || this.#following) this.#scroll(this.scroller.scrollHeight);
      else if (anchor?.key !== undefined) {
        const index = this.#find(anchor.key, anchor.index);
        if (index >= 0) this.#scroll(this.#offsets[index] + this.#lead() - anchor.delta);
      }
      if (!this.#place()) break;
    }
  }

  #scroll(top) {
    const limit = Math.max(0, Math.min(top, this.scroller.scrollHeight - this.scroller.clientHeight));
    if (Math.abs(this.scroller.scrollTop - limit) < 0.5) return;
    this.scroller.scrollTop = limit;
    this.#ignored = this.scroller.scrollTop;
  }

  /** The distance of the container from the top of the scrolled area. */
  #lead() {
    return this.container.offsetTop;
  }

  #anchor() {
    if (!this.rows.length || !this.#valid) return null;
    if (this.#following) return { end: true };
    if (!this.options.anchored) return null;
    const top = this.scroller.scrollTop - this.#lead();
    const index = this.#indexAt(top);
    return { key: this.options.key(this.rows[index]), index, delta: this.#offsets[index] - top };
  }

  #find(key, hint) {
    const { rows, options } = this;
    if (rows[hint] && options.key(rows[hint]) === key) return hint;
    return rows.findIndex((row) => options.key(row) === key);
  }

  #measure() {
    if (this.#valid) return;
    const { rows, options } = this;
    const offsets = new Float64Array(rows.length + 1);
    let sum = 0;
    for (let index = 0; index < rows.length; index += 1) {
      offsets[index] = sum;
      sum += this.#heights.get(options.key(rows[index])) ?? options.estimate;
    }
    offsets[rows.length] = sum;
    this.#offsets = offsets;
    this.#valid = true;
  }

  #indexAt(position) {
    let low = 0;
    let high = this.rows.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#offsets[middle] <= position) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  /** Puts the visible rows into the document; returns whether their heights differ from the known ones. */
  #place() {
    const { rows, options } = this;
    const top = this.scroller.scrollTop - this.#lead();
    const first = rows.length ? this.#indexAt(top - OVERSCAN) : 0;
    let last = rows.length ? this.#indexAt(top + this.scroller.clientHeight + OVERSCAN) : -1;
    last = Math.min(last, rows.length - 1);
    this.slice.style.transform = `translateY(${this.#offsets[first] ?? 0}px)`;
    const wanted = new Map();
    for (let index = first; index <= last; index += 1) {
      const row = rows[index];
      const key = options.key(row);
      const signature = options.signature(row, index);
      let entry = this.#elements.get(key);
      if (!entry || entry.row !== row || entry.signature !== signature) {
        const element = options.render(row, index);
        if (entry) {
          const focused = entry.element.contains(document.activeElement);
          const label = focused ? document.activeElement.getAttribute("data-focus") : null;
          entry.element.replaceWith(element);
          if (focused) (label ? element.querySelector(`[data-focus="${CSS.escape(label)}"]`) ?? element : element).focus?.({ preventScroll: true });
        }
        entry = { element, row, signature };
      }
      wanted.set(key, entry);
    }
    for (const [key, entry] of this.#elements) {
      if (wanted.has(key)) continue;
      entry.element.remove();
    }
    let at = this.slice.firstElementChild;
    for (const { element } of wanted.values()) {
      if (element === at) at = at.nextElementSibling;
      else this.slice.insertBefore(element, at);
    }
    this.#elements = wanted;
    options.onplace?.(first, last);
    let changed = false;
    for (const [key, { element }] of wanted) {
      const height = element.getBoundingClientRect().height;
      if (Math.abs((this.#heights.get(key) ?? -1) - height) > 0.3) {
        this.#heights.set(key, height);
        changed = true;
      }
    }
    if (changed) this.#valid = false;
    return changed;
  }
}
