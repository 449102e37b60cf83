// Short messages at the top of the page, away from the composer.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { errorText } from "./model.js";
import { t } from "../i18n/index.js";

let box = null;

/**
 * Shows `text` for `seconds`, 5 by default, or until it is closed if `seconds` is null. `action` is
 * { label, run }. Returns a function that removes it.
 */
export function toast(text, { action = null, seconds = 5, role = "status" } = {}) {
  if (!box?.isConnected) {
    box = h("div", { class: "toasts", popover: "manual" });
    document.body.append(box);
  }
  const line = h("div", { class: "toast", role }, h("span", { class: "grow" }, text));
  const remove = () => line.remove();
  if (action) line.append(h("button", { type: "button", onclick: () => { remove(); action.run(); } }, action.label));
  box.append(line);
  while (box.children.length > 3) box.firstElementChild.remove();
  // A popover is above an open dialog.
  if (box.showPopover && !box.matches(":popover-open")) box.showPopover();
  if (seconds === null) line.append(h("button", { type: "button", class: "icon-button", "aria-label": t("close"), onclick: remove }, icon("close")));
  else setTimeout(remove, seconds * 1000);
  return remove;
}

/** Awaits `promise` and shows its error. Resolves to its value, or to undefined after an error. */
export async function attempt(promise) {
  try {
    return await promise;
  } catch (error) {
    console.error(error);
    toast(errorText(error), { role: "alert" });
    return undefined;
  }
}
