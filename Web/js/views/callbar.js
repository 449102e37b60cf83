// The bar of a conversation in whose call this tab does not take part, for users who may join the call.

import { canCall } from "../calls/center.js";
import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { t } from "../i18n/index.js";

export class CallBar {
  #key = null;

  constructor(view) {
    this.view = view;
    this.calls = view.app.owner?.calls;
    this.element = h("div", { class: "call-bar", role: "region", "aria-label": t("call"), hidden: true });
    this.end = this.calls?.center.subscribe(() => this.update());
  }

  update() {
    const { head, thread } = this.view;
    const current = this.calls?.current;
    const isHere = current && !current.isOver && current.conv === head.conv;
    const key = head.call && thread === null && this.calls && !isHere && canCall(head) ? head.call : null;
    if (key === this.#key) return;
    this.#key = key;
    this.element.hidden = key === null;
    if (key === null) return replace(this.element);
    replace(this.element, icon("call"), h("span", { class: "grow" }, t("callOngoing")),
      h("button", { type: "button", class: "button small", "data-action": "join-call", onclick: () => this.calls.start(head.conv, "audio") }, t("join")));
  }

  close() { this.end?.(); }
}

/** Returns the buttons that start calls, for the header of a conversation. */
export function callButtons(view) {
  const { calls } = view.app.owner ?? {};
  const button = (media, symbol, label) => h("button", { type: "button", class: "icon-button", "data-call": media, "aria-label": t(label), title: t(label), onclick: () => calls.start(view.id, media) }, icon(symbol));
  return [button("audio", "call", "callAudio"), button("video", "video", "callVideo")];
}
