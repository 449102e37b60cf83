// One row of a thread: the day, the line of new messages, and the content. A message is a bubble; a
// change of the conversation is a line of text.

import { h } from "./dom.js";
import { icon, ticks } from "./icons.js";
import { hueOf, userAvatar } from "./avatar.js";
import { partsOf } from "./albums.js";
import { lookalikeMark } from "./lookalike.js";
import { bodyOf } from "./attachments.js";
import { albumOf } from "./pictures.js";
import { actorName, customText, eventText, gone, isGroup, isNote, noteText, userName } from "./model.js";
import { renderText } from "../text/render.js";
import { isBigEmoji } from "../text/emoji.js";
import { clock, dayTitle, fullDate, timeLeft } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const KNOWN = new Set(["text", "image", "video", "audio", "file", "location", "card", "call", "poll", "bundle", "encrypted"]);
const STATUS = {
  queued: "statusQueued", uploading: "statusUploading", sending: "statusSending", sent: "statusSent",
  delivered: "statusDelivered", read: "statusRead", failed: "statusFailed",
};

/** Returns the label of a message for screen readers: the sender, the time and the content. */
export function spoken(state, row) {
  const label = t("spokenMessage", { name: actorName(state, row.sender), time: clock(row.at ?? Date.now()), text: eventText(state, row) });
  const parts = [label];
  if (row.state === "edited") parts.push(t("edited"));
  if (row.own && STATUS[row.status]) parts.push(t(STATUS[row.status]));
  return parts.join(", ");
}

/**
 * Returns the element of a row. `shape`: { day, unread, first, last, selected, hit, focusable }.
 * `actions` are the ThreadActions.
 */
export function renderRow(context, row, shape) {
  const { state, head, actions } = context;
  const item = h("div", {
    class: `item${shape.first ? " first" : ""}${shape.last ? " last" : ""}${shape.selected ? " selected" : ""}${shape.hit ? " hit" : ""}`,
    role: "article", tabindex: shape.focusable ? "0" : "-1", "data-key": row.key, "data-seq": row.seq, "aria-label": isNote(row) ? noteText(state, row) : spoken(state, row),
  });
  if (shape.day) item.append(h("div", { class: "day", role: "separator" }, h("span", { class: "day-pill" }, dayTitle(row.at ?? Date.now()))));
  if (shape.unread) item.append(h("div", { class: "unread-line", role: "separator" }, t("newMessages")));
  if (isNote(row)) {
    item.append(h("div", { class: "note" }, h("span", { class: "note-pill" }, noteText(state, row))));
    return item;
  }
  const withAvatar = isGroup(head) && !row.own;
  const message = h("div", { class: `message${row.own ? " own" : ""}${withAvatar ? "" : " alone"}` });
  if (withAvatar) {
    message.append(shape.last
      ? h("button", { type: "button", tabindex: "-1", "aria-label": userName(state, row.sender), onclick: () => actions.openUser(row.sender) }, userAvatar(state, state.user(row.sender) ?? { name: row.sender ?? "?" }, { size: "s" }))
      : h("span"));
  }
  message.append(h("div", { class: "stack" }, bubbleBox(context, row, shape, withAvatar), partsOf(row).map((part) => reactions(context, part)), thread(context, row), partsOf(row).map((part) => failure(context, part))));
  item.append(message);
  return item;
}

function bubbleBox(context, row, shape, named) {
  if (!context.hover) return h("div", { class: "bubble-box" }, bubble(context, row, shape, named));
  const more = h("button", { type: "button", class: "bubble-more", tabindex: "-1", "aria-label": t("messageActions"), "aria-haspopup": "menu", onclick: () => context.actions.menu(row, more) }, icon("more"));
  return h("div", { class: "bubble-box" }, bubble(context, row, shape, named), more);
}

function bubble(context, row, shape, named) {
  const { state, actions } = context;
  const lost = gone(state, row);
  const media = !lost && (row.kind === "image" || row.kind === "video");
  const box = h("div", { class: `bubble${media ? " media" : ""}` });
  if (named && shape.first && row.sender) box.append(author(context, row.sender));
  if (lost) {
    box.append(h("span", { class: "text recalled" }, lost, meta(context, row)));
    return box;
  }
  const from = row.body?.forwarded;
  if (from) box.append(h("span", { class: "forwarded" }, from.sender || from.nick ? t("forwardedFrom", { name: from.nick ?? userName(state, from.sender) }) : t("forwarded")));
  if (row.ref) box.append(quote(context, row));
  const custom = customText(row);
  if (!KNOWN.has(row.kind) && !custom) {
    box.append(h("span", { class: "text recalled" }, t("unknownKind"), meta(context, row)));
    return box;
  }
  const text = row.body?.text;
  if (row.kind === "text" || custom) {
    const words = text ?? "";
    const nodes = renderText(words, row.body?.entities, { me: state.account?.name, open: actions.openUser, spoiler: t("spoiler") });
    const big = isBigEmoji(words) && !row.ref;
    box.append(h("div", { class: `text${big ? " big" : ""}` }, nodes, meta(context, row)));
    if (row.body?.preview) box.append(linkPreview(row.body.preview));
    return box;
  }
  box.append(row.parts ? albumOf(context, row) : bodyOf(context, row));
  if (text) box.append(h("div", { class: "text" }, renderText(text, row.body.entities, { me: state.account?.name, open: actions.openUser }), meta(context, row)));
  else box.append(meta(context, row, media));
  return box;
}

