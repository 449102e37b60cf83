// Marks names that look like the name of a contact or of this user.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { userName } from "./model.js";
import { skeletons } from "../text/skeleton.js";
import { t } from "../i18n/index.js";

let kept = {}; // the names of the current contacts and account

/** Returns the names that others could imitate: skeleton -> the account names with it. */
function namesOf(state) {
  const { account, contactIndex } = state;
  if (kept.account === account && kept.contactIndex === contactIndex) return kept.names;
  const names = new Map();
  const add = (text, name) => {
    for (const form of text ? skeletons(text) : []) if (form) names.set(form, (names.get(form) ?? new Set()).add(name));
  };
  for (const { user, alias } of state.contacts()) for (const text of [user.name, user.nick, alias]) add(text, user.name);
  if (account) for (const text of [account.name, account.nick]) add(text, account.name);
  kept = { account, contactIndex, names };
  return names;
}

/**
 * Returns the account name of the contact, or of this user, whose name resembles that of the user
 * `name`; null for none.
 */
export function resembled(state, name) {
  if (!name || name === state.account?.name) return null;
  const user = state.user(name) ?? { name };
  const names = namesOf(state);
  const isContact = state.contact(name)?.state === "friend";
  for (const text of isContact ? [user.alias || user.nick || name] : [user.alias, user.nick, name]) {
    for (const form of text ? skeletons(text) : []) {
      const other = [...(names.get(form) ?? [])].find((each) => each !== name);
      if (other) return other;
    }
  }
  return null;
}

/** Returns a warning sign for a name that resembles another one, else null. */
export function lookalikeMark(state, name) {
  const other = resembled(state, name);
  if (!other) return null;
  const label = warning(state, name, other);
  return h("span", { class: "lookalike", role: "img", "aria-label": label, title: label }, icon("warning"));
}

/** Returns a warning for a profile or a contact request if the name resembles another one, else null. */
export function lookalikeNote(state, name) {
  const other = resembled(state, name);
  return other ? h("p", { class: "notice-line" }, icon("warning"), h("span", {}, warning(state, name, other))) : null;
}

function warning(state, name, other) {
  return other === state.account?.name ? t("looksLikeYou", { name }) : t("looksLike", { name, other: userName(state, other), account: other });
}
