// The members of a group, with a search field. For admins, the list also contains the users with a
// request to join, an invitation or a ban.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { memberMenu } from "./memberactions.js";
import { personRow } from "./pickers.js";
import { RowList } from "./rows.js";
import { attempt } from "./toast.js";
import { errorText, isAdmin, isForGood, roleName, userName } from "./model.js";
import { lastSeen, listTime, number, shortDate } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const STATES = { joined: "members", requested: "joinRequests", invited: "invitedPeople", banned: "bannedPeople" };
const EMPTY = { joined: "noResults", requested: "noJoinRequests", invited: "noInvited", banned: "noBanned" };

const rank = ({ role }) => ["guest", "reader", "member", "admin", "owner"].indexOf(role);

export class MemberPane {
  #state = "joined";

  constructor(app, head) {
    this.app = app;
    this.state = app.state;
    this.head = head;
    this.input = h("input", { type: "text", role: "searchbox", inputmode: "search", enterkeyhint: "search", class: "input search", placeholder: t("searchMembers"), "aria-label": t("searchMembers"), autocomplete: "off" });
    this.title = h("h3", {}, t("members"));
    this.tabs = h("div", { class: "filters", role: "group", "aria-label": t("members"), hidden: true });
    this.rows = new RowList({
      label: t("members"), className: "members-list", estimate: 56, search: this.input,
      key: (member) => member.user.name, signature: (member) => this.#signature(member),
      render: (member) => this.#row(member),
      choose: (member) => this.#choose(member),
      menu: (member, anchor) => this.#menu(member, anchor),
      onend: () => this.list?.hasMore && !this.list.loading && this.list.loadMore(),
    });
    this.empty = h("p", { class: "empty", hidden: true });
    this.rows.element.append(this.empty);
    this.element = h("div", { class: "block members" }, this.title, this.tabs, h("div", { class: "search-box" }, icon("search"), this.input), this.rows.element);
    let timer = 0;
    this.input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => this.#open(), 150); });
    const ends = [this.state.subscribe(`members:${head.conv}`, () => this.#show()), this.state.subscribe("presence", () => this.rows.list.layout())];
    this.end = () => { for (const end of ends) end(); };
    this.#open();
    this.updateHead(head);
  }

  updateHead(head) {
    const changed = this.head.members_version !== head.members_version || isAdmin(this.head) !== isAdmin(head);
    this.head = head;
    replace(this.title, `${t("members")} · ${number(head.members ?? 0)}`);
    this.tabs.hidden = !isAdmin(head);
    if (!isAdmin(head) && this.#state !== "joined") this.#chooseState("joined");
    else if (changed || !this.counted) this.#count();
  }

  close() {
    this.closed = true;
    this.end();
    this.list?.close?.();
    this.rows.close();
  }

  /** Requests the number of users who wait for an approval. */
  async #count() {
    this.counted = true;
    this.#showTabs();
    if (!isAdmin(this.head)) return;
    const answer = await this.state.verb("members", { conv: this.head.conv, state: "requested" }).catch(() => null);
    this.waiting = answer?.members.length ?? 0;
    if (!this.closed) this.#showTabs();
  }

  #showTabs() {
    const focused = this.tabs.contains(document.activeElement) ? document.activeElement.dataset.state : null;
    replace(this.tabs, Object.entries(STATES).map(([state, label]) => h("button", {
      type: "button", class: "chip", "data-state": state, "aria-pressed": String(state === this.#state), onclick: () => this.#chooseState(state),
    }, t(label), state === "requested" && this.waiting ? [" ", h("span", { class: "count" }, number(this.waiting))] : null)));
    if (focused) this.tabs.querySelector(`[data-state=${focused}]`)?.focus({ preventScroll: true });
  }

  showRequests() {
    if (isAdmin(this.head)) this.#chooseState("requested");
  }

  #chooseState(state) {
    this.#state = state;
    this.#showTabs();
    this.#open();
  }

  #open() {
    this.list?.close?.();
    this.list = this.state.members(this.head.conv, this.input.value.trim(), this.#state);
    this.#show();
  }

  #show() {
    const { list } = this;
    if (this.#state === "requested" && !list.loading && !list.query && this.waiting !== list.members.length) {
      this.waiting = list.members.length;
      this.#showTabs();
    }
    this.rows.setRows(list.members.toSorted((one, other) => rank(other) - rank(one)));
    this.empty.hidden = list.members.length > 0 || list.loading;
    this.empty.textContent = list.error ? errorText(list.error) : t(list.query ? "noResults" : EMPTY[this.#state]);
  }

  #user(member) { return this.state.user(member.user.name) ?? member.user; }

  #signature(member) {
    const user = this.#user(member);
    return `${member.role}|${member.muted_until ?? ""}|${user.online}|${user.last_seen}|${userName(this.state, user.name)}|${user.avatar}`;
  }

  #row(member) {
    const user = this.#user(member);
    const row = personRow(this.state, user, { sub: this.#sub(member, user), end: member.role && member.role !== "member" ? h("span", { class: "role" }, roleName(member.role)) : null });
    if (this.#state !== "requested") return row;
    const answer = (accept) => h("button", {
      type: "button", class: "icon-button", title: t(accept ? "accept" : "decline"), "aria-label": `${t(accept ? "accept" : "decline")}${t("colon")}${userName(this.state, user.name)}`, onclick: () => this.#answer(user.name, accept),
    }, icon(accept ? "check" : "close"));
    return h("div", { class: "row-with-buttons" }, row, answer(true), answer(false));
  }

  #sub(member, user) {
    const { state } = this;
    if (this.#state === "requested") return t("askedAt", { time: listTime(member.since) });
    if (this.#state === "invited") return member.by ? t("invitedBy", { name: userName(state, member.by) }) : `@${user.name}`;
    if (this.#state === "banned") return !isForGood(member.banned_until) ? t("bannedUntil", { time: shortDate(member.banned_until) }) : t("bannedForever");
    if (member.muted_until > Date.now()) return t(isForGood(member.muted_until) ? "mutedForever" : "mutedUntil", { time: shortDate(member.muted_until) });
    if (user.online || user.name === state.account?.name) return t("online");
    return user.last_seen ? lastSeen(user.last_seen) : `@${user.name}`;
  }

  async #answer(name, accept) {
    await attempt(this.state.approve(this.head.conv, name, accept));
    this.list.reload();
  }

  #choose(member) {
    if (member.user.name === this.state.account?.name || !isAdmin(this.head)) this.app.openProfile(member.user.name);
    else this.#menu(member, this.rows.list.element(member.user.name)?.querySelector(".row") ?? this.rows.element);
  }

  #menu(member, anchor) {
    if (member.user.name === this.state.account?.name) return;
    memberMenu(this.app, this.head, { ...member, state: this.#state }, anchor, () => this.list.reload());
  }
}
