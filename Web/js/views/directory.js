// The directory of conversations that are open to all users, and invite links.

import { h } from "./dom.js";
import { headAvatar } from "./avatar.js";
import { openDialog, whenClosed } from "./dialog.js";
import { searchField } from "./pickers.js";
import { RowList } from "./rows.js";
import { attempt, toast } from "./toast.js";
import { errorText, userName } from "./model.js";
import { t } from "../i18n/index.js";

const count = (entry) => t(entry.kind === "channel" ? "subscribers" : "membersCount", { n: entry.members ?? 0 });
const isMember = (state, conv) => { const head = state.conversation(conv); return Boolean(head) && (!head.state || head.state === "joined"); };

/** Opens the directory with a search field. */
export function openDirectory(app) {
  const { state } = app;
  const { input, element } = searchField(t("search"));
  let entries = [];
  let page; // the token of the next request; null after the last one
  let request = 0;
  let loading = false;
  const status = h("p", { class: "empty", role: "status" }, t("loading"));
  const rows = new RowList({
    label: t("explore"), className: "people", estimate: 66, search: input, key: (entry) => entry.conv,
    render: (entry) => h("button", { type: "button", class: "row compact" }, headAvatar(state, entry, { size: "m" }),
      h("span", { class: "lines" }, h("span", { class: "title ellipsis" }, entry.title), h("span", { class: "sub ellipsis" }, [count(entry), entry.about].filter(Boolean).join(" · "))),
      isMember(state, entry.conv) ? h("span", { class: "role" }, t("isJoined")) : state.conversation(entry.conv)?.state === "requested" ? h("span", { class: "role" }, t("isRequested")) : null),
    choose: (entry) => { dialog.close(); openEntry(app, entry); },
    onend: () => more(),
  });
  rows.element.append(status);
  const more = async () => {
    if (loading || page === null) return;
    const current = request;
    loading = true;
    try {
      const answer = await state.directory(input.value.trim(), page);
      if (current !== request) return;
      const known = new Set(entries.map(({ conv }) => conv));
      entries = [...entries, ...(answer.conversations ?? []).filter(({ conv }) => !known.has(conv))];
      page = answer.page ?? null;
      status.textContent = t(input.value.trim() ? "noResults" : "noPublicChats");
    } catch (error) {
      if (current !== request) return;
      page = null;
      status.textContent = errorText(error);
    } finally {
      if (current === request) loading = false;
    }
    status.hidden = entries.length > 0;
    rows.setRows(entries);
  };
  const show = () => {
    request += 1;
    loading = false;
    entries = [];
    page = undefined;
    more();
  };
  let timer = 0;
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(show, 200); });
  const dialog = openDialog(t("explore"), [h("div", { class: "pad" }, h("p", { class: "small muted" }, t("exploreHint")), element), rows.element], { label: "tall", onclose: () => { request += 1; rows.close(); } });
  show();
}

/**
 * Opens the conversation if the user is a member. Other users see its description before they join.
 */
function openEntry(app, entry) {
  if (isMember(app.state, entry.conv)) app.openConversation(entry.conv);
  else showEntry(app, entry, { conv: entry.conv });
}

function showEntry(app, entry, where) {
  const { state } = app;
  const isRequested = where.conv && state.conversation(where.conv)?.state === "requested";
  const join = h("button", { type: "button", class: "button primary wide", autofocus: true, disabled: isRequested, onclick: async () => {
    join.disabled = true;
    const answer = await attempt(state.join(where));
    join.disabled = false;
    if (!answer?.head) return;
    dialog.close();
    if (answer.head.state === "requested") toast(t("requested"));
    else app.openConversation(answer.head.conv);
  } }, t(isRequested ? "isRequested" : entry.join === "approval" ? "askToJoin" : "join"));
  const dialog = openDialog(t(entry.kind === "channel" ? "channel" : "group"), h("div", { class: "dialog-body" },
    h("div", { class: "profile-head" }, headAvatar(state, { ...entry, conv: entry.conv ?? where.link, link: where.link }, { size: "xl" }), h("h2", {}, entry.title), h("div", { class: "muted" }, count(entry)),
      entry.by ? h("p", { class: "small muted" }, t("linkInvites", { name: entry.by.nick ?? userName(state, entry.by.name) })) : null),
    entry.about ? h("p", { class: "about" }, entry.about) : null,
    entry.join === "approval" && !isRequested ? h("p", { class: "small muted" }, t("approvalHint")) : null, join));
}

/** Shows the conversation of an invite link, after the recovery codes of a new account. */
export async function openLink(app, code) {
  try {
    const entry = await app.state.linkInfo(code);
    await whenClosed();
    showEntry(app, entry, { link: code });
  } catch (error) {
    toast(error.code === "not_found" ? t("linkEnded") : errorText(error), { role: "alert", seconds: 8 });
  }
}
