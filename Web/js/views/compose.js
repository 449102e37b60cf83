// Dialogs for the content of a message (a poll or a contact card), and for the time of a scheduled
// message.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { openDialog, switchRow } from "./dialog.js";
import { choosePerson } from "./pickers.js";
import { toast } from "./toast.js";
import { userName } from "./model.js";
import { t } from "../i18n/index.js";

const YEAR = 364 * 86_400_000; // ms, slightly less than the maximum of the server

/** Returns a time as the value of a `datetime-local` field. */
const localTime = (at) => new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** Returns the time of an hour of the day in `days` days, in ms since 1970. */
function clockTime(hour, days) {
  const date = new Date();
  date.setDate(date.getDate() + days);
  return date.setHours(hour, 0, 0, 0);
}

/** Asks for a poll. Resolves to { kind, body } or null. */
export function newPoll() {
  return new Promise((resolve) => {
    let content = null;
    let multiple = false;
    let anonymous = false;
    let closes = null;
    const ending = h("input", { type: "datetime-local", class: "input", value: localTime(Date.now() + 86_400_000), min: localTime(Date.now() + 60_000) });
    const endField = h("label", { class: "field", hidden: true }, t("pollClosesAt"), ending);
    const question = h("input", { class: "input", maxlength: "300", required: true, autofocus: true });
    const options = h("div", { class: "dialog-body" });
    const add = () => {
      if (options.children.length >= 20) return null;
      const input = h("input", { class: "input", maxlength: "100", "aria-label": t("pollOption", { n: options.children.length + 1 }), placeholder: t("pollOption", { n: options.children.length + 1 }) });
      options.append(input);
      return input;
    };
    add();
    add();
    const form = h("form", { onsubmit: (event) => {
      event.preventDefault();
      const inputs = [...options.querySelectorAll("input")];
      const texts = inputs.map((input) => input.value.trim()).filter(Boolean);
      // Enter in a field leads to the next one that is required.
      const missing = [question, ...(texts.length < 2 ? inputs : [])].find((input) => !input.value.trim());
      if (missing) {
        if (missing === document.activeElement) toast(t("fieldRequired"));
        return missing.focus();
      }
      content = { kind: "poll", body: { question: question.value.trim(), options: texts, ...(multiple && { multiple }), ...(anonymous && { anonymous }), ...(closes && ending.value && { closes_at: new Date(ending.value).getTime() }) } };
      dialog.close();
    } },
    h("div", { class: "dialog-body" }, h("label", { class: "field" }, t("pollQuestion"), question)), options,
    h("div", { class: "dialog-body" }, h("button", { type: "button", class: "button", onclick: () => add()?.focus() }, icon("plus"), t("pollAddOption")),
      switchRow(t("pollMultiple"), false, (on) => { multiple = on; }), switchRow(t("pollAnonymous"), false, (on) => { anonymous = on; }),
      switchRow(t("pollCloses"), false, (on) => { closes = on; endField.hidden = !on; }), endField),
    h("div", { class: "dialog-foot" }, h("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, t("cancel")), h("button", { type: "submit", class: "button primary" }, t("send"))));
    const dialog = openDialog(t("pollCreate"), form, { onclose: () => resolve(content), label: "scrolls" });
  });
}

export async function shareContact(app) {
  const user = await choosePerson(app, t("attachContact"));
  return user ? { kind: "card", body: { user: user.name, nick: userName(app.state, user.name) } } : null;
}

/**
 * Asks for a time in the future, in the time zone of the browser. Resolves to ms since 1970 or
 * null.
 */
export function scheduleTime(at = Date.now() + 3_600_000) {
  return new Promise((resolve) => {
    let answer = null;
    const input = h("input", { type: "datetime-local", class: "input", required: true, autofocus: true, value: localTime(at), min: localTime(Date.now() + 60_000), max: localTime(Date.now() + YEAR) });
    const set = (time) => { input.value = localTime(time); };
    const quick = [["inHour", Date.now() + 3_600_000], ["tonight", clockTime(20, 0)], ["tomorrowMorning", clockTime(9, 1)]].filter(([, time]) => time > Date.now() + 60_000);
    const form = h("form", { onsubmit: (event) => { event.preventDefault(); answer = new Date(input.value).getTime(); dialog.close(); } },
      h("div", { class: "dialog-body" }, h("div", { class: "button-row" }, quick.map(([name, time]) => h("button", { type: "button", class: "chip", onclick: () => set(time) }, t(name)))),
        h("label", { class: "field" }, t("scheduleAt"), input), h("p", { class: "small muted" }, t("timeZone", { zone: Intl.DateTimeFormat().resolvedOptions().timeZone }))),
      h("div", { class: "dialog-foot" }, h("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, t("cancel")), h("button", { type: "submit", class: "button primary" }, t("schedule"))));
    const dialog = openDialog(t("schedule"), form, { onclose: () => resolve(answer) });
  });
}
