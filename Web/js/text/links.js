// The addresses in a text.

import { isSafeURL, LINK, linkEnd } from "./markdown.js";

const MOST = 20;

/**
 * Returns the addresses in a body, at most 20 and without duplicates: those of its entities, then
 * those in its text.
 */
export function linksOf({ text, entities = [] } = {}) {
  const found = new Set(entities.filter(({ type, url }) => type === "link" && typeof url === "string").map(({ url }) => url));
  if (typeof text === "string") for (const match of text.matchAll(LINK)) found.add(linkEnd(match[0]));
  return [...found].filter((url) => isSafeURL(url)).slice(0, MOST);
}
