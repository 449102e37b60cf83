// The open conversation: header, pinned message, log, jump button, composer.

import { announce, h, perFrame, replace, Scope } from "./dom.js";
import { icon } from "./icons.js";
import { Albums, partsOf } from "./albums.js";
import { CallBar } from "./callbar.js";
import { Composer } from "./composer.js";
import { ContactBar } from "./contactbar.js";
import { canWrite, eventText, isForGood, isGroup, isSilenced, isSilent, permits, userName } from "./model.js";
import { renderRow, updateRemaining } from "./message.js";
import { RequestBar } from "./requestbar.js";
import { rowShape } from "./rowshape.js";
import { ThreadActions } from "./threadactions.js";
import { ThreadHeader } from "./threadheader.js";
import { listenToLog } from "./threadinput.js";
import { VirtualList } from "./virtual.js";
import { attempt, toast } from "./toast.js";
import { withPanels } from "./later.js";
import { player } from "../media/player.js";
import { number, shortDate } from "../i18n/format.js";
import { t } from "../i18n/index.js";

export class ThreadView {
  #scope = new Scope();
  #window;
  #albums = new Albums();
  #rows = [];
  #focusKey = null;
  #hit = null;
  #unmark = 0; // the timer that ends the mark of `#hit`
  #marked = 0;
  #spokenUpTo = 0;
  #loading = false;
  #ticked = 0;
  #wasSilenced = false;
  #check = perFrame(() => this.#scrolled());

  constructor(app, id, { seq = null, thread = null } = {}) {
    this.app = app;
    this.state = app.state;
    this.id = id;
    this.thread = thread;
    this.selected = new Map();
    this.hover = matchMedia("(hover: hover)").matches;
    this.head = this.state.conversation(id);
    this.#window = this.state.thread(id, thread === null ? {} : { thread });
    this.firstUnread = null;
    this.#spokenUpTo = this.head?.seq ?? 0;
    this.actions = new ThreadActions(this);
    this.#build();
    this.#scope.add(this.state.subscribe(`thread:${id}`, () => this.update()));
    this.#scope.add(this.state.subscribe(`conversation:${id}`, () => this.updateHead()));
    this.#scope.add(this.state.subscribe(`typing:${id}`, () => this.header.updatePresence()));
    this.#scope.add(this.state.subscribe("contacts", () => this.updateHead()));
    this.#scope.add(this.state.subscribe("connection", () => this.header.updatePresence()));
    this.#scope.add(this.state.subscribe("presence", () => this.header.updatePresence()));
    this.#scope.listen(document, "visibilitychange", () => this.#mark());
    this.#scope.listen(window, "focus", () => this.#mark());
    const clock = setInterval(() => this.#tick(), 1000);
    this.#scope.add(() => clearInterval(clock));
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
    player.stop();
    this.composer?.close();
    this.callBar.close();
    this.contactBar.close();
    this.requestBar.close();
    this.list.close();
    this.#scope.close();
    this.#window.close?.();
    this.element.remove();
  }

  #build() {
    this.header = new ThreadHeader(this);
    this.callBar = new CallBar(this);
    this.contactBar = new ContactBar(this);
    this.requestBar = new RequestBar(this);
    this.scroller = h("div", { class: "scroller log", role: "region", "aria-label": t("messageList"), tabindex: "-1" });
    this.content = this.scroller.appendChild(h("div", {}));
    this.count = h("span", { class: "badge", hidden: true });
    this.jump = h("button", { type: "button", class: "jump", "aria-label": t("jumpToNewest"), hidden: true, onclick: () => this.toNewest() }, icon("down"), this.count);
    this.foot = h("div", {});
    this.box = h("div", { class: "log-box" }, this.scroller, this.jump);
    this.element = h("main", { class: "pane thread-pane" }, this.header.element, this.header.banner, this.header.pinned, this.callBar.element, this.contactBar.element, this.requestBar.element, this.box, this.foot);
    this.list = new VirtualList(this.scroller, this.content, {
      key: (row) => row.key, estimate: 58, stick: () => !this.#window.hasNewer,
      signature: (row, index) => this.#signature(row, index),
      render: (row, index) => this.#render(row, index),
      onscroll: () => this.#scrolled(),
      onplace: () => requestAnimationFrame(() => this.#placed()),
    });
    this.#scope.add(this.state.subscribe("users", () => this.list.layout()));
    listenToLog(this);
  }

  #open(seq) {
    if (this.closed) return;
    this.ready = true;
    this.update(this.firstUnread ?? Infinity);
    if (seq !== null) this.actions.jump(seq);
  }

  // Rows

