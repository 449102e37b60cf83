// Search in messages, chats and people; also the quick jump of Ctrl+K.

import { h } from "./dom.js";
import { headAvatar, userAvatar } from "./avatar.js";
import { openDialog } from "./dialog.js";
import { searchField } from "./pickers.js";
import { RowList } from "./rows.js";
import { actorName, errorText, eventText, headTitle, matches, userName } from "./model.js";
import { highlight } from "../text/render.js";
import { listTime } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const DAY = 86_400_000;

/** options: `conv` (search in it first), `query`, `quick`. */
export function openSearch(app, { conv = null, query = "", quick = false } = {}) {
  const { state } = app;
  const { input, element } = searchField(t(quick ? "quickJump" : "searchChats"), { value: query });
  const filters = { conv, kinds: undefined, days: 0, sender: undefined };
  const status = h("div", { class: "section-title small muted", role: "status" });
  let hits = null;
  let request = 0;
  let timer = 0;

  const select = (label, choices, change) => {
    const box = h("select", { class: "input", "aria-label": label }, choices.map(([value, text]) => h("option", { value }, text)));
    box.addEventListener("change", () => { change(box.value); start(); });
    return box;
  };
  const kinds = select(t("filterKind"), [["", t("anyKind")], ["text", t("messages")], ["image", t("picture")], ["video", t("video")], ["file", t("file")], ["poll", t("poll")]], (value) => { filters.kinds = value ? [value] : undefined; });
  const times = select(t("filterWhen"), [["0", t("anyTime")], ["7", t("lastWeek")], ["30", t("lastMonth")], ["365", t("lastYear")]], (value) => { filters.days = Number(value); });
  const senders = select(t("filterFrom"), [["", t("anyPerson")], [state.account?.name ?? "", t("you")], ...state.contacts().map(({ user }) => [user.name, userName(state, user.name)])], (value) => { filters.sender = value || undefined; });
  const places = conv ? select(t("filterChat"), [[conv, t("here")], ["", t("everywhere")]], (value) => { filters.conv = value || null; }) : null;

  const rows = new RowList({
    label: t("search"), className: "results", estimate: 64, search: input, key: (row) => row.key, render, choose,
    onend: async () => {
      if (!hits?.hasMore || hits.loading) return;
      hits.loading = true;
      const current = request;
      try {
        const next = await hits.more();
        if (current === request) show(hits = next);
      } catch { hits.hasMore = false; }
    },
  });

  function render(row) {
    if (row.head) return h("button", { type: "button", class: "row compact" }, headAvatar(state, row.head, { size: "m" }), h("span", { class: "lines" }, h("span", { class: "title ellipsis" }, headTitle(state, row.head))));
    if (row.user) return h("button", { type: "button", class: "row compact" }, userAvatar(state, row.user, { size: "m", online: row.user.online }), h("span", { class: "lines" }, h("span", { class: "title ellipsis" }, userName(state, row.user.name)), h("span", { class: "sub ellipsis" }, `@${row.user.name}`)));
    const { event, snippet, ranges } = row.hit;
    const head = state.conversation(event.conv);
    const title = head ? headTitle(state, head) : userName(state, event.sender);
    return h("button", { type: "button", class: "row", "data-hit": event.seq }, head ? headAvatar(state, head, { size: "m" }) : userAvatar(state, { name: event.sender }, { size: "m" }),
      h("span", { class: "lines" }, h("span", { class: "line" }, h("span", { class: "title ellipsis" }, title), h("span", { class: "spring" }), h("span", { class: "time" }, listTime(event.at))),
        h("span", { class: "preview ellipsis" }, h("span", { class: "who" }, `${actorName(state, event.sender)}${t("colon")}`), snippet ? highlight(snippet, ranges) : eventText(state, event))));
  }

  function choose(row) {
    dialog.close();
    if (row.head) app.openConversation(row.head.conv);
    else if (row.user) app.openPerson(row.user.name);
    else app.openConversation(row.hit.event.conv, { seq: row.hit.event.seq });
  }

  function local() {
    const words = input.value.trim();
    if (filters.conv) return [];
    const heads = state.conversations({ filter: "all", query: words });
    const paired = new Set(heads.map((head) => head.peer?.name));
    const people = words ? state.contacts().filter((contact) => matches(contact, words) && !paired.has(contact.user.name)) : [];
    return [...heads.slice(0, quick ? 12 : 5).map((head) => ({ key: `c${head.conv}`, head })), ...people.slice(0, 5).map(({ user }) => ({ key: `u${user.name}`, user }))];
  }

  function show(found) {
    const messages = (found?.hits ?? []).map((hit) => ({ key: `m${hit.event.conv}/${hit.event.seq}`, hit }));
    const first = local();
    const known = new Set(first.map((row) => row.key));
    const others = filters.conv ? [] : (found?.people ?? []).filter((user) => !known.has(`u${user.name}`) && !first.some(({ head }) => head?.peer?.name === user.name)).slice(0, 5).map((user) => ({ key: `u${user.name}`, user }));
    const all = [...first, ...others, ...messages];
    rows.setRows(all);
    const result = all.length ? t("resultCount", { n: all.length }) : `${t("noResults")}. ${t("noResultsHint")}`;
    status.textContent = !found ? "" : found.isLocal ? `${result} · ${t("searchLocal")}` : result;
  }

  async function start() {
    clearTimeout(timer);
    const current = ++request;
    const words = input.value.trim();
    hits = null;
    show(null);
    if (!words) return;
    status.textContent = t("loading");
    try {
      const found = await state.search(words, { conv: filters.conv ?? undefined, kinds: filters.kinds, sender: filters.sender, from_at: filters.days ? Date.now() - filters.days * DAY : undefined });
      if (current === request) show(hits = found);
    } catch (error) {
      if (current === request) status.textContent = errorText(error);
    }
  }

  input.addEventListener("input", () => { show(null); clearTimeout(timer); timer = setTimeout(start, 160); });
  const dialog = openDialog(t("search"), [h("div", { class: "pad" }, element, quick ? null : h("div", { class: "search-filters" }, places, kinds, senders, times)), status, rows.element], { wide: true, onclose: () => { request += 1; rows.close(); } });
  start();
}
