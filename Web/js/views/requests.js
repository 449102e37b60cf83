// Contact requests: the received and the sent requests, and a new request with a text.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { userAvatar } from "./avatar.js";
import { openDialog } from "./dialog.js";
import { submitting } from "./fields.js";
import { lookalikeNote } from "./lookalike.js";
import { attempt, toast } from "./toast.js";
import { userName } from "./model.js";
import { listTime } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const LONGEST = 200;

const byTime = (one, other) => (other.at ?? 0) - (one.at ?? 0) || (one.user.name < other.user.name ? -1 : 1);

/**
 * Returns the received requests that wait for an answer, newest first. Their contacts have the
 * state `asked`.
 */
export const incoming = (state) => state.contacts("asked").sort(byTime);

/** Returns the sent requests that wait for an answer, newest first. */
export const outgoing = (state) => state.contacts("asking").sort(byTime);

/** Answers a request and confirms the answer. */
export async function answerRequest(state, name, accept) {
  if (await attempt(state.answerContact(name, accept)) === undefined) return;
  toast(t(accept ? "requestAccepted" : "requestDeclined", { name: userName(state, name) }), { seconds: 3 });
}

export async function takeBack(state, name) {
  if (await attempt(state.removeContact(name)) !== undefined) toast(t("requestTakenBack"), { seconds: 3 });
}

/** Shows the received and the sent requests in `element`, which is empty if there are none. */
export function showRequests(app, element) {
  const { state } = app;
  const [asked, asking] = [incoming(state), outgoing(state)];
  replace(element,
    asked.length ? [h("h3", { class: "list-title" }, t("contactRequests")), h("ul", {}, asked.map((contact) => incomingRow(app, contact)))] : null,
    asking.length ? [h("h3", { class: "list-title" }, t("sentRequests")), h("ul", {}, asking.map((contact) => outgoingRow(app, contact)))] : null,
    asked.length || asking.length ? h("h3", { class: "list-title" }, t("contacts")) : null);
}

function incomingRow(app, { user, text, at }) {
  const { state } = app;
  const shown = userName(state, user.name);
  const button = (accept, look, label) => h("button", { type: "button", class: `button small ${look}`, "aria-label": `${label}${t("colon")}${shown}`, onclick: () => answerRequest(state, user.name, accept) }, label);
  return h("li", { class: "request", "data-user": user.name },
    h("button", { type: "button", class: "face", "aria-label": `${t("profile")}${t("colon")}${shown}`, onclick: () => app.openProfile(user.name) }, userAvatar(state, user, { size: "m" })),
    h("div", { class: "lines" },
      h("div", { class: "line" }, h("span", { class: "title ellipsis" }, shown), h("span", { class: "sub ellipsis" }, `@${user.name}`), h("span", { class: "spring" }), at ? h("time", { class: "time" }, listTime(at)) : null),
      text ? h("p", { class: "said" }, text) : null,
      lookalikeNote(state, user.name),
      h("div", { class: "button-row" }, button(true, "primary", t("accept")), button(false, "", t("decline")))));
}

function outgoingRow(app, { user, at }) {
  const { state } = app;
  const shown = userName(state, user.name);
  return h("li", { class: "request", "data-user": user.name },
    h("button", { type: "button", class: "face", "aria-label": `${t("profile")}${t("colon")}${shown}`, onclick: () => app.openProfile(user.name) }, userAvatar(state, user, { size: "m" })),
    h("div", { class: "lines middle" }, h("div", { class: "title ellipsis" }, shown), h("div", { class: "sub ellipsis" }, at ? t("sentAt", { time: listTime(at) }) : `@${user.name}`)),
    h("button", { type: "button", class: "button small quiet", "aria-label": `${t("takeBack")}${t("colon")}${shown}`, onclick: () => takeBack(state, user.name) }, t("takeBack")));
}

/** Opens a dialog that sends a contact request with a text. */
export function askForContact(app, name) {
  const { state } = app;
  const text = h("textarea", { class: "input", rows: "3", maxlength: String(LONGEST), autofocus: true, placeholder: t("requestPlaceholder") });
  const send = h("button", { type: "submit", class: "button primary" }, t("sendRequest"));
  const form = h("form", { onsubmit: submitting(send, async () => {
    if (await attempt(state.requestContact(name, { text: [...text.value.trim()].slice(0, LONGEST).join("") })) === undefined) return;
    dialog.close();
    toast(t("requestSent", { name: userName(state, name) }));
  }) },
  h("div", { class: "dialog-body" }, lookalikeNote(state, name), h("label", { class: "field" }, t("requestText"), text)),
  h("div", { class: "dialog-foot" }, h("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, t("cancel")), send));
  const dialog = openDialog(t("addContactNamed", { name: userName(state, name) }), form);
}

/** Returns a badge with the number of received requests, at most 99, or null. */
export function requestBadge(state) {
  const { length } = state.contacts("asked");
  return length ? h("span", { class: "badge", "aria-hidden": "true" }, String(Math.min(length, 99))) : null;
}
