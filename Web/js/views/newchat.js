// New chat, new group or channel, and the contacts.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { userAvatar } from "./avatar.js";
import { openDialog } from "./dialog.js";
import { PeopleList, personRow } from "./pickers.js";
import { attempt } from "./toast.js";
import { userName } from "./model.js";
import { compare } from "../i18n/format.js";
import { t } from "../i18n/index.js";

export function newChat(app) {
  const people = new PeopleList(app, { choose: (user) => { dialog.close(); app.openPerson(user.name); } });
  const other = (name, label, run) => h("button", { type: "button", class: "row compact", onclick: () => { dialog.close(); run(); } }, h("span", { class: "avatar size-m" }, icon(name)), h("span", { class: "title" }, label));
  const dialog = openDialog(t("newChat"), [
    h("div", { class: "pad" }, people.field.element),
    other("group", t("newGroup"), () => newGroup(app, "group")), other("megaphone", t("newChannel"), () => newGroup(app, "channel")),
    people.rows.element,
  ], { onclose: () => people.close() });
  people.show();
}

/** Chooses members, then asks for the title. */
export function newGroup(app, kind = "group") {
  const { state } = app;
  const picked = new Map();
  const chips = h("div", { class: "picked" });
  const title = h("input", { class: "input", name: "title", maxlength: "100", placeholder: t("groupTitle"), "aria-label": t("groupTitle") });
  const error = h("p", { class: "form-error", role: "alert" });
  const people = new PeopleList(app, {
    choose: (user) => {
      if (!picked.delete(user.name)) picked.set(user.name, user);
      showChips();
      people.refresh();
    },
    render: (user) => personRow(state, user, { chosen: picked.has(user.name) }),
    signature: (user) => String(picked.has(user.name)),
    exclude: (user) => user.name === state.account?.name,
  });
  const showChips = () => replace(chips, [...picked.values()].map((user) => h("button", { type: "button", "aria-label": `${t("remove")}: ${userName(state, user.name)}`, onclick: () => {
    picked.delete(user.name);
    showChips();
    people.refresh();
    people.field.input.focus();
  } }, userAvatar(state, user, { size: "s" }), userName(state, user.name), icon("close"))));
  const create = h("button", { type: "button", class: "button primary", onclick: async () => {
    if (!title.value.trim()) {
      error.textContent = t("fieldRequired");
      title.setAttribute("aria-invalid", "true");
      title.focus();
      return;
    }
    create.disabled = true;
    const answer = await attempt(state.createGroup({ kind, title: title.value.trim(), users: [...picked.keys()] }));
    create.disabled = false;
    if (!answer) return;
    dialog.close();
    app.openConversation(answer.head.conv);
  } }, t(kind === "channel" ? "createChannel" : "createGroup"));
  const dialog = openDialog(t(kind === "channel" ? "newChannel" : "newGroup"), [
    h("div", { class: "pad" }, title, error, people.field.element, chips), people.rows.element, h("div", { class: "dialog-foot" }, create),
  ], { onclose: () => people.close() });
  people.show();
}

export function showContacts(app) {
  const { state } = app;
  const people = new PeopleList(app, { choose: (user) => app.openProfile(user.name) });
  const requests = h("div", { class: "pad" });
  const show = () => {
    const asking = state.contacts("asking");
    requests.hidden = !asking.length;
    replace(requests, h("h3", {}, t("contactRequests")), asking.sort((one, other) => compare(one.user.name, other.user.name)).map(({ user, text }) => h("div", { class: "option-row" },
      userAvatar(state, user, { size: "m" }),
      h("span", { class: "lines" }, h("div", { class: "ellipsis" }, userName(state, user.name)), text ? h("div", { class: "small muted ellipsis" }, text) : null),
      h("button", { type: "button", class: "icon-button", "aria-label": `${t("decline")}: ${userName(state, user.name)}`, onclick: () => attempt(state.answerContact(user.name, false)) }, icon("close")),
      h("button", { type: "button", class: "icon-button", "aria-label": `${t("accept")}: ${userName(state, user.name)}`, onclick: () => attempt(state.answerContact(user.name, true)) }, icon("check")))));
    people.show();
  };
  const end = state.subscribe("contacts", show);
  openDialog(t("contacts"), [h("div", { class: "pad" }, people.field.element), requests, people.rows.element], { onclose: () => { end(); people.close(); } });
  show();
}
