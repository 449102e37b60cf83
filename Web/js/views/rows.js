// A virtual list with keyboard navigation: one row is focusable, and the arrow keys move the focus.

import { h } from "./dom.js";
import { VirtualList } from "./virtual.js";

/**
 * options: `key(row)`; `render(row)` → element; `choose(row)`; `menu(row, anchor)`; `label`;
 * `className`; `estimate` (the height of a row in pixels, 66 by default); `signature(row)`;
 * `onend()`, called near the end; `search`, an input from which Arrow Down enters the list.
 */
export class RowList {
  #focus = null;

  constructor(options) {
    this.options = options;
    this.content = h("div", { role: "list", "aria-label": options.label });
    this.element = h("div", { class: `scroller ${options.className ?? ""}` }, this.content);
    this.list = new VirtualList(this.element, this.content, {
      key: options.key, estimate: options.estimate ?? 66, anchored: false,
      signature: (row) => `${options.signature?.(row) ?? ""}|${this.#focus === options.key(row)}`,
      render: (row) => this.#render(row),
      onscroll: () => this.#near(),
    });
    this.element.addEventListener("keydown", (event) => this.#typed(event));
    options.search?.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") this.focus();
      else if (event.key === "Enter" && this.list.rows.length) this.options.choose(this.list.rows[0]);
      else return;
      event.preventDefault();
    });
  }

  setRows(rows) {
    if (!rows.some((row) => this.options.key(row) === this.#focus)) this.#focus = rows.length ? this.options.key(rows[0]) : null;
    this.list.setRows(rows);
    this.#near();
  }

  close() {
    this.list.close();
  }

  #near() {
    const { element } = this;
    if (element.scrollHeight - element.scrollTop - element.clientHeight < 600) this.options.onend?.();
  }

  #render(row) {
    const key = this.options.key(row);
    const inner = this.options.render(row);
    const button = inner.matches(".row") ? inner : inner.querySelector(".row"); // a row may have more buttons beside it
    button.tabIndex = this.#focus === key ? 0 : -1;
    button.dataset.focus = "row";
    button.addEventListener("click", () => { this.#focus = key; this.options.choose(row); });
    button.addEventListener("contextmenu", (event) => {
      if (!this.options.menu) return;
      event.preventDefault();
      this.options.menu(row, { x: event.clientX, y: event.clientY });
    });
    return h("div", { role: "listitem", "data-key": key }, inner);
  }

  /** Focuses the focusable row. Returns whether the list has rows. */
  focus() {
    if (this.list.rows.length === 0) return false;
    const index = this.list.rows.findIndex((row) => this.options.key(row) === this.#focus);
    this.#move(Math.max(0, index));
    return true;
  }

  #move(index) {
    const row = this.list.rows[index];
    if (!row) return;
    this.#focus = this.options.key(row);
    this.list.toIndex(index, "nearest");
    this.list.layout();
    this.list.element(this.#focus)?.querySelector(".row")?.focus({ preventScroll: true });
  }

  #typed(event) {
    const key = event.target.closest("[data-key]")?.dataset.key;
    const index = this.list.rows.findIndex((row) => String(this.options.key(row)) === key);
    if (index < 0) return;
    const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -8, PageDown: 8 }[event.key];
    if (step) {
      if (index === 0 && step < 0 && this.options.search) this.options.search.focus();
      else this.#move(Math.max(0, Math.min(this.list.rows.length - 1, index + step)));
    } else if (event.key === "Home") this.#move(0);
    else if (event.key === "End") this.#move(this.list.rows.length - 1);
    else if (this.options.menu && (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey))) this.options.menu(this.list.rows[index], event.target);
    else return;
    event.preventDefault();
  }
}
