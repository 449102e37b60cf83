// Which rows of a list that scrolls are on the screen. The rows stand below each other in the order
// of the document.

/** The part of `scroller` that the window really shows, from top to bottom: on a phone a keyboard may lie over the rest. */
export function band(scroller) {
  const box = scroller.getBoundingClientRect();
  const view = globalThis.visualViewport;
  const top = view?.offsetTop ?? 0;
  return { top: Math.max(box.top, top), bottom: Math.min(box.bottom, top + (view?.height ?? innerHeight)) };
}

/** The rows that reach into the band, in order. */
export function rowsIn(list, { top, bottom }) {
  const rows = list.children;
  let low = 0;
  let high = rows.length;
  while (low < high) { // the first row that ends below the upper edge
    const middle = (low + high) >> 1;
    if (rows[middle].getBoundingClientRect().bottom > top) high = middle;
    else low = middle + 1;
  }
  const found = [];
  for (; low < rows.length && rows[low].getBoundingClientRect().top < bottom; low++) found.push(rows[low]);
  return found;
}

/** Whether the element is shown in a visible page with focus, and not under a dialog. */
export function isLookedAt(element) {
  return document.visibilityState === "visible" && document.hasFocus() && element.getClientRects().length > 0
    && document.querySelector("dialog[open]") === null;
}
