// The emoji picker.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { popover } from "./menu.js";
import { EMOJI, findEmoji } from "../text/emoji.js";
import { t } from "../i18n/index.js";

const COLUMNS = 8;

/** Opens the picker at `anchor`; `choose(face)` is called for each choice. */
export function emojiPicker(anchor, choose, onclose) {
  const grid = h("div", { class: "grid" });
  const button = ({ face, name }) => h("button", { type: "button", title: `:${name}:`, "aria-label": name.replaceAll("_", " "), tabindex: "-1", onclick: () => choose(face) }, face);
  const show = (query) => {
    if (query) replace(grid, findEmoji(query, 64).map(button));
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
