// Text as it may be stored, sent and compared.

/** The text with U+FFFD for each lone surrogate (half of an emoji): those have no UTF-8, so no server could store them. */
export function wellFormed(text) {
  return typeof text.toWellFormed === "function" ? text.toWellFormed() : text.replace(/\p{Surrogate}/gu, "\ufffd");
}

/** The text without differences of case and width, for a search. */
export function folded(text) {
  return text.normalize("NFKC").toLowerCase();
}
