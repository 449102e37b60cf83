// The list of conversations with search, filters and the main menu.

import { h, replace, Scope } from "./dom.js";
import { icon } from "./icons.js";
import { headAvatar, userAvatar } from "./avatar.js";
import { RowList } from "./rows.js";
import { openMenu } from "./menu.js";
import { withPanels } from "./later.js";
import { lookalikeMark } from "./lookalike.js";
import { requestBadge } from "./requests.js";
import { actorName, byName, eventText, headTitle, ICONS, isGroup, isMuted, isNote, matches, userName } from "./model.js";
import { hitRow } from "./search.js";
import { typingText } from "./threadheader.js";
import { listTime, number } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const FILTERS = ["all", "unread", "groups", "people"];
const HITS = 5; // the maximum number of messages that the list shows for a search
const LABELS = { all: "allChats", unread: "unread", groups: "groups", people: "people", archived: "archived" };

export class Sidebar {
  #scope = new Scope();
  #typing = new Map();
  #found = { query: "", hits: [] }; // messages
  #pause = 0;

  constructor(app) {
    this.app = app;
    this.state = app.state;
    this.filter = "all";
    this.#build();
    this.#scope.add(this.state.subscribe("conversations", () => this.update()));
    this.#scope.add(this.state.subscribe("settings", () => this.update()));
    this.#scope.add(this.state.subscribe("connection", () => this.#updateConnection()));
    this.#scope.add(this.state.subscribe("presence", () => this.rows.list.invalidate()));
    this.#scope.add(this.state.subscribe("contacts", () => { this.#updateRequests(); this.rows.list.invalidate(); }));
    this.#updateRequests();
    this.#updateConnection();
  }

  close() {
    for (const end of this.#typing.values()) end();
    clearTimeout(this.#pause);
    this.rows.close();
    this.#scope.close();
    this.element.remove();
  }

  #build() {
    const { app } = this;
    this.menu = h("button", { type: "button", class: "icon-button", id: "main-menu", "aria-label": t("more"), "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => this.#mainMenu() }, icon("menu"));
    this.searchField = h("input", { type: "text", role: "searchbox", inputmode: "search", enterkeyhint: "search", class: "input search", id: "search", placeholder: t("search"), "aria-label": t("searchChats"), autocomplete: "off" });
    this.searchField.addEventListener("input", () => this.update());
    this.searchField.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.searchField.value) {
        event.stopPropagation();
        this.searchField.value = "";
        this.update();
      }
    });
    this.compose = h("button", { type: "button", class: "icon-button", id: "new-chat", "aria-label": t("newChat"), title: t("newChat"), onclick: () => app.newChat() }, icon("pen"));
    this.banner = h("div", { class: "banner", role: "status", hidden: true });
    this.chips = h("div", { class: "filters", role: "group", "aria-label": t("chats") });
    this.chips.addEventListener("wheel", (event) => { if (!event.deltaX && !event.ctrlKey) this.chips.scrollLeft += event.deltaY; }, { passive: true });
    this.rows = new RowList({
      label: t("chatList"), className: "chat-list", search: this.searchField, estimate: 68,
      key: (row) => row.key,
      render: (row) => (row.head ? this.#row(row.head) : this.#otherRow(row)),
      signature: (row) => (row.head ? `${row.head.conv === app.openID}|${this.state.typing(row.head.conv)?.length ?? 0}|${this.#online(row.head)}|${listTime(row.head.at)}` : ""),
      choose: (row) => this.#choose(row),
      menu: (row, anchor) => row.head && withPanels(({ conversationMenu }) => conversationMenu(app, anchor, row.head)),
    });
    this.element = h("div", { class: "pane side", role: "navigation", "aria-label": t("chats") },
      h("div", { class: "bar" }, this.menu, h("div", { class: "search-box" }, icon("search"), this.searchField), this.compose),
      this.banner, this.chips, this.rows.element);
  }

  #online(head) {
    return head.kind === "pair" && Boolean((this.state.user(head.peer?.name) ?? head.peer)?.online);
  }

