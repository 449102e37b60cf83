// The search in messages, chats and people, and the quick jump of Ctrl+K.

import { h } from "./dom.js";
import { headAvatar, userAvatar } from "./avatar.js";
import { openDialog } from "./dialog.js";
import { searchField } from "./pickers.js";
import { withPanels } from "./later.js";
import { RowList } from "./rows.js";
import { actorName, byName, errorText, eventText, headTitle, matches, userName } from "./model.js";
import { highlight } from "../text/render.js";
import { listTime } from "../i18n/format.js";
import { t } from "../i18n/index.js";

/** Returns the row of a found message. */
export function hitRow(state, { event, snippet, ranges }) {
  const head = state.conversation(event.conv);
  const title = head ? headTitle(state, head) : userName(state, event.sender);
  return h("button", { type: "button", class: "row", "data-hit": event.seq }, head ? headAvatar(state, head, { size: "m" }) : userAvatar(state, { name: event.sender }, { size: "m" }),
    h("span", { class: "lines" }, h("span", { class: "line" }, h("span", { class: "title ellipsis" }, title), h("span", { class: "spring" }), h("span", { class: "time" }, listTime(event.at))),
      h("span", { class: "preview ellipsis" }, h("span", { class: "who" }, `${actorName(state, event.sender)}${t("colon")}`), snippet ? highlight(snippet, ranges) : eventText(state, event))));
}

/**
 * Opens the search. `conv` is the initial conversation of the filter, `query` the initial text.
 * `quick` (false by default) lists more conversations and hides the filters.
 */
export function openSearch(app, { conv = null, query = "", quick = false } = {}) {
  const { state } = app;
  const { input, element } = searchField(t(quick ? "quickJump" : "searchChats"), { value: query });
  const filters = { conv };
  const status = h("div", { class: "section-title small muted", role: "status" });
  let hits = null;
  let request = 0;
  let timer = 0;

  const changed = (values) => { Object.assign(filters, values); start(); };
  const bar = h("div", { class: "search-filters" });
  if (!quick) withPanels(({ searchFilters }) => bar.append(...searchFilters(app, conv, changed)));

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
    return hitRow(state, row.hit);
  }

  function choose(row) {
    dialog.close();
    if (row.head) app.openConversation(row.head.conv);
    else if (row.user) app.openPerson(row.user.name);
    else app.openConversation(row.hit.event.conv, { seq: row.hit.event.seq });
  }

  /** Returns whether a filter is set, so that only messages are searched. */
  function isFiltered() {
    return Object.values(filters).some((value) => value !== undefined && value !== null);
  }

  function local() {
    const words = input.value.trim();
    if (isFiltered()) return [];
    const heads = state.conversations({ filter: "all", query: words });
    const paired = new Set(heads.map((head) => head.peer?.name));
    const people = words ? state.contacts().filter((contact) => matches(contact, words) && !paired.has(contact.user.name)).sort(byName(state)) : [];
    return [...heads.slice(0, quick ? 12 : 5).map((head) => ({ key: `c${head.conv}`, head })), ...people.slice(0, 5).map(({ user }) => ({ key: `u${user.name}`, user }))];
  }

  function show(found) {
    const messages = (found?.hits ?? []).map((hit) => ({ key: `m${hit.event.conv}/${hit.event.seq}`, hit }));
    const first = local();
    const known = new Set(first.map((row) => row.key));
    const others = isFiltered() ? [] : (found?.people ?? []).filter((user) => !known.has(`u${user.name}`) && !first.some(({ head }) => head?.peer?.name === user.name)).slice(0, 5).map((user) => ({ key: `u${user.name}`, user }));
    const all = [...first, ...others, ...messages];
    rows.setRows(all);
    const result = all.length ? t("resultCount", { n: all.length, more: found?.hasMore ? "+" : "" }) : `${t("noResults")}. ${t("noResultsHint")}`;
    status.textContent = !found ? "" : found.isLocal ? [result, state.connection?.state === "online" ? null : t("offlineShort"), t("searchLocal")].filter(Boolean).join(" · ") : result;
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
      const found = await state.search(words, { ...filters, conv: filters.conv ?? undefined });
      if (current === request) show(hits = found);
    } catch (error) {
      if (current === request) status.textContent = errorText(error);
    }
  }

  input.addEventListener("input", () => { show(null); clearTimeout(timer); timer = setTimeout(start, 160); });
  const dialog = openDialog(t("search"), [h("div", { class: "pad" }, element, quick ? null : bar), status, rows.element], { wide: true, onclose: () => { request += 1; rows.close(); } });
  start();
}
