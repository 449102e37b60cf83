// The actions of a member of a group on another member (roles, mute, removal, ban), and on requests
// to join.

import { h } from "./dom.js";
import { confirm, openDialog } from "./dialog.js";
import { openMenu } from "./menu.js";
import { attempt } from "./toast.js";
import { roleName, userName } from "./model.js";
import { span } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const DAY = 86_400;
const MUTES = [900, 3_600, 8 * 3_600, DAY, 7 * DAY];
const BANS = [DAY, 7 * DAY, 30 * DAY];
const ROLES = ["admin", "member", "reader", "guest"];
const RANK = ["guest", "reader", "member", "admin", "owner"];

/** Opens the menu of a member. `done()` is called after a change. */
export function memberMenu(app, head, member, anchor, done) {
  const { state } = app;
  const { name } = member.user;
  const shown = userName(state, name);
  const isOwner = head.role === "owner";
  const isJoined = member.state === "joined";
  const isBelow = RANK.indexOf(member.role) < RANK.indexOf(head.role ?? "member") && (isOwner || head.role === "admin");
  const run = (promise) => attempt(promise).then(done);
  const sure = async (question, yes, work) => { if (await confirm(question, { yes, dangerous: true })) run(work()); };
  const isMuted = member.muted_until > Date.now();
  openMenu(anchor, [
    { icon: "person", label: t("profile"), run: () => app.openProfile(name) },
    isJoined && { icon: "chatBubble", label: t("writeMessage"), run: () => app.openPerson(name) },
    member.state === "requested" && { icon: "check", label: t("accept"), run: () => run(state.approve(head.conv, name, true)) },
    member.state === "requested" && { icon: "close", label: t("decline"), run: () => run(state.approve(head.conv, name, false)) },
    member.state === "invited" && { icon: "undo", label: t("takeBackInvitation"), run: () => run(state.removeMembers(head.conv, [name])) },
    member.state === "banned" && { icon: "check", label: t("unban"), run: () => run(state.unban(head.conv, [name])) },
    isJoined && isBelow && { icon: "star", label: t("changeRole"), run: () => chooseRole(state, head, member, done) },
    isJoined && isOwner && { icon: "key", label: t("transferOwner"), run: () => sure(t("transferQuestion", { name: shown }), t("transferOwner"), () => state.setRole(head.conv, [name], "owner")) },
    null,
    isJoined && isBelow && (isMuted
      ? { icon: "bell", label: t("unmuteMember"), run: () => run(state.muteMembers(head.conv, [name], 0)) }
      : { icon: "bellOff", label: t("muteMember"), run: () => chooseEnd(t("muteNamed", { name: shown }), MUTES, (until) => run(state.muteMembers(head.conv, [name], until))) }),
    isJoined && isBelow && { icon: "trash", label: t("removeMember"), danger: true, run: () => sure(t("removeQuestion", { name: shown }), t("remove"), () => state.removeMembers(head.conv, [name])) },
    member.state !== "banned" && isBelow && { icon: "shield", label: t("banMember"), danger: true, run: () => chooseEnd(t("banNamed", { name: shown }), BANS, (until) => run(state.ban(head.conv, [name], until)), true) },
  ], { label: shown });
}

/** Asks for an end. `choose(until)` receives ms since 1970, or undefined for no end. */
function chooseEnd(title, spans, choose, dangerous = false) {
  const button = (label, until) => h("button", { type: "button", class: `button wide${dangerous ? " dangerous" : ""}`, onclick: () => { dialog.close(); choose(until()); } }, label);
  const dialog = openDialog(title, h("div", { class: "dialog-body" },
    spans.map((seconds) => button(t("forTime", { time: span(seconds) }), () => Date.now() + seconds * 1000)), button(t("forGood"), () => undefined)));
}

function chooseRole(state, head, member, done) {
  const isOwner = head.role === "owner";
  const hints = { admin: "roleAdminHint", member: "roleMemberHint", reader: "roleReaderHint", guest: "roleGuestHint" };
  const choose = async (role) => {
    dialog.close();
    if (role !== member.role) await attempt(state.setRole(head.conv, [member.user.name], role)).then(done);
  };
  const dialog = openDialog(t("roleOf", { name: userName(state, member.user.name) }), h("div", { class: "dialog-body" }, h("fieldset", { class: "group" }, h("legend", { class: "visually-hidden" }, t("changeRole")),
    ROLES.filter((role) => role !== "admin" || isOwner).map((role) => h("button", { type: "button", class: "action-row", autofocus: role === member.role, "aria-pressed": String(role === member.role), onclick: () => choose(role) },
      h("span", { class: "lines" }, h("span", { class: "title" }, roleName(role)), h("span", { class: "small muted" }, t(hints[role]))))))));
}
