// A list of people in a dialog, which is requested in pages.

import { h } from "./dom.js";
import { userAvatar } from "./avatar.js";
import { RowList } from "./rows.js";
import { attempt } from "./toast.js";
import { actorName } from "./model.js";
import { number } from "../i18n/format.js";
import { t } from "../i18n/index.js";

/** `load(page)` resolves to {rows: [{key, user, end}], page}. */
export class PagedPeople {
  #rows = [];
  #page;
  #isLoading = false;
  #version = 0;

  constructor(app, label, load) {
    this.state = app.state;
    this.load = load;
    this.list = new RowList({
      label, className: "people", estimate: 56, key: (row) => row.key, choose: ({ user }) => app.openProfile(user), onend: () => this.#more(),
      render: ({ user, end }) => h("button", { type: "button", class: "row compact" }, userAvatar(this.state, this.state.user(user), { size: "m" }),
        h("span", { class: "lines" }, h("span", { class: "title ellipsis" }, actorName(this.state, user)), h("span", { class: "sub ellipsis" }, `@${user}`)), end),
    });
    this.empty = h("p", { class: "empty", hidden: true }, t("none"));
    this.list.element.append(this.empty);
  }

  get element() { return this.list.element; }
  close() { this.list.close(); }

  restart() {
    this.#version += 1;
    this.#rows = [];
    this.#page = undefined;
    this.#isLoading = false;
    this.list.setRows([]);
    return this.#more();
  }

  async #more() {
    if (this.#isLoading || this.#page === null) return;
    this.#isLoading = true;
    const version = this.#version;
    const answer = await attempt(this.load(this.#page));
    if (version !== this.#version) return;
    this.#page = answer?.page ?? null;
    this.#rows.push(...(answer?.rows ?? []));
    this.#isLoading = false;
    this.empty.hidden = this.#rows.length > 0;
    this.list.setRows([...this.#rows]);
  }
}

/**
 * Returns buttons that choose a part of the list, as {element, show(key)}. `parts`: [{key, label,
 * name?, count}], with an undefined key for all.
 */
export function partChips(label, parts, choose) {
  const element = h("div", { class: "chips pad", role: "group", "aria-label": label });
  const show = (key) => {
    for (const chip of element.children) chip.setAttribute("aria-pressed", String(chip.dataset.key === String(key ?? "")));
    choose(key);
  };
  element.append(...parts.map(({ key, label: text, name, count }) =>
    h("button", { type: "button", class: "chip ellipsis", "data-key": key ?? "", autofocus: key === undefined, "aria-label": name, onclick: () => show(key) }, text, " ", number(count))));
  return { element, show };
}
