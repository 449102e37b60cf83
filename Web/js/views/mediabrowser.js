// The pictures, videos, files, links and voice messages of a conversation, newest first.

import { h, replace, Scope, uniqueID } from "./dom.js";
import { openDialog } from "./dialog.js";
import { bodyOf } from "./attachments.js";
import { errorText, gone, userName } from "./model.js";
import { picture } from "./pictures.js";
import { linksOf } from "../text/links.js";
import { openViewer } from "./viewer.js";
import { fullDate, listTime } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const TABS = [
  { name: "tabMedia", kinds: ["image", "video"], render: tile },
  { name: "tabFiles", kinds: ["file"], render: attachment },
  // Each web address contains this word. Hits without an address are excluded.
  { name: "tabLinks", kinds: ["text"], query: "http", render: links, passes: (row) => linksOf(row.body).length > 0 },
  { name: "tabVoice", kinds: ["audio"], render: attachment },
];
const BEHIND = 600; // ms until the next request while the index is behind
const RETRIES = 5;

export function openMedia(app, conv) {
  const { state } = app;
  const scope = new Scope();
  const status = h("div", { class: "section-title small muted", role: "status" });
  const list = h("div", { class: "media-list", role: "tabpanel", tabindex: "-1" });
  const end = h("div", { class: "media-end" });
  const scroller = h("div", { class: "scroller media-scroller" }, list, end);
  let tab = TABS[0];
  let rows = [];
  let page;
  let version = 0;
  let isLoading = false;
  let retries = RETRIES;

  const context = { state, actions: {
    openPicture: (row) => openViewer(state, row, { rows, jump }),
    openUser: (name) => app.openProfile(name),
    nextVoice: (row) => rows[rows.findIndex((each) => each.key === row.key) - 1] ?? null,
    discard: () => {},
  }, jump };

  function jump(row) {
    dialog.close();
    app.toggleDetails(false);
    app.openConversation(conv, { seq: row.seq, ...(row.thread && { thread: row.thread }) });
  }

  async function more() {
    if (isLoading || page === null) return;
    isLoading = true;
    const current = version;
    const isFirst = page === undefined;
    const { kinds, query = "", passes = () => true, render } = tab;
    status.textContent = t("loading");
    try {
      const found = await state.media(conv, { kinds, query, page });
      if (current !== version) return;
      const known = new Set(rows.map((row) => row.seq));
      const fresh = found.events.filter((event) => !known.has(event.seq)).map((event) => ({ ...event, key: String(event.seq), own: event.sender === state.account?.name })).filter((row) => !gone(state, row) && row.body && passes(row));
      rows = [...rows, ...fresh];
      list.append(...fresh.map((row) => render(context, row)));
      page = found.page ?? null;
      status.textContent = rows.length || page !== null ? "" : t("noMedia");
      if (found.isBehind && isFirst && retries > 0) setTimeout(() => { if (current === version && scroller.scrollTop === 0) again(); }, BEHIND);
    } catch (error) {
      if (current !== version) return;
      page = null;
      status.textContent = errorText(error);
    } finally {
      if (current === version) {
        isLoading = false;
        // A page may contain few messages, so that the end of the list is still visible.
        if (page !== null) requestAnimationFrame(() => { if (scroller.isConnected && isAtEnd()) more(); });
      }
    }
  }

  function again() {
    retries -= 1;
    show(tab);
  }

  const isAtEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 400;

  function show(next) {
    tab = next;
    version += 1;
    rows = [];
    page = undefined;
    isLoading = false;
    list.className = `media-list ${tab === TABS[0] ? "grid" : "lines"}`;
    list.setAttribute("aria-labelledby", buttons.get(tab).id);
    replace(list);
    for (const [each, button] of buttons) {
      button.setAttribute("aria-selected", String(each === tab));
      button.tabIndex = each === tab ? 0 : -1;
    }
    more();
  }

  const buttons = new Map(TABS.map((each) => [each, h("button", { type: "button", role: "tab", class: "chip", id: uniqueID("tab"), onclick: () => show(each) }, t(each.name))]));
  const bar = h("div", { class: "chips pad", role: "tablist", "aria-label": t("media"), onkeydown: (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length];
    show(next);
    buttons.get(next).focus();
  } }, [...buttons.values()]);
  scope.listen(scroller, "scroll", () => { if (isAtEnd()) more(); });
  scope.listen(list, "keydown", (event) => typed(event, list));
  const dialog = openDialog(t("media"), [bar, status, scroller], { wide: true, label: "tall", onclose: () => { version += 1; scope.close(); } });
  show(tab);
  buttons.get(tab).focus();
}

/** Moves the focus between the pictures with the arrow keys. */
function typed(event, list) {
  const tile = event.target.closest(".grid > *");
  if (!tile) return;
  const columns = getComputedStyle(list).gridTemplateColumns.split(" ").length;
  const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
  const next = step && [...list.children][[...list.children].indexOf(tile) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

function tile(context, row) {
  const button = picture(context, row, row.body, null);
  button.dataset.seq = row.seq;
  button.title = `${userName(context.state, row.sender)}, ${fullDate(row.at)}`;
  button.setAttribute("aria-label", `${button.getAttribute("aria-label")}, ${button.title}`);
  return button;
}

function line(context, row, content) {
  return h("div", { class: "media-line", "data-seq": row.seq }, content,
    h("div", { class: "sub small muted" }, `${userName(context.state, row.sender)} · ${listTime(row.at)} · `, h("button", { type: "button", class: "link", onclick: () => context.jump(row) }, t("showInChat"))));
}

function attachment(context, row) {
  return line(context, row, bodyOf(context, row));
}

function links(context, row) {
  return line(context, row, linksOf(row.body).map((url) =>
    h("a", { class: "media-link", href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, h("strong", { class: "ellipsis" }, hostOf(url)), h("span", { class: "ellipsis" }, url))));
}

function hostOf(url) {
  try {
    return new URL(url).host || url;
  } catch {
    return url;
  }
}
