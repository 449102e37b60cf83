// The list of chats: name, last message, time and unread count.

import { t } from "../i18n.js";
import { folded } from "../chat/text.js";
import { avatarOf, personAvatar, titleOf } from "./avatar.js";
import { previewText } from "./describe.js";
import { arrange, h } from "./dom.js";
import { listTime } from "./format.js";
import { icon, logo } from "./icons.js";
import { connectionPill } from "./status.js";

/** actions: {select(id), newChat(), newGroup(), signOut()} */
export function makeSidebar(chat, actions) {
  const rows = new Map(); // conversation id → {button, signature}
  let selected = null;

  const me = h("div", { class: "me" });
  const search = h("input", { type: "search", id: "search", placeholder: t("search"), "aria-label": t("search"), oninput: render, autocomplete: "off" });
  const list = h("ul", { class: "chats", id: "chats", "aria-label": t("chats"), onkeydown: moveFocus });
  const empty = h("div", { class: "empty small" });
  const element = h("aside", { class: "sidebar", "aria-label": t("chats") },
    h("header", { class: "bar" }, h("span", { class: "brand-mark small" }, logo()), h("h1", {}, t("chats")),
      h("button", { type: "button", class: "icon-button", id: "new-chat", title: t("newChat"), "aria-label": t("newChat"), onclick: actions.newChat }, icon("chat")),
      h("button", { type: "button", class: "icon-button", id: "new-group", title: t("newGroup"), "aria-label": t("newGroup"), onclick: actions.newGroup }, icon("group"))),
    h("div", { class: "search" }, icon("search"), search),
    connectionPill(chat),
    list, empty,
    h("footer", { class: "bar foot" }, me,
      h("button", { type: "button", class: "icon-button", id: "sign-out", title: t("signOut"), "aria-label": t("signOut"), onclick: actions.signOut }, icon("signOut"))));

  function render() {
    const person = chat.person(chat.user.id);
    const online = chat.connection.name === "online";
    me.replaceChildren(personAvatar({ ...person, online }), h("div", { class: "who" }, h("strong", {}, person.display), h("span", { class: "sub" }, `@${person.name}`)));

    const wanted = folded(search.value.trim());
    const shown = chat.sortedConversations().filter((conversation) => {
      if (!wanted) return true;
      const people = conversation.members.map((member) => chat.person(member.user));
      const names = [titleOf(chat, conversation), ...people.flatMap((person) => [`@${person.name}`, person.display])];
      return names.some((name) => folded(name).includes(wanted));
    });
    arrange(list, shown.map((conversation) => row(conversation)));
    for (const id of rows.keys()) if (!chat.conversations.has(id)) rows.delete(id);
    renderEmpty(shown.length, wanted);
  }

  function renderEmpty(count, wanted) {
    empty.hidden = count > 0;
    if (count > 0) return;
    if (!chat.loaded) empty.replaceChildren(...Array.from({ length: 5 }, () => h("div", { class: "skeleton" }, h("span", {}), h("span", {}))));
    else if (wanted) empty.replaceChildren(h("p", {}, t("noMatch")));
    else {
      empty.replaceChildren(h("strong", {}, t("noChats")), h("p", {}, t("noChatsHint")),
        h("button", { type: "button", class: "primary", onclick: actions.newChat }, t("newChat")));
    }
  }

  function row(conversation) {
    const title = titleOf(chat, conversation);
    const waiting = chat.outbox.of(conversation.id).at(-1);
    const last = conversation.last;
    const online = conversation.isPair && chat.person(conversation.partner).online;
    const preview = previewText(chat, conversation, waiting ?? last, Boolean(waiting));
    const time = waiting?.at ?? last?.at ?? conversation.updatedAt;
    const unread = conversation.unread;
    const current = conversation.id === selected;
    const signature = JSON.stringify([title, preview, listTime(time), unread, online, current, waiting?.state]);
    const known = rows.get(conversation.id);
    if (known?.signature === signature) return known.item;

    const item = known?.item ?? h("li", {});
    const button = h("button", {
      type: "button", class: `chat${current ? " current" : ""}${unread > 0 ? " unread" : ""}`, "data-conversation": conversation.id,
      "aria-current": current ? "true" : null, onclick: () => actions.select(conversation.id),
    },
    avatarOf(chat, conversation),
    h("span", { class: "chat-title" }, title),
    h("time", { class: "chat-time" }, time ? listTime(time) : ""),
    h("span", { class: `chat-preview${waiting?.state === "failed" ? " failed" : ""}` }, preview),
    unread > 0 ? h("span", { class: "badge", "aria-label": t("unread", { n: unread }) }, unread > 99 ? "99+" : String(unread)) : null);
    const focused = item.contains(document.activeElement);
    item.replaceChildren(button);
    if (focused) button.focus();
    rows.set(conversation.id, { item, signature });
    return item;
  }

  function moveFocus(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const buttons = [...list.querySelectorAll("button")];
    const next = buttons[buttons.indexOf(document.activeElement) + step];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  }

  for (const name of ["conversations", "people", "connection"]) chat.on(name, render);
  render();
  return {
    element,
    select(id) {
      selected = id;
      render();
    },
  };
}
