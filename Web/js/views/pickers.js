// Dialogs that choose a person or a conversation.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { headAvatar, userAvatar } from "./avatar.js";
import { openDialog, switchRow } from "./dialog.js";
import { lookalikeMark } from "./lookalike.js";
import { RowList } from "./rows.js";
import { attempt } from "./toast.js";
import { byName, headTitle, matches, userName } from "./model.js";
import { t } from "../i18n/index.js";

export function searchField(label, extra = {}) {
  const input = h("input", { type: "text", role: "searchbox", inputmode: "search", enterkeyhint: "search", class: "input search", placeholder: label, "aria-label": label, autocomplete: "off", autofocus: true, ...extra });
  return { input, element: h("div", { class: "search-box" }, icon("search"), input) };
}

export function personRow(state, user, { sub = `@${user.name}`, end = null, chosen = null } = {}) {
  return h("button", { type: "button", class: "row compact person", "data-user": user.name, "aria-pressed": chosen === null ? null : String(chosen) },
    userAvatar(state, user, { size: "m", online: user.online }),
    h("span", { class: "lines" }, h("span", { class: "line" }, h("span", { class: "title ellipsis" }, userName(state, user.name)), lookalikeMark(state, user.name)), h("span", { class: "sub ellipsis" }, sub)),
    chosen === null ? null : h("span", { class: "choice-mark", "aria-hidden": "true" }, chosen ? icon("check") : null), end);
}

/**
 * A search field and a list of people: the contacts immediately, then the users that the server
 * finds, in pages. `signature(user)` returns a value that changes when the row must be rendered
 * again.
 */
export class PeopleList {
  #people = [];
  #page = null;
  #loading = false;
  #query = "";

  constructor(app, { choose, render, signature, exclude = () => false, label = t("searchPeople"), empty = null }) {
    this.state = app.state;
    this.exclude = exclude;
    this.field = searchField(label, { id: "find-people" });
    this.rows = new RowList({
      label: t("people"), className: "people", estimate: 56, search: this.field.input,
      key: (row) => row.user.name, choose: (row) => choose(row.user),
      render: (row) => (render ?? ((user) => personRow(this.state, user)))(row.user), signature: (row) => signature?.(row.user) ?? "",
      onend: () => this.#more(),
    });
    this.none = empty;
    this.empty = h("div", { class: "empty", hidden: true });
    this.rows.element.append(this.empty);
    let timer = 0;
    this.field.input.addEventListener("input", () => {
      clearTimeout(timer);
      this.#start(false);
      timer = setTimeout(() => this.#start(true), 180);
    });
  }

  show() {
    this.#start(false);
  }

  refresh() {
    this.rows.list.layout();
  }

  close() {
    this.rows.close();
  }

  #start(remote) {
    this.#query = this.field.input.value.trim().replace(/^@/, "");
    this.#page = null;
    const contacts = this.state.contacts().filter((contact) => matches(contact, this.#query)).sort(byName(this.state)).map(({ user }) => user);
    this.#set(contacts);
    if (remote && this.#query) {
      this.#page = undefined;
      this.#more();
    }
  }

  #set(users) {
    const seen = new Set();
    this.#people = users.filter((user) => !seen.has(user.name) && seen.add(user.name) && !this.exclude(user));
    this.rows.setRows(this.#people.map((user) => ({ user })));
    this.empty.hidden = this.#people.length > 0 || this.#page !== null;
    const none = this.#query ? { title: t("noResults"), hint: t("noPeopleHint") } : this.none ?? { hint: t("noContactsHint") };
    replace(this.empty, none?.title ? h("h2", {}, none.title) : null, h("p", {}, none?.hint ?? t("noResults")));
  }

  async #more() {
    if (this.#loading || this.#page === null || this.#page === "") return;
    this.#loading = true;
    const query = this.#query;
    const answer = await attempt(this.state.people(query, this.#page));
    this.#loading = false;
    if (query !== this.#query) {
      if (this.#query) this.#more();
      return;
    }
    this.#page = answer?.page ?? null;
    this.#set([...this.#people, ...(answer?.users ?? [])]);
  }
}

export function choosePerson(app, title) {
  return new Promise((resolve) => {
    let chosen = null;
    const people = new PeopleList(app, { choose: (user) => { chosen = user; dialog.close(); } });
    const dialog = openDialog(title, [h("div", { class: "pad" }, people.field.element), people.rows.element], { onclose: () => { people.close(); resolve(chosen); } });
    people.show();
  });
}

/**
 * Asks for a conversation. Resolves to { conv, … } or null. `switches` ({ name: label }) are shown
 * above the list; the result contains the Boolean values of those that the user changed.
 */
export function chooseConversation(app, title, { switches = {} } = {}) {
  const { state } = app;
  return new Promise((resolve) => {
    let chosen = null;
    const choices = {};
    const { input, element } = searchField(t("search"));
    const rows = new RowList({
      label: t("chatList"), className: "people", estimate: 56, search: input, key: (head) => head.conv,
      choose: (head) => { chosen = { conv: head.conv, ...choices }; dialog.close(); },
      render: (head) => h("button", { type: "button", class: "row compact" }, headAvatar(state, head, { size: "m" }), h("span", { class: "lines" }, h("span", { class: "title ellipsis" }, headTitle(state, head)))),
    });
    const show = () => rows.setRows(state.conversations({ filter: "all", query: input.value.trim() }).filter((head) => !head.state || head.state === "joined"));
    input.addEventListener("input", show);
    const dialog = openDialog(title, [h("div", { class: "pad" }, element, Object.entries(switches).map(([name, label]) => switchRow(label, false, (on) => { choices[name] = on; }))), rows.element], { onclose: () => { rows.close(); resolve(chosen); } });
    show();
  });
}
