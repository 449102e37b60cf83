// The avatar of a user: initials on a color that is derived from the id.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { initials } from "./format.js";
import { t } from "../i18n.js";

const HUES = 8;

export function hueOf(id) {
  let hash = 2166136261;
  for (const character of id) hash = Math.imul(hash ^ character.codePointAt(0), 16777619);
  return (hash >>> 0) % HUES;
}

export function personAvatar(person, { presence = true } = {}) {
  return h("span", { class: `avatar hue-${hueOf(person.id)}`, "aria-hidden": "true" }, initials(person.display),
    presence && person.online ? h("span", { class: "dot", title: t("online") }) : null);
}

export function groupAvatar(conversation) {
  return h("span", { class: `avatar group hue-${hueOf(conversation.id)}`, "aria-hidden": "true" }, icon("group"));
}

export function avatarOf(chat, conversation, options) {
  return conversation.isPair ? personAvatar(chat.person(conversation.partner), options) : groupAvatar(conversation);
}

export function titleOf(chat, conversation) {
  return conversation.isPair ? chat.person(conversation.partner).display : conversation.title ?? t("newGroup");
}
