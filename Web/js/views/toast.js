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
  box ??= h("div", { class: "toasts", popover: "manual" });
  raise();
  const line = h("div", { class: "toast", role }, h("span", { class: "grow" }, text));
  const remove = () => line.remove();
  if (action) line.append(h("button", { type: "button", onclick: () => { remove(); action.run(); } }, action.label));
  box.append(line);
  while (box.children.length > 3) box.firstElementChild.remove();
  if (seconds === null) line.append(h("button", { type: "button", class: "icon-button", "aria-label": t("close"), onclick: remove }, icon("close")));
  else setTimeout(remove, seconds * 1000);
  return remove;
}

/** Removes all toasts, such as those about the account after a sign-out. */
export function clearToasts() { box?.replaceChildren(); }

/**
 * Shows the box above everything. In a modal dialog, which makes the rest of the page inert, the
 * box is a part of the dialog until the dialog closes.
 */
function raise() {
  const dialog = [...document.querySelectorAll("dialog:modal")].at(-1);
  const parent = dialog ?? document.body;
  if (box.parentNode !== parent) {
    parent.append(box);
    dialog?.addEventListener("close", raise, { once: true });
  }
  if (box.showPopover && !box.matches(":popover-open")) box.showPopover();
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
