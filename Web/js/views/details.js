// The details of a conversation: profile, actions, members, links, permissions.

import { h, replace, Scope } from "./dom.js";
import { icon } from "./icons.js";
import { headAvatar } from "./avatar.js";
import { MemberPane } from "./members.js";
import { chooseMute, leave } from "./conversationmenu.js";
import { ask, openDialog, selectRow, switchRow } from "./dialog.js";
import { PeopleList, personRow } from "./pickers.js";
import { pickImage } from "./profile.js";
import { openMenu } from "./menu.js";
import { attempt, toast } from "./toast.js";
import { headTitle, isAdmin, isGroup, isMuted, permits } from "./model.js";
import { lastSeen, shortDate, span } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const SLOW = [0, 10, 30, 60, 300, 3600];

export class DetailsView {
  #scope = new Scope();

  constructor(app, id) {
    this.app = app;
    this.state = app.state;
    this.id = id;
    this.body = h("div", { class: "scroller" });
    this.closer = h("button", { type: "button", class: "icon-button", "aria-label": t("close"), onclick: () => app.toggleDetails(false) }, icon("close"));
    this.element = h("aside", { class: "pane details", "aria-label": t("chatInfo") }, h("header", { class: "bar" }, this.closer, h("h2", {}, t("chatInfo"))), this.body);
    this.#scope.add(this.state.subscribe(`conversation:${id}`, () => this.#update()));
    this.#update();
    this.#load();
  }

  focus() {
    this.closer.focus({ preventScroll: true });
  }

  close() {
    this.closed = true;
    this.members?.close();
    this.#scope.close();
    this.element.remove();
  }