  /** Whether the loaded part of the log contains a message of the user. */
  get hasWritten() { return this.#rows.some(({ own, n }) => own && n !== undefined); }

  /**
   * Shows the rows of the window, once it is loaded. With `seq`, scrolls to the first row from that
   * message on, or to the end if there is none.
   */
  update(seq) {
    if (this.closed || !this.ready) return;
    const former = this.#rows.at(-1)?.key;
    this.#rows = this.#albums.merge(this.state, this.#window.rows.filter((row) => !isSilent(row)));
    const last = this.#rows.at(-1);
    // Tab leads to the newest message, unless the user has moved to another one.
    const isAtEnd = this.#focusKey === former && !this.scroller.contains(document.activeElement);
    if (isAtEnd || !this.#rows.some((row) => row.key === this.#focusKey)) this.#focusKey = last?.key ?? null;
    this.#showAlone();
    this.emptyHint ??= h("p", {}, t(this.head.kind === "self" ? "noNotesHint" : "noMessagesHint"));
    this.emptyHint.hidden = !canWrite(this.head, this.state.now);
    this.empty ??= h("div", { class: "empty" }, h("h2", {}, t("noMessages")), this.emptyHint);
    const isOutside = this.head.state === "invited" || this.head.state === "requested"; // the log is not shown
    if (this.#rows.length || this.#window.loading || isOutside) this.empty.remove();
    else this.scroller.prepend(this.empty);
    this.#speak();
    this.header.updatePins();
    this.contactBar.update();
    const index = seq === undefined ? -1 : this.#rows.findIndex((row) => row.seq >= seq);
    this.list.setRows(this.#rows, seq === undefined ? {} : index >= 0 ? { index, place: "start" } : { place: "end" });
    this.#scrolled();
  }

  /** Offers to add members to a group without others and without messages. */
  #showAlone() {
    const { head } = this;
    const isAlone = isGroup(head) && (head.members ?? 1) <= 1 && !head.n && this.thread === null && (!head.state || head.state === "joined") && permits(head, "invite") && !isSilenced(head, this.state.now);
    if (!isAlone) return this.alone?.remove();
    this.alone ??= h("div", { class: "empty alone" }, h("p", {}, t(head.kind === "channel" ? "aloneInChannel" : "aloneInGroup")),
      h("button", { type: "button", class: "button primary", onclick: () => withPanels(({ addMembers }) => addMembers(this.app, this.id)) }, icon("personAdd"), t("addMembers")));
    if (!this.alone.isConnected) this.scroller.append(this.alone);
  }

  #signature(row, index) {
    const shape = this.#shape(row, index);
    const users = Array.isArray(row.body?.users) ? row.body.users : [];
    const names = [row.sender, row.quote?.sender, ...users].map((name) => (name ? userName(this.state, name) : "")).join();
    return `${shape.day}${shape.unread}${shape.first}${shape.last}${shape.selected}${shape.hit}${shape.focusable}${row.body?.closes_at <= this.state.now}${names}`;
  }

  #shape(row, index) {
    return {
      ...rowShape(this.#rows, index, this.firstUnread),
      selected: this.selected.has(row.key),
      hit: this.#hit === row.key,
      focusable: this.#focusKey === row.key,
    };
  }

  #render(row, index) {
    return renderRow({ state: this.state, head: this.head, actions: this.actions, inThread: this.thread !== null, hover: this.hover }, row, this.#shape(row, index));
  }

  /**
   * Updates the content that depends on the time: the remaining time of disappearing messages, and
   * polls that end.
   */
  #tick() {
    updateRemaining(this.scroller, this.state.now);
    if (this.#rows.some(({ body }) => body?.closes_at > this.#ticked && body.closes_at <= this.state.now)) this.list.layout();
    this.#ticked = this.state.now;
    if (this.#wasSilenced && !isSilenced(this.head, this.state.now)) this.updateHead();
  }

  /**
   * Scrolls to a message and marks it temporarily. Loads it if it is not in the window. Resolves to
   * whether a row is shown.
   */
  async jumpTo(seq) {
    const isAt = (row) => partsOf(row).some((part) => part.seq === seq);
    let index = this.#rows.findIndex(isAt);
    if (index < 0) {
      const found = await attempt(this.#window.jump(seq));
      if (found === undefined || this.closed) return false;
      if (found === false && this.#window.event(seq) === undefined) toast(t("hidden"));
      this.update();
      index = this.#rows.findIndex((row) => isAt(row) || row.seq >= seq);
    }
    if (index < 0) return false;
    this.#hit = this.#rows[index].key;
    this.#focusKey = this.#hit;
    const element = this.list.toIndex(index, "center");
    this.list.layout();
    (this.list.element(this.#hit) ?? element)?.focus({ preventScroll: true });
    clearTimeout(this.#unmark);
    this.#unmark = setTimeout(() => { this.#hit = null; }, 1800);
    return true;
  }

  /**
   * Handles a sent message: the line of new messages is removed, and the newest message is shown.
   */
  sent() {
    this.firstUnread = null;
    return this.toNewest();
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
    const { scrollTop, scrollHeight, clientHeight } = this.scroller; // the layout is read before it is changed
    const visible = this.list.lastVisible();
    this.#showJump(this.list.isAtEnd() && !this.#window.hasNewer);
    if (scrollTop < 1200 && this.#window.hasOlder) this.#load("loadOlder");
    else if (scrollHeight - scrollTop - clientHeight < 1200 && this.#window.hasNewer) this.#load("loadNewer");
    this.#mark(visible);
  }

  #showJump(isAtEnd) {
    const unread = this.state.conversation(this.id)?.unread ?? 0;
    const shown = `${isAtEnd} ${unread}`;
    if (shown === this.shownJump) return;
    this.shownJump = shown;
    this.jump.hidden = isAtEnd;
    this.count.hidden = unread === 0;
    this.count.textContent = number(unread);
    this.jump.setAttribute("aria-label", unread ? `${t("jumpToNewest")}, ${t("unreadCount", { n: unread })}` : t("jumpToNewest"));
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
  #mark(visible = this.list.lastVisible()) {
    if (!this.ready || this.closed || this.thread !== null || document.visibilityState !== "visible" || !document.hasFocus() || !this.#rows.length) return;
    for (let index = visible; index >= 0; index -= 1) {
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
    this.header.update();
    this.callBar.update();
    this.contactBar.update();
    this.requestBar.update();
    if (this.ready) this.#showAlone();
    this.#updateFoot();
    this.#check();
  }

  /** Whether the conversation is with a user whom the signed-in user has blocked. */
  get isBlocked() {
    return this.head.kind === "pair" && this.state.contact(this.head.peer?.name)?.state === "blocked";
  }

  #updateFoot() {
    const { head } = this;
    if (this.selected.size) return;
    this.#wasSilenced = isSilenced(head, this.state.now);
    if (canWrite(head, this.state.now) && !this.isBlocked) {
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

  get rows() { return this.#rows; }
  get focusKey() { return this.#focusKey; }

  /** Returns the message of an element; in an album, the message of the part. */
  rowOf(target) {
    const key = target.closest?.(".item")?.dataset.key;
    const row = key === undefined ? null : this.#rows.find((each) => each.key === key) ?? null;
    const part = target.closest("[data-part]")?.dataset.part;
    return row?.parts?.find((each) => each.key === part) ?? row;
  }

  focusRow(index) {
    const row = this.#rows[index];
    if (!row) return;
    this.#focusKey = row.key;
    this.list.toIndex(index, "nearest");
    this.list.layout();
    this.list.element(row.key)?.focus({ preventScroll: true });
  }

  /** Focuses the newest message, from which the arrow keys move the focus. */
  focusLog() {
    this.focusRow(this.#rows.length - 1);
  }

  lastOwn() {
    return this.#rows.findLast((row) => row.own && row.kind === "text" && row.seq && !row.state?.match(/recalled|expired|erased/)) ?? null;
  }
}

/** Returns why the user cannot write. */
function whyNot(head, now) {
  if (head.state && head.state !== "joined") return t("leftGroup");
  if (!isSilenced(head, now)) return t(head.role === "reader" ? "onlyReads" : "cannotWrite");
  return isForGood(head.silenced_until, now) ? t("silenced") : t("silencedUntil", { time: shortDate(head.silenced_until) });
}

function footNote({ state, app }, head) {
  const answer = (accept) => attempt(state.answerInvitation(head.conv, accept));
  if (head.state === "invited") {
    return h("div", { class: "composer-note" }, h("span", {}, t("invited", { name: userName(state, head.peer?.name) })),
      h("button", { type: "button", class: "button quiet", onclick: () => answer(false).then(() => app.closeThread()) }, t("decline")),
      h("button", { type: "button", class: "button primary", onclick: () => answer(true) }, t("join")));
  }
  if (head.state === "requested") {
    return h("div", { class: "composer-note" }, h("span", {}, t("requested")),
      h("button", { type: "button", class: "button quiet", onclick: () => attempt(state.leave(head.conv)).then(() => app.closeThread()) }, t("takeBackRequest")));
  }
  if (head.kind === "pair" && (!head.state || head.state === "joined")) {
    return h("div", { class: "composer-note" }, h("span", {}, t("youBlocked", { name: userName(state, head.peer.name) })),
      h("button", { type: "button", class: "button", onclick: () => attempt(state.unblock(head.peer.name)) }, t("unblock")));
  }
  return h("div", { class: "composer-note" }, whyNot(head, state.now));
}
