// Modal dialogs, questions and forms.

import { h, uniqueID } from "./dom.js";
import { icon } from "./icons.js";
import { closeMenu } from "./menu.js";
import { t } from "../i18n/index.js";

/**
 * Opens a modal dialog with `content` below the title. `wide` (false by default) makes it wider;
 * `label` is a further CSS class; `onclose()` is called after it was closed. Escape and a press
 * outside close it, unless `stays` is true, and return the focus. Returns { element, close }.
 */
export function openDialog(title, content, { wide = false, onclose, label = "", stays = false } = {}) {
  closeMenu();
  const before = document.activeElement;
  const id = uniqueID("dialog");
  const element = h("dialog", { class: `card${wide ? " wide" : ""} ${label}`, "aria-labelledby": id },
    h("div", { class: "dialog-head" }, h("h2", { id, class: "grow" }, title),
      h("button", { type: "button", class: "icon-button", "aria-label": t("close"), onclick: () => element.close() }, icon("close"))),
    content);
  element.addEventListener("close", () => {
    element.remove();
    if (document.activeElement === document.body && before?.isConnected) before.focus({ preventScroll: true });
    onclose?.();
  });
  element.addEventListener("pointerdown", (event) => {
    if (event.target === element && !stays) element.close();
  });
  // Browsers allow a page to prevent only the first of two `cancel` events.
  if (stays) element.addEventListener("keydown", (event) => { if (event.key === "Escape") event.preventDefault(); });
  document.body.append(element);
  element.showModal();
  (element.querySelector("[autofocus]") ?? element.querySelector(".dialog-body input, .dialog-body select, .dialog-body textarea, .dialog-body button, .dialog-foot .primary"))?.focus();
  return { element, close: () => element.close() };
}

/** Resolves when no dialog is open. */
export async function whenClosed() {
  for (let open; (open = document.querySelector("dialog[open]"));) await new Promise((done) => open.addEventListener("close", done, { once: true }));
}

/** Asks for a confirmation. Resolves to whether the user confirmed. */
export function confirm(question, { yes = t("yes"), dangerous = false, detail = null } = {}) {
  return new Promise((resolve) => {
    let answer = false;
    const dialog = openDialog(question, [
      detail ? h("p", { class: "dialog-body" }, detail) : null,
      h("div", { class: "dialog-foot" },
        h("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, t("cancel")),
        h("button", { type: "button", autofocus: true, class: `button ${dangerous ? "dangerous" : "primary"}`, onclick: () => { answer = true; dialog.close(); } }, yes)),
    ].filter(Boolean), { onclose: () => resolve(answer) });
  });
}

/**
 * Asks for a text of one line, or of several if `lines` is greater than 1. Resolves to the text, or
 * null.
 */
export function ask(title, { label = title, value = "", yes = t("save"), type = "text", hint = null, maxlength = 1000, lines = 1 } = {}) {
  return new Promise((resolve) => {
    let answer = null;
    const input = h(lines > 1 ? "textarea" : "input", { class: "input", type: lines > 1 ? null : type, rows: lines > 1 ? String(lines) : null, value, autofocus: true, maxlength: String(maxlength) });
    const form = h("form", { onsubmit: (event) => { event.preventDefault(); answer = input.value; dialog.close(); } },
      h("div", { class: "dialog-body" }, h("label", { class: "field" }, label, input), hint ? h("p", { class: "small muted" }, hint) : null),
      h("div", { class: "dialog-foot" },
        h("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, t("cancel")),
        h("button", { type: "submit", class: "button primary" }, yes)));
    const dialog = openDialog(title, form, { onclose: () => resolve(answer) });
    input.select();
  });
}

/**
 * Returns a labelled switch. `change(on)` may return a promise; false restores the former state.
 */
export function switchRow(label, checked, change, { detail = null, disabled = false } = {}) {
  const id = uniqueID("switch");
  const input = h("input", { type: "checkbox", role: "switch", class: "switch", id, checked, disabled });
  input.addEventListener("change", async () => {
    if (await change(input.checked) === false) input.checked = !input.checked;
  });
  return h("div", { class: "option-row" }, h("label", { class: "lines", for: id }, label, detail ? h("div", { class: "small muted" }, detail) : null), input);
}

/**
 * Returns a labelled choice. `options`: [[value, label]]. `change(value)` may return a promise;
 * false restores the former value.
 */
export function selectRow(label, value, options, change, { disabled = false } = {}) {
  const id = uniqueID("select");
  const select = h("select", { class: "input", id, disabled }, options.map(([key, text]) => h("option", { value: String(key) }, text)));
  let before = select.value = String(value);
  select.addEventListener("change", async () => {
    if (await change(select.value) === false) select.value = before;
    else before = select.value;
  });
  return h("div", { class: "option-row" }, h("label", { class: "lines", for: id }, label), select);
}