  async #load() {
    if (!isGroup(this.head)) return;
    try {
      this.info = await this.state.info(this.id);
    } catch (error) {
      console.warn(error);
    }
    if (!this.closed) this.#update();
  }

  #update() {
    const head = this.state.conversation(this.id);
    if (!head || this.closed) return;
    this.head = head;
    const peer = head.kind === "pair" ? this.state.user(head.peer?.name) ?? head.peer : null;
    const about = this.info?.about ?? peer?.status;
    const joined = !head.state || head.state === "joined";
    this.top ??= h("div", {});
    replace(this.top,
      h("div", { class: "hero" }, headAvatar(this.state, head, { size: "xl" }), h("h2", {}, headTitle(this.state, head)),
        h("div", { class: "sub" }, peer ? `@${peer.name}` : isGroup(head) ? t(head.kind === "channel" ? "subscribers" : "membersCount", { n: head.members ?? 0 }) : ""),
        peer && (peer.online || peer.last_seen) ? h("div", { class: "small muted" }, peer.online ? t("online") : lastSeen(peer.last_seen)) : null),
      h("div", { class: "actions" }, this.#actions(head, peer, joined)),
      about ? h("div", { class: "block" }, h("h3", {}, t(peer ? "statusText" : "groupAbout")), h("p", { class: "about" }, about)) : null);
    if (!this.top.isConnected) this.body.append(this.top);
    if (isGroup(head) && joined && !this.members) {
      this.members = new MemberPane(this.app, head);
      this.links = h("div", { class: "block" });
      this.body.append(this.members.element, this.links);
      this.#updateLinks();
    }
    this.members?.updateHead(head);
  }

  #actions(head, peer, joined) {
    const { app, state } = this;
    const action = (name, label, run) => h("button", { type: "button", class: "action", onclick: run }, icon(name), label);
    const set = (values) => attempt(state.setOwn(head.conv, values));
    const manage = isGroup(head) && joined && permits(head, "manage", "admins");
    return [
      isMuted(head) ? action("bell", t("unmute"), () => set({ muted_until: 0 })) : action("bellOff", t("mute"), () => chooseMute(set)),
      action("search", t("search"), () => app.search({ conv: head.conv })),
      peer ? action("person", t("profile"), () => app.openProfile(peer.name)) : null,
      manage ? action("edit", t("edit"), (event) => this.#editMenu(event.currentTarget)) : null,
      isGroup(head) && joined && isAdmin(head) ? action("settings", t("groupSettings"), () => this.#permissions()) : null,
      isGroup(head) && joined ? action("leave", t("leaveShort"), () => leave(app, head)) : null,
    ];
  }

  #editMenu(anchor) {
    const set = (values) => attempt(this.state.setConversation(this.id, values)).then(() => this.#load());
    openMenu(anchor, [
      { icon: "edit", label: t("groupTitle"), run: async () => { const title = await ask(t("groupTitle"), { value: this.head.title ?? "" }); if (title?.trim()) set({ title: title.trim() }); } },
      { icon: "quote", label: t("groupAbout"), run: async () => { const about = await ask(t("groupAbout"), { value: this.info?.about ?? "" }); if (about !== null) set({ about: about.trim() }); } },
      { icon: "picture", label: t("changePicture"), run: async () => { const blob = await pickImage(this.state); if (blob) set({ avatar: blob }); } },
    ], { label: t("edit") });
  }

  async #updateLinks() {
    if (!permits(this.head, "invite")) {
      this.links.hidden = true;
      return;
    }
    const links = isAdmin(this.head) ? await this.state.links(this.id).catch(() => []) : [];
    if (this.closed) return;
    const address = (code) => new URL(`/join#${code}`, location.href).href;
    replace(this.links, h("h3", {}, t("inviteLinks")), links.map((link) => h("div", { class: "link-row" },
      h("span", { class: "grow" }, h("div", { class: "ellipsis" }, address(link.code)),
        h("div", { class: "small muted" }, [link.uses ? t("linkUses", { used: link.used, n: link.uses }) : t("linkUsed", { n: link.used ?? 0 }), link.expires_at ? t("linkExpires", { time: shortDate(link.expires_at) }) : null].filter(Boolean).join(" · "))),
      h("button", { type: "button", class: "icon-button", "aria-label": t("copyLink"), onclick: () => navigator.clipboard?.writeText(address(link.code)).then(() => toast(t("copied"), { seconds: 2 })) }, icon("copy")),
      h("button", { type: "button", class: "icon-button danger", "aria-label": t("revoke"), onclick: async () => { await attempt(this.state.revokeLink(this.id, link.code)); this.#updateLinks(); } }, icon("trash")))),
    isAdmin(this.head) ? h("button", { type: "button", class: "button", onclick: async () => { await attempt(this.state.createLink(this.id, { expires_at: Date.now() + 7 * 86_400_000 })); this.#updateLinks(); } }, icon("link"), t("newLink")) : null,
    h("button", { type: "button", class: "button", onclick: () => this.#addMembers() }, icon("personAdd"), t("addMembers")));
  }

  #addMembers() {
    const picked = new Set();
    const people = new PeopleList(this.app, {
      choose: (user) => { if (!picked.delete(user.name)) picked.add(user.name); done.disabled = !picked.size; people.refresh(); },
      render: (user) => personRow(this.state, user, { chosen: picked.has(user.name) }), signature: (user) => String(picked.has(user.name)),
    });
    const done = h("button", { type: "button", class: "button primary", disabled: true, onclick: async () => { dialog.close(); await attempt(this.state.invite(this.id, [...picked])); } }, t("addMembers"));
    const dialog = openDialog(t("addMembers"), [h("div", { class: "pad" }, people.field.element), people.rows.element, h("div", { class: "dialog-foot" }, done)], { onclose: () => people.close() });
    people.show();
  }

  #permissions() {
    const settings = this.head.settings ?? {};
    const set = (name) => (value) => attempt(this.state.setConversation(this.id, { settings: { [name]: value } })).then((answer) => (answer === undefined ? false : undefined));
    const level = [["members", t("everyMember")], ["admins", t("onlyAdmins")]];
    openDialog(t("groupSettings"), h("div", { class: "dialog-body" },
      selectRow(t("whoWrite"), settings.write ?? "members", level, set("write")),
      selectRow(t("whoInvite"), settings.invite ?? "members", level, set("invite")),
      selectRow(t("whoManage"), settings.manage ?? "admins", level, set("manage")),
      selectRow(t("whoPin"), settings.pin ?? "admins", level, set("pin")),
      selectRow(t("whoMentionAll"), settings.mention_all ?? "admins", level, set("mention_all")),
      selectRow(t("joining"), settings.join ?? "closed", [["closed", t("joinClosed")], ["approval", t("joinApproval")], ["open", t("joinOpen")]], set("join")),
      selectRow(t("historyFor"), settings.history ?? "all", [["all", t("historyAll")], ["join", t("historyJoin")]], set("history")),
      selectRow(t("slowMode"), settings.slow ?? 0, SLOW.map((seconds) => [seconds, seconds ? span(seconds) : t("off")]), (value) => set("slow")(Number(value))),
      switchRow(t("listed"), settings.listed ?? false, set("listed")),
      switchRow(t("showReceipts"), settings.receipts ?? true, set("receipts"))));
  }
}
