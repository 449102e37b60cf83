// The scheduled messages of a conversation, which the user can reschedule, send immediately or
// delete.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { scheduleTime } from "./compose.js";
import { openDialog } from "./dialog.js";
import { attempt, toast } from "./toast.js";
import { errorText, eventText } from "./model.js";
import { shortDate } from "../i18n/format.js";
import { t } from "../i18n/index.js";

export function showScheduled(app, conv) {
  const { state } = app;
  const body = h("div", { class: "dialog-body" });
  const button = (name, label, run, danger) => h("button", { type: "button", class: `icon-button${danger ? " danger" : ""}`, "aria-label": label, title: label, onclick: run }, icon(name));

  /** Schedules the message again before it removes the former one, so that it is never lost. */
  const move = async ({ id, kind, body: content, ref, thread, silent, send_at: before }) => {
    const at = await scheduleTime(Math.max(before, Date.now() + 60_000));
    if (at === null) return;
    if (await attempt(state.schedule(conv, { kind, body: content, ref, thread, silent }, at)) === undefined) return;
    await attempt(state.unschedule(id));
    toast(t("scheduledFor", { time: shortDate(at) }));
    show();
  };

  const sendNow = async ({ id, kind, body: content, ref, thread, silent }) => {
    if (await attempt(state.unschedule(id)) === undefined) return;
    await attempt(state.send(conv, { kind, body: content, ref, thread, silent }));
    show();
  };

  const row = (message) => h("div", { class: "option-row scheduled", "data-scheduled": message.id },
    h("span", { class: "lines" }, h("div", { class: "ellipsis" }, eventText(state, message)),
      message.error ? h("div", { class: "small danger", role: "alert" }, t("failedReason", { reason: errorText({ code: message.error }) })) : null,
      h("div", { class: "small muted" }, t("scheduledFor", { time: shortDate(message.send_at) }), message.silent ? ` · ${t("sendSilently")}` : "")),
    button("send", t("sendNow"), () => sendNow(message)), button("clock", t("changeTime"), () => move(message)),
    button("trash", t("delete"), async () => { await attempt(state.unschedule(message.id)); show(); }, true));

  const show = async () => {
    const messages = await attempt(state.scheduled(conv));
    if (messages && body.isConnected) replace(body, messages.length ? messages.map(row) : h("p", { class: "muted" }, t("none")));
    if (document.activeElement === document.body) body.closest("dialog")?.querySelector("button")?.focus();
  };
  openDialog(t("scheduled"), body);
  show();
}
