// Normalizes text for storing, sending and comparing.

/** The text with U+FFFD for each lone surrogate (half of an emoji), which has no UTF-8 form. */
export function wellFormed(text) {
  return typeof text.toWellFormed === "function" ? text.toWellFormed() : text.replace(/\p{Surrogate}/gu, "\ufffd");
}

/** The text without differences of case and width, for a search. */
export function folded(text) {
  return text.normalize("NFKC").toLowerCase();
}
