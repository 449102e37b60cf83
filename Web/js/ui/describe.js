// Events as text: changes, and previews of messages.

import { locale, t } from "../i18n.js";

const LONGEST = 200;
const list = new Intl.ListFormat(locale, { type: "conjunction" });

/** The text of a change: users joined, or the group was named. */
export function changeText(chat, { kind, body, sender }) {
  switch (kind) {
    case "member.join": {
      const users = Array.isArray(body?.users) ? body.users : [body?.user ?? sender];
      return t("joined", { name: list.format(users.map((user) => chat.person(user).display)) });
    }
    case "conversation.set": return t("groupMade", { name: chat.person(sender).display, title: body?.title ?? "" });
    default: return t("unknownEvent");
  }
}

/** The last message of a conversation in one line. `mine`: the message is in the outbox. */
export function previewText(chat, conversation, message, mine) {
  if (!message) return "";
  if (!mine && message.n == null) return changeText(chat, message);
  const text = messageText(message);
  if (mine || message.sender === chat.user.id) return `${t("you")}: ${text}`;
  return conversation.isPair ? text : `${chat.person(message.sender).display}: ${text}`;
}

function messageText({ kind, body }) {
  const words = String(body?.text ?? "").slice(0, LONGEST);
  if (kind === "text") return words;
  return kind === "image" ? `🖼 ${words || t("photo")}` : t("unknownEvent");
}
