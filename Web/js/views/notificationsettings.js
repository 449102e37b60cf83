// The settings of the notifications of this browser, and of the quiet hours of the account.

import { h } from "./dom.js";
import { insecureNote } from "./accountpages.js";
import { switchRow } from "./dialog.js";
import { playSound } from "./sound.js";
import { attempt, toast } from "./toast.js";
import { canPush, subscribePush, unsubscribePush } from "../state/push.js";
import { t } from "../i18n/index.js";

const EVENING = 22 * 60;
const MORNING = 7 * 60;

export function notificationsPage(app, page) {
  const { state, preferences } = app;
  const isSecure = globalThis.isSecureContext && "Notification" in globalThis;
  const granted = () => isSecure && Notification.permission === "granted";
  const ask = async () => {
    if (granted()) return true;
    const answer = await Notification.requestPermission();
    if (answer === "denied") toast(t("notificationsDenied"), { role: "alert" });
    return answer === "granted";
  };
  page.append(...[insecureNote()].filter(Boolean),
    switchRow(t("notificationsDesktop"), granted() && preferences.desktop, async (on) => {
      if (on && !(await ask())) return false;
      app.setPreference("desktop", on);
      return true;
    }, { disabled: !isSecure, detail: isSecure ? Notification.permission === "denied" ? t("notificationsDenied") : null : t("notificationsHTTPS") }),
    switchRow(t("notificationsPush"), granted() && preferences.push && canPush(state), async (on) => {
      if (on && !(await ask())) return false;
      const done = await attempt((on ? subscribePush(state) : unsubscribePush(state)).then(() => true));
      if (done) app.setPreference("push", on);
      return Boolean(done);
    }, { disabled: !canPush(state), detail: t(canPush(state) ? "notificationsPushHint" : "notificationsPushMissing") }),
    switchRow(t("notificationsPreview"), preferences.preview, (on) => app.setPreference("preview", on)),
    switchRow(t("notificationsSound"), preferences.sound, (on) => { app.setPreference("sound", on); if (on) playSound(); }),
    ...quietHours(state));
}

/**
 * Returns the rows of the quiet hours. The server stores minutes after midnight UTC; the fields
 * show the time zone of the browser.
 */
function quietHours(state) {
  const { quiet_from: begin, quiet_until: end } = state.settings ?? {};
  const offset = new Date().getTimezoneOffset();
  const turn = (minutes) => ((minutes % 1440) + 1440) % 1440;
  const text = (minutes) => `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
  const isOn = begin !== undefined && begin !== end;
  const field = (value, otherwise) => h("input", { type: "time", class: "input", value: text(isOn ? turn(value - offset) : otherwise) });
  const [from, until] = [field(begin, EVENING), field(end, MORNING)];
  const times = h("div", { class: "search-filters", hidden: !isOn }, h("label", { class: "field grow" }, t("quietFrom"), from), h("label", { class: "field grow" }, t("quietUntil"), until));
  const minutes = (input) => {
    const [hours, rest] = input.value.split(":").map(Number);
    return turn(hours * 60 + rest + offset);
  };
  const save = (on) => attempt(state.setSettings(on ? { quiet_from: minutes(from), quiet_until: minutes(until) } : { quiet_from: 0, quiet_until: 0 }));
  const changed = () => {
    const isEmpty = from.value === until.value; // the server would end the quiet hours
    for (const input of [from, until]) input.setAttribute("aria-invalid", String(isEmpty));
    if (!isEmpty && from.value && until.value) save(true);
  };
  for (const input of [from, until]) input.addEventListener("change", changed);
  return [switchRow(t("quietHours"), isOn, async (on) => {
    if ((await save(on)) === undefined) return false;
    times.hidden = !on;
    return true;
  }, { detail: t("quietHint") }), times];
}
