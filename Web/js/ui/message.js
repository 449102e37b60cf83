// The elements of a conversation: messages and changes.

import { errorText, t } from "../i18n.js";
import { hueOf, personAvatar } from "./avatar.js";
import { changeText } from "./describe.js";
import { h } from "./dom.js";
import { clockTime, fullTime, isJumbo, linkify } from "./format.js";
import { ticks } from "./icons.js";
import { showLightbox } from "./lightbox.js";

/** The maximum size of a picture in a bubble. A click shows the full size. */
const WIDEST = 340;
const TALLEST = 360;

/**
 * A message: {key, mine, sender, kind, body, at, state, entry, first, last, named}
 * state: "waiting" | "failed" | "sent" | "read" for own messages; first, last: of a run by the same
 * sender; named: show the sender's name.
 */
export function messageElement(message, context) {
  const { mine, kind, body, first, last, state } = message;
  const person = context.chat.person(message.sender);
  const text = kind === "text" ? String(body?.text ?? "") : String(body?.text ?? "");
  const jumbo = kind === "text" && isJumbo(text);
  const bubble = h("div", { class: `bubble${jumbo ? " jumbo" : ""}${kind === "image" ? " picture" : ""}` },
    message.named && first ? h("span", { class: `sender hue-${hueOf(person.id)}` }, person.display) : null,
    kind === "image" ? picture(message, person, context) : null,
    kind === "text" || text ? h("p", { class: "text", dir: "auto" }, linkify(text)) : null,
    kind !== "text" && kind !== "image" ? h("p", { class: "text unknown" }, t("unknownEvent")) : null,
    h("span", { class: "meta" }, h("time", { datetime: new Date(message.at).toISOString(), title: fullTime(message.at) }, clockTime(message.at)), mark(state)));

  return h("div", {
    class: `message ${mine ? "mine" : "theirs"}${first ? " first" : ""}${last ? " last" : ""}`, role: "listitem",
    "data-key": message.key, "data-state": state ?? null, "data-seq": message.seq ?? null, "data-n": message.n ?? null,
  },
  message.named ? (last ? personAvatar(person, { presence: false }) : h("span", { class: "avatar-space" })) : null,
  h("div", { class: "column" }, bubble, state === "failed" ? failure(message, context) : null));
}

function mark(state) {
  if (!state) return null;
  const words = { waiting: "pending", sent: "sent", read: "readMark", failed: "failed" }[state];
  return h("span", { class: `mark mark-${state}`, role: "img", "aria-label": t(words), title: t(words) }, state === "failed" ? "!" : ticks(state));
}

function failure({ entry }, { chat }) {
  return h("div", { class: "failure", role: "alert" }, h("span", {}, `${t("failed")}. ${errorText(entry.error)}`),
    h("button", { type: "button", class: "link", onclick: () => chat.retry(entry.id) }, t("tryAgain")),
    h("button", { type: "button", class: "link", onclick: () => chat.discard(entry.id) }, t("discard")));
}

function picture(message, person, { pictures }) {
  const { body, entry } = message;
  const { width, height } = body?.width ? body : entry?.dimensions ?? { width: 320, height: 240 };
  const scale = Math.min(1, WIDEST / width, TALLEST / height);
  const label = t("image", { name: person.display });
  // Sets width and height before the picture is loaded, so that the layout does not change.
  const image = h("img", { alt: label, width: Math.max(48, Math.round(width * scale)), height: Math.max(48, Math.round(height * scale)), draggable: "false" });
  const button = h("button", { type: "button", class: "thumb loading", "aria-label": t("openImage"), onclick: () => {
    if (image.src && !button.classList.contains("broken")) showLightbox(image.src, { label, caption: body?.text });
    else load();
  } }, image);
  image.addEventListener("load", () => button.classList.remove("loading", "broken"));
  image.addEventListener("error", broken);

  function broken() {
    button.classList.remove("loading");
    button.classList.add("broken");
    button.title = t("imageFailed");
  }
  function load() {
    button.classList.add("loading");
    const url = entry?.file ? Promise.resolve(localURL(entry)) : pictures.url(String(body?.blob));
    url.then((found) => { image.src = found; }, broken);
  }
  load();
  return button;
}

/** The object URL of a picture in the outbox. */
const localURLs = new WeakMap();
function localURL(entry) {
  if (!localURLs.has(entry.file)) localURLs.set(entry.file, URL.createObjectURL(entry.file));
  return localURLs.get(entry.file);
}

/** A change, which is centered and has no bubble. */
export function changeElement(event, { chat }) {
  return h("div", { class: "change", role: "listitem", "data-seq": event.seq }, h("span", {}, changeText(chat, event)));
}
