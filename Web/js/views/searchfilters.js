// The filters of a search: conversation, sender, kind and time.

import { h } from "./dom.js";
import { chooseConversation, choosePerson } from "./pickers.js";
import { headTitle, userName } from "./model.js";
import { t } from "../i18n/index.js";

const DAY = 86_400_000;
const OTHER = "\u0000";
const KINDS = [["text", "messages"], ["image", "picture"], ["video", "video"], ["audio", "audio"], ["file", "file"], ["poll", "poll"], ["location", "location"], ["card", "contactCard"], ["bundle", "bundle"]];

/**
 * Returns a choice of some values. With `other`, it offers a further value: `other()` asks for it
 * and resolves to [value, label] or null.
 */
function choice(label, choices, change, other) {
  const box = h("select", { class: "input", "aria-label": label });
  let chosen = choices[0][0];
  const show = () => {
    box.replaceChildren(...[...choices, ...(other ? [[OTHER, t("chooseOther")]] : [])].map(([value, text]) => h("option", { value }, text)));
    box.value = chosen;
  };
  box.addEventListener("change", async () => {
    if (box.value === OTHER) {
      const found = await other();
      if (found && !choices.some(([value]) => value === found[0])) choices.push(found);
      if (found) [chosen] = found;
    } else chosen = box.value;
    show();
    change(chosen);
  });
  show();
  return box;
}

/** Returns the fields of the filters. `change(values)` is called with the changed filters. */
export function searchFilters(app, conv, change) {
  return [placeFilter(app, conv, change), senderFilter(app, change), kindFilter(change), ...timeFilter(change)];
}

function placeFilter(app, conv, change) {
  const { state } = app;
  const first = conv ? [[conv, t("here")], ["", t("everywhere")]] : [["", t("everywhere")]];
  return choice(t("filterChat"), first, (value) => change({ conv: value || null }), async () => {
    const found = await chooseConversation(app, t("filterChat"));
    return found ? [found.conv, headTitle(state, state.conversation(found.conv))] : null;
  });
}

function senderFilter(app, change) {
  const { state } = app;
  return choice(t("filterFrom"), [["", t("anyPerson")], [state.account?.name ?? "", t("you")]], (value) => change({ sender: value || undefined }), async () => {
    const user = await choosePerson(app, t("filterFrom"));
    return user ? [user.name, userName(state, user.name)] : null;
  });
}

function kindFilter(change) {
  return choice(t("filterKind"), [["", t("anyKind")], ...KINDS.map(([kind, name]) => [kind, t(name)])], (value) => change({ kinds: value ? [value] : undefined }));
}

/**
 * Returns the choice of a time span before now or of days between two dates, and the fields of the
 * dates.
 */
function timeFilter(change) {
  const field = (label) => h("input", { type: "date", class: "input", "aria-label": label });
  const [from, until] = [field(t("fromDay")), field(t("untilDay"))];
  const days = h("div", { class: "input-pair days", hidden: true }, from, until);
  const between = () => change({ from_at: startOf(from.value), until_at: startOf(until.value, 1) });
  for (const input of [from, until]) input.addEventListener("change", between);
  const box = choice(t("filterWhen"), [["0", t("anyTime")], ["1", t("lastDay")], ["7", t("lastWeek")], ["30", t("lastMonth")], ["365", t("lastYear")], ["days", t("betweenDays")]], (value) => {
    days.hidden = value !== "days";
    if (value === "days") between();
    else change({ from_at: value === "0" ? undefined : Date.now() - Number(value) * DAY, until_at: undefined });
  });
  return [box, days];
}

/**
 * Returns the start of the day in a field or, with `after` 1, its last millisecond, in the time
 * zone of the browser.
 */
function startOf(value, after = 0) {
  if (!value) return undefined;
  const [year, month, day] = value.split("-").map(Number);
  return new Date(year, month - 1, day + after).getTime() - after;
}
