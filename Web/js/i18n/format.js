// Formats dates, numbers, sizes and lists in the chosen language.

import { locale, t } from "./index.js";

const cache = new Map();

function formatter(kind, options) {
  const key = `${locale()}|${kind.name}|${JSON.stringify(options)}`;
  if (!cache.has(key)) cache.set(key, new kind(locale(), options));
  return cache.get(key);
}

const LAST = 8.64e15; // ms since 1970, the last time that a Date can represent

const date = (at, options) => formatter(Intl.DateTimeFormat, options).format(Math.min(at, LAST));

/** Returns the calendar day as a number that increases by one each day. */
export function dayOf(at) {
  const value = new Date(at);
  return Math.round(Date.UTC(value.getFullYear(), value.getMonth(), value.getDate()) / 86_400_000);
}

export const clock = (at) => date(at, { timeStyle: "short" });
export const fullDate = (at) => date(at, { dateStyle: "full", timeStyle: "short" });
export const shortDate = (at) => date(at, { dateStyle: "medium", timeStyle: "short" });

/**
 * Returns "Today", "Yesterday" or a date: with the weekday in the current year, else with the year.
 */
export function dayTitle(at, now = Date.now()) {
  const days = dayOf(now) - dayOf(at);
  if (days === 0 || days === 1) {
    const text = formatter(Intl.RelativeTimeFormat, { numeric: "auto" }).format(-days, "day");
    return text[0].toLocaleUpperCase(locale()) + text.slice(1);
  }
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return date(at, sameYear ? { weekday: "long", day: "numeric", month: "long" } : { day: "numeric", month: "long", year: "numeric" });
}

/** Returns the time for a list: the clock time today, a weekday within a week, else a date. */
export function listTime(at, now = Date.now()) {
  const days = dayOf(now) - dayOf(at);
  if (days <= 0) return clock(at);
  if (days < 7) return date(at, { weekday: "short" });
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return date(at, sameYear ? { day: "numeric", month: "short" } : { day: "numeric", month: "numeric", year: "2-digit" });
}

export function lastSeen(at, now = Date.now()) {
  const minutes = Math.max(0, Math.round((now - at) / 60_000));
  const relative = formatter(Intl.RelativeTimeFormat, { numeric: "auto" });
  if (minutes < 1) return t("lastSeenJustNow");
  if (minutes < 60) return t("lastSeen", { time: relative.format(-minutes, "minute") });
  if (minutes < 24 * 60) return t("lastSeen", { time: relative.format(-Math.round(minutes / 60), "hour") });
  return t("lastSeen", { time: listTime(at, now) });
}

export function fileSize(bytes) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  let value = bytes;
  let index = 0;
  while (value >= 1000 && index < 3) {
    value /= 1000;
    index += 1;
  }
  return formatter(Intl.NumberFormat, { style: "unit", unit: units[index], unitDisplay: index ? "short" : "long", maximumFractionDigits: value < 10 && index ? 1 : 0 }).format(value);
}

export function duration(milliseconds) {
  const seconds = Math.round(milliseconds / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (!parts[0]) parts.shift();
  return parts.map((part, index) => (index ? String(part).padStart(2, "0") : String(part))).join(":");
}

/** Returns the remaining time in its largest unit, rounded down, such as "5 min". */
export function timeLeft(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const [size, unit] = [[86_400, "day"], [3_600, "hour"], [60, "minute"]].find(([length]) => seconds >= length) ?? [1, "second"];
  return formatter(Intl.NumberFormat, { style: "unit", unit, unitDisplay: "narrow" }).format(Math.floor(seconds / size));
}

/** Returns a time span for settings, such as "1 hour". */
export function span(seconds) {
  const units = [[86_400, "day"], [3_600, "hour"], [60, "minute"], [1, "second"]];
  const [size, unit] = units.find(([length]) => seconds % length === 0 && seconds >= length) ?? [1, "second"];
  return formatter(Intl.NumberFormat, { style: "unit", unit, unitDisplay: "long" }).format(seconds / size);
}

/**
 * Returns a waiting time, rounded up, in the largest unit of which it has at least two, else in
 * seconds.
 */
export function roughSpan(seconds) {
  const size = [86_400, 3_600, 60].find((each) => seconds >= 2 * each) ?? 1;
  return span(Math.ceil(seconds / size) * size);
}

export const number = (value) => formatter(Intl.NumberFormat, {}).format(value);
export const percent = (value) => formatter(Intl.NumberFormat, { style: "percent" }).format(value);
export const list = (items) => formatter(Intl.ListFormat, { type: "conjunction" }).format(items);
export const compare = (one, other) => formatter(Intl.Collator, { numeric: true }).compare(one, other);