  #updateConnection() {
    const connection = this.state.connection?.state;
    this.banner.hidden = connection === "online" || !connection;
    replace(this.banner, icon("warning"), t(connection === "offline" ? "offline" : "connecting"));
  }

  /** Shows the number of received contact requests at the menu button. */
  #updateRequests() {
    const { length: n } = this.state.contacts("asked");
    replace(this.menu, icon("menu"), requestBadge(this.state));
    this.menu.setAttribute("aria-label", n ? `${t("menu")}, ${t("requestCount", { n })}` : t("menu"));
  }

  #updateChips() {
    const unread = this.state.conversations({ filter: "unread" }).length;
    const archived = this.state.conversations({ filter: "archived" }).length;
    const folders = (this.state.settings?.folders ?? []).map(({ name }) => `folder:${name}`);
    if (this.filter.startsWith("folder:") && !folders.includes(this.filter)) this.filter = "all";
    const filters = [...FILTERS, ...folders, ...(archived || this.filter === "archived" ? ["archived"] : [])];
    const shown = JSON.stringify([filters, unread, this.filter, t("allChats")]);
    if (shown === this.shownChips) return;
    this.shownChips = shown;
    const focused = this.chips.contains(document.activeElement) ? document.activeElement.dataset.filter : null;
    const { scrollLeft } = this.chips;
    replace(this.chips, filters.map((name) => this.#chip(name, name === "unread" ? unread : 0)));
    this.chips.scrollLeft = scrollLeft;
    if (focused) [...this.chips.children].find((chip) => chip.dataset.filter === focused)?.focus({ preventScroll: true });
  }

  #chip(name, count) {
    const folder = name.startsWith("folder:") ? name.slice("folder:".length) : null;
    const chip = h("button", {
      type: "button", class: "chip", "data-filter": name, "aria-pressed": String(name === this.filter), title: folder,
      onclick: () => { this.#filterBy(name); },
    }, folder ?? t(LABELS[name]), count ? h("span", { class: "count" }, number(count)) : null);
    if (folder !== null) {
      chip.addEventListener("contextmenu", (event) => {
        event.preventDefault();
        withPanels(({ folderMenu }) => folderMenu(this.app, chip, folder, (to) => this.#filterBy(to === null ? "all" : `folder:${to}`)));
      });
    }
    return chip;
  }

  #filterBy(name) {
    this.filter = name;
    this.update();
    [...this.chips.children].find((chip) => chip.dataset.filter === name)?.focus();
  }

  update() {
    const query = this.searchField.value.trim();
    this.#updateChips();
    const heads = this.state.conversations({ filter: query ? "all" : this.filter, query });
    const rows = heads.map((head) => ({ key: head.conv, head, same: head }));
    if (query) {
      const shown = new Set(heads.map((head) => head.peer?.name));
      const people = this.state.contacts().filter((contact) => !shown.has(contact.user.name) && matches(contact, query)).sort(byName(this.state));
      rows.push(...people.map((contact) => ({ key: `@${contact.user.name}`, contact })));
      rows.push({ key: "messages", query });
      if (this.#found.query === query) rows.push(...this.#found.hits.map((hit) => ({ key: `m${hit.event.conv}/${hit.event.seq}`, hit })));
    }
    this.#searchMessages(query);
    this.rows.setRows(this.#reuse(rows));
    this.#watchTyping(heads.slice(0, 30));
    this.#showEmpty(rows.length === 0, !query && this.filter === "all" && rows.every((row) => row.head?.kind === "self"));
    this.app.updateTitle();
  }

  /** Shows the newest messages that contain the text of the search field below the chats. */
  #searchMessages(query) {
    if (query === this.#found.query) return;
    this.#found = { query, hits: [] };
    clearTimeout(this.#pause);
    if (!query) return;
    this.#pause = setTimeout(async () => {
      const result = await this.state.search(query, {}).catch(() => null); // after a failure, the full search shows the reason
      if (!result || this.#found.query !== query) return;
      this.#found = { query, hits: result.hits.slice(0, HITS) };
      this.update();
    }, 200);
  }

  /** Keeps the row objects that did not change, so that their elements are not replaced. */
  #reuse(rows) {
    const former = this.former ?? new Map();
    const next = rows.map((row) => {
      const before = former.get(row.key);
      return before && before.head === row.head && before.contact?.user === row.contact?.user && before.query === row.query && before.hit === row.hit ? before : row;
    });
    this.former = new Map(next.map((row) => [row.key, row]));
    return next;
  }

  #watchTyping(heads) {
    const wanted = new Set(heads.map(({ conv }) => conv));
    for (const [conv, end] of this.#typing) {
      if (wanted.has(conv)) continue;
      end();
      this.#typing.delete(conv);
    }
    for (const conv of wanted) {
      if (!this.#typing.has(conv)) this.#typing.set(conv, this.state.subscribe(`typing:${conv}`, () => this.rows.list.schedule()));
    }
  }

  /**
   * Shows a hint in an empty list, and in the list of a new account, which contains only the notes.
   */
  #showEmpty(empty, isNew) {
    if (isNew && this.empty?.isConnected && this.shownNew) return;
    this.empty?.remove();
    this.shownNew = isNew;
    if (!empty && !isNew) return;
    const unread = this.filter === "unread";
    this.empty = h("div", { class: `empty${empty ? "" : " after"}` }, h("h2", {}, t(unread ? "noUnread" : "noChats")), unread ? null : h("p", {}, t("noChatsHint")),
      unread ? null : [h("button", { type: "button", class: "button primary", onclick: () => this.app.newChat() }, icon("pen"), t("newChat")),
        h("button", { type: "button", class: "button", onclick: () => this.app.explore() }, icon("globe"), t("explore"))]);
    this.rows.element.append(this.empty);
  }

  /** Updates the rows whose appearance depends on the open conversation. */
  refresh() {
    this.rows.list.schedule();
  }

  #choose(row) {
    if (row.head) this.app.openConversation(row.head.conv);
    else if (row.contact) this.app.openProfile(row.contact.user.name);
    else if (row.hit) this.app.openConversation(row.hit.event.conv, { seq: row.hit.event.seq });
    else this.app.search({ query: row.query });
  }

  #row(head) {
    const { state } = this;
    const title = headTitle(state, head);
    const unread = head.unread ?? 0;
    const marked = head.own?.marked_unread && !unread;
    const mentionsOnly = head.own?.notify === "mentions" && !isMuted(head);
    const spoken = [title, unread ? t("unreadCount", { n: unread }) : null, head.mentions ? t("mentionsCount", { n: head.mentions }) : null, mentionsOnly ? t("notifyMentions") : null].filter(Boolean);
    return h("button", {
      type: "button", class: "row", "data-conv": head.conv, "aria-current": head.conv === this.app.openID ? "true" : null,
    }, headAvatar(state, head, { online: this.#online(head) }),
    h("span", { class: "lines" },
      h("span", { class: "line" }, head.kind === "group" ? icon("group") : head.kind === "channel" ? icon("megaphone") : null, h("span", { class: "title ellipsis" }, title), head.kind === "pair" ? lookalikeMark(state, head.peer?.name) : null,
        isMuted(head) ? icon("bellOff") : mentionsOnly ? icon("at") : null, h("span", { class: "spring" }), h("span", { class: "time" }, head.last || head.kind !== "self" ? listTime(head.last?.at ?? head.at) : "")),
      h("span", { class: "line" }, this.#preview(head),
        head.mentions ? h("span", { class: "badge mention", "aria-hidden": "true" }, "@") : null,
        unread || marked ? h("span", { class: `badge${isMuted(head) ? " quiet" : ""}`, "aria-hidden": "true" }, unread ? number(Math.min(unread, 9999)) : "") : null,
        head.own?.pinned_at && !unread ? icon("pin") : null)),
    h("span", { class: "visually-hidden" }, spoken.slice(1).join(", ")));
  }

  #preview(head) {
    const { state } = this;
    const typing = (state.typing(head.conv) ?? []).filter((name) => name !== state.account?.name);
    if (typing.length) return h("span", { class: "preview ellipsis" }, h("span", { class: "typing" }, typingText(state, head, typing)));
    const draft = head.conv === this.app.openID ? null : state.draft(head.conv);
    if (draft?.text) return h("span", { class: "preview ellipsis" }, h("span", { class: "draft" }, t("draftPrefix")), draft.text.slice(0, 120));
    if (head.state === "invited") return h("span", { class: "preview ellipsis" }, t("invited", { name: userName(state, head.peer?.name) }));
    if (head.state === "requested") return h("span", { class: "preview ellipsis" }, t("requested"));
    const { last } = head;
    if (!last) return h("span", { class: "preview" }, "");
    const isGone = /recalled|expired|erased/.test(last.state);
    if (last.kind === "conversation.create" && head.kind === "channel") return h("span", { class: "preview ellipsis" }, t("eventCreateChannel"));
    const named = !isNote(last) && !(isGone && last.sender === state.account?.name) && (isGroup(head) ? last.sender : last.sender === state.account?.name && head.kind !== "self" && last.kind !== "call");
    return h("span", { class: "preview ellipsis" }, named ? h("span", { class: "who" }, `${actorName(state, last.sender)}${t("colon")}`) : null, ICONS[last.kind] && !isGone ? icon(last.media === "video" ? "video" : ICONS[last.kind]) : null, eventText(state, last).replace(/\s+/g, " "));
  }

  #otherRow(row) {
    if (row.hit) return hitRow(this.state, row.hit);
    if (row.contact) {
      const { user } = row.contact;
      return h("button", { type: "button", class: "row compact" }, userAvatar(this.state, user, { size: "m", online: user.online }),
        h("span", { class: "lines" }, h("span", { class: "title ellipsis" }, userName(this.state, user.name)), h("span", { class: "sub ellipsis" }, `@${user.name}`)));
    }
    return h("button", { type: "button", class: "row compact" }, h("span", { class: "avatar size-m" }, icon("search")), h("span", { class: "lines" }, h("span", { class: "title ellipsis" }, `${t("search")}${t("colon")}${row.query}`), h("span", { class: "sub" }, t("messages"))));
  }

  #mainMenu() {
    const { app } = this;
    openMenu(this.menu, [
      { icon: "group", label: t("newGroup"), run: () => app.newGroup("group") },
      { icon: "megaphone", label: t("newChannel"), run: () => app.newGroup("channel") },
      { icon: "person", label: t("contacts"), end: requestBadge(this.state), run: () => app.contacts() },
      { icon: "bookmark", label: t("savedMessages"), run: () => app.openSelf() },
      { icon: "globe", label: t("explore"), run: () => app.explore() },
      null,
      { icon: "settings", label: t("settings"), run: () => app.settings() },
      { icon: "leave", label: t("signOut"), run: () => app.signOut() },
    ], { label: t("more") });
  }
}
