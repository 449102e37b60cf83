// The bar with the number of requests to join a group. It is shown to admins, and opens the list of
// requests.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { isAdmin, isGroup } from "./model.js";
import { t } from "../i18n/index.js";

export class RequestBar {
  #key = null;

  constructor(view) {
    this.view = view;
    this.element = h("button", { type: "button", class: "request-bar", hidden: true, onclick: () => this.#open() });
    const { state } = view;
    const again = () => { this.#key = null; this.update(); };
    const ends = [state.subscribe("joinRequests", again), state.subscribe("connection", () => { if (state.connection?.state === "online") again(); })];
    this.end = () => { for (const end of ends) end(); };
  }

  close() {
    this.closed = true;
    this.end();
  }

  /**
   * Requests the number. A link can ask for an approval in any group. Changes of the members, which
   * can be frequent, matter only if each new member needs one.
   */
  async update() {
    const { head, thread, state } = this.view;
    const isShown = thread === null && isGroup(head) && isAdmin(head) && (!head.state || head.state === "joined");
    const key = `${isShown} ${head.settings?.join === "approval" ? head.members_version : ""}`;
    if (key === this.#key) return;
    this.#key = key;
    const answer = isShown ? await state.verb("members", { conv: head.conv, state: "requested" }).catch(() => null) : { members: [] };
    if (!answer || this.closed || this.#key !== key) return;
    const { length: n } = answer.members;
    this.element.hidden = n === 0;
    replace(this.element, icon("personAdd"), t("joinRequestCount", { n }));
  }

  async #open() {
    const { app } = this.view;
    await app.toggleDetails(true);
    app.details?.members?.showRequests();
  }
}
