// The members of a group: search, roles, and what an admin can do.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { openMenu } from "./menu.js";
import { confirm } from "./dialog.js";
import { personRow } from "./pickers.js";
import { RowList } from "./rows.js";
import { attempt } from "./toast.js";
import { isAdmin, roleName, userName } from "./model.js";
import { lastSeen, number } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const HOUR = 3_600_000;

export class MemberPane {
  constructor(app, head) {
    this.app = app;
    this.state = app.state;
    this.head = head;
    this.input = h("input", { type: "text", role: "searchbox", inputmode: "search", enterkeyhint: "search", class: "input search", placeholder: t("searchMembers"), "aria-label": t("searchMembers"), autocomplete: "off" });
    this.title = h("h3", {}, t("members"));
    this.rows = new RowList({
      label: t("members"), className: "members-list", estimate: 56, search: this.input,
      key: (member) => member.user.name,
      render: (member) => personRow(this.state, member.user, {
        sub: member.state && member.state !== "joined" ? `@${member.user.name}` : member.user.online || member.user.name === this.state.account?.name ? t("online") : member.user.last_seen ? lastSeen(member.user.last_seen) : `@${member.user.name}`,
        end: member.role && member.role !== "member" ? h("span", { class: "role" }, roleName(member.role)) : null,
      }),
      choose: (member) => this.#choose(member),
      menu: (member, anchor) => this.#menu(member, anchor),
      onend: () => this.list?.hasMore && !this.list.loading && this.list.loadMore(),
    });
    this.element = h("div", { class: "block members" }, this.title, h("div", { class: "search-box" }, icon("search"), this.input), this.rows.element);
    let timer = 0;
    this.input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => this.#open(), 150); });
    this.end = this.state.subscribe(`members:${head.conv}`, () => this.#show());
    this.#open();
  }

  updateHead(head) {
    this.head = head;
    replace(this.title, `${t("members")} · ${number(head.members ?? 0)}`);
  }

  close() {
    this.end();
    this.list?.close?.();
    this.rows.close();
  }

  #open() {
    this.list?.close?.();
    this.list = this.state.members(this.head.conv, this.input.value.trim());
    this.#show();
  }

  #show() {
    this.rows.setRows([...(this.list?.members ?? [])]);
  }

  #choose(member) {
    if (member.user.name === this.state.account?.name || !isAdmin(this.head)) this.app.openProfile(member.user.name);
    else this.#menu(member, this.rows.list.element(member.user.name)?.firstElementChild ?? this.rows.element);
  }

  #menu(member, anchor) {
    const { state, head } = this;
    const { name } = member.user;
    if (name === state.account?.name) return;
    const owner = head.role === "owner";
    const below = member.role !== "owner" && (owner || (head.role === "admin" && member.role !== "admin"));
    const run = (promise) => attempt(promise).then(() => this.#open());
    const shown = userName(state, name);
    const asked = member.state === "requested";
    openMenu(anchor, [
      asked && { icon: "check", label: t("accept"), run: () => run(state.approve(head.conv, name, true)) },
      asked && { icon: "close", label: t("decline"), run: () => run(state.approve(head.conv, name, false)) },
      { icon: "person", label: t("profile"), run: () => this.app.openProfile(name) },
      { icon: "chatBubble", label: t("writeMessage"), run: () => this.app.openPerson(name) },
      owner && member.role !== "admin" && { icon: "star", label: t("makeAdmin"), run: () => run(state.setRole(head.conv, [name], "admin")) },
      below && member.role !== "member" && { icon: "group", label: t("makeMember"), run: () => run(state.setRole(head.conv, [name], "member")) },
      below && member.role !== "reader" && { icon: "eye", label: t("makeReader"), run: () => run(state.setRole(head.conv, [name], "reader")) },
      owner && { icon: "key", label: t("transferOwner"), run: async () => { if (await confirm(t("transferOwner"), { yes: t("transferOwner"), dangerous: true, detail: shown })) run(state.setRole(head.conv, [name], "owner")); } },
      null,
      below && { icon: "bellOff", label: t("muteMember"), run: () => run(state.muteMembers(head.conv, [name], Date.now() + HOUR)) },
      below && { icon: "trash", label: t("removeMember"), danger: true, run: async () => { if (await confirm(t("removeMember"), { yes: t("remove"), dangerous: true, detail: shown })) run(state.removeMembers(head.conv, [name])); } },
      below && { icon: "shield", label: t("banMember"), danger: true, run: async () => { if (await confirm(t("banMember"), { yes: t("banMember"), dangerous: true, detail: shown })) run(state.ban(head.conv, [name])); } },
    ], { label: shown });
  }
}
