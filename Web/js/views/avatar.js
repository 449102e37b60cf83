// Avatars: a picture, or initials on a background whose hue is derived from the name.

import { h, remoteImage } from "./dom.js";
import { icon } from "./icons.js";
import { t } from "../i18n/index.js";

const STEPS = 17; // the number of hues that a viewer can distinguish; prime, so that similar names have different hues

function hashOf(id) {
  let hash = 2166136261;
  for (const character of id) hash = Math.imul(hash ^ character.codePointAt(0), 16777619);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 2246822507);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** Returns the hue of a name or conversation in degrees. */
export const hueOf = (id) => Math.round((hashOf(id) % STEPS) * (360 / STEPS) + 12);

/**
 * Returns the change of the lightness. Half of the avatars are darker, which doubles the number of
 * variants.
 */
const shadeOf = (id) => ((hashOf(id) >>> 16) % 2 ? -0.1 : 0);

/** Returns one or two letters, or characters of a Chinese, Japanese or Korean name. */
export function initials(name, person = true) {
  const text = name.trim();
  if (/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(text)) {
    const characters = [...text.replace(/\s/g, "")];
    return characters.slice(person && (characters.length === 4 || characters.length === 3) ? -2 : 0).slice(0, 2).join("");
  }
  const words = text.split(/[\s._-]+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const letters = words.length > 1 ? [words[0], words.at(-1)] : words;
  return letters.map((word) => [...word].find((letter) => /[\p{L}\p{N}]/u.test(letter)).toLocaleUpperCase()).join("") || "?";
}

function frame(id, { size = "", square = false, online = false, src = null }, ...content) {
  const image = src ? remoteImage(src, { loading: "lazy" }) : null;
  return h("span", { class: `avatar${size ? ` size-${size}` : ""}${square ? " square" : ""}`, "aria-hidden": "true", style: { "--h": hueOf(id), "--shade": shadeOf(id) } },
    content, image, online ? h("span", { class: "presence-dot", title: t("online") }) : null);
}

export function userAvatar(state, user, options = {}) {
  const src = user.avatar ? state.blobURL(user.avatar, 128, { user: user.name }) : null;
  return frame(user.name, { src, online: user.online, ...options }, initials(user.nick || user.name));
}

/** Returns the avatar of a conversation: of the other user, of the notes, or of the title. */
export function headAvatar(state, head, options = {}) {
  if (head.kind === "pair" && head.peer) return userAvatar(state, state.user(head.peer.name) ?? head.peer, options);
  if (head.kind === "self") return frame("self", options, icon("bookmark"));
  const src = head.avatar ? state.blobURL(head.avatar, 128, head.link ? { link: head.link } : { conv: head.conv }) : null;
  return frame(head.conv, { src, square: true, ...options }, initials(head.title ?? "?", false));
}
