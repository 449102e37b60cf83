// The messages of the open conversation: rows by key, so that only what changed is touched, and a scroll that stays where the reader is.

import { t } from "../i18n.js";
import { changeText } from "./describe.js";
import { arrange, h } from "./dom.js";
import { dayTitle, sameDay } from "./format.js";
import { icon } from "./icons.js";
import { changeElement, messageElement } from "./message.js";
import { titleOf } from "./avatar.js";

const RUN = 5 * 60_000; // messages of one sender closer than this stand together
const NEAR = 80; // pixels from the end that count as "at the end"

export function makeThread(chat, pictures) {
  const rows = new Map(); // key → {element, signature}
  let conversation = null;
  let newFrom = null; // the n after which "New messages" stands
  let atEnd = true;

  const list = h("div", { class: "messages", role: "list", "aria-label": t("messages") });
  const live = h("div", { class: "visually-hidden", "aria-live": "polite" });
  const jump = h("button", { type: "button", class: "jump", id: "jump", "aria-label": t("toBottom"), hidden: true, onclick: () => toEnd(true) }, icon("down"), h("span", { class: "badge", hidden: true }));
  const scroller = h("div", { class: "scroller", id: "scroller", tabindex: "0", onscroll: scrolled }, list);
  const element = h("div", { class: "thread" }, scroller, jump, live);

  function open(id) {
    conversation = chat.conversations.get(id) ?? null;
    rows.clear();
    list.replaceChildren();
    live.textContent = "";
    if (!conversation) return;
    newFrom = conversation.unread > 0 ? conversation.read : null;
    atEnd = true;
    render();
    chat.loadOlder(id).catch(() => {});
  }

  function render() {
    if (!conversation) return;
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

    const items = itemsOf(conversation);
    put("top", String([conversation.loadingOlder, conversation.canLoadOlder]), () => top());
    if (items.length === 0 && !conversation.canLoadOlder) put("empty", titleOf(chat, conversation), () => emptyState());
    let before = null;
    items.forEach((item, index) => {
      const next = items[index + 1];
      if (!before || !sameDay(before.at, item.at)) {
        put(`day ${new Date(item.at).toDateString()}`, dayTitle(item.at), () => h("div", { class: "day", role: "separator" }, h("span", {}, dayTitle(item.at))));
      }
      if (newFrom !== null && item.n != null && item.n > newFrom && !item.mine && !wanted.includes(rows.get("new")?.element)) {
        put("new", "new", () => h("div", { class: "new", role: "separator", id: "new-messages" }, h("span", {}, t("newMessages"))));
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

    // Stick to the end when the reader is there; else keep the row they look at where it is, whatever grows above or below.
    if (atEnd) toEnd(false);
    else if (anchor?.element.isConnected) {
      const moved = anchor.element.getBoundingClientRect().top - anchor.top;
      if (moved !== 0) scroller.scrollTop += moved; // writing it would end a smooth scroll under way
    }
    updateJump();
    markSeen();
    fillScreen();
  }

  /** The first row in view, and where it stands. */
  function anchorRow() {
    if (atEnd) return null;
    const edge = scroller.getBoundingClientRect().top;
    const found = [...list.children].find((row) => row.classList.contains("message") && row.getBoundingClientRect().bottom > edge);
    return found && { element: found, top: found.getBoundingClientRect().top };
  }

  function itemsOf({ id, log, isPair }) {
    const me = chat.user.id;
    const delivered = new Set();
    const items = log.events.map((event) => {
      const mine = event.sender === me;
      if (mine) delivered.add(event.id);
      return {
        ...event, mine, message: event.n != null, key: `${event.sender} ${event.id || event.seq}`, named: !isPair && !mine,
        state: mine && event.n != null ? (conversation.isReadByOthers(event.n) ? "read" : "sent") : null,
      };
    });
    for (const entry of chat.outbox.of(id)) {
      if (delivered.has(entry.id)) continue;
      items.push({ ...entry, entry, sender: me, mine: true, message: true, key: `${me} ${entry.id}`, named: false });
    }
    return items;
  }

  function top() {
    if (conversation.loadingOlder) return h("div", { class: "top" }, h("span", { class: "spinner", role: "status", "aria-label": t("loading") }));
    if (conversation.canLoadOlder) return h("div", { class: "top" });
    return h("div", { class: "top beginning" }, t("beginning"));
  }

  function emptyState() {
    return h("div", { class: "empty" }, h("strong", {}, t("noMessages")), h("p", {}, t("noMessagesHint", { name: titleOf(chat, conversation) })));
  }

  function toEnd(smooth) {
    const near = scroller.scrollHeight - scroller.scrollTop < scroller.clientHeight * 3; // a long way is no pleasure to watch
    scroller.scrollTo({ top: scroller.scrollHeight, behavior: smooth && near ? "smooth" : "instant" });
  }

  function scrolled() {
    if (!conversation) return;
    atEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR;
    if (scroller.scrollTop < 300) chat.loadOlder(conversation.id).catch(() => {});
    updateJump();
    markSeen();
  }

  /** A page that does not fill the screen gives nothing to scroll by. */
  function fillScreen() {
    if (conversation.canLoadOlder && !conversation.loadingOlder && scroller.clientHeight > 0 && scroller.scrollHeight <= scroller.clientHeight + 50) {
      chat.loadOlder(conversation.id).catch(() => {});
    }
  }

  function updateJump() {
    jump.hidden = atEnd;
    const badge = jump.querySelector(".badge");
    badge.hidden = !conversation || conversation.unread === 0;
    badge.textContent = String(conversation?.unread ?? 0);
  }

  /** Read is what was on a visible page, at its end. */
  function markSeen() {
    if (!conversation || !atEnd || document.visibilityState !== "visible" || element.offsetParent === null) return;
    const { events } = conversation.log;
    for (let at = events.length - 1; at >= 0; at--) {
      if (events[at].n == null) continue;
      chat.markRead(conversation.id, events[at].n);
      return;
    }
  }

  document.addEventListener("visibilitychange", markSeen);
  addEventListener("focus", markSeen);
  // Pictures, the keyboard of a phone, a turned screen: who was at the end stays there.
  new ResizeObserver(() => atEnd && toEnd(false)).observe(scroller);

  chat.on("conversation", (id) => id === conversation?.id && render());
  chat.on("people", render);
  chat.on("connection", ({ name }) => {
    if (name === "online" && conversation) {
      markSeen();
      fillScreen();
      if (conversation.log.events.length <= 1) chat.loadOlder(conversation.id).catch(() => {});
    }
  });
  chat.on("event", (event) => {
    if (event.conv !== conversation?.id) return;
    if (document.visibilityState !== "visible" && newFrom === null) newFrom = event.n - 1;
    live.textContent = `${chat.person(event.sender).display}: ${event.body?.text ?? t("photo")}`;
  });

  return {
    element, open,
    /** One's own message: go and see it, and what was new is not new any more. */
    wrote() {
      atEnd = true;
      newFrom = null;
      toEnd(false);
    },
  };
}
