// The open conversation: header, pinned message, log, jump button, composer.

import { announce, h, replace, Scope } from "./dom.js";
import { icon } from "./icons.js";
import { Albums, partsOf } from "./albums.js";
import { headAvatar } from "./avatar.js";
import { Composer } from "./composer.js";
import { canWrite, eventText, headTitle, isGroup, isSilent, isNote, userName } from "./model.js";
import { renderRow } from "./message.js";
import { ThreadActions } from "./threadactions.js";
import { VirtualList } from "./virtual.js";
import { conversationMenu } from "./conversationmenu.js";
import { attempt } from "./toast.js";
import { dayOf, lastSeen, number } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const TOGETHER = 5 * 60_000; // messages of one sender within this time are one group

export class ThreadView {
  #scope = new Scope();
  #window;
  #albums = new Albums();
  #rows = [];
  #focusKey = null;
  #hit = null;
  #marked = 0;
  #spokenUpTo = 0;
  #loading = false;

  constructor(app, id, { seq = null, thread = null } = {}) {
    this.app = app;
    this.state = app.state;
    this.id = id;
    this.thread = thread;
    this.selected = new Map();
    this.pinTexts = new Map();
    this.hover = matchMedia("(hover: hover)").matches;
    this.head = this.state.conversation(id);
    this.#window = this.state.thread(id, thread === null ? {} : { thread });
    this.firstUnread = null;
    this.#spokenUpTo = this.head?.seq ?? 0;
    this.actions = new ThreadActions(this);
    this.#build();
    this.#scope.add(this.state.subscribe(`thread:${id}`, () => this.update()));
    this.#scope.add(this.state.subscribe(`conversation:${id}`, () => this.updateHead()));
    this.#scope.add(this.state.subscribe(`typing:${id}`, () => this.#updatePresence()));
    this.#scope.add(this.state.subscribe("connection", () => this.#updatePresence()));
    this.#scope.add(this.state.subscribe("presence", () => this.#updatePresence()));
    this.#scope.listen(document, "visibilitychange", () => this.#mark());
    this.#scope.listen(window, "focus", () => this.#mark());
    this.updateHead();
    this.#begin(seq);
  }

  async #begin(seq) {
    const shown = new Promise((resolve) => { requestAnimationFrame(resolve); });
    if (this.#window.ready) await attempt(this.#window.ready);
    await shown;
    this.firstUnread = this.#window.firstUnread ?? null;
    this.#open(seq);
  }

  close() {
    this.closed = true;
    this.composer?.close();
    this.list.close();
    this.#scope.close();
    this.#window.close?.();
    this.element.remove();
  }

