// The bar of a chat with a user who is not a contact. Its buttons accept or decline a request, and
// add, block or report the user.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { confirm } from "./dialog.js";
import { lookalikeNote } from "./lookalike.js";
import { answerRequest, askForContact } from "./requests.js";
import { attempt } from "./toast.js";
import { userName } from "./model.js";
import { t } from "../i18n/index.js";

export class ContactBar {
  #shown = null;

  constructor(view) {
    this.view = view;
    this.state = view.state;
    this.element = h("div", { class: "contact-bar", role: "region", "aria-label": t("notAContact"), hidden: true });
    this.end = this.state.subscribe("contacts", () => this.update());
  }

  close() {
    this.end();
  }

  update() {
    const { head, thread } = this.view;
    const name = head.kind === "pair" && thread === null ? head.peer?.name : null;
    const contact = name ? this.state.contact(name) : null;
    // A user who is not a contact is a stranger until the signed-in user has written to that user.
    const isStranger = this.view.ready && name && !contact && !this.state.user(name)?.deleted && head.last?.sender === name && !this.view.hasWritten;
    const kind = contact?.state === "asked" ? "asked" : isStranger || (this.#shown === "stranger" && !contact) ? "stranger" : null;
    const key = kind && `${kind} ${userName(this.state, name)}`;
    this.#shown = kind;
    this.element.hidden = !kind;
    if (this.key === key) return;
    this.key = key;
    if (kind) replace(this.element, lookalikeNote(this.state, name), kind === "asked" ? this.#request(name, contact) : null, h("div", { class: "button-row" }, kind === "asked" ? this.#answers(name) : this.#choices(name)));
  }

  #request(name, { text }) {
    return h("div", { class: "lines" }, h("div", { class: "small muted" }, t("newRequest", { name: userName(this.state, name) })), text ? h("p", { class: "said" }, text) : null);
  }

  #answers(name) {
    const { state } = this;
    return [h("button", { type: "button", class: "button small primary", onclick: () => answerRequest(state, name, true) }, t("accept")),
      h("button", { type: "button", class: "button small", onclick: () => answerRequest(state, name, false) }, t("decline")), this.#block(name)];
  }

  #choices(name) {
    const { app } = this.view;
    return [h("button", { type: "button", class: "button small", onclick: () => askForContact(app, name) }, icon("personAdd"), t("addContact")), this.#block(name),
      h("button", { type: "button", class: "button small quiet danger", onclick: () => app.report({ user: name }) }, t("report"))];
  }

  #block(name) {
    const { state } = this;
    return h("button", { type: "button", class: "button small quiet danger", onclick: async () => {
      if (await confirm(t("blockQuestion", { name: userName(state, name) }), { yes: t("block"), dangerous: true })) attempt(state.block(name));
    } }, t("block"));
  }
}
