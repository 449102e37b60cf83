// The settings: profile, appearance, notifications, privacy, and the pages of other files.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { userAvatar } from "./avatar.js";
import { accountPage, blockedPage, sessionsPage } from "./accountpages.js";
import { openDialog, selectRow, switchRow } from "./dialog.js";
import { submitting } from "./fields.js";
import { foldersPage } from "./folders.js";
import { notificationsPage } from "./notificationsettings.js";
import { pickImage } from "./profile.js";
import { securityPage } from "./security.js";
import { attempt, toast } from "./toast.js";
import { LANGUAGE_NAMES, t } from "../i18n/index.js";

const PAGES = {
  profile: ["person", profilePage], appearance: ["sun", appearancePage], notifications: ["bell", notificationsPage], privacy: ["shield", privacyPage],
  folders: ["bookmark", foldersPage], sessions: ["device", sessionsPage], security: ["key", securityPage], blocked: ["block", blockedPage], account: ["settings", accountPage],
};

/**
 * Opens the settings at the page `first`. Without it, opens the profile or, on a narrow screen, the
 * list of the pages.
 */
export function openSettings(app, first = null) {
  const page = h("div", { class: "page", role: "tabpanel", tabindex: "-1" });
  const tabs = h("nav", { role: "tablist", "aria-label": t("settings"), "aria-orientation": "vertical" });
  let end = null; // the function that ends the subscriptions of the shown page
  const show = (name, focus = false) => {
    end?.();
    for (const tab of tabs.children) {
      const chosen = tab.dataset.page === name;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      if (chosen && focus) tab.focus();
    }
    page.setAttribute("aria-label", t(name));
    replace(page, h("div", { class: "page-head" }, h("button", { type: "button", class: "icon-button only-narrow", "aria-label": t("back"), onclick: () => list() }, icon("back")), h("h2", {}, t(name))));
    const made = PAGES[name][1](app, page, dialog);
    end = typeof made === "function" ? made : null;
    page.scrollTop = 0;
  };
  for (const [name, [symbol]] of Object.entries(PAGES)) {
    tabs.append(h("button", { type: "button", role: "tab", "data-page": name, onclick: () => { show(name); frame.classList.add("has-page"); focusPage(); } }, icon(symbol), h("span", { class: "grow" }, t(name)), icon("chevron")));
  }
  tabs.addEventListener("keydown", (event) => {
    const names = Object.keys(PAGES);
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    show(names[(names.indexOf(document.activeElement.dataset.page) + step + names.length) % names.length], true);
  });
  // On a narrow screen, the list of the pages is a separate screen.
  const narrow = matchMedia("(max-width: 720px)");
  const list = () => {
    frame.classList.remove("has-page");
    tabs.querySelector("[aria-selected=true]").focus();
  };
  const focusPage = () => { if (narrow.matches) page.querySelector(".icon-button").focus(); };
  const frame = h("div", { class: `settings${first ? " has-page" : ""}` }, tabs, page);
  const dialog = openDialog(t("settings"), frame, { wide: true, label: "settings-dialog", onclose: () => end?.() });
  show(first ?? "profile");
  tabs.querySelector("[aria-selected=true]").focus();
  if (first) focusPage();
}

function profilePage(app, page) {
  const { state } = app;
  const user = state.account;
  const face = h("span", {}, userAvatar(state, user, { size: "xl" }));
  const removal = h("button", { type: "button", class: "button quiet danger", hidden: !user.avatar, onclick: () => setPicture("") }, icon("trash"), t("removePicture"));
  const setPicture = async (avatar) => {
    if (await attempt(state.setProfile({ avatar })) === undefined) return;
    replace(face, userAvatar(state, { ...state.account, avatar: avatar || undefined }, { size: "xl" }));
    removal.hidden = !avatar;
    toast(t("saved"), { seconds: 2 });
  };
  const nick = h("input", { class: "input", value: user.nick ?? "", maxlength: "50", autocomplete: "nickname" });
  const status = h("input", { class: "input", value: user.status ?? "", maxlength: "100" });
  const save = h("button", { type: "submit", class: "button primary" }, t("save"));
  page.append(h("div", { class: "profile-head" }, face, h("div", { class: "muted" }, `@${user.name}`),
    h("div", { class: "button-row centered" }, h("button", { type: "button", class: "button", onclick: async () => {
      const avatar = await pickImage(state);
      if (avatar) setPicture(avatar);
    } }, icon("picture"), t("changePicture")), removal)),
  h("form", { class: "dialog-fields", onsubmit: submitting(save, async () => { if (await attempt(state.setProfile({ nick: nick.value.trim(), status: status.value.trim() })) !== undefined) toast(t("saved"), { seconds: 2 }); }) },
    h("label", { class: "field" }, t("nick"), nick, h("span", { class: "small" }, t("nickHint"))), h("label", { class: "field" }, t("statusText"), status), save));
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
    choices(t("language"), preferences.language, [["system", t("system")], ...Object.entries(LANGUAGE_NAMES)], async (value) => {
      dialog.close();
      await app.setPreference("language", value);
      // The view was rebuilt in the other language.
      app.owner.view.settings?.("appearance");
    }),
    switchRow(t("enterSends"), preferences.enterSends, (on) => app.setPreference("enterSends", on)));
}

function privacyPage(app, page) {
  const { state } = app;
  const settings = state.settings ?? {};
  const levels = [["all", t("everyone")], ["contacts", t("contactsOnly")], ["none", t("nobody")]];
  const set = (name) => (value) => attempt(state.setSettings({ [name]: value })).then((answer) => (answer === undefined ? false : undefined));
  page.append(
    selectRow(t("privacyLastSeen"), settings.last_seen ?? "contacts", levels, set("last_seen")),
    selectRow(t("privacyAvatar"), settings.avatar ?? "all", levels, set("avatar")),
    selectRow(t("privacyMessages"), settings.messages ?? "all", levels, set("messages")),
    selectRow(t("privacyAdd"), settings.add ?? "contacts", levels, set("add")),
    selectRow(t("privacyFind"), settings.find ?? "all", levels, set("find")),
    switchRow(t("privacyReceipts"), settings.receipts ?? true, set("receipts")),
    switchRow(t("privacyTyping"), settings.typing ?? true, set("typing")));
}
