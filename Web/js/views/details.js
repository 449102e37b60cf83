// The details of a conversation: profile, actions, members, links, and the actions of its owner.

import { h, replace, Scope } from "./dom.js";
import { icon } from "./icons.js";
import { addMembers } from "./addmembers.js";
import { headAvatar } from "./avatar.js";
import { LinkList } from "./links.js";
import { openMedia } from "./mediabrowser.js";
import { MemberPane } from "./members.js";
import { chooseMute } from "./conversationmenu.js";
import { deleteForAll, leave } from "./leaving.js";
import { ask } from "./dialog.js";
import { groupSettings } from "./groupsettings.js";
import { lookalikeNote } from "./lookalike.js";
import { pickImage } from "./profile.js";
import { openMenu } from "./menu.js";
import { attempt } from "./toast.js";
import { headTitle, isAdmin, isGroup, isMuted, permits, userName } from "./model.js";
import { lastSeen, shortDate, span } from "../i18n/format.js";
import { t } from "../i18n/index.js";

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
    for (const key of ["presence", "contacts"]) this.#scope.add(this.state.subscribe(key, () => this.head?.kind === "pair" && this.#update()));
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
    if (this.head && (this.head.seq !== head.seq) && isGroup(head) && head.last?.kind === "conversation.set" && this.head.last?.seq !== head.last.seq) this.#load();
    this.head = head;
    const joined = !head.state || head.state === "joined";
    this.top ??= h("div", {});
    const focused = this.top.contains(document.activeElement) ? document.activeElement.dataset.action : null;
    replace(this.top, this.#hero(head), h("div", { class: "actions" }, this.#actions(head, joined)), this.#about(head));
    if (focused) this.top.querySelector(`[data-action="${focused}"]`)?.focus({ preventScroll: true });
    if (!this.top.isConnected) this.body.append(this.top);
    if (!isGroup(head)) return;
    if (joined && !this.members) {
      this.members = new MemberPane(this.app, head);
      this.foot = h("div", {});
      this.body.append(this.members.element, this.foot);
    } else if (!joined && this.members) {
      this.members.close();
      this.members.element.remove();
      this.foot.remove();
      this.members = this.links = null;
    }
    this.members?.updateHead(head);
    if (this.members) this.#showFoot(head);
  }

  #hero(head) {
    const peer = head.kind === "pair" ? this.state.user(head.peer?.name) ?? head.peer : null;
    const count = isGroup(head) ? t(head.kind === "channel" ? "subscribers" : "membersCount", { n: head.members ?? 0 }) : "";
    return h("div", { class: "hero" }, headAvatar(this.state, head, { size: "xl" }), h("h2", {}, headTitle(this.state, head)),
      h("div", { class: "sub" }, peer ? `@${peer.name}` : count),
      peer && (peer.online || peer.last_seen) ? h("div", { class: `small ${peer.online ? "is-online" : "muted"}` }, peer.online ? t("online") : lastSeen(peer.last_seen)) : null,
      peer ? lookalikeNote(this.state, peer.name) : null);
  }

  #about(head) {
    const peer = head.kind === "pair" ? this.state.user(head.peer?.name) ?? head.peer : null;
    const about = peer ? peer.status : this.info?.about;
    const { expire, slow } = head.settings ?? {};
    const facts = [expire ? t("disappearingOn", { time: span(expire) }) : null, slow && isGroup(head) ? t("slowOn", { time: span(slow) }) : null,
      this.info?.created_at ? (this.info.by ? t("createdBy", { name: userName(this.state, this.info.by), time: shortDate(this.info.created_at) }) : t("createdAt", { time: shortDate(this.info.created_at) })) : null].filter(Boolean);
    return [about ? h("div", { class: "block" }, h("h3", {}, t(peer ? "statusText" : "groupAbout")), h("p", { class: "about" }, about)) : null,
      facts.length ? h("div", { class: "block small muted" }, facts.map((fact) => h("p", {}, fact))) : null];
  }

  #actions(head, joined) {
    const { app, state } = this;
    const action = (name, symbol, label, run) => h("button", { type: "button", class: "action", "data-action": name, onclick: run }, icon(symbol), label);
    const set = (values) => attempt(state.setOwn(head.conv, values));
    const isOpenGroup = isGroup(head) && joined;
    return [
      head.state === "invited" || head.state === "requested" ? null : isMuted(head) ? action("mute", "bell", t("unmute"), () => set({ muted_until: 0 })) : action("mute", "bellOff", t("mute"), () => chooseMute(set, head)),
      head.state === "invited" || head.state === "requested" ? null : action("search", "search", t("search"), () => app.search({ conv: head.conv })),
      head.state === "invited" || head.state === "requested" ? null : action("media", "picture", t("media"), () => openMedia(app, head.conv)),
      head.kind === "pair" && head.peer ? action("profile", "person", t("profile"), () => app.openProfile(head.peer.name)) : null,
      isOpenGroup && permits(head, "manage", "admins") ? action("edit", "edit", t("edit"), (event) => this.#editMenu(event.currentTarget)) : null,
      isOpenGroup && isAdmin(head) ? action("settings", "settings", t("settings"), () => groupSettings(state, this.head)) : null,
      isOpenGroup && permits(head, "invite") ? action("add", "personAdd", t("addShort"), () => addMembers(app, this.id)) : null,
    ];
  }

  #editMenu(anchor) {
    const set = (values) => attempt(this.state.setConversation(this.id, values)).then(() => this.#load());
    openMenu(anchor, [
      { icon: "edit", label: t("groupTitle"), run: async () => { const title = await ask(t("groupTitle"), { value: this.head.title ?? "", maxlength: 100 }); if (title?.trim()) set({ title: title.trim() }); } },
      { icon: "quote", label: t("groupAbout"), run: async () => { const about = await ask(t("groupAbout"), { value: this.info?.about ?? "", lines: 4 }); if (about !== null) set({ about: about.trim() }); } },
      { icon: "picture", label: t("changePicture"), run: async () => { const blob = await pickImage(this.state); if (blob) set({ avatar: blob }); } },
      this.head.avatar && { icon: "trash", label: t("removePicture"), danger: true, run: () => set({ avatar: "" }) },
    ], { label: t("edit") });
  }

  #showFoot(head) {
    const key = `${isAdmin(head)}|${head.role}|${head.kind}`;
    if (this.footKey === key && this.foot.isConnected) return;
    this.footKey = key;
    const isChannel = head.kind === "channel";
    const row = (symbol, label, run) => h("button", { type: "button", class: "action-row danger", onclick: run }, icon(symbol), label);
    replace(this.foot, isAdmin(head) ? new LinkList(this.state, this.id).element : null,
      h("div", { class: "block action-list" },
        row("leave", t(isChannel ? "leaveChannel" : "leave"), () => leave(this.app, this.head)),
        row("warning", t("report"), () => this.app.report({ conv: this.id })),
        head.role === "owner" ? row("trash", t("deleteForAll"), () => deleteForAll(this.app, this.head)) : null));
  }
}
