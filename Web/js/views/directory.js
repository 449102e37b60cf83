// Conversations that are open to all, and invite links.

import { h } from "./dom.js";
import { headAvatar } from "./avatar.js";
import { openDialog } from "./dialog.js";
import { searchField } from "./pickers.js";
import { RowList } from "./rows.js";
import { attempt, toast } from "./toast.js";
import { userName } from "./model.js";
import { t } from "../i18n/index.js";

const count = (entry) => t(entry.kind === "channel" ? "subscribers" : "membersCount", { n: entry.members ?? 0 });

/** Opens the directory, with a search. */
export function openDirectory(app) {
  const { state } = app;
  const { input, element } = searchField(t("search"));
  let request = 0;
  const rows = new RowList({
    label: t("explore"), className: "people", estimate: 66, search: input, key: (entry) => entry.conv,
    render: (entry) => h("button", { type: "button", class: "row compact" }, headAvatar(state, entry, { size: "m" }),
      h("span", { class: "lines" }, h("span", { class: "title ellipsis" }, entry.title), h("span", { class: "sub ellipsis" }, [count(entry), entry.about].filter(Boolean).join(" · ")))),
    choose: (entry) => { dialog.close(); enter(app, { conv: entry.conv }, entry); },
  });
  const show = async () => {
    const current = ++request;
    const answer = await attempt(state.directory(input.value.trim()));
    if (answer && current === request) rows.setRows(answer.conversations ?? []);
  };
  let timer = 0;
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(show, 200); });
  const dialog = openDialog(t("explore"), [h("div", { class: "pad" }, h("p", { class: "small muted" }, t("exploreHint")), element), rows.element], { onclose: () => { request += 1; rows.close(); } });
  show();
}

/** Joins, or opens the conversation if the user is already a member. */
async function enter(app, where, entry) {
  if (where.conv && app.state.conversation(where.conv)) {
    app.openConversation(where.conv);
    return;
  }
  const answer = await attempt(app.state.join(where));
  if (!answer?.head) return;
  if (entry.join === "approval" && answer.head.state === "requested") toast(t("requested"));
  app.openConversation(answer.head.conv);
}

/** Shows what an invite link leads to. */
export async function openLink(app, code) {
  const info = await attempt(app.state.linkInfo(code));
  if (!info) return;
  const dialog = openDialog(info.title, h("div", { class: "dialog-body" },
    h("div", { class: "profile-head" }, headAvatar(app.state, { ...info, conv: code }, { size: "xl" }), h("h2", {}, info.title), h("div", { class: "muted" }, count(info)),
      info.by ? h("p", { class: "small muted" }, t("linkInvites", { name: info.by.nick ?? userName(app.state, info.by.name) })) : null),
    h("button", { type: "button", class: "button primary wide", onclick: () => { dialog.close(); enter(app, { link: code }, info); } }, t("join"))));
}
