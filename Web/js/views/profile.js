// The profile of a user, reports, and the choice of a picture.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { userAvatar } from "./avatar.js";
import { ask, confirm, openDialog } from "./dialog.js";
import { attempt, toast } from "./toast.js";
import { userName } from "./model.js";
import { lastSeen } from "../i18n/format.js";
import { t } from "../i18n/index.js";

export function openProfile(app, name) {
  const { state } = app;
  if (name === state.account?.name) {
    app.settings("profile");
    return;
  }
  const body = h("div", { class: "dialog-body" });
  const show = () => {
    const user = state.user(name) ?? { name };
    const contact = [...state.contacts("friend"), ...state.contacts("asked"), ...state.contacts("asking"), ...state.contacts("blocked")].find((item) => item.user.name === name);
    const relation = contact?.state;
    const button = (symbol, label, run, look = "") => h("button", { type: "button", class: `button wide ${look}`, onclick: run }, icon(symbol), label);
    const shown = userName(state, name);
    replace(body,
      h("div", { class: "profile-head" }, userAvatar(state, user, { size: "xl" }), h("h2", {}, shown), h("div", { class: "muted" }, `@${name}`),
        user.status ? h("p", {}, user.status) : null, h("div", { class: "small muted" }, user.online ? t("online") : user.last_seen ? lastSeen(user.last_seen) : "")),
      button("chatBubble", t("writeMessage"), () => { dialog.close(); app.openPerson(name); }, "primary"),
      relation === "asking" ? button("personAdd", t("accept"), () => attempt(state.answerContact(name, true))) : null,
      relation === "friend"
        ? [button("edit", t("alias"), async () => { const alias = await ask(t("alias"), { value: contact.alias ?? "" }); if (alias !== null) attempt(state.setAlias(name, alias.trim())); }), button("person", t("removeContact"), () => attempt(state.removeContact(name)))]
        : relation === "asked" || relation === "asking" ? null : button("personAdd", t("addContact"), () => attempt(state.requestContact(name))),
      relation === "blocked" ? button("shield", t("unblock"), () => attempt(state.unblock(name)))
        : button("shield", t("block"), async () => { if (await confirm(t("blockQuestion", { name: shown }), { yes: t("block"), dangerous: true })) attempt(state.block(name)); }, "dangerous"),
      button("warning", t("report"), () => report(app, { user: name }), "quiet danger"));
  };
  const ends = ["contacts", "users"].map((key) => state.subscribe(key, show));
  const dialog = openDialog(t("profile"), body, { onclose: () => ends.forEach((end) => end()) });
  show();
  body.querySelector(".primary")?.focus();
}

export async function report(app, { conv, seqs, user }) {
  const text = await ask(t("report"), { label: t("reportReason"), yes: t("report") });
  if (text === null) return;
  if (await attempt(app.state.report({ conv, seqs, user, reason: "other", text: text.trim() })) !== undefined) toast(t("reported"));
}

/** Lets the user choose a picture, cuts it to a square of 512 pixels and uploads it. Resolves to its blob id. */
export function pickImage(state) {
  return new Promise((resolve) => {
    const input = h("input", { type: "file", accept: "image/*" });
    input.addEventListener("cancel", () => resolve(null));
    input.addEventListener("change", async () => resolve(input.files[0] ? await attempt(uploadSquare(state, input.files[0])) : null));
    input.click();
  });
}

async function uploadSquare(state, file) {
  const bitmap = await createImageBitmap(file);
  const side = Math.min(bitmap.width, bitmap.height);
  const size = Math.min(512, side);
  const canvas = h("canvas", { width: size, height: size });
  canvas.getContext("2d").drawImage(bitmap, (bitmap.width - side) / 2, (bitmap.height - side) / 2, side, side, 0, 0, size, size);
  bitmap.close();
  const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.88));
  return (await state.upload(blob)).blob;
}
