// The settings: profile, appearance, notifications, privacy, sessions, security, account.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { userAvatar } from "./avatar.js";
import { confirm, openDialog, selectRow, switchRow } from "./dialog.js";
import { password, submitting } from "./fields.js";
import { pickImage } from "./profile.js";
import { securityPage } from "./security.js";
import { attempt, toast } from "./toast.js";
import { userName } from "./model.js";
import { listTime } from "../i18n/format.js";
import { LANGUAGE_NAMES, t } from "../i18n/index.js";

const PAGES = {
  profile: ["person", profilePage], appearance: ["sun", appearancePage], notifications: ["bell", notificationsPage], privacy: ["shield", privacyPage],
  sessions: ["device", sessionsPage], security: ["key", securityPage], blocked: ["close", blockedPage], account: ["settings", accountPage],
};

export function openSettings(app, first = "profile") {
  const page = h("div", { class: "page", role: "tabpanel", tabindex: "-1" });
  const tabs = h("nav", { role: "tablist", "aria-label": t("settings"), "aria-orientation": "vertical" });
  const show = (name, focus = false) => {
    for (const tab of tabs.children) {
      const chosen = tab.dataset.page === name;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      if (chosen && focus) tab.focus();
    }
    page.setAttribute("aria-label", t(name));
    replace(page, h("h2", {}, t(name)));
    PAGES[name][1](app, page, dialog);
  };
  for (const [name, [symbol]] of Object.entries(PAGES)) {
    tabs.append(h("button", { type: "button", role: "tab", "data-page": name, autofocus: name === first, onclick: () => show(name) }, icon(symbol), t(name)));
  }
  tabs.addEventListener("keydown", (event) => {
    const names = Object.keys(PAGES);
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    show(names[(names.indexOf(document.activeElement.dataset.page) + step + names.length) % names.length], true);
  });
  const dialog = openDialog(t("settings"), h("div", { class: "settings" }, tabs, page), { wide: true, label: "settings-dialog" });
  show(first);
}

function profilePage(app, page) {
  const { state } = app;
  const user = state.account;
  const face = h("span", {}, userAvatar(state, user, { size: "xl" }));
  const nick = h("input", { class: "input", value: user.nick ?? "", maxlength: "50", autocomplete: "nickname" });
  const status = h("input", { class: "input", value: user.status ?? "", maxlength: "100" });
  const save = h("button", { type: "submit", class: "button primary" }, t("save"));
  page.append(h("div", { class: "profile-head" }, face, h("div", { class: "muted" }, `@${user.name}`),
    h("button", { type: "button", class: "button", onclick: async () => {
      const avatar = await pickImage(state);
      if (avatar && await attempt(state.setProfile({ avatar })) !== undefined) replace(face, userAvatar(state, { ...user, avatar }, { size: "xl" }));
    } }, icon("picture"), t("changePicture"))),
  h("form", { class: "dialog-fields", onsubmit: submitting(save, async () => { if (await attempt(state.setProfile({ nick: nick.value.trim(), status: status.value.trim() })) !== undefined) toast(t("save"), { seconds: 2 }); }) },
    h("label", { class: "field" }, t("nick"), nick), h("label", { class: "field" }, t("statusText"), status), save));
}

function choices(legend, value, options, change) {
  const name = `choice-${legend}`;
  return h("fieldset", { class: "group" }, h("legend", {}, legend), options.map(([key, label]) =>
    h("label", { class: "choice" }, h("input", { type: "radio", name, value: key, checked: key === value, onchange: () => change(key) }), label)));
}

function appearancePage(app, page, dialog) {
  const { preferences } = app;
  page.append(
    choices(t("theme"), preferences.theme, [["system", t("system")], ["light", t("light")], ["dark", t("dark")]], (value) => app.setPreference("theme", value)),
    choices(t("language"), preferences.language, [["system", t("system")], ...Object.entries(LANGUAGE_NAMES)], (value) => {
      dialog.close();
      app.setPreference("language", value);
      // The page was built anew in the other language.
      app.owner.view.settings?.("appearance");
    }),
    switchRow(t("enterSends"), preferences.enterSends, (on) => app.setPreference("enterSends", on)));
}

