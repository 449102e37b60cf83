// The conversation pane: the header, the messages and the composer.

import { t } from "../i18n.js";
import { avatarOf, titleOf } from "./avatar.js";
import { makeComposer } from "./composer.js";
import { h } from "./dom.js";
import { icon, logo } from "./icons.js";
import { makeThread } from "./thread.js";

export function makeConversationPane(chat, pictures, { back }) {
  let current = null;
  const thread = makeThread(chat, pictures);
  const composer = makeComposer({
    send: (conversation, message) => chat.write(conversation, message),
    wrote: (conversation) => conversation === current && thread.wrote(),
  });
  const heading = h("div", { class: "peer" });
  const conversation = h("section", { class: "conversation", hidden: true, "aria-label": t("messages") },
    h("header", { class: "bar" },
      h("button", { type: "button", class: "icon-button back", id: "back", "aria-label": t("back"), onclick: back }, icon("back")), heading),
    thread.element, composer.element,
    h("div", { class: "drop-hint", "aria-hidden": "true" }, h("span", {}, t("dropHere"))));
  const nothing = h("div", { class: "empty welcome" }, h("span", { class: "brand-mark large" }, logo()), h("strong", {}, t("pickChat")), h("p", {}, t("pickChatHint")));
  const element = h("main", { class: "pane" }, conversation, nothing);
  composer.acceptDrops(conversation);

  function renderHeading() {
    const found = chat.conversations.get(current);
    if (!found) return;
    const status = found.isPair ? presence(chat.person(found.partner)) : members(found);
    heading.replaceChildren(avatarOf(chat, found),
      h("div", { class: "who" }, h("h2", {}, titleOf(chat, found)), h("span", { class: `sub${status.online ? " online" : ""}` }, status.text)));
  }

  const presence = (person) => ({ online: person.online, text: t(person.online ? "online" : "offline") });
  function members(found) {
    const online = found.members.filter((member) => chat.person(member.user).online).length;
    return { online: false, text: t(online > 0 ? "membersOnline" : "members", { n: found.members.length, online }) };
  }

  for (const name of ["people", "conversations", "connection"]) chat.on(name, renderHeading);

  return {
    element,
    open(id) {
      current = chat.conversations.has(id) ? id : null;
      conversation.hidden = current === null;
      nothing.hidden = current !== null;
      thread.open(current);
      if (current === null) return;
      renderHeading();
      composer.open(current, titleOf(chat, chat.conversations.get(current)));
    },
  };
}
