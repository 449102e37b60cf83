// The addresses in a text.

import { isSafeURL, LINK, linkEnd } from "./markdown.js";

const MOST = 20;

/** Returns the addresses of a body, each once: those of its entities and those that are written out. */
export function linksOf({ text, entities = [] } = {}) {
  const found = new Set(entities.filter(({ type, url }) => type === "link" && typeof url === "string").map(({ url }) => url));
  if (typeof text === "string") for (const match of text.matchAll(LINK)) found.add(linkEnd(match[0]));
  return [...found].filter((url) => isSafeURL(url)).slice(0, MOST);
}
