// The content of messages that are not plain text: pictures, files, places, cards, calls, polls.

import { h, uniqueID } from "./dom.js";
import { icon } from "./icons.js";
import { userAvatar } from "./avatar.js";
import { callText, userName } from "./model.js";
import { blurCanvas } from "../text/blurhash.js";
import { duration, fileSize, percent, shortDate } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const BODIES = { image: picture, video: picture, audio, file, location: place, card, call, poll, bundle, encrypted: sealed };

export function bodyOf(context, row) {
  return BODIES[row.kind](context, row, row.body ?? {});
}

/** The size at which a picture of `width` × `height` is shown, between sensible limits. */
export function fit(width, height, limit = Math.min(420, innerWidth - 84)) {
  const ratio = Math.max(0.4, Math.min(2.6, (width || 4) / (height || 3)));
  const shown = Math.max(150, Math.min(limit, width || limit, 380 * ratio));
  return { width: Math.round(shown), height: Math.round(Math.max(90, shown / ratio)) };
}

/** The pictures of an album, two in a line; the first of an odd number has a line of its own. */
export function albumOf(context, { parts }) {
  return h("div", { class: "album", role: "group", "aria-label": t("albumOf", { n: parts.length }) }, parts.map((part) => {
    const tile = picture(context, part, part.body, null);
    tile.dataset.part = part.key;
    return tile;
  }));
}

function picture({ state, actions }, row, body, size = fit(body.width, body.height)) {
  const label = row.kind === "video" ? t("video") : t("openPicture");
  const box = h("button", { type: "button", class: "picture", "aria-label": body.text ? `${label}: ${body.text}` : label, style: size ? { width: `${size.width}px`, height: `${size.height}px` } : {}, onclick: () => actions.openPicture(row) });
  const blur = blurCanvas(body.thumb);
  if (blur) box.append(blur);
  const src = row.localURL ?? (body.poster || body.blob ? state.blobURL(body.poster ?? body.blob, 800) : null);
  if (src) {
    const image = h("img", { alt: "", src, decoding: "async", onload: () => image.classList.add("loaded"), onerror: () => image.remove() });
    box.append(image);
  }
  if (row.kind === "video") box.append(h("span", { class: "progress" }, icon("video"), duration(body.duration ?? 0)));
  if (row.status === "uploading") box.append(h("span", { class: "progress" }, percent(row.progress ?? 0)));
  return box;
}

function file({ state }, row, body) {
  const url = body.blob ? state.blobURL(body.blob) : null;
  const detail = row.status === "uploading" ? `${percent(row.progress ?? 0)} · ${fileSize(body.size ?? 0)}` : fileSize(body.size ?? 0);
  return h(url ? "a" : "div", { class: "file", href: url, download: url ? body.name ?? "file" : null, "aria-label": `${t("download")}: ${body.name ?? ""}` },
    h("span", { class: "file-icon" }, icon("file")),
    h("span", { class: "grow" }, h("div", { class: "name ellipsis" }, body.name ?? t("file")), h("div", { class: "sub" }, detail)));
}

function audio({ state }, row, body) {
  const bars = (body.wave?.match(/[0-9a-f]{2}/gi) ?? []).map((pair) => parseInt(pair, 16) / 255);
  const player = new Audio();
  player.preload = "none";
  const button = h("button", { type: "button", class: "file-icon", "aria-label": body.voice ? t("voiceMessage") : body.name ?? t("audio") }, icon("voice"));
  button.addEventListener("click", () => {
    if (!player.src && body.blob) player.src = state.blobURL(body.blob);
    if (player.paused) player.play().catch(() => {});
    else player.pause();
  });
  return h("div", { class: "voice" }, button,
    bars.length ? h("span", { class: "wave", "aria-hidden": "true" }, bars.map((level) => h("i", { style: { height: `${Math.round(level * 100)}%` } }))) : h("span", { class: "grow ellipsis" }, body.name ?? t("audio")),
    h("span", { class: "small" }, duration(body.duration ?? 0)));
}

function place(context, row, { latitude, longitude, name, address }) {
  const valid = Number.isFinite(latitude) && Number.isFinite(longitude);
  const url = valid ? `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=15/${latitude}/${longitude}` : null;
  return h(url ? "a" : "div", { class: "place", href: url, target: url ? "_blank" : null, rel: url ? "noopener noreferrer" : null },
    h("span", { class: "file-icon" }, icon("pinPlace")),
    h("span", { class: "grow" }, h("div", { class: "name" }, name ?? t("location")), h("div", { class: "sub" }, address ?? (valid ? `${latitude.toFixed(4)}, ${longitude.toFixed(4)}` : ""))));
}

function card({ state, actions }, row, { user, nick }) {
  return h("button", { type: "button", class: "contact-card", onclick: () => actions.openUser(user) },
    userAvatar(state, state.user(user) ?? { name: user ?? "?", nick }, { size: "m" }),
    h("span", { class: "grow" }, h("div", { class: "name" }, nick ?? userName(state, user)), h("div", { class: "sub" }, `@${user}`)));
}

function call(context, row, { media, state }) {
  return h("div", { class: `call-line${state === "missed" || state === "declined" ? " missed" : ""}` }, icon(media === "video" ? "video" : "call"), h("span", {}, callText(row)));
}

function bundle({ state }, row, { title, items = [] }) {
  return h("details", { class: "quote" }, h("summary", {}, title ?? t("bundle")),
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
      mine.size && !ended ? [" · ", h("button", { type: "button", class: "link", onclick: () => actions.vote(row, []) }, t("undo"))] : null));
}
