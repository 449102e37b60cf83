// Handles pointer and keyboard events in the log of a conversation.

import { partsOf } from "./albums.js";
import { isNote } from "./model.js";

const LONG_PRESS = 520;

export function listenToLog(view) {
  const { scroller } = view;
  scroller.addEventListener("keydown", (event) => typed(view, event));
  scroller.addEventListener("contextmenu", (event) => contextMenu(view, event));
  scroller.addEventListener("click", (event) => clicked(view, event), { capture: true });
  scroller.addEventListener("dblclick", (event) => {
    const row = view.rowOf(event.target);
    if (row?.seq && !isNote(row) && !event.target.closest("a, button, input")) view.actions.reply(row);
  });
  longPress(view);
}

/** While messages are selected, a click anywhere in a message selects or deselects it. */
function clicked(view, event) {
  if (!view.selected.size) return;
  const row = view.rowOf(event.target);
  if (!row || isNote(row)) return;
  event.preventDefault();
  event.stopPropagation();
  view.actions.toggle(view.rows.find((each) => partsOf(each).includes(row)) ?? row);
}

function contextMenu(view, event) {
  const row = view.rowOf(event.target);
  if (!row || isNote(row) || event.target.closest("a[href^=http]") || String(getSelection()) !== "") return;
  event.preventDefault();
  view.actions.menu(row, { x: event.clientX, y: event.clientY });
}

/**
 * Opens the menu after a long press, because not all browsers send `contextmenu` on touch screens.
 */
function longPress(view) {
  let timer = 0;
  const stop = () => clearTimeout(timer);
  view.scroller.addEventListener("touchstart", (event) => {
    stop();
    const row = event.touches.length === 1 ? view.rowOf(event.target) : null;
    if (!row || isNote(row) || view.selected.size) return;
    const { clientX: x, clientY: y } = event.touches[0];
    timer = setTimeout(() => {
      navigator.vibrate?.(10);
      view.actions.menu(row, { x, y });
    }, LONG_PRESS);
  }, { passive: true });
  for (const type of ["touchmove", "touchend", "touchcancel", "contextmenu"]) view.scroller.addEventListener(type, stop, { passive: true });
}

function typed(view, event) {
  const { rows, actions } = view;
  const item = event.target.closest(".item");
  const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -8, PageDown: 8 }[event.key];
  const index = rows.findIndex((row) => row.key === (item?.dataset.key ?? view.focusKey));
  const row = rows[index];
  if (step) view.focusRow(Math.max(0, Math.min(rows.length - 1, index + step)));
  else if (event.key === "Home") view.focusRow(0);
  else if (event.key === "End") view.focusRow(rows.length - 1);
  else if (!item || event.target !== item || !row || isNote(row)) return;
  else if (event.key === "Enter" || event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) actions.menu(row, item.querySelector(".bubble") ?? item);
  else if (event.key === " ") actions.toggle(row);
  else if (event.key === "r" && !event.ctrlKey && !event.metaKey) actions.reply(row);
  else if (event.key === "Delete") actions.hide([row]);
  else return;
  event.preventDefault();
}
