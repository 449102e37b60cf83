// Pictures and videos in the log. A blurred picture is shown until the picture is loaded. Short
// videos play without sound while they are visible.

import { h, remoteImage } from "./dom.js";
import { icon } from "./icons.js";
import { blurCanvas } from "../text/blurhash.js";
import { duration, percent } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const ANIMATED = 8_000_000; // bytes; a larger picture is shown by its preview
const PLAYED = 30_000_000; // bytes; a larger video plays only in the viewer
const SHORT = 120_000; // ms, the maximum duration of a short video

const isStill = matchMedia("(prefers-reduced-motion: reduce)");

/** Returns the size in CSS pixels at which a picture of `width` × `height` is shown. */
export function fit(width, height, limit = Math.min(420, innerWidth - 84)) {
  const ratio = Math.max(0.4, Math.min(2.6, (width || 4) / (height || 3)));
  const shown = Math.max(150, Math.min(limit, width || limit, 380 * ratio));
  return { width: Math.round(shown), height: Math.round(Math.max(90, shown / ratio)) };
}

/** Returns the pictures of an album, two in a line. The first of an odd number fills a line. */
export function albumOf(context, { parts }) {
  return h("div", { class: "album", role: "group", "aria-label": t("albumOf", { n: parts.length }) }, parts.map((part) => {
    const tile = picture(context, part, part.body, null);
    tile.dataset.part = part.key;
    return tile;
  }));
}

/**
 * Returns the address of the picture that is shown for a picture or video before it is opened, or
 * null.
 */
export function previewURL(state, row, size = 800) {
  const { body } = row;
  if (row.kind === "video") return body.poster ? state.blobURL(body.poster, size) : null;
  if (row.localURL) return row.localURL;
  if (!body.blob) return null;
  // The preview of an animated picture is not animated.
  const moves = (body.type === "image/gif" || body.type === "image/webp") && body.size <= ANIMATED && !isStill.matches;
  return state.blobURL(body.blob, moves ? undefined : size);
}

export function picture({ state, actions }, row, body, size = fit(body.width, body.height)) {
  const isFilm = row.kind === "video";
  const waits = row.status === "uploading" || (row.status === "queued" && row.local);
  const label = isFilm ? `${t("openVideo")}, ${duration(body.duration ?? 0)}` : t("openPicture");
  const style = size ? { width: `${size.width}px`, height: `${size.height}px` } : {};
  const named = body.text ? `${label}: ${body.text}` : label;
  // A button must not contain a button. A picture being uploaded contains its cancel button, so it
  // is a `div`.
  const box = waits ? h("div", { class: "picture", style }) : h("button", { type: "button", class: "picture", "aria-label": named, style, onclick: () => actions.openPicture(row) });
  const blur = blurCanvas(body.thumb);
  if (blur) box.append(blur);
  const src = previewURL(state, row);
  if (src) {
    const image = remoteImage(src, { onload: () => image.classList.add("loaded") });
    box.append(image);
  }
  if (isFilm) film(box, row, state);
  if (waits) box.append(progress(row, actions));
  return box;
}

/** Returns the progress of an upload, with a button that cancels it. */
export function progress(row, actions) {
  const value = Math.max(0, Math.min(1, row.progress ?? 0));
  return h("span", { class: "progress" },
    h("button", { type: "button", class: "cancel-upload", "data-focus": "cancel", "aria-label": t("cancelUpload"), title: t("cancelUpload"), style: { "--value": `${Math.round(value * 360)}deg` }, onclick: () => actions.discard(row) }, icon("close")),
    h("span", { role: "progressbar", "aria-label": t("statusUploading"), "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": String(Math.round(value * 100)) }, percent(value)));
}

// Videos

function film(box, row, state) {
  const { body } = row;
  const src = row.localURL ?? (body.blob ? state.blobURL(body.blob) : null);
  const isShort = body.size <= PLAYED && body.duration <= SHORT;
  box.classList.add("film");
  box.append(h("span", { class: "film-mark" }, icon("play")), h("span", { class: "film-time" }, duration(body.duration ?? 0)));
  if (!src || !isShort || isStill.matches || navigator.connection?.saveData) return;
  box.dataset.film = src;
  watcher.observe(box);
}

/** Plays the visible videos without sound. The others have no video element. */
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const before = target.querySelector("video");
    if (isIntersecting && !before) begin(target);
    else if (!isIntersecting && before) end(target, before);
  }
}, { threshold: 0.6 });

function begin(box) {
  const video = h("video", { src: box.dataset.film, playsinline: true, loop: true, tabindex: "-1", "aria-hidden": "true" });
  video.muted = true;
  video.addEventListener("playing", () => box.classList.add("playing"));
  video.addEventListener("error", () => end(box, video));
  (box.querySelector("img, canvas:last-of-type") ?? box.firstChild).after(video);
  video.play().catch(() => end(box, video));
}

function end(box, video) {
  box.classList.remove("playing");
  video.pause();
  video.removeAttribute("src");
  video.remove();
}
