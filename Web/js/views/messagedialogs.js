// Dialogs with the reactions, the readers or the versions of a message, and with the pinned
// messages.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { userAvatar } from "./avatar.js";
import { openDialog } from "./dialog.js";
import { PagedPeople, partChips } from "./pagedpeople.js";
import { attempt } from "./toast.js";
import { eventText, permits, userName } from "./model.js";
import { renderText } from "../text/render.js";
import { shortDate } from "../i18n/format.js";
import { t } from "../i18n/index.js";

/** Shows the users who reacted to a message, with any reaction or with one of them. */
export function showReactions(app, conv, row) {
  const counts = row.reactions ?? [];
  let chosen;
  const people = new PagedPeople(app, t("whoReacted"), async (page) => {
    const answer = await app.state.reactions(conv, row.seq, { key: chosen, page });
    return { page: answer.page, rows: answer.reactions.map(({ user, key }) => ({ key: `${user} ${key}`, user, end: h("span", { class: "face" }, key) })) };
  });
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const parts = counts.map(({ key, count }) => ({ key, label: key, name: t("reactionLabel", { emoji: key, n: count }), count }));
  const chips = partChips(t("reactions"), [{ label: t("all"), count: total }, ...parts], (key) => {
    chosen = key;
    people.restart();
  });
  openDialog(t("whoReacted"), [chips.element, people.element], { onclose: () => people.close() });
  chips.show();
}

/**
 * Shows the users who have read or received a message, and the number of those who have read it.
 */
export function showReaders(app, conv, seq) {
  const { state } = app;
  const status = h("div", { class: "section-title small muted", role: "status" });
  const counts = { read: 0, received: 0 };
  const people = new PagedPeople(app, t("readBy"), async (page) => {
    const answer = await state.readers(conv, seq, page);
    for (const { read } of answer.readers) counts[read ? "read" : "received"] += 1;
    status.textContent = t("readCount", { n: counts.read, all: (state.conversation(conv)?.members ?? 1) - 1 });
    return { page: answer.page, rows: answer.readers.map(({ user, read }) => ({ key: user, user, end: h("span", { class: "small muted" }, t(read ? "statusRead" : "statusDelivered")) })) };
  });
  openDialog(t("readBy"), [status, people.element], { onclose: () => people.close() });
  people.restart();
}

/** Shows the versions of an edited message. */
export async function showEdits(app, conv, seq) {
  const { state } = app;
  const edits = await attempt(state.edits(conv, seq));
  if (!edits) return;
  const version = ({ at, body }, index) => h("div", { class: "version" }, h("div", { class: "small muted" }, shortDate(at), index === edits.length - 1 ? ` · ${t("firstVersion")}` : null),
    h("div", { class: "text" }, renderText(body.text ?? "", body.entities, { me: state.account?.name, open: (name) => app.openProfile(name) })));
  openDialog(t("editHistory"), h("div", { class: "dialog-body versions", tabindex: "0" }, edits.length ? edits.map(version) : h("p", { class: "muted" }, t("none"))));
}

/** Shows the pinned messages of a conversation. The user can jump to one or unpin it. */
export function showPins(view) {
  const { state, id } = view;
  const list = h("div", { class: "pins", role: "list", "aria-label": t("pinnedMessages") });
  const row = (seq, event) => h("div", { class: "option-row", role: "listitem" },
    h("button", { type: "button", class: "row compact grow", "data-pin": seq, onclick: () => { dialog.close(); view.actions.jump(seq); } },
      event?.sender ? userAvatar(state, state.user(event.sender), { size: "m" }) : icon("pin"),
      h("span", { class: "lines" }, h("span", { class: "title ellipsis" }, event?.sender ? userName(state, event.sender) : t("message")), h("span", { class: "sub ellipsis" }, event ? eventText(state, event) : t(event === null ? "hidden" : "loading")))),
    permits(view.head, "pin", "admins") ? h("button", { type: "button", class: "icon-button", "aria-label": t("unpin"), title: t("unpin"), onclick: () => attempt(state.pin(id, seq, true)) }, icon("close")) : null);
  const show = () => {
    const pins = state.conversation(id)?.pins ?? [];
    const focused = list.contains(document.activeElement);
    replace(list, pins.map((seq) => row(seq, state.event(id, seq))));
    if (pins.length === 0) dialog.close();
    else if (focused) list.querySelector("button").focus();
  };
  const dialog = openDialog(t("pinnedMessages"), list, { onclose: () => { for (const end of ends) end(); } });
  const ends = [`thread:${id}`, `conversation:${id}`].map((key) => state.subscribe(key, show));
  show();
  list.querySelector("button")?.focus();
}
