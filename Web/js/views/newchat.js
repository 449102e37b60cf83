// Dialogs for a new chat, a new group or channel, and the contacts.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { userAvatar } from "./avatar.js";
import { openDialog, selectRow, switchRow } from "./dialog.js";
import { PeopleList, personRow } from "./pickers.js";
import { showRequests } from "./requests.js";
import { attempt, toast } from "./toast.js";
import { userName } from "./model.js";
import { list } from "../i18n/format.js";
import { t } from "../i18n/index.js";

export function newChat(app) {
  const people = new PeopleList(app, { choose: (user) => { dialog.close(); app.openPerson(user.name); } });
  const other = (name, label, run) => h("button", { type: "button", class: "row compact", onclick: () => { dialog.close(); run(); } }, h("span", { class: "avatar size-m symbol" }, icon(name)), h("span", { class: "title" }, label));
  const others = h("div", {},
    other("group", t("newGroup"), () => newGroup(app, "group")), other("megaphone", t("newChannel"), () => newGroup(app, "channel")), other("globe", t("explore"), () => app.explore()));
  people.field.input.addEventListener("input", () => { others.hidden = people.field.input.value.trim() !== ""; });
  const dialog = openDialog(t("newChat"), [
    h("div", { class: "pad" }, people.field.element), others, people.rows.element,
  ], { label: "tall", onclose: () => people.close() });
  people.show();
}

/** Asks for the title, the description and how users join, and for the first members. */
export function newGroup(app, kind = "group") {
  const { state } = app;
  const settings = kind === "channel" ? { join: "open", listed: true } : { join: "closed", listed: false };
  const picked = new Map();
  const chips = h("div", { class: "picked" });
  const title = h("input", { class: "input", name: "title", maxlength: "100", placeholder: t("groupTitle"), "aria-label": t("groupTitle") });
  const about = h("input", { class: "input", name: "about", maxlength: "1000", placeholder: t("groupAbout"), "aria-label": t("groupAbout") });
  const error = h("p", { class: "form-error", role: "alert" });
  const people = new PeopleList(app, {
    label: t("addMembers"),
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
  const create = h("button", { type: "submit", class: "button primary" }, t(kind === "channel" ? "createChannel" : "createGroup"));
  const submit = async (event) => {
    event.preventDefault();
    error.textContent = title.value.trim() ? "" : t("fieldRequired");
    title.setAttribute("aria-invalid", String(!title.value.trim()));
    if (!title.value.trim()) return title.focus();
    create.disabled = true;
    const answer = await attempt(state.createGroup({ kind, title: title.value.trim(), about: about.value.trim() || undefined, users: [...picked.keys()], settings }));
    create.disabled = false;
    if (!answer) return;
    dialog.close();
    if (answer.invited?.length) toast(t("wereInvited", { users: list(answer.invited.map((name) => userName(state, name))) }));
    app.openConversation(answer.head.conv);
  };
  const dialog = openDialog(t(kind === "channel" ? "newChannel" : "newGroup"), h("form", { class: "dialog-form", onsubmit: submit }, [
    h("div", { class: "pad" }, title, error, about,
      h("div", { class: "rows" }, selectRow(t("joining"), settings.join, [["closed", t("joinClosed")], ["approval", t("joinApproval")], ["open", t("joinOpen")]], (value) => { settings.join = value; }),
        switchRow(t("listed"), settings.listed, (on) => { settings.listed = on; })),
      people.field.element, chips),
    people.rows.element, h("div", { class: "dialog-foot" }, create)]), { label: "tall", onclose: () => people.close() });
  // Enter in the search field chooses a person and must not submit the form.
  people.field.input.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  title.focus();
  people.show();
}

export function showContacts(app) {
  const { state } = app;
  const people = new PeopleList(app, { choose: (user) => app.openProfile(user.name), empty: { title: t("noContacts"), hint: t("noContactsHint") } });
  const requests = h("div", { class: "requests" });
  people.rows.element.prepend(requests);
  const show = () => {
    showRequests(app, requests);
    people.show();
  };
  const end = state.subscribe("contacts", show);
  people.field.input.addEventListener("input", () => { requests.hidden = people.field.input.value.trim() !== ""; });
  openDialog(t("contacts"), [h("div", { class: "pad" }, people.field.element), people.rows.element], { label: "tall", onclose: () => { end(); people.close(); } });
  show();
}
