// The profile of a user, and the choice of a picture.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { userAvatar } from "./avatar.js";
import { ask, confirm, openDialog } from "./dialog.js";
import { lookalikeNote } from "./lookalike.js";
import { answerRequest, askForContact, takeBack } from "./requests.js";
import { attempt } from "./toast.js";
import { userName } from "./model.js";
import { lastSeen } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const LONGEST_ALIAS = 50;

export function openProfile(app, name) {
  const { state } = app;
  if (name === state.account?.name) {
    app.settings("profile");
    return;
  }
  const body = h("div", { class: "dialog-body profile" });
  const show = () => {
    const focused = body.contains(document.activeElement) ? document.activeElement.dataset.action : null;
    replace(body, hero(state, name), request(state, name), actions(app, name, () => dialog.close()));
    if (focused) (body.querySelector(`[data-action="${focused}"]`) ?? body.querySelector("button"))?.focus();
  };
  const ends = ["contacts", "users"].map((key) => state.subscribe(key, show));
  const dialog = openDialog(t("profile"), body, { onclose: () => ends.forEach((end) => end()) });
  show();
  state.refresh(name);
  body.querySelector("button")?.focus();
}

function hero(state, name) {
  const user = state.user(name) ?? { name };
  const shown = userName(state, name);
  const presence = user.online ? t("online") : user.last_seen ? lastSeen(user.last_seen) : null;
  return h("div", { class: "profile-head" }, userAvatar(state, user, { size: "xl" }), h("h2", {}, shown),
    h("div", { class: "muted" }, user.alias && user.nick && user.nick !== shown ? `${user.nick} · @${name}` : `@${name}`),
    user.deleted ? h("div", { class: "small muted" }, t("isDeleted")) : null,
    presence ? h("div", { class: `small ${user.online ? "is-online" : "muted"}` }, presence) : null,
    user.status ? h("p", { class: "about" }, user.status) : null, lookalikeNote(state, name));
}

/** Returns the pending contact request of a user, or null. */
function request(state, name) {
  const contact = state.contact(name);
  if (contact?.state !== "asked") return null;
  return h("div", { class: "request-box" }, h("h3", {}, t("asksForContact")), contact.text ? h("p", { class: "said" }, contact.text) : null,
    h("div", { class: "button-row" },
      h("button", { type: "button", class: "button primary", "data-action": "accept", onclick: () => answerRequest(state, name, true) }, icon("check"), t("accept")),
      h("button", { type: "button", class: "button", "data-action": "decline", onclick: () => answerRequest(state, name, false) }, t("decline"))));
}

function actions(app, name, close) {
  const { state } = app;
  const contact = state.contact(name);
  const relation = contact?.state;
  const shown = userName(state, name);
  const row = (action, symbol, label, run, look = "") => h("button", { type: "button", class: `action-row ${look}`, "data-action": action, onclick: run }, icon(symbol), label);
  return h("div", { class: "action-list" },
    row("message", "chatBubble", t("writeMessage"), () => { close(); app.openPerson(name); }),
    relation === "friend" ? row("alias", "edit", contact.alias ? t("changeAlias") : t("setAlias"), () => changeAlias(state, name, contact)) : null,
    relation === "friend" ? row("remove", "person", t("removeContact"), async () => {
      if (await confirm(t("removeContactQuestion", { name: shown }), { yes: t("remove"), dangerous: true })) attempt(state.removeContact(name));
    }) : null,
    relation === undefined ? row("add", "personAdd", t("addContact"), () => askForContact(app, name)) : null,
    relation === "asking" ? row("back", "undo", t("takeBackRequest"), () => takeBack(state, name)) : null,
    relation === "blocked" ? row("unblock", "shield", t("unblock"), () => attempt(state.unblock(name)))
      : row("block", "shield", t("block"), async () => {
        if (await confirm(t("blockQuestion", { name: shown }), { yes: t("block"), dangerous: true })) attempt(state.block(name));
      }, "danger"),
    row("report", "warning", t("report"), () => app.report({ user: name }), "danger"));
}

async function changeAlias(state, name, { alias = "", user }) {
  const text = await ask(t("alias"), { value: alias, hint: t("aliasHint", { name: user.nick ?? name }), maxlength: LONGEST_ALIAS });
  if (text !== null && text.trim() !== alias) attempt(state.setAlias(name, text.trim()));
}

/**
 * Lets the user choose a picture, crops it to a square of at most 512 pixels, and uploads it.
 * Resolves to its blob id, or null.
 */
export function pickImage(state) {
  return new Promise((resolve) => {
    const input = h("input", { type: "file", accept: "image/*" });
    input.addEventListener("cancel", () => resolve(null));
    input.addEventListener("change", async () => resolve(input.files[0] ? await attempt(uploadSquare(state, input.files[0])) : null));
    input.click();
  });
}

async function uploadSquare(state, file) {
  const bitmap = await createImageBitmap(file).catch(() => { throw Object.assign(new Error(), { code: "bad_request", message: t("notAPicture") }); });
  const side = Math.min(bitmap.width, bitmap.height);
  const size = Math.min(512, side);
  const canvas = h("canvas", { width: size, height: size });
  canvas.getContext("2d").drawImage(bitmap, (bitmap.width - side) / 2, (bitmap.height - side) / 2, side, side, 0, 0, size, size);
  bitmap.close();
  const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.88));
  return (await state.upload(blob)).blob;
}
