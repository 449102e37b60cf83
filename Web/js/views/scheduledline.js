// The line above the composer with the number of scheduled messages, which opens their list.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { withPanels } from "./later.js";
import { t } from "../i18n/index.js";

const LONGEST = 3_600_000; // ms, the maximum duration of a timer

export class ScheduledLine {
  #timer = 0;

  constructor(view) {
    this.view = view;
    this.element = h("button", { type: "button", class: "scheduled-line", hidden: true, onclick: () => withPanels(({ showScheduled }) => showScheduled(view.app, view.id)) });
    const { state } = view;
    const ends = [state.subscribe("scheduled", () => this.update()), state.subscribe("connection", () => { if (state.connection?.state === "online") this.update(); })];
    this.end = () => { for (const end of ends) end(); };
    this.update();
  }

  close() {
    this.closed = true;
    clearTimeout(this.#timer);
    this.end();
  }

  async update() {
    const { state, id } = this.view;
    const messages = await state.scheduled(id).catch(() => null); // without a connection, the line stays as it is
    if (!messages || this.closed) return;
    clearTimeout(this.#timer);
    const { length: n } = messages;
    this.element.hidden = n === 0;
    if (n === 0) return;
    replace(this.element, icon("clock"), t("scheduledCount", { n }));
    // The server sends a message within a second of its time.
    const next = Math.min(...messages.filter(({ error }) => !error).map(({ send_at: at }) => at)) - state.now + 1500;
    if (next < Infinity) this.#timer = setTimeout(() => this.update(), Math.min(LONGEST, Math.max(1500, next)));
  }
}
