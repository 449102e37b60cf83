// A list that keeps only the rows near the viewport in the document.

import { perFrame } from "./dom.js";

const OVERSCAN = 600; // pixels above and below the viewport
const MARGIN = 80; // pixels above and below the viewport that are rendered immediately
const AHEAD = 12; // the maximum number of rows outside the margin to render per frame

/**
 * Shows rows of different heights. A height is estimated until the row was rendered. The first
 * visible row keeps its position when rows are added above it, and the end stays visible if it was.
 *
 * options: `key(row)`; `render(row, index)` → element; `estimate` (the height of a row in pixels,
 * 66 by default); `signature(row, index)` (a changed value renders the row again); `stick()`
 * (whether to follow the end, false by default); `anchored` (true by default; if false, added rows
 * move those below them, as in a list whose newest row is the first); `tag` (of the element that
 * contains the rows, "div" by default); `onscroll(list)`; `onplace(first, last)`, called after rows
 * were rendered.
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

  /**
   * Shows the rows. `place` is "end", or the place in the viewport for the row at `index`, as in
   * `toIndex`. Without it, the list keeps its position.
   */
  setRows(rows, { index, place } = {}) {
    const anchor = this.#anchor();
    this.rows = rows;
    this.#valid = false;
    if (place === "end") this.toEnd();
    else if (place) this.toIndex(index, place);
    else this.layout(anchor);
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

  /**
   * Scrolls the row into view, and returns its element, or null. `place` is "start", "center" (the
   * default) or "nearest".
   */
  toIndex(index, place = "center") {
    if (index < 0 || index >= this.rows.length) return null;
    this.#following = false;
    this.layout({ key: this.options.key(this.rows[index]), index, place });
    if (this.#sticks()) this.#following = true;
    return this.element(this.options.key(this.rows[index]));
  }

  element(key) {
    return this.#elements.get(key)?.element ?? null;
  }

  /** Returns the index of the last row of which more than 4 px are visible. */
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

  /** Calls `layout` in the next frame. */
  schedule() { this.#scheduled(); }

  /**
   * Puts the rows near the viewport into the document, and scrolls to `anchor`: the end, or a row
   * and its place. Each round reads the document before and after all its changes, not between
   * them, because such a read forces a layout.
   */
  layout(anchor = this.#anchor()) {
    const view = this.scroller.clientHeight;
    if (this.closed || view === 0) return;
    const goal = this.#following ? { end: true } : anchor ?? {};
    let top = this.scroller.scrollTop - this.#lead();
    for (let round = 0; round < 4; round += 1) {
      this.#measure();
      top = this.#topFor(goal, top, view);
      const [first, last] = this.#place(top, view);
      if (this.#readHeights()) {
        this.#measure();
        top = this.#topFor(goal, top, view);
        this.#move(first);
      }
      this.#scroll(top);
      const reached = this.scroller.scrollTop - this.#lead();
      if (this.#covers(first, last, reached, view)) break;
      top = reached;
    }
  }

  /**
   * Returns the distance of the top of the viewport from the top of the list at which the goal is
   * reached.
   */
  #topFor({ end, key, index, delta, place }, top, view) {
    const total = this.#offsets[this.rows.length];
    if (end) return total - view;
    const at = key === undefined ? -1 : this.#find(key, index);
    if (at < 0) return top;
    const [start, height] = [this.#offsets[at], this.#offsets[at + 1] - this.#offsets[at]];
    if (place === undefined) return start - delta;
    if (place === "start") return Math.min(start - 60, total - view);
    if (place === "center") return Math.min(start - Math.max(40, (view - height) / 2), total - view);
    if (start < top) return start - 8;
    return start + height > top + view ? start + height - view + 8 : top;
  }

  #covers(first, last, top, view) {
    const bottom = Math.min(top + view, this.#offsets[this.rows.length]);
    return this.rows.length === 0 || ((first === 0 || this.#offsets[first] <= top) && (last === this.rows.length - 1 || this.#offsets[last + 1] >= bottom));
  }

  #scroll(top) {
    const { scroller } = this;
    const limit = Math.max(0, Math.min(top + this.#lead(), scroller.scrollHeight - scroller.clientHeight));
    if (Math.abs(scroller.scrollTop - limit) < 0.5) return;
    scroller.scrollTop = limit;
    this.#ignored = scroller.scrollTop;
  }

  /** Returns the distance of the container from the top of the scrolled area. */
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

  /**
   * Returns the first and last row to render: those in and near the viewport, and beyond these the
   * rows that exist and up to 12 new ones.
   */
  #range(top, view) {
    const { rows, options } = this;
    if (rows.length === 0) return [0, -1];
    let [first, last] = [this.#indexAt(top - MARGIN), this.#indexAt(top + view + MARGIN)];
    const [least, most] = [this.#indexAt(top - OVERSCAN), this.#indexAt(top + view + OVERSCAN)];
    let left = AHEAD;
    const isFree = (index) => this.#elements.has(options.key(rows[index])) || (left -= 1) >= 0;
    while (last < most && isFree(last + 1)) last += 1;
    while (first > least && isFree(first - 1)) first -= 1;
    if (first > least || last < most) this.#scheduled();
    return [first, last];
  }

  /**
   * Renders the rows without reading the layout. Returns the range of the rows that are now in the
   * document.
   */
  #place(top, view) {
    const { rows, options } = this;
    const [first, last] = this.#range(top, view);
    const wanted = new Map();
    for (let index = first; index <= last; index += 1) {
      const row = rows[index];
      const key = options.key(row);
      const signature = options.signature(row, index);
      let entry = this.#elements.get(key);
      if (!entry || entry.row !== row || entry.signature !== signature) {
        const element = options.render(row, index);
        if (entry) replaceElement(entry.element, element);
        entry = { element, row, signature };
      }
      wanted.set(key, entry);
    }
    for (const [key, entry] of this.#elements) if (!wanted.has(key)) entry.element.remove();
    let at = this.slice.firstElementChild;
    for (const { element } of wanted.values()) {
      if (element === at) at = at.nextElementSibling;
      else this.slice.insertBefore(element, at);
    }
    this.#elements = wanted;
    this.#move(first);
    options.onplace?.(first, last);
    return [first, last];
  }

  /** Sets the position of the rendered rows in the list, and the height of the list. */
  #move(first) {
    this.slice.style.transform = `translateY(${this.#offsets[first] ?? 0}px)`;
    this.container.style.height = `${this.#offsets[this.rows.length]}px`;
  }

  /** Measures the rendered rows. Returns whether a height differs from the known one. */
  #readHeights() {
    let changed = false;
    for (const [key, { element }] of this.#elements) {
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

/** Replaces the element of a row. The focus stays on the same part of the row. */
function replaceElement(former, element) {
  const focused = former.contains(document.activeElement);
  const label = focused ? document.activeElement.getAttribute("data-focus") : null;
  former.replaceWith(element);
  if (focused) (label ? element.querySelector(`[data-focus="${CSS.escape(label)}"]`) ?? element : element).focus?.({ preventScroll: true });
}
