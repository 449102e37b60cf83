// Menus for pointer and keyboard, and popovers at an element.

import { h } from "./dom.js";
import { icon } from "./icons.js";

let closeOpen = null;

export function closeMenu(restore = false) {
  closeOpen?.(restore);
}

/**
 * Opens a box at `anchor`, an element or { x, y }. Escape closes it and returns the focus; a press
 * outside closes it. `onclose()` is called after it. Returns a function that closes it.
 */
export function popover(anchor, box, { onclose } = {}) {
  closeMenu();
  const before = document.activeElement;
  const host = anchor instanceof Element ? anchor.closest("dialog") ?? document.body : document.querySelector("dialog[open]") ?? document.body;
  host.append(box);
  place(anchor, box);
  const pressed = (event) => {
    if (!box.contains(event.target) && !(anchor instanceof Element && anchor.contains(event.target))) close(false);
  };
  const typed = (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    close(true);
  };
  const resized = () => close();
  const close = (restore) => {
    if (closeOpen !== close) return;
    closeOpen = null;
    document.removeEventListener("pointerdown", pressed, true);
    document.removeEventListener("keydown", typed, true);
    removeEventListener("resize", resized);
    box.remove();
    if (anchor instanceof Element && anchor.hasAttribute("aria-expanded")) anchor.setAttribute("aria-expanded", "false");
    if (restore) before?.focus({ preventScroll: true });
    onclose?.();
  };
  closeOpen = close;
  document.addEventListener("pointerdown", pressed, true);
  document.addEventListener("keydown", typed, true);
  addEventListener("resize", resized);
  if (anchor instanceof Element && anchor.hasAttribute("aria-expanded")) anchor.setAttribute("aria-expanded", "true");
  return close;
}

function place(anchor, box) {
  const at = anchor instanceof Element ? anchor.getBoundingClientRect() : { left: anchor.x, right: anchor.x, top: anchor.y, bottom: anchor.y };
  const { width, height } = box.getBoundingClientRect();
  let left = anchor instanceof Element && at.left + width > innerWidth - 8 ? at.right - width : at.left;
  left = Math.max(8, Math.min(left, innerWidth - width - 8));
  const below = at.bottom + 4;
  const top = below + height <= innerHeight - 8 ? below : Math.max(8, Math.min(at.top - height - 4, innerHeight - height - 8));
  box.style.left = `${left}px`;
  box.style.top = `${top}px`;
}

/**
 * Opens a menu. Items: { label, icon, run, danger, checked, end }, or null for a separator; other
 * falsy values are skipped. `quick`: { items: [{ face, label, checked }], run(face) }, a row of
 * reactions above the items.
 */
export function openMenu(anchor, items, { label, quick } = {}) {
  const box = h("div", { class: "menu", role: "menu", "aria-label": label });
  const focus = (step, from = document.activeElement) => {
    const all = [...box.querySelectorAll("[role^=menuitem]")];
    const at = all.indexOf(from);
    all[(at + step + all.length) % all.length]?.focus();
  };
  let close;
  const run = (action) => () => {
    close(true);
    action();
  };
  if (quick) {
    box.append(h("div", { class: "quick", role: "group" }, quick.items.map(({ face, label: name, checked }) =>
      h("button", { type: "button", role: "menuitemcheckbox", "aria-checked": String(Boolean(checked)), "aria-label": name, tabindex: "-1", onclick: run(() => quick.run(face)) }, face))));
  }
  for (const item of items) {
    if (item === null) {
      if (box.lastElementChild && box.lastElementChild.tagName !== "HR") box.append(h("hr"));
    } else if (item) {
      box.append(h("button", {
        type: "button", tabindex: "-1", class: item.danger ? "danger" : null, onclick: run(item.run),
        role: item.checked === undefined ? "menuitem" : "menuitemradio", "aria-checked": item.checked === undefined ? null : String(item.checked),
      }, icon(item.checked ? "check" : item.icon ?? "chevron"), h("span", { class: "grow" }, item.label), item.end));
    }
  }
  if (box.lastElementChild?.tagName === "HR") box.lastElementChild.remove();
  box.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) focus(step);
    else if (event.key === "Home") focus(1, null);
    else if (event.key === "End") focus(0, box.querySelector("[role^=menuitem]")), focus(-1);
    else if (event.key === "Tab") close(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  close = popover(anchor, box);
  (box.querySelector("[role^=menuitem]:not([role=menuitemcheckbox])") ?? box.firstElementChild)?.focus({ preventScroll: true });
  return close;
}
