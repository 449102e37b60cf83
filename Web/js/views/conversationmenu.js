// The menu of a conversation: pin, mute, archive, mark as read, delete, and the actions of groups.

import { openMenu } from "./menu.js";
import { confirm, openDialog, selectRow } from "./dialog.js";
import { attempt } from "./toast.js";
import { h } from "./dom.js";
import { withPanels } from "./later.js";
import { isGroup, isMuted, mayExpire, userName } from "./model.js";
import { span } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const HOUR = 3_600_000;
const FOREVER = 4_102_444_800_000;

export function conversationMenu(app, anchor, head, { thread = null } = {}) {
  const { state } = app;
  const set = (values) => attempt(state.setOwn(head.conv, values));
  const peer = head.kind === "pair" ? head.peer?.name : null;
  if (head.state === "invited" || head.state === "requested") {
    openMenu(anchor, [
      { icon: "close", label: t(head.state === "invited" ? "decline" : "takeBackRequest"), run: () => attempt(head.state === "invited" ? state.answerInvitation(head.conv, false) : state.leave(head.conv)) },
      head.state === "invited" && { icon: "warning", label: t("report"), danger: true, run: () => app.report({ conv: head.conv }) },
    ], { label: t("more") });
    return;
  }
  openMenu(anchor, [
    thread && { icon: "info", label: t("chatInfo"), run: () => app.toggleDetails(true) },
    thread && { icon: "search", label: t("search"), run: () => app.search({ conv: head.conv }) },
    { icon: "pin", label: t(head.own?.pinned_at ? "unpinChat" : "pinChat"), run: () => set({ pinned: !head.own?.pinned_at }) },
    isMuted(head) ? { icon: "bell", label: t("unmute"), run: () => set({ muted_until: 0 }) } : { icon: "bellOff", label: t("mute"), run: () => chooseMute(set, head) },
    { icon: "archive", label: t(head.own?.archived ? "unarchive" : "archive"), run: () => set({ archived: !head.own?.archived }) },
    { icon: "bookmark", label: t("folders"), run: () => withPanels(({ chooseFolders }) => chooseFolders(app, head.conv)) },
    head.unread || head.own?.marked_unread ? { icon: "check", label: t("markRead"), run: () => attempt(Promise.all([state.mark(head.conv, head.n), head.own?.marked_unread ? state.setOwn(head.conv, { marked_unread: false }) : null])) }
      : { icon: "star", label: t("markUnread"), run: () => set({ marked_unread: true }) },
    thread && { icon: "calendar", label: t("scheduled"), run: () => withPanels(({ showScheduled }) => showScheduled(app, head.conv)) },
    thread && mayExpire(head) && { icon: "timer", label: t("disappearing"), run: () => withPanels(({ chooseExpiry }) => chooseExpiry(state, head)) },
    null,
    peer && state.contact(peer)?.state === "blocked" && { icon: "shield", label: t("unblock"), run: () => attempt(state.unblock(peer)) },
    peer && state.contact(peer)?.state !== "blocked" && { icon: "shield", label: t("block"), danger: true, run: async () => { if (await confirm(t("blockQuestion", { name: userName(state, peer) }), { yes: t("block"), dangerous: true })) attempt(state.block(peer)); } },
    peer && { icon: "warning", label: t("report"), danger: true, run: () => app.report({ user: peer }) },
    isGroup(head) && (!head.state || head.state === "joined") && { icon: "leave", label: t(head.kind === "channel" ? "leaveChannel" : "leave"), danger: true, run: () => withPanels(({ leave }) => leave(app, head)) },
    head.kind !== "self" && { icon: "trash", label: t("deleteChat"), danger: true, run: async () => { if (await confirm(t("deleteChatQuestion"), { yes: t("delete"), dangerous: true })) { if (app.openID === head.conv) app.closeThread(); attempt(state.deleteConversation(head.conv)); } } },
    isGroup(head) && head.role === "owner" && { icon: "trash", label: t("deleteForAll"), danger: true, run: () => withPanels(({ deleteForAll }) => deleteForAll(app, head)) },
  ], { label: t("more") });
}

/** Asks which messages of a conversation cause notifications, and for how long it is muted. */
export function chooseMute(set, head) {
  const choices = [[t("muteFor", { time: span(3_600) }), HOUR], [t("muteFor", { time: span(28_800) }), 8 * HOUR], [t("muteFor", { time: span(172_800) }), 48 * HOUR], [t("muteForever"), null]];
  const rule = head && isGroup(head) ? selectRow(t("notifyAbout"), head.own?.notify ?? "all", [["all", t("notifyAll")], ["mentions", t("notifyMentions")]], (notify) => set({ notify })) : null;
  const dialog = openDialog(t(rule ? "notifications" : "mute"), h("div", { class: "dialog-body" }, rule, choices.map(([label, time]) =>
    h("button", { type: "button", class: "button wide", onclick: () => { dialog.close(); set({ muted_until: time === null ? FOREVER : Date.now() + time }); } }, label))));
}
