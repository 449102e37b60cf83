// The emoji picker.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { popover } from "./menu.js";
import { EMOJI, findEmoji } from "../text/emoji.js";
import { currentLanguage, t } from "../i18n/index.js";

const COLUMNS = 8;

const isChinese = () => currentLanguage() === "zh";
const nameOf = ({ name, zh }) => (isChinese() ? zh : name.replaceAll("_", " "));
/** Returns the text that inserts an emoji, in the language of the page. */
export const shortcode = ({ name, zh }) => `:${isChinese() ? zh : name}:`;

/**
 * Opens the picker at `anchor`. `choose(face)` is called for each choice, `onclose()` at the end.
 */
export function emojiPicker(anchor, choose, onclose) {
  const grid = h("div", { class: "grid" });
  const button = (item) => h("button", { type: "button", title: shortcode(item), "aria-label": nameOf(item), tabindex: "-1", onclick: () => choose(item.face) }, item.face);
  const show = (query) => {
    const found = query ? findEmoji(query, 64) : [];
    if (query) replace(grid, found.length ? found.map(button) : h("p", { class: "muted small", role: "status" }, t("noResults")));
    else replace(grid, EMOJI.map(({ key, items }) => [h("h3", {}, t(`emoji${key[0].toUpperCase()}${key.slice(1)}`)), ...items.map(button)]));
    grid.querySelector("button")?.setAttribute("tabindex", "0");
  };
  const input = h("input", { type: "text", role: "searchbox", inputmode: "search", enterkeyhint: "search", class: "input search", placeholder: t("searchEmoji"), "aria-label": t("searchEmoji"), oninput: () => show(input.value.trim()) });
  const box = h("div", { class: "menu emoji-panel", role: "dialog", "aria-label": t("emoji") }, h("div", { class: "search-box" }, icon("search"), input), grid);
  box.addEventListener("keydown", (event) => {
    const buttons = [...grid.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    if (document.activeElement === input && (event.key === "ArrowDown" || event.key === "Enter")) {
      event.preventDefault();
      if (event.key === "Enter") buttons[0]?.click();
      else buttons[0]?.focus();
      return;
    }
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: COLUMNS, ArrowUp: -COLUMNS }[event.key];
    if (at < 0 || !step) return;
    event.preventDefault();
    (buttons[at + step] ?? (step < 0 ? input : buttons.at(-1))).focus();
  });
  show("");
  popover(anchor, box, { onclose });
  input.focus({ preventScroll: true });
}
