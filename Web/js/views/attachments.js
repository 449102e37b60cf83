// The content of messages that are not plain text: pictures, files, locations, cards, calls and
// polls.

import { h, uniqueID } from "./dom.js";
import { icon } from "./icons.js";
import { userAvatar } from "./avatar.js";
import { callText, showsVoters, userName } from "./model.js";
import { picture, progress } from "./pictures.js";
import { place } from "./place.js";
import { voice } from "./voice.js";
import { fileSize, percent, shortDate } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const BODIES = { image: picture, video: picture, audio: voice, file, location: place, card, call, poll, bundle, encrypted: sealed };

export function bodyOf(context, row) {
  return BODIES[row.kind](context, row, row.body ?? {});
}

/**
 * Returns a name without characters that change the text direction and could hide its extension.
 */
const plainName = (name) => String(name ?? t("file")).replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, "").slice(0, 255) || t("file");

/** Returns the extension of a name as a label of the file, or an icon if there is none. */
function endingOf(name) {
  const ending = name.match(/\.([\p{L}\p{N}]{1,5})$/u)?.[1];
  return ending ? h("span", { class: "ending", "aria-hidden": "true" }, ending.toLocaleUpperCase()) : icon("file");
}

function file({ state, actions }, row, body) {
  const url = body.blob && !row.local ? state.blobURL(body.blob) : null;
  const name = plainName(body.name);
  const waits = row.local && (row.status === "uploading" || row.status === "queued");
  const text = h("span", { class: "grow" }, h("span", { class: "name" }, h("bdi", {}, name)), h("span", { class: "sub" }, fileSize(Number(body.size) || 0)));
  if (waits) return h("div", { class: "file waits" }, h("span", { class: "file-icon" }, endingOf(name)), text, progress(row, actions));
  return h(url ? "a" : "div", { class: "file", href: url, download: url ? name : null, "aria-label": url ? `${t("download")}: ${name}` : null }, h("span", { class: "file-icon" }, endingOf(name)), text);
}

function card({ state, actions }, row, { user, nick }) {
  if (typeof user !== "string") return h("span", { class: "text recalled" }, t("contactCard"));
  return h("button", { type: "button", class: "contact-card", onclick: () => actions.openUser(user) },
    userAvatar(state, state.user(user) ?? { name: user ?? "?", nick }, { size: "m" }),
    h("span", { class: "grow" }, h("div", { class: "name" }, nick ?? userName(state, user)), h("div", { class: "sub" }, `@${user}`)));
}

function call({ actions }, row, { media, state }) {
  const isOver = state !== "ringing" && state !== "accepted";
  return h("div", { class: `call-line${state === "missed" || state === "declined" ? " missed" : ""}` }, icon(media === "video" ? "video" : "call"), h("span", { class: "grow" }, callText(row)),
    isOver && actions.call ? h("button", { type: "button", class: "link", "data-focus": "call-back", onclick: () => actions.call(media) }, t("callBack")) : null);
}

function bundle({ state }, row, { title, items = [] }) {
  return h("details", { class: "quote" }, h("summary", {}, `${title ?? t("bundle")} · ${t("messageCount", { n: items.length })}`),
    items.map((item) => h("p", {}, h("strong", {}, item.nick ?? userName(state, item.sender)), item.body?.text ?? t("unknownKind"))));
}

function sealed() {
  return h("span", { class: "text recalled" }, t("encrypted"));
}

function poll({ state, actions, head }, row, body) {
  const options = body.options ?? [];
  const votes = row.votes ?? [];
  const mine = new Set(row.mine?.votes ?? []);
  const ended = Boolean(body.closed) || (body.closes_at ?? Infinity) <= state.now;
  const shown = mine.size > 0 || ended;
  const voters = votes.reduce((sum, count) => sum + count, 0);
  const group = uniqueID("poll");
  const cast = (index, on) => {
    const next = new Set(body.multiple ? mine : []);
    if (on) next.add(index);
    else next.delete(index);
    actions.vote(row, [...next].sort((one, other) => one - other));
  };
  const kind = [t(ended ? "pollClosed" : body.anonymous ? "pollAnonymous" : "pollPublic"), body.multiple ? t("pollMultiple") : null, body.closes_at && !ended ? t("pollEnds", { time: shortDate(body.closes_at) }) : null].filter(Boolean).join(" · ");
  return h("fieldset", { class: "poll" }, h("legend", {}, body.question ?? ""), h("div", { class: "small muted" }, kind),
    options.map((option, index) => {
      const share = voters ? (votes[index] ?? 0) / voters : 0;
      return h("label", { class: "option" },
        h("input", { type: body.multiple ? "checkbox" : "radio", name: group, "data-focus": `option-${index}`, checked: mine.has(index), disabled: ended || !row.seq || head.state === "left", onchange: (event) => cast(index, event.target.checked) }),
        h("span", {}, option), h("span", { class: "share" }, shown ? percent(share) : ""),
        shown ? h("progress", { max: "1", value: share, "aria-label": `${option}: ${percent(share)}` }) : null);
    }),
    h("div", { class: "small muted" }, t("pollVotes", { n: voters }),
      mine.size && !ended ? [" · ", h("button", { type: "button", class: "link", onclick: () => actions.vote(row, []) }, t("undo"))] : null,
      showsVoters(row, state.now) ? [" · ", h("button", { type: "button", class: "link", "data-focus": "voters", "aria-haspopup": "dialog", onclick: () => actions.showVotes(row) }, t("whoVoted"))] : null));
}