function author({ state, actions }, name) {
  const shown = userName(state, name);
  const mark = lookalikeMark(state, name);
  return h("button", { type: "button", tabindex: "-1", class: "author ellipsis", style: { "--h": hueOf(name) }, onclick: () => actions.openUser(name) }, shown, mark && [mark, h("span", { class: "name-mark" }, t("nameMark", { name }))]);
}

function meta({ state, actions }, row, over = false) {
  const status = row.own && row.status ? row.status : null;
  return h("span", { class: `meta${over ? " over" : ""}`, title: row.at ? fullDate(row.at) : null },
    row.expires_at ? remaining(row.expires_at, state.now) : null,
    row.state === "edited" ? h("button", { type: "button", class: "edited", tabindex: "-1", title: t("editHistory"), onclick: () => actions.showEdits(row) }, t("edited")) : null,
    h("time", { datetime: row.at ? new Date(row.at).toISOString() : null }, clock(row.at ?? Date.now())),
    status ? ticks(status, t(STATUS[status] ?? "statusSent")) : null);
}

/** Returns the element with the time until a message expires, which `updateRemaining` updates. */
function remaining(at, now) {
  return h("span", { class: "expires", "data-at": at, title: t("disappearsAt", { time: fullDate(at) }) }, icon("timer"), h("span", {}, timeLeft(at - now)));
}

/** Updates the remaining times of the messages in `element`. */
export function updateRemaining(element, now) {
  for (const each of element.querySelectorAll(".expires")) {
    const text = timeLeft(Number(each.dataset.at) - now);
    if (each.lastChild.textContent !== text) each.lastChild.textContent = text;
  }
}

function quote({ state, actions }, row) {
  const source = row.quote;
  const open = () => actions.jump(row.ref);
  if (!source) return h("button", { type: "button", class: "quote", onclick: open }, h("span", { class: "ellipsis muted" }, t("hidden")));
  return h("button", { type: "button", class: "quote", style: { "--h": hueOf(source.sender ?? "") }, onclick: open },
    h("strong", { class: "ellipsis" }, actorName(state, source.sender)),
    h("span", { class: "ellipsis" }, eventText(state, source).replace(/\s+/g, " ").slice(0, 120)));
}

function linkPreview({ url, site, title, text }) {
  const content = [site ? h("span", { class: "site" }, site) : null, title ? h("strong", {}, title) : null, text ? h("span", { class: "about" }, text.slice(0, 400)) : null];
  return /^https?:\/\//i.test(url) ? h("a", { class: "preview-card", href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, content) : h("span", { class: "preview-card" }, content);
}

function reactions({ actions }, row) {
  if (!row.reactions?.length || row.state === "recalled") return null;
  const mine = new Set(row.mine?.reactions ?? []);
  return h("div", { class: "reactions", role: "group", "aria-label": t("reactions") }, row.reactions.map(({ key, count }) =>
    h("button", { type: "button", class: "reaction", "data-focus": `react-${key}`, "aria-pressed": String(mine.has(key)), "aria-label": t("reactionLabel", { emoji: key, n: count }), onclick: () => actions.react(row, key, mine.has(key)), oncontextmenu: (event) => { event.preventDefault(); event.stopPropagation(); actions.showReactions(row); } },
      h("span", { class: "face" }, key), String(count))));
}

function thread({ actions, inThread }, row) {
  if (inThread) return null;
  if (row.thread) return h("button", { type: "button", class: "thread-link", onclick: () => actions.openThread(row) }, icon("thread"), t("inThread"));
  if (!row.replies?.count) return null;
  return h("button", { type: "button", class: "thread-link", onclick: () => actions.openThread(row) }, icon("thread"), t("replies", { n: row.replies.count }));
}

function failure({ state, actions }, row) {
  if (row.status !== "failed") return null;
  const { error } = row;
  const reason = error && (error.code === "not_found" && error.field === "blob" ? t("errorFileLost", { name: row.body?.name ?? eventText(state, row) }) : actions.reason(error));
  return h("div", { class: "failure" }, h("span", {}, error ? t("failedReason", { reason }) : t("statusFailed")),
    h("button", { type: "button", class: "link", onclick: () => actions.retry(row) }, t("retry")),
    h("button", { type: "button", class: "link", onclick: () => actions.discard(row) }, t("discard")));
}
