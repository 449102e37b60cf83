// The line above the composer that counts down the seconds of slow mode. Messages that are sent
// during the countdown wait in the outbox.

import { h } from "./dom.js";
import { isAdmin, isGroup } from "./model.js";
import { span } from "../i18n/format.js";
import { t } from "../i18n/index.js";

export class SlowLine {
  #timer = 0;

  constructor(view) {
    this.view = view;
    this.element = h("div", { class: "slow-line", role: "timer", hidden: true });
  }

  close() {
    clearTimeout(this.#timer);
  }

  update() {
    clearTimeout(this.#timer);
    const { head } = this.view;
    const slow = isGroup(head) && !isAdmin(head) ? head.settings?.slow ?? 0 : 0;
    const last = slow ? this.view.rows.findLast((row) => row.own && row.n !== undefined)?.at ?? 0 : 0;
    const left = Math.ceil((last + slow * 1000 - Date.now()) / 1000);
    const isWaiting = slow > 0 && left > 0 && left <= slow;
    this.element.hidden = !isWaiting;
    if (!isWaiting) return;
    this.element.textContent = t("slowLeft", { time: span(left) });
    this.#timer = setTimeout(() => this.update(), 1000);
  }
}
