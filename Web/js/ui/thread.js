// The messages of the open conversation. Rows have keys, so that only changed ones are rendered,
// and the scroll position is kept. Opens at the first unread message. A message is read when its
// end was on the screen, in a visible page with focus (docs/chat-rules.md, 10).

import { isSame } from "../chat/conflict.js";
import { t } from "../i18n.js";
import { changeText } from "./describe.js";
import { arrange, h } from "./dom.js";
import { dayTitle, sameDay } from "./format.js";
import { makeJumps } from "./jumps.js";
import { changeElement, messageElement } from "./message.js";
import { titleOf } from "./avatar.js";
import { band, isLookedAt, rowsIn } from "./viewport.js";

const RUN = 5 * 60_000; // ms; closer messages of one sender are grouped
const NEAR = 80; // pixels from the end that count as "at the end"
const ABOVE = 48; // pixels of the previous message that remain visible above a scroll target
const UNREAD_PAGE = 200;
const MOST_UNREAD = 2000; // the maximum number of events loaded to reach the first unread message

export function makeThread(chat, pictures) {
  const rows = new Map(); // key → {element, signature}
  let conversation = null;
  let newFrom = null; // the n before the line "Unread messages"
  let isLineOld = true; // the messages below the line were read; the next unread message may move it
  let atEnd = true; // the view follows the end
  let locating = false; // the first unread message is being loaded
  let turn = 0; // counts opened conversations, so that late answers are ignored
  let resets = 0; // of the log
  let frame = 0;

  const list = h("div", { class: "messages", role: "list", "aria-label": t("messages") });
  const live = h("div", { class: "visually-hidden", "aria-live": "polite" });
  const jumps = makeJumps({ toEnd: () => toEnd(true), toUnread });
  const scroller = h("div", { class: "scroller", id: "scroller", tabindex: "0", onscroll: scrolled }, list);
  const element = h("div", { class: "thread" }, scroller, jumps.element, live);

  function open(id) {
    conversation = chat.conversations.get(id) ?? null;
    rows.clear();
    list.replaceChildren();
    live.textContent = "";
    turn += 1;
    if (conversation) begin();
  }

  /** Shows the conversation at its first unread message, or at its end. */
  function begin() {
    resets = conversation.log.resets;
    newFrom = conversation.unread > 0 ? conversation.read : null;
    isLineOld = newFrom === null;
    if (newFrom !== null && !conversation.holdsUnread) return locate();
    locating = false;
    if (!conversation.opened || conversation.log.events.length <= 1) loadOlder();
    arrive();
  }

  /** Loads the events up to the first unread message, then scrolls to it. */
  async function locate() {
    const about = conversation;
    const mine = ++turn;
    const isCurrent = () => mine === turn && about === conversation;
    const held = about.log.events.length;
    locating = true;
    render();
    while (isCurrent() && !about.holdsUnread && about.log.events.length - held < MOST_UNREAD) {
      if (!(await chat.loadOlder(about.id, Math.min(UNREAD_PAGE, Math.max(60, about.unread + 20))).catch(() => false))) break;
    }
    if (!isCurrent()) return;
    locating = false;
    arrive();
  }

  /** Scrolls to the line, or to the end. */
  function arrive() {
    atEnd = newFrom === null;
    render();
    const line = rows.get("new")?.element;
    if (line?.isConnected) scroller.scrollTop += line.getBoundingClientRect().top - scroller.getBoundingClientRect().top - ABOVE;
    atEnd = isAtEnd();
    updateJumps();
    look();
  }

  function loadOlder() {
    chat.loadOlder(conversation.id).catch(() => {});
  }

  /** `leads`: scrolls to the end, even past unread messages. */
  function render(leads = false) {
    if (!conversation) return;
    if (conversation.log.resets !== resets) return begin();
    placeLine();
    const anchor = anchorRow();
    const context = { chat, pictures };
    const wanted = [];
    const put = (key, signature, make) => {
      let row = rows.get(key);
      if (!row || row.signature !== signature) {
        row = { element: make(), signature };
        rows.set(key, row);
      }
      wanted.push(row.element);
    };

    const items = locating ? [] : itemsOf(conversation);
    put("top", String([isLoading(), conversation.canLoadOlder]), () => top());
    if (items.length === 0 && !conversation.canLoadOlder && !locating) put("empty", titleOf(chat, conversation), () => emptyState());
    let before = null;
    let hasLine = newFrom === null;
    items.forEach((item, index) => {
      const next = items[index + 1];
      if (!before || !sameDay(before.at, item.at)) {
        put(`day ${new Date(item.at).toDateString()}`, dayTitle(item.at), () => h("div", { class: "day", role: "separator" }, h("span", {}, dayTitle(item.at))));
      }
      if (!hasLine && item.n != null && item.n > newFrom && !item.mine) {
        hasLine = true;
        put("new", "new", () => h("div", { class: "new", role: "separator", id: "new-messages" }, h("span", {}, t("unreadMessages"))));
      }
      const joins = (a, b) => a && b && a.message && b.message && a.sender === b.sender && Math.abs(b.at - a.at) < RUN && sameDay(a.at, b.at);
      item.first = !joins(before, item);
      item.last = !joins(item, next);
      const sender = chat.person(item.sender).display;
      put(item.key, JSON.stringify([item.state, item.first, item.last, item.at, item.seq, item.body, sender, item.entry?.error, item.message || changeText(chat, item)]),
        () => (item.message ? messageElement(item, context) : changeElement(item, context)));
      before = item;
    });
    arrange(list, wanted);
    const shown = new Set(wanted);
    for (const [key, row] of rows) if (!shown.has(row.element)) rows.delete(key);

    // Follows the end if the view is there. Otherwise keeps the position of the first visible row.
    if (atEnd) follow(leads);
    else if (anchor?.element.isConnected) {
      const moved = anchor.element.getBoundingClientRect().top - anchor.top;
      if (moved !== 0) scroller.scrollTop += moved; // an assignment would stop a smooth scroll
    }
    if (!atEnd && isLineOld && conversation.unread > 0 && !locating) return render(); // not all new messages fit on the screen
    updateJumps();
    look();
    fillScreen();
  }

  /** Places the line above new messages that are not on the screen. */
  function placeLine() {
    if (conversation.unread === 0) isLineOld = true;
    else if (isLineOld && !(atEnd && isLookedAt(element))) {
      newFrom = conversation.read;
      isLineOld = false;
    }
  }

  /** Scrolls to the end, but not past an unseen message. */
  function follow(leads = false) {
    let by = scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop;
    const { top } = scroller.getBoundingClientRect();
    for (let row = leads ? null : list.lastElementChild; row; row = row.previousElementSibling) {
      const above = row.getBoundingClientRect().top - top;
      if (above < 0) break;
      if (isUnseen(row)) by = Math.min(by, above - ABOVE);
    }
    if (by > 0) scroller.scrollTop += by;
    atEnd = isAtEnd();
  }

  const isUnseen = (row) => row.dataset.n !== undefined && !conversation.hasSeen(Number(row.dataset.n));
  const isAtEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR;
  const isLoading = () => locating || Boolean(conversation.loading);

  /** The first visible row and its position. */
  function anchorRow() {
    if (atEnd) return null;
    const found = rowsIn(list, scroller.getBoundingClientRect()).find((row) => row.classList.contains("message"));
    return found && { element: found, top: found.getBoundingClientRect().top };
  }

  function itemsOf({ id, log, isPair }) {
    const me = chat.user.id;
    const delivered = new Map();
    const items = log.events.map((event) => {
      const mine = event.sender === me;
      if (mine) delivered.set(event.id, event);
      return {
        ...event, mine, message: event.n != null, key: `${event.sender} ${event.id || event.seq}`, named: !isPair && !mine,
        state: mine && event.n != null ? (conversation.isReadByOthers(event.n) ? "read" : "sent") : null,
      };
    });
    for (const entry of chat.outbox.of(id)) {
      const event = delivered.get(entry.id);
      if (event && isSame(entry, event)) continue;
      items.push({ ...entry, entry, sender: me, mine: true, message: true, key: `${me} ${entry.id}${event ? " unsent" : ""}`, named: false });
    }
    return items;
  }

  function top() {
    if (isLoading()) return h("div", { class: "top" }, h("span", { class: "spinner", role: "status", "aria-label": t("loading") }));
    if (conversation.canLoadOlder) return h("div", { class: "top" });
    return h("div", { class: "top beginning" }, t("beginning"));
  }

  function emptyState() {
    return h("div", { class: "empty" }, h("strong", {}, t("noMessages")), h("p", {}, t("noMessagesHint", { name: titleOf(chat, conversation) })));
  }

  function toEnd(smooth) {
    const near = scroller.scrollHeight - scroller.scrollTop < scroller.clientHeight * 3; // a longer way is not animated
    const passes = outOfSight().below > 0; // messages passed by the scroll are not read
    scroller.scrollTo({ top: scroller.scrollHeight, behavior: smooth && near && !passes ? "smooth" : "instant" });
  }

  /** Scrolls to the first unread message. */
  function toUnread() {
    newFrom = conversation.read;
    isLineOld = false;
    if (conversation.holdsUnread) arrive();
    else locate();
  }

  function scrolled() {
    if (!conversation || locating) return;
    atEnd = isAtEnd();
    if (scroller.scrollTop < 300) loadOlder();
    updateJumps();
    look();
  }

  /** Loads more events if those loaded do not fill the screen. */
  function fillScreen() {
    if (conversation.canLoadOlder && !isLoading() && scroller.clientHeight > 0 && scroller.scrollHeight <= scroller.clientHeight + 50) loadOlder();
  }

  const ordinals = (found) => found.filter((row) => row.dataset.n !== undefined).map((row) => Number(row.dataset.n));

  /** The ordinals of the messages whose end is on the screen. */
  function inView() {
    const shown = band(scroller);
    return ordinals(rowsIn(list, shown).filter((row) => row.getBoundingClientRect().bottom <= shown.bottom + 2));
  }

  /**
   * The numbers of unread messages above and below the screen. A message whose end is not visible
   * counts as below.
   */
  function outOfSight() {
    const first = ordinals(rowsIn(list, band(scroller)))[0];
    if (first === undefined) return { above: 0, below: 0 };
    return { above: conversation.unseen(0, first - 1), below: conversation.unseen(inView().at(-1) ?? first - 1, conversation.n) };
  }

  function updateJumps() {
    if (conversation) jumps.update({ ...outOfSight(), atEnd: atEnd || locating });
  }

  /**
   * Records the messages that the next frame shows. A message that is replaced before the frame was
   * not seen.
   */
  function look() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      if (!conversation || locating || !isLookedAt(element)) return;
      const read = conversation.see(inView());
      if (read > conversation.read) chat.markRead(conversation.id, read);
      updateJumps();
    });
  }

  document.addEventListener("visibilitychange", look);
  document.addEventListener("close", look, true); // a dialog over the page was closed
  addEventListener("focus", look);
  globalThis.visualViewport?.addEventListener("resize", look);
  // Keeps the view at the end when pictures are loaded or the size of the window changes.
  new ResizeObserver(() => {
    if (!conversation) return;
    if (atEnd) follow();
    look();
  }).observe(scroller);

  chat.on("conversation", (id) => id === conversation?.id && render());
  chat.on("people", () => render());
  chat.on("connection", ({ name }) => {
    if (name !== "online" || !conversation) return;
    if (conversation.log.events.length <= 1) begin();
    else fillScreen();
  });
  chat.on("event", (event) => {
    if (event.conv !== conversation?.id) return;
    live.textContent = `${chat.person(event.sender).display}: ${event.body?.text ?? t("photo")}`;
  });

  return {
    element, open,
    /** Scrolls to an own new message. Earlier messages are no longer new. */
    wrote() {
      newFrom = null;
      isLineOld = true;
      atEnd = true;
      render(true);
    },
  };
}
