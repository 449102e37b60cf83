// The settings of the sessions, the blocked users and the account.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { userAvatar } from "./avatar.js";
import { confirm } from "./dialog.js";
import { password, refusedPassword, submitting } from "./fields.js";
import { attempt, toast } from "./toast.js";
import { byName, errorText, userName } from "./model.js";
import { fullDate, listTime } from "../i18n/format.js";
import { t } from "../i18n/index.js";

export function sessionsPage(app, page) {
  const { state } = app;
  const body = h("div", { class: "dialog-fields" }, h("p", { class: "muted" }, t("loading")));
  page.append(body);
  const show = async () => {
    const devices = await state.sessions().catch((error) => { replace(body, h("p", { class: "form-error", role: "alert" }, errorText(error))); });
    if (!devices || !body.isConnected) return;
    const current = devices.find((each) => each.current);
    const others = devices.filter((each) => !each.current).sort((one, other) => other.last_seen - one.last_seen);
    replace(body, h("h3", {}, t("thisDevice")), current ? row(current) : null,
      others.length ? h("button", { type: "button", class: "button dangerous", onclick: async () => {
        if (!(await confirm(t("endOtherSessions"), { yes: t("endOtherSessions"), dangerous: true, detail: t("endOthersHint") }))) return;
        if (await attempt(state.endOtherSessions()) !== undefined) toast(t("othersEnded"));
        show();
      } }, icon("leave"), t("endOtherSessions")) : h("p", { class: "small muted" }, t("noOtherSessions")),
      others.length ? [h("h3", {}, t("otherSessions")), h("ul", {}, others.map((device) => h("li", {}, row(device))))] : null);
  };
  const row = (device) => h("div", { class: "option-row" }, h("span", { class: "avatar size-m symbol" }, icon("device")),
    h("span", { class: "lines" }, h("div", { class: "title ellipsis" }, device.name),
      h("div", { class: "small muted", title: t("signedInAt", { time: fullDate(device.at) }) }, [device.current ? t("online") : t("lastActive", { time: listTime(device.last_seen) }), device.address].filter(Boolean).join(" · "))),
    device.current ? null : h("button", { type: "button", class: "button small quiet danger", "aria-label": `${t("endSession")}${t("colon")}${device.name}`, onclick: async () => {
      if (await attempt(state.endSession(device.device)) !== undefined) toast(t("sessionEnded", { name: device.name }), { seconds: 3 });
      show();
    } }, t("endSession")));
  show();
}

export function blockedPage(app, page) {
  const { state } = app;
  const body = h("div", {});
  const show = () => {
    const blocked = state.contacts("blocked").sort(byName(state));
    replace(body, blocked.length ? h("ul", {}, blocked.map(({ user }) => h("li", { class: "option-row" }, userAvatar(state, user, { size: "m" }),
      h("span", { class: "lines" }, h("div", { class: "title ellipsis" }, userName(state, user.name)), h("div", { class: "small muted" }, `@${user.name}`)),
      h("button", { type: "button", class: "button small quiet", "aria-label": `${t("unblock")}${t("colon")}${userName(state, user.name)}`, onclick: () => attempt(state.unblock(user.name)) }, t("unblock")))))
      : h("p", { class: "muted" }, t("noBlocked")));
  };
  page.append(h("p", { class: "small muted" }, t("blockedHint")), body);
  show();
  return state.subscribe("contacts", show);
}

export function accountPage(app, page) {
  const { state } = app;
  const [proof, proofField] = password(t("password"), "current-password");
  const error = h("p", { class: "form-error", role: "alert" });
  const remove = h("button", { type: "submit", class: "button dangerous" }, icon("trash"), t("deleteAccountDo"));
  const save = h("button", { type: "button", class: "button", onclick: async () => {
    save.disabled = true;
    await attempt(exportData(state.account.name));
    save.disabled = false;
  } }, icon("download"), t("exportData"));
  page.append(
    h("section", { class: "dialog-fields" }, h("h3", {}, t("exportData")), h("p", { class: "small muted" }, t("exportHint")), save),
    h("section", { class: "dialog-fields" }, h("h3", {}, t("signOut")), h("p", { class: "small muted" }, t("signOutHint")), h("button", { type: "button", class: "button", onclick: () => app.signOut() }, icon("leave"), t("signOut"))),
    ...[insecureNote()].filter(Boolean),
    h("form", { class: "dialog-fields", onsubmit: submitting(remove, async () => {
      error.textContent = "";
      if (!proof.value) return refusedPassword(error, proof, t("fieldRequired"));
      if (!(await confirm(t("deleteAccount"), { yes: t("deleteAccountDo"), dangerous: true, detail: t("deleteAccountQuestion", { name: `@${state.account.name}` }) }))) return;
      try {
        await state.deleteAccount(proof.value);
        toast(t("accountDeleted"), { seconds: 10 });
      } catch (refusal) {
        refusedPassword(error, proof, refusal.code === "forbidden" ? t("passwordWrong") : errorText(refusal));
      }
    }) }, h("h3", {}, t("deleteAccount")), h("p", { class: "small muted" }, t("deleteAccountHint")), proofField, error, remove));
}

/** Downloads the data of the account with a script, so that an error of the server can be shown. */
async function exportData(name) {
  const response = await fetch("/api/account/export", { credentials: "same-origin", cache: "no-store" }).catch(() => { throw Object.assign(new Error(), { code: "offline" }); });
  if (!response.ok) {
    const { error } = await response.json().catch(() => ({}));
    throw Object.assign(new Error(error?.message), { ...error, code: response.status === 404 ? "unsupported" : error?.code ?? "internal", retryAfter: error?.retry_after });
  }
  const address = URL.createObjectURL(await response.blob());
  const type = response.headers.get("Content-Type") ?? "";
  h("a", { href: address, download: `${name}${type.includes("zip") ? ".zip" : ".json"}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Returns a note about the features that require HTTPS, or null. */
export function insecureNote() {
  if (globalThis.isSecureContext) return null;
  return h("section", { class: "dialog-fields" }, h("h3", {}, t("insecure")), h("div", { class: "notice-line" }, icon("lock"), h("span", {}, t("insecureHint"))));
}
