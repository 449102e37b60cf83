// Finds the visible rows of a scrolling list. The rows are below each other, in document order.

/**
 * The top and bottom of the visible part of `scroller`, which a phone's keyboard may cover in part.
 */
export function band(scroller) {
  const box = scroller.getBoundingClientRect();
  const view = globalThis.visualViewport;
  const top = view?.offsetTop ?? 0;
  return { top: Math.max(box.top, top), bottom: Math.min(box.bottom, top + (view?.height ?? innerHeight)) };
}

/** The rows that overlap the band, in order. */
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

/** Whether the element is in a visible page with focus, and not covered by a dialog. */
export function isLookedAt(element) {
  return document.visibilityState === "visible" && document.hasFocus() && element.getClientRects().length > 0
    && document.querySelector("dialog[open]") === null;
}
