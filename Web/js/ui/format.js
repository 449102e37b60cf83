// Formats times, names and links.

import { h } from "./dom.js";
import { locale, t } from "../i18n.js";

const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const weekday = new Intl.DateTimeFormat(locale, { weekday: "long" });
const shortDate = new Intl.DateTimeFormat(locale, { month: "short", day: "numeric" });
const longDate = new Intl.DateTimeFormat(locale, { weekday: "long", month: "long", day: "numeric" });
const yearDate = new Intl.DateTimeFormat(locale, { year: "numeric", month: "short", day: "numeric" });
const full = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "medium" });

const dayOf = (time) => new Date(time).setHours(0, 0, 0, 0);
const daysAgo = (time) => Math.round((dayOf(Date.now()) - dayOf(time)) / 86_400_000);

export const sameDay = (a, b) => dayOf(a) === dayOf(b);
export const clockTime = (time) => clock.format(time);
export const fullTime = (time) => full.format(time);

/** The time of a chat in the list: the time of day today, the day otherwise. */
export function listTime(time) {
  const days = daysAgo(time);
  if (days <= 0) return clock.format(time);
  if (days === 1) return t("yesterday");
  if (days < 7) return weekday.format(time);
  return days < 300 ? shortDate.format(time) : yearDate.format(time);
}

/** The label of a separator between days. */
export function dayTitle(time) {
  const days = daysAgo(time);
  if (days <= 0) return t("today");
  if (days === 1) return t("yesterday");
  return days < 300 ? longDate.format(time) : yearDate.format(time);
}

/** The initials of a name: one or two letters, or one character of a Chinese name. */
export function initials(name) {
  const parts = name.trim().split(/\s+/u).filter(Boolean);
  const first = [...(parts[0] ?? "?")][0];
  const last = parts.length > 1 ? [...parts.at(-1)][0] : "";
  return (/\p{Script=Han}/u.test(first) ? first : first + last).toUpperCase();
}

// A candidate for a link. The URL parser and a list of two schemes decide whether it becomes one.
const LINK = /\bhttps?:\/\/[^\s<>"'`\u3000-\u303f\uff00-\uffef]+/giu;
const count = (text, character) => text.split(character).length - 1;
const TRAILING = /[.,;:!?)\]}'"]+$/u;

/** The nodes of a text, with links for its http and https URLs. */
export function linkify(text) {
  const nodes = [];
  let at = 0;
  for (const match of text.matchAll(LINK)) {
    let shown = match[0];
    // A closing bracket belongs to the link only if the link contains the opening one.
    while (TRAILING.test(shown) && !(shown.endsWith(")") && count(shown, "(") >= count(shown, ")"))) shown = shown.slice(0, -1);
    const target = safeLink(shown);
    if (!target) continue;
    nodes.push(text.slice(at, match.index), h("a", { href: target, target: "_blank", rel: "noopener noreferrer nofollow" }, shown));
    at = match.index + shown.length;
  }
  nodes.push(text.slice(at));
  return nodes.filter((node) => node !== "");
}

function safeLink(text) {
  try {
    const url = new URL(text);
    return (url.protocol === "http:" || url.protocol === "https:") && url.hostname ? url.href : null;
  } catch {
    return null;
  }
}

/** Whether a message consists of a few emoji only, which are shown large. */
export function isJumbo(text) {
  return text.length <= 24 && /^(?:\p{Extended_Pictographic}(?:\ufe0f|\u200d\p{Extended_Pictographic}|\p{Emoji_Modifier})*\s*){1,3}$/u.test(text);
}
