// The header of a conversation: title, presence, pinned messages, and the users who are typing.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { headAvatar } from "./avatar.js";
import { callButtons } from "./callbar.js";
import { withPanels } from "./later.js";
import { lookalikeMark } from "./lookalike.js";
import { eventText, headTitle, isGroup, userName } from "./model.js";
import { canCall } from "../calls/center.js";
import { lastSeen, number } from "../i18n/format.js";
import { t } from "../i18n/index.js";

export class ThreadHeader {
  #pinTexts = new Map(); // seq -> text, including messages that are no longer loaded
  #pinAt = 0;
  #isOnline; // whether the avatar has the mark of a user who is online

  constructor(view) {
    this.view = view;
    this.state = view.state;
    const { app } = view;
    this.title = h("h2", { class: "ellipsis" });
    this.sub = h("div", { class: "sub ellipsis" });
    this.face = h("span", {});
    this.more = h("button", { type: "button", class: "icon-button", "aria-label": t("more"), "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => withPanels(({ conversationMenu }) => conversationMenu(app, this.more, view.head, { thread: view })) }, icon("more"));
    this.calls = view.thread === null && app.owner?.calls ? callButtons(view) : [];
    this.element = h("header", { class: "bar" },
      h("button", { type: "button", class: `icon-button${view.thread === null ? " only-narrow" : ""}`, "aria-label": t("back"), onclick: () => app.back() }, icon("back")),
      h("button", { type: "button", class: "peer", "aria-label": t("chatInfo"), onclick: () => app.toggleDetails() }, this.face, h("span", { class: "lines" }, this.title, this.sub)),
      this.calls,
      h("button", { type: "button", class: "icon-button only-wide", "aria-label": t("search"), onclick: () => app.search({ conv: view.id }) }, icon("search")),
      this.more);
    this.banner = h("div", { class: "banner", role: "status", hidden: true }, icon("warning"), t("offline"));
    this.pin = h("button", { type: "button", class: "pin-line grow", onclick: () => this.#nextPin() });
    this.allPins = h("button", { type: "button", class: "icon-button", "aria-label": t("pinnedMessages"), title: t("pinnedMessages"), onclick: () => withPanels(({ showPins }) => showPins(view)) }, icon("list"));
    this.pinned = h("div", { class: "pinned", hidden: true }, this.pin, this.allPins);
  }

  update() {
    const { view, state } = this;
    const title = headTitle(state, view.head);
    replace(this.title, view.thread === null ? title : `${t("thread")} · ${title}`, view.head.kind === "pair" ? lookalikeMark(state, view.head.peer?.name) : null);
    this.#updateFace();
    for (const button of this.calls) button.hidden = !canCall(view.head) || view.isBlocked;
    this.updatePresence();
    this.updatePins();
  }

  #peer() {
    return this.view.head.kind === "pair" && this.view.head.peer ? this.state.user(this.view.head.peer.name) ?? this.view.head.peer : null;
  }

  #updateFace() {
    this.#isOnline = this.#peer()?.online;
    replace(this.face, headAvatar(this.state, this.view.head, { size: "m", online: this.#isOnline }));
  }

  updatePresence() {
    if (this.#peer()?.online !== this.#isOnline) this.#updateFace();
    this.banner.hidden = this.state.connection?.state !== "offline" || !matchMedia("(max-width: 720px)").matches;
    const typing = (this.state.typing(this.view.id) ?? []).filter((name) => name !== this.state.account?.name);
    this.sub.classList.toggle("active", typing.length > 0);
    this.sub.textContent = typing.length ? typingText(this.state, this.view.head, typing) : this.#subtitle();
  }

  #subtitle() {
    const { head } = this.view;
    if (this.state.connection?.state === "connecting") return t("connecting");
    if (head.kind === "channel") return t("subscribers", { n: head.members ?? 0 });
    if (head.kind === "group") return t("membersCount", { n: head.members ?? 0 });
    const peer = this.#peer();
    if (!peer) return "";
    if (this.state.connection?.state === "offline") return `@${peer.name}`;
    if (peer.online) return t("online");
    return peer.last_seen ? lastSeen(peer.last_seen) : peer.status ?? "";
  }

  updatePins() {
    const pins = this.view.thread === null ? this.view.head.pins ?? [] : [];
    this.pinned.hidden = !pins.length;
    if (!pins.length) return;
    const seq = pins[this.#pinAt % pins.length];
    const row = this.state.event(this.view.id, seq);
    if (row?.kind) this.#pinTexts.set(seq, eventText(this.state, row).slice(0, 120));
    replace(this.pin, icon("pin"), h("span", { class: "grow" }, h("strong", {}, pins.length > 1 ? `${t("pinnedMessage")} ${number((this.#pinAt % pins.length) + 1)}/${number(pins.length)}` : t("pinnedMessage")),
      h("span", { class: "ellipsis" }, this.#pinTexts.get(seq) ?? t("message"))));
  }

  #nextPin() {
    const pins = this.view.head.pins ?? [];
    const at = this.#pinAt % pins.length;
    this.view.actions.jump(pins[at]);
    this.#pinAt = at + 1;
    this.updatePins();
  }
}

export function typingText(state, head, names) {
  if (!isGroup(head)) return t("typing");
  return names.length === 1 ? t("typingOne", { name: userName(state, names[0]) }) : t("typingMany", { n: names.length });
}