  #build() {
    this.title = h("h2", { class: "ellipsis" });
    this.sub = h("div", { class: "sub ellipsis" });
    this.face = h("span", {});
    this.more = h("button", { type: "button", class: "icon-button", "aria-label": t("more"), "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => conversationMenu(this.app, this.more, this.head, { thread: this }) }, icon("more"));
    this.header = h("header", { class: "bar" },
      h("button", { type: "button", class: `icon-button${this.thread === null ? " only-narrow" : ""}`, "aria-label": t("back"), onclick: () => this.app.back() }, icon("back")),
      h("button", { type: "button", class: "peer", "aria-label": t("chatInfo"), onclick: () => this.app.toggleDetails() }, this.face, h("span", { class: "lines" }, this.title, this.sub)),
      h("button", { type: "button", class: "icon-button", "aria-label": t("search"), onclick: () => this.app.search({ conv: this.id }) }, icon("search")),
      this.more);
    this.banner = h("div", { class: "banner", role: "status", hidden: true }, icon("warning"), t("offline"));
    this.pinned = h("button", { type: "button", class: "pinned", hidden: true, onclick: () => this.#nextPin() });
    this.scroller = h("div", { class: "scroller log", role: "region", "aria-label": t("messageList"), tabindex: "-1" });
    this.content = this.scroller.appendChild(h("div", {}));
    this.count = h("span", { class: "badge", hidden: true });
    this.jump = h("button", { type: "button", class: "jump", "aria-label": t("jumpToNewest"), hidden: true, onclick: () => this.toNewest() }, icon("down"), this.count);
    this.foot = h("div", {});
    this.box = h("div", { class: "log-box" }, this.scroller, this.jump);
    this.element = h("main", { class: "pane thread-pane" }, this.header, this.banner, this.pinned, this.box, this.foot);
    this.list = new VirtualList(this.scroller, this.content, {
      key: (row) => row.key, estimate: 58, stick: true,
      signature: (row, index) => this.#signature(row, index),
      render: (row, index) => this.#render(row, index),
      onscroll: () => this.#scrolled(),
      onplace: () => requestAnimationFrame(() => this.#placed()),
    });
    this.scroller.addEventListener("keydown", (event) => this.#typed(event));
    this.scroller.addEventListener("contextmenu", (event) => this.#contextMenu(event));
    this.scroller.addEventListener("click", (event) => this.#clicked(event));
    this.#longPress();
    this.scroller.addEventListener("dblclick", (event) => {
      const row = this.#rowOf(event.target);
      if (row?.seq && !isNote(row) && !event.target.closest("a, button, input")) this.actions.reply(row);
    });
  }

  #open(seq) {
    if (this.closed) return;
    this.update();
    if (seq !== null) this.actions.jump(seq);
    else if (this.firstUnread !== null) {
      const index = this.#rows.findIndex((row) => row.seq >= this.firstUnread);
      if (index > 0) this.list.toIndex(index, "start");
      else this.list.toEnd();
    } else this.list.toEnd();
    this.ready = true;
    this.#scrolled();
    this.#mark();
  }

  // Rows

  update() {
    if (this.closed) return;
    this.#rows = this.#albums.merge(this.state, this.#window.rows.filter((row) => !isSilent(row)));
    const last = this.#rows.at(-1);
    if (!this.#focusKey || !this.#rows.some((row) => row.key === this.#focusKey)) this.#focusKey = last?.key ?? null;
    this.list.setRows(this.#rows);
    this.empty ??= h("div", { class: "empty" }, h("h2", {}, t("noMessages")), h("p", {}, t("noMessagesHint")));
    if (this.#rows.length || this.#window.loading) this.empty.remove();
    else this.scroller.prepend(this.empty);
    this.#speak();
    this.#updatePins();
    if (this.ready) this.#scrolled();
  }

  #signature(row, index) {
    const shape = this.#shape(row, index);
    return `${shape.day}${shape.unread}${shape.first}${shape.last}${shape.selected}${shape.hit}${shape.focusable}`;
  }

  #shape(row, index) {
    const before = this.#rows[index - 1];
    const after = this.#rows[index + 1];
    const day = !before || dayOf(before.at ?? Date.now()) !== dayOf(row.at ?? Date.now());
    const unread = this.firstUnread !== null && row.seq >= this.firstUnread && !(before?.seq >= this.firstUnread);
    return {
      day, unread,
      first: day || unread || !joins(before, row),
      last: !after || !joins(row, after) || dayOf(after.at ?? Date.now()) !== dayOf(row.at ?? Date.now()),
      selected: this.selected.has(row.key),
      hit: this.#hit === row.key,
      focusable: this.#focusKey === row.key,
    };
  }

  #render(row, index) {
    return renderRow({ state: this.state, head: this.head, actions: this.actions, inThread: this.thread !== null, hover: this.hover }, row, this.#shape(row, index));
  }

  /** Shows the row and marks it for a moment. Loads it if it is not in the window. */
  async jumpTo(seq) {
    const isAt = (row) => partsOf(row).some((part) => part.seq === seq);
    let index = this.#rows.findIndex(isAt);
    if (index < 0) {
      const found = await attempt(this.#window.jump(seq));
      if (found === undefined || this.closed) return false;
      this.update();
      index = this.#rows.findIndex((row) => isAt(row) || row.seq >= seq);
    }
    if (index < 0) return false;
    this.#hit = this.#rows[index].key;
    this.#focusKey = this.#hit;
    const element = this.list.toIndex(index, "center");
    this.list.layout();
    (this.list.element(this.#hit) ?? element)?.focus({ preventScroll: true });
    setTimeout(() => {
      this.#hit = null;
    }, 1800);
    return true;
  }

  async toNewest() {
    const unread = this.firstUnread;
    const index = unread === null ? -1 : this.#rows.findIndex((row) => row.seq >= unread);
    if (index > this.list.lastVisible()) {
      this.list.toIndex(index, "start");
      return;
    }
    if (this.#window.hasNewer) await attempt(this.#window.jumpToEnd());
    this.update();
    this.list.toEnd();
    this.composer?.focus();
  }

  #scrolled() {
    if (!this.ready || this.closed) return;
    const atEnd = this.list.isAtEnd() && !this.#window.hasNewer;
    this.jump.hidden = atEnd;
    const unread = this.state.conversation(this.id)?.unread ?? 0;
    this.count.hidden = unread === 0;
    this.count.textContent = number(unread);
    this.jump.setAttribute("aria-label", unread ? `${t("jumpToNewest")}, ${t("unreadCount", { n: unread })}` : t("jumpToNewest"));
    if (this.scroller.scrollTop < 1200 && this.#window.hasOlder) this.#load("loadOlder");
    else if (this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight < 1200 && this.#window.hasNewer) this.#load("loadNewer");
    this.#mark();
  }

  #placed() {
    if (this.ready && !this.closed) this.#mark();
  }

  async #load(direction) {
    if (this.#loading) return;
    this.#loading = true;
    try {
      await this.#window[direction]();
    } catch (error) {
      console.warn(error);
    } finally {
      this.#loading = false;
    }
    if (!this.closed) this.update();
  }

  /** Sets the read position to the last visible message while the page is in use. */
  #mark() {
    if (!this.ready || this.closed || this.thread !== null || document.visibilityState !== "visible" || !document.hasFocus() || !this.#rows.length) return;
    for (let index = this.list.lastVisible(); index >= 0; index -= 1) {
      const { n } = this.#rows[index];
      if (!n) continue;
      if (n > this.#marked && n > (this.head?.read ?? 0)) {
        this.#marked = n;
        this.state.mark(this.id, n).catch(() => { this.#marked = 0; });
      }
      return;
    }
  }

  #speak() {
    const newest = this.#rows.at(-1);
    if (!newest?.seq || newest.seq <= this.#spokenUpTo) return;
    this.#spokenUpTo = newest.seq;
    if (!newest.own && this.ready) announce(t("spokenNew", { name: userName(this.state, newest.sender), text: eventText(this.state, newest) }));
  }

  // Header and footer

  updateHead() {
    const head = this.state.conversation(this.id);
    if (!head || this.closed) return;
    this.head = head;
    this.title.textContent = this.thread === null ? headTitle(this.state, head) : `${t("thread")} · ${headTitle(this.state, head)}`;
    replace(this.face, headAvatar(this.state, head, { size: "m", online: this.#peer()?.online }));
    this.#updatePresence();
    this.#updatePins();
    this.#updateFoot();
    if (this.ready) this.#scrolled();
  }

  #peer() {
    return this.head.kind === "pair" && this.head.peer ? this.state.user(this.head.peer.name) ?? this.head.peer : null;
  }

  #updatePresence() {
    this.banner.hidden = this.state.connection?.state !== "offline" || !matchMedia("(max-width: 720px)").matches;
    const typing = (this.state.typing(this.id) ?? []).filter((name) => name !== this.state.account?.name);
    this.sub.classList.toggle("active", typing.length > 0);
    this.sub.textContent = typing.length ? typingText(this.state, this.head, typing) : this.#subtitle();
  }

  #subtitle() {
    const { head } = this;
    if (this.state.connection?.state === "connecting") return t("connecting");
    if (head.kind === "channel") return t("subscribers", { n: head.members ?? 0 });
    if (head.kind === "group") return t("membersCount", { n: head.members ?? 0 });
    const peer = this.#peer();
    if (!peer) return "";
    if (this.state.connection?.state === "offline") return `@${peer.name}`;
    if (peer.online) return t("online");
    return peer.last_seen ? lastSeen(peer.last_seen) : peer.status ?? "";
  }

  #updatePins() {
    const pins = this.thread === null ? this.head.pins ?? [] : [];
    this.pinned.hidden = !pins.length;
    if (!pins.length) return;
    const seq = pins[(this.pinAt ?? 0) % pins.length];
    const row = this.#window.rows.find((item) => item.seq === seq) ?? this.state.event?.(this.id, seq);
    if (row?.kind) this.pinTexts.set(seq, eventText(this.state, row).slice(0, 120));
    replace(this.pinned, icon("pin"), h("span", { class: "grow" }, h("strong", {}, t(pins.length > 1 ? "pinnedMessages" : "pinnedMessage")),
      h("span", { class: "ellipsis" }, this.pinTexts.get(seq) ?? t("message"))));
  }

  #nextPin() {
    const pins = this.head.pins ?? [];
    const at = (this.pinAt ?? 0) % pins.length;
    this.actions.jump(pins[at]);
    this.pinAt = at + 1;
  }

  #updateFoot() {
    const { head } = this;
    if (this.selected.size) return;
    if (canWrite(head)) {
      if (!this.composer) {
        this.composer = new Composer(this);
        replace(this.foot, this.composer.element);
      }
      this.composer.updateHead(head);
      return;
    }
    this.composer?.close();
    this.composer = null;
    replace(this.foot, footNote(this, head));
  }

  /** Shows the bar for the selected messages, or the composer again. */
  updateSelection() {
    this.element.classList.toggle("selecting", this.selected.size > 0);
    this.list.layout();
    if (!this.selected.size) {
      if (this.composer) replace(this.foot, this.composer.element);
      else this.#updateFoot();
      return;
    }
    replace(this.foot, this.actions.selectionBar());
  }

  // Input

  #rowOf(target) {
    const key = target.closest?.(".item")?.dataset.key;
    const row = key === undefined ? null : this.#rows.find((each) => each.key === key) ?? null;
    const part = target.closest("[data-part]")?.dataset.part;
    return row?.parts?.find((each) => each.key === part) ?? row;
  }

  #clicked(event) {
    if (!this.selected.size) return;
    const row = this.#rowOf(event.target);
    if (!row || isNote(row)) return;
    event.preventDefault();
    event.stopPropagation();
    this.actions.toggle(this.#rows.find((each) => partsOf(each).includes(row)) ?? row);
  }

  #contextMenu(event) {
    const row = this.#rowOf(event.target);
    if (!row || isNote(row) || event.target.closest("a[href^=http]") || String(getSelection()) !== "") return;
    event.preventDefault();
    this.actions.menu(row, { x: event.clientX, y: event.clientY });
  }

  /** A long press opens the menu where the browser sends no `contextmenu`. */
  #longPress() {
    let timer = 0;
    const stop = () => clearTimeout(timer);
    this.scroller.addEventListener("touchstart", (event) => {
      stop();
      const row = event.touches.length === 1 ? this.#rowOf(event.target) : null;
      if (!row || isNote(row) || this.selected.size) return;
      const { clientX: x, clientY: y } = event.touches[0];
      timer = setTimeout(() => {
        navigator.vibrate?.(10);
        this.actions.menu(row, { x, y });
      }, 520);
    }, { passive: true });
    for (const type of ["touchmove", "touchend", "touchcancel", "contextmenu"]) this.scroller.addEventListener(type, stop, { passive: true });
  }

  #typed(event) {
    const item = event.target.closest(".item");
    const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -8, PageDown: 8 }[event.key];
    const index = this.#rows.findIndex((row) => row.key === (item?.dataset.key ?? this.#focusKey));
    const row = this.#rows[index];
    if (step) this.#focusRow(Math.max(0, Math.min(this.#rows.length - 1, index + step)));
    else if (event.key === "Home") this.#focusRow(0);
    else if (event.key === "End") this.#focusRow(this.#rows.length - 1);
    else if (!item || event.target !== item || !row || isNote(row)) return;
    else if (event.key === "Enter" || event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) this.actions.menu(row, item.querySelector(".bubble") ?? item);
    else if (event.key === " ") this.actions.toggle(row);
    else if (event.key === "r" && !event.ctrlKey && !event.metaKey) this.actions.reply(row);
    else if (event.key === "Delete") this.actions.hide([row]);
    else return;
    event.preventDefault();
  }

  #focusRow(index) {
    const row = this.#rows[index];
    if (!row) return;
    this.#focusKey = row.key;
    this.list.toIndex(index, "nearest");
    this.list.layout();
    this.list.element(row.key)?.focus({ preventScroll: true });
  }

  /** Focuses the newest message, for the arrow keys. */
  focusLog() {
    this.#focusRow(this.#rows.length - 1);
  }

  lastOwn() {
    return this.#rows.findLast((row) => row.own && row.kind === "text" && row.seq && !row.state?.match(/recalled|expired|erased/)) ?? null;
  }
}

function joins(one, other) {
  return Boolean(one) && one.sender === other.sender && !isNote(one) && !isNote(other) && (other.at ?? Date.now()) - (one.at ?? Date.now()) < TOGETHER;
}

export function typingText(state, head, names) {
  if (!isGroup(head)) return t("typing");
  return names.length === 1 ? t("typingOne", { name: userName(state, names[0]) }) : t("typingMany", { n: names.length });
}

function footNote({ state, app }, head) {
  const answer = (accept) => attempt(state.answerInvitation(head.conv, accept));
  if (head.state === "invited") {
    return h("div", { class: "composer-note" }, h("span", {}, t("invited", { name: userName(state, head.peer?.name) })),
      h("button", { type: "button", class: "button quiet", onclick: () => answer(false).then(() => app.closeThread()) }, t("decline")),
      h("button", { type: "button", class: "button primary", onclick: () => answer(true) }, t("join")));
  }
  const key = head.state === "requested" ? "requested" : head.state && head.state !== "joined" ? "leftGroup" : "cannotWrite";
  return h("div", { class: "composer-note" }, t(key));
}