function notificationsPage(app, page) {
  const { state, preferences } = app;
  const settings = state.settings ?? {};
  const secure = globalThis.isSecureContext && "Notification" in globalThis;
  const offset = new Date().getTimezoneOffset();
  const toLocal = (minutes) => (((minutes - offset) % 1440) + 1440) % 1440;
  const text = (minutes) => `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
  const quiet = settings.quiet_from !== undefined && settings.quiet_from !== settings.quiet_until;
  const from = h("input", { type: "time", class: "input", value: text(toLocal(settings.quiet_from ?? 1320 + offset)) });
  const until = h("input", { type: "time", class: "input", value: text(toLocal(settings.quiet_until ?? 420 + offset)) });
  const times = h("div", { class: "search-filters", hidden: !quiet }, h("label", { class: "field grow" }, t("quietFrom"), from), h("label", { class: "field grow" }, t("quietUntil"), until));
  const minutes = (input) => {
    const [hours, rest] = input.value.split(":").map(Number);
    return (((hours * 60 + rest + offset) % 1440) + 1440) % 1440;
  };
  const save = (on) => attempt(state.setSettings(on ? { quiet_from: minutes(from), quiet_until: minutes(until) } : { quiet_from: 0, quiet_until: 0 }));
  for (const input of [from, until]) input.addEventListener("change", () => input.value && save(true));
  page.append(
    switchRow(t("notificationsDesktop"), secure && preferences.desktop && Notification.permission === "granted", async (on) => {
      if (on && Notification.permission !== "granted" && (await Notification.requestPermission()) !== "granted") return false;
      app.setPreference("desktop", on);
      return true;
    }, { disabled: !secure, detail: secure ? null : t("notificationsHTTPS") }),
    switchRow(t("notificationsPreview"), preferences.preview, (on) => app.setPreference("preview", on)),
    switchRow(t("notificationsSound"), preferences.sound, (on) => app.setPreference("sound", on)),
    switchRow(t("quietHours"), quiet, async (on) => { times.hidden = !on; await save(on); }), times);
}

function privacyPage(app, page) {
  const { state } = app;
  const settings = state.settings ?? {};
  const levels = [["all", t("all")], ["contacts", t("contactsOnly")], ["none", t("none")]];
  const set = (name) => (value) => attempt(state.setSettings({ [name]: value })).then((answer) => (answer === undefined ? false : undefined));
  page.append(
    selectRow(t("privacyLastSeen"), settings.last_seen ?? "contacts", levels, set("last_seen")),
    selectRow(t("privacyAvatar"), settings.avatar ?? "all", levels, set("avatar")),
    selectRow(t("privacyAdd"), settings.add ?? "contacts", levels.slice(1), set("add")),
    selectRow(t("privacyFind"), settings.find ?? "all", levels, set("find")),
    switchRow(t("privacyReceipts"), settings.receipts ?? true, set("receipts")),
    switchRow(t("privacyTyping"), settings.typing ?? true, set("typing")));
}

async function sessionsPage(app, page) {
  const { state } = app;
  const devices = await attempt(state.sessions());
  if (!devices || !page.isConnected || page.getAttribute("aria-label") !== t("sessions")) return;
  const again = () => { replace(page, h("h2", {}, t("sessions"))); sessionsPage(app, page); };
  const others = devices.filter(({ current }) => !current);
  page.append(...devices.map((device) => h("div", { class: "option-row" }, icon("device"),
    h("span", { class: "lines" }, h("div", { class: "ellipsis" }, device.name), h("div", { class: "small muted" }, device.current ? t("thisDevice") : t("lastActive", { time: listTime(device.last_seen) }), device.address ? ` · ${device.address}` : "")),
    device.current ? null : h("button", { type: "button", class: "button quiet", "aria-label": `${t("endSession")}: ${device.name}`, onclick: async () => { await attempt(state.endSession(device.device)); again(); } }, t("endSession")))));
  if (others.length) page.append(h("button", { type: "button", class: "button dangerous", onclick: async () => { if (await confirm(t("endOtherSessions"), { yes: t("endOtherSessions"), dangerous: true })) { await attempt(state.endOtherSessions()); again(); } } }, t("endOtherSessions")));
}

function blockedPage(app, page) {
  const { state } = app;
  const blocked = state.contacts("blocked");
  if (!blocked.length) page.append(h("p", { class: "muted" }, t("noBlocked")));
  for (const { user } of blocked) {
    const row = h("div", { class: "option-row" }, userAvatar(state, user, { size: "m" }), h("span", { class: "lines" }, userName(state, user.name)),
      h("button", { type: "button", class: "button quiet", onclick: async () => { if (await attempt(state.unblock(user.name)) !== undefined) row.remove(); } }, t("unblock")));
    page.append(row);
  }
}

function accountPage(app, page) {
  const { state } = app;
  const [proof, proofField] = password(t("password"), "current-password");
  const remove = h("button", { type: "submit", class: "button dangerous" }, icon("trash"), t("deleteAccountDo"));
  page.append(
    h("a", { class: "button", href: "/api/account/export", download: "" }, icon("download"), t("exportData")),
    h("button", { type: "button", class: "button", onclick: () => app.signOut() }, icon("leave"), t("signOut")),
    h("form", { class: "dialog-fields", onsubmit: submitting(remove, async () => {
      if (await confirm(t("deleteAccount"), { yes: t("deleteAccountDo"), dangerous: true, detail: t("deleteAccountQuestion", { name: `@${state.account.name}` }) })) await attempt(state.deleteAccount(proof.value));
    }) }, h("h3", {}, t("deleteAccount")), proofField, remove));
}
