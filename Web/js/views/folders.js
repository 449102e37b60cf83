// Folders of conversations: their settings, their menu, and the folders of one conversation.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { ask, confirm, openDialog, switchRow } from "./dialog.js";
import { openMenu } from "./menu.js";
import { attempt, toast } from "./toast.js";
import { t } from "../i18n/index.js";

const MOST = 20;
const LONGEST = 30;
const FILTERS = { unread: "unread", people: "people", groups: "groups", channels: "channels" };

/** Returns the names of the folders that the user fills. */
export const folderNames = (state) => (state.settings?.folders ?? []).filter(({ filter }) => !filter).map(({ name }) => name);

const inFolder = (head, name) => head.own?.folders?.includes(name) ?? false;

function put(state, head, name, on) {
  const others = (head.own?.folders ?? []).filter((each) => each !== name);
  return state.setOwn(head.conv, { folders: on ? [...others, name] : others });
}

/** Shows the settings of the folders, which the user or a filter fills. */
export function foldersPage({ state }, page) {
  const list = h("ul", {});
  const name = h("input", { class: "input", maxlength: String(LONGEST), "aria-label": t("folderName"), placeholder: t("folderName") });
  const filter = h("select", { class: "input", "aria-label": t("folderFilter") }, [["", t("folderChosen")], ...Object.entries(FILTERS).map(([key, label]) => [key, t(label)])].map(([key, label]) => h("option", { value: key }, label)));
  const show = () => replace(list, (state.settings?.folders ?? []).map((folder) => h("li", { class: "option-row" }, icon("bookmark"),
    h("span", { class: "lines" }, h("div", { class: "title ellipsis" }, folder.name), h("div", { class: "small muted" }, t(FILTERS[folder.filter] ?? "folderChosen"))),
    h("button", { type: "button", class: "icon-button", "aria-haspopup": "menu", "aria-expanded": "false", "aria-label": `${t("more")}${t("colon")}${folder.name}`, onclick: (event) => folderMenu({ state }, event.currentTarget, folder.name, () => {}) }, icon("more")))));
  const form = h("form", { class: "input-pair", onsubmit: async (event) => {
    event.preventDefault();
    const text = name.value.trim();
    if (!text) return name.focus();
    if (await add(state, text, filter.value || undefined)) name.value = "";
  } }, name, filter, h("button", { type: "submit", class: "button" }, icon("plus"), t("newFolder")));
  page.append(h("p", { class: "small muted" }, t("foldersHint")), list, form);
  show();
  return state.subscribe("settings", show);
}

/** Asks for the folders of a conversation. */
export function chooseFolders(app, conv) {
  const { state } = app;
  const list = h("div", {});
  const input = h("input", { class: "input", maxlength: String(LONGEST), "aria-label": t("folderName"), placeholder: t("folderName"), autofocus: true });
  const show = () => replace(list, folderNames(state).map((name) =>
    switchRow(name, inFolder(state.conversation(conv), name), async (on) => (await attempt(put(state, state.conversation(conv), name, on))) !== undefined)));
  const form = h("form", { class: "input-pair", onsubmit: async (event) => {
    event.preventDefault();
    const name = input.value.trim();
    if (!name || !(await add(state, name))) return;
    input.value = "";
    await attempt(put(state, state.conversation(conv), name, true));
  } }, input, h("button", { type: "submit", class: "button", "aria-label": t("newFolder") }, icon("plus"), t("newFolder")));
  const ends = [state.subscribe("settings", show), state.subscribe(`conversation:${conv}`, show)];
  openDialog(t("folders"), h("div", { class: "dialog-body" }, list, form), { onclose: () => { for (const end of ends) end(); } });
  show();
}

async function add(state, name, filter) {
  const folders = state.settings?.folders ?? [];
  if (folders.some((each) => each.name === name)) return true;
  if (folders.length >= MOST) {
    toast(t("folderLimit", { n: MOST }), { role: "alert" });
    return false;
  }
  return (await attempt(state.setSettings({ folders: [...folders, { name, ...(filter && { filter }) }] }))) !== undefined;
}

/** Opens the menu of a folder. `moved(name)` receives its new name, or null after its removal. */
export function folderMenu({ state }, anchor, name, moved) {
  const set = (folders) => attempt(state.setSettings({ folders }));
  const change = async (to) => {
    const folders = state.settings?.folders ?? [];
    const after = to === null ? folders.filter((each) => each.name !== name) : folders.map((each) => (each.name === name ? { ...each, name: to } : each));
    if (await set(after) === undefined) return;
    for (const head of state.conversations({ filter: "everything" }).filter((each) => inFolder(each, name))) {
      const others = head.own.folders.filter((each) => each !== name);
      await attempt(state.setOwn(head.conv, { folders: to === null ? others : [...others, to] }));
    }
    moved(to);
  };
  openMenu(anchor, [
    { icon: "edit", label: t("rename"), run: async () => {
      const to = (await ask(t("rename"), { label: t("folderName"), value: name }))?.trim().slice(0, LONGEST);
      if (to && to !== name && !folderNames(state).includes(to)) change(to);
    } },
    { icon: "trash", label: t("deleteFolder"), danger: true, run: async () => {
      if (await confirm(t("deleteFolderQuestion", { name }), { yes: t("delete"), dangerous: true })) change(null);
    } },
  ], { label: name });
}
