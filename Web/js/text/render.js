// Renders a text with entities as DOM nodes. The text is never parsed as markup.

import { h } from "../views/dom.js";
import { isSafeURL, LINK, linkEnd } from "./markdown.js";

const BLOCKS = new Set(["pre", "quote", "list"]);
const SIMPLE = { bold: "strong", italic: "em", underline: "u", strike: "s", code: "code" };

/**
 * Returns the nodes of a text. `context` has `me`, the name of the user; `open(name)`, which a
 * click on a mention calls; and `spoiler`, the label of a hidden spoiler. Entities that are outside
 * of the text or cross an earlier one are ignored.
 */
export function renderText(text, entities = [], context = {}) {
  const scalars = [...text];
  const usable = entities
    .filter(({ offset, length }) => Number.isInteger(offset) && Number.isInteger(length) && offset >= 0 && length > 0 && offset + length <= scalars.length)
    .sort((one, other) => one.offset - other.offset || other.length - one.length)
    .slice(0, 200);
  return range(scalars, 0, scalars.length, usable, context, 0);
}

function range(scalars, start, end, entities, context, depth) {
  const nodes = [];
  let at = start;
  let index = 0;
  while (index < entities.length) {
    const entity = entities[index];
    index += 1;
    const stop = entity.offset + entity.length;
    if (entity.offset < at || stop > end || depth > 16) continue;
    const inside = [];
    while (index < entities.length && entities[index].offset < stop) inside.push(entities[index++]);
    if (entity.offset > at) nodes.push(...plain(scalars.slice(at, entity.offset).join(""), depth));
    nodes.push(element(entity, range(scalars, entity.offset, stop, inside, context, depth + 1), context));
    at = stop;
    // A block ends its line, so the line break that follows is not rendered.
    if (BLOCKS.has(entity.type) && scalars[at] === "\n") at += 1;
  }
  if (at < end) nodes.push(...plain(scalars.slice(at, end).join(""), depth));
  return nodes;
}

/**
 * Returns the nodes of a text outside of entities. Addresses become links, because not all senders
 * mark them.
 */
function plain(text, depth) {
  if (depth > 0 || !text.includes("://")) return [text];
  const nodes = [];
  let at = 0;
  for (const match of text.matchAll(LINK)) {
    const url = linkEnd(match[0]);
    nodes.push(text.slice(at, match.index), element({ type: "link", url }, [url], {}));
    at = match.index + url.length;
  }
  nodes.push(text.slice(at));
  return nodes.filter(Boolean);
}

function element(entity, children, context) {
  const { type } = entity;
  if (SIMPLE[type]) return h(SIMPLE[type], {}, children);
  if (type === "pre") return h("pre", { tabindex: "0" }, h("code", { "data-language": entity.language }, children));
  if (type === "list") return h("span", { class: "listed" }, children);
  if (type === "quote") return h("span", { class: "quoted", role: "blockquote" }, children);
  if (type === "spoiler") return spoiler(children, context);
  if (type === "link") {
    const url = entity.url ?? "";
    return isSafeURL(url) ? h("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, children) : h("span", {}, children);
  }
  if (type === "mention" || type === "all") {
    const me = type === "all" || entity.user === context.me;
    const open = entity.user && context.open;
    return h(open ? "button" : "span", { class: me ? "mention me" : "mention", type: open ? "button" : null, onclick: open ? () => context.open(entity.user) : null }, children);
  }
  return h("span", {}, children);
}

function spoiler(children, context) {
  const shown = h("button", { type: "button", class: "spoiler", "aria-expanded": "false", "aria-label": context.spoiler ?? "Spoiler" }, children);
  shown.addEventListener("click", () => {
    shown.classList.toggle("open");
    shown.setAttribute("aria-expanded", String(shown.classList.contains("open")));
    if (shown.classList.contains("open")) shown.removeAttribute("aria-label");
  });
  return shown;
}

/**
 * Returns the nodes of `text`, with `ranges` ({offset, length} in Unicode scalars) in `mark`
 * elements.
 */
export function highlight(text, ranges = []) {
  const scalars = [...text];
  const nodes = [];
  let at = 0;
  for (const { offset, length } of ranges) {
    if (offset < at || offset + length > scalars.length) continue;
    nodes.push(scalars.slice(at, offset).join(""), h("mark", {}, scalars.slice(offset, offset + length).join("")));
    at = offset + length;
  }
  nodes.push(scalars.slice(at).join(""));
  return nodes.filter(Boolean);
}
