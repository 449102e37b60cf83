// Parses Markdown into a text with entities. Offsets count Unicode scalars.

import { replaceShortcodes } from "./emoji.js";

const ADDRESS_SOURCE = "https?:\\/\\/[^\\s<>\"'“”‘’，。；！？、（）【】《》]+";
export const LINK = new RegExp(`\\b${ADDRESS_SOURCE}`, "giu");
export const ADDRESS = new RegExp(ADDRESS_SOURCE, "iuy");
export const ADDRESS_END = /[\s<>"'“”‘’，。；！？、（）【】《》]/u;
const NAME = /@([\p{L}\p{N}._-]{1,32})/gu;
const SCHEMES = /^(https?|mailto|tel|xmpp):/i;
const INLINE = [
  { mark: "**", type: "bold" },
  { mark: "__", type: "underline" },
  { mark: "~~", type: "strike" },
  { mark: "||", type: "spoiler" },
  { mark: "*", type: "italic" },
  { mark: "_", type: "italic" },
];
/** The maximum depth of nested marks. Deeper marks are plain text. */
const DEPTH = 32;
/** Characters that begin neither a mark, nor an address, nor an escape. */
const PLAIN = /[^\\`[*_~|hH]+/y;
const FENCE = /```([\w+#.-]{0,30})[ \t]*\n/y;
const FENCED = /([\s\S]*?)\n?```[ \t]*(?:\n|$)/y;
const QUOTE = /(?:> ?[^\n]*(?:\n|$))+/y;
const LIST = /(?:(?:[-*•]|\d{1,3}[.)]) [^\n]+(?:\n|$))+/y;
const BLOCK = /\n(?=```|> |[-*•] |\d{1,3}[.)] )/g;

/** Returns the match of a pattern at an index of a text, or after it if the pattern is not sticky. */
function matching(pattern, text, index) {
  pattern.lastIndex = index;
  return pattern.exec(text);
}

const count = (text) => {
  let scalars = 0;
  for (const _ of text) scalars += 1;
  return scalars;
};

/** Returns an address without the punctuation that follows it in a sentence. */
export function linkEnd(address) {
  let end = address.length;
  while (end > 0 && ".,:;!?)]}".includes(address[end - 1])) end -= 1;
  return address.slice(0, address[end] === ")" && address.includes("(") ? end + 1 : end);
}

/** Returns whether an address may become a link. */
export function isSafeURL(url) {
  return SCHEMES.test(url) && !/[\s"<>\\`]|\p{Cc}|\p{Default_Ignorable_Code_Point}/u.test(url);
}

/**
 * Parses Markdown. `mentions` maps names typed after `@` to user names; `all` is the set of words
 * that mention all members. Returns { text, entities }.
 */
export function parseMarkdown(source, { mentions = new Map(), all = new Set(["all"]) } = {}) {
  const out = { text: "", length: 0, entities: [] };
  const add = (text) => {
    out.text += text;
    out.length += count(text);
  };
  const entity = (type, offset, extra = {}) => {
    if (out.length > offset) out.entities.push({ type, offset, length: out.length - offset, ...extra });
  };

  const inline = (text, depth = 1) => {
    let index = 0;
    let plain = 0; // the index at which the text without marks begins
    const find = finder(text);
    const flush = () => {
      if (plain < index) linked(text.slice(plain, index));
    };
    while (index < text.length) {
      const skipped = matching(PLAIN, text, index);
      if (skipped) {
        index += skipped[0].length;
        continue;
      }
      const escaped = isEscape(text, index);
      const code = escaped ? -1 : find.code(index);
      const link = escaped || code >= 0 ? null : find.link(index);
      if (escaped || code >= 0 || link) {
        flush();
        const offset = out.length;
        if (escaped) add(text[index + 1]);
        else if (link) inlinePlain(link.title);
        else add(text.slice(index + 1, code));
        if (code >= 0) entity("code", offset);
        if (link) entity("link", offset, { url: link.url });
        plain = index = link ? link.end : escaped ? index + 2 : code + 1;
        continue;
      }
      const address = plain < index && /\w/.test(text[index - 1]) ? null : matching(ADDRESS, text, index);
      if (address) {
        index += address[0].length;
        continue;
      }
      const range = depth < DEPTH ? find.range(index) : null;
      if (range) {
        flush();
        const offset = out.length;
        inline(text.slice(range.start, range.end), depth + 1);
        entity(range.type, offset);
        plain = index = range.end + (range.start - index);
        continue;
      }
      index += 1;
    }
    flush();
  };
  const inlinePlain = (text) => add(replaceShortcodes(text));

  /** Adds a text without marks: addresses and mentions become entities. */
  const linked = (text) => {
    let at = 0;
    for (const match of text.matchAll(LINK)) {
      mentioned(text.slice(at, match.index));
      const url = linkEnd(match[0]);
      const offset = out.length;
      add(url);
      // An address that is unsafe or too long for a link is text (docs/chat-wire.md, Entity).
      if (count(url) <= 2000 && isSafeURL(url)) entity("link", offset, { url });
      at = match.index + url.length;
    }
    mentioned(text.slice(at));
  };

  const mentioned = (source) => {
    const text = replaceShortcodes(source);
    let at = 0;
    for (const match of text.matchAll(NAME)) {
      const before = match.index ? text[match.index - 1] : " ";
      if (/[\p{Script=Latin}\p{N}]/u.test(before)) continue;
      let name = match[1];
      while (name && !mentions.has(name.toLowerCase()) && !all.has(name.toLowerCase())) name = [...name].slice(0, -1).join("");
      if (!name) continue;
      add(text.slice(at, match.index));
      const offset = out.length;
      add(`@${name}`);
      if (mentions.has(name.toLowerCase())) entity("mention", offset, { user: mentions.get(name.toLowerCase()) });
      else entity("all", offset);
      at = match.index + 1 + name.length;
    }
    add(text.slice(at));
  };

  const lines = (type, content) => {
    const offset = out.length;
    inline(content.replace(/\n$/, ""));
    entity(type, offset);
  };
  const text = source.replace(/\r\n?/g, "\n").trim();
  let isFenced = true; // whether a later line may end a block of code
  for (let index = 0; index < text.length;) {
    const fence = isFenced ? matching(FENCE, text, index) : null;
    const block = fence ? matching(FENCED, text, FENCE.lastIndex) : null;
    if (fence && !block) isFenced = false;
    const quote = block?.[1] ? null : matching(QUOTE, text, index);
    const list = block?.[1] || quote ? null : matching(LIST, text, index);
    if (block?.[1]) {
      const offset = out.length;
      add(block[1]);
      entity("pre", offset, fence[1] ? { language: fence[1] } : {});
      index = FENCED.lastIndex;
    } else if (quote) {
      lines("quote", quote[0].replace(/^> ?/gm, ""));
      index += quote[0].length;
    } else if (list) {
      lines("list", list[0].replace(/^[-*] /gm, "• "));
      index += list[0].length;
    } else {
      const end = matching(BLOCK, text, index) ? BLOCK.lastIndex : text.length;
      inline(text.slice(index, end));
      index = end;
      continue;
    }
    if (index < text.length) add("\n");
  }
  out.entities.sort((one, other) => one.offset - other.offset || other.length - one.length);
  return { text: out.text, entities: out.entities };
}

/** Returns the names after `@` in a text, in lower case. */
export function namesIn(text) {
  return [...new Set([...text.matchAll(NAME)].map(([, name]) => name.toLowerCase().replace(/[._-]+$/, "")))].filter(Boolean);
}

/** The escaped beginning of an item of a list, within the text from four characters before the backslash. */
const ESCAPED_ITEM = /(?:^|\n)(?:\\[-•]|\d{1,3}\\[.)]) $/;

/**
 * Returns whether a backslash makes the next character literal. At the beginning of a line, this is
 * also the mark of an item of a list.
 */
const isEscape = (text, index) => text[index] === "\\" && index + 1 < text.length
  && ("\\*_~|`[]@>:：".includes(text[index + 1]) || (text[index + 2] === " " && ESCAPED_ITEM.test(text.slice(Math.max(0, index - 4), index + 3))));

/** For each mark, a pattern of the next escaped character or mark. */
const CLOSING = INLINE.map(({ mark }) => new RegExp(`\\\\[\\\\*_~|\`[\\]@>:：]|${mark.replace(/[*|]/g, "\\$&")}`, "g"));
const TARGET = /\(([^\s()]{1,2000})\)/y;

/**
 * Finds code, links and marked ranges that begin at ascending indexes of a text. It keeps the
 * results of its searches, so that their number of steps does not grow with the square of the
 * length.
 */
function finder(text) {
  const unclosed = INLINE.map(() => 0); // for each mark, the index before which a search found no closing mark
  const bracket = after("]");
  const blank = after("\n\n");
  let target = null; // the address after the bracket at `targeted`
  let targeted = -1;

  /** Returns a function that returns the first index of `part` from an index on. */
  function after(part) {
    let found = -1;
    return (index) => {
      if (found < index) found = text.indexOf(part, index);
      return found < 0 ? (found = Infinity) : found;
    };
  }

  /** Returns the index of the backtick that ends code within a line, or -1. */
  function code(index) {
    const end = text[index] === "`" ? text.indexOf("`", index + 1) : -1;
    return end > index + 1 && !text.slice(index, end).includes("\n") ? end : -1;
  }

  function link(index) {
    if (text[index] !== "[") return null;
    const close = bracket(index);
    const length = close - index - 1;
    if (length < 1 || length > 200) return null;
    const title = text.slice(index + 1, close);
    if (title.includes("\n")) return null;
    if (targeted !== close) {
      targeted = close;
      target = matching(TARGET, text, close + 1)?.[1] ?? null;
    }
    return target && isSafeURL(target) ? { title, url: target, end: close + target.length + 3 } : null;
  }

  /** Returns the range that a mark begins, without its marks. */
  function range(index) {
    const before = index ? text[index - 1] : " ";
    for (let each = 0; each < INLINE.length; each += 1) {
      const { mark, type } = INLINE[each];
      const start = index + mark.length;
      if (!text.startsWith(mark, index) || start < unclosed[each] || /\s/.test(text[start] ?? " ")) continue;
      if (mark[0] === "_" && /[\p{L}\p{N}]/u.test(before)) continue;
      const end = closing(each, start);
      if (end >= 0) return { type, start, end };
    }
    return null;
  }

  /**
   * Returns the index of the mark that closes a range, or -1. A mark after a backslash closes
   * nothing.
   */
  function closing(each, start) {
    const { mark } = INLINE[each];
    const limit = blank(start);
    let at = start;
    let escaped = at; // the index after the last escaped character
    for (;;) {
      let match = matching(CLOSING[each], text, at);
      for (; match?.[0][0] === "\\"; match = CLOSING[each].exec(text)) escaped = CLOSING[each].lastIndex;
      let end = match ? match.index : text.length;
      if (match && mark.length === 2) while (text[end + 2] === mark[0]) end += 1;
      if (!match || limit + 2 <= end) {
        unclosed[each] = Math.min(limit, end);
        return -1;
      }
      const doubled = mark.length === 1 && (text[end + 1] === mark || (end > escaped && text[end - 1] === mark));
      const word = mark[0] === "_" && /[\p{L}\p{N}]/u.test(text[end + mark.length] ?? " ");
      if (end > start && !/\s/.test(text[end - 1]) && !doubled && !word) return end;
      at = end + (doubled ? 2 : 1);
    }
  }

  return { code, link, range };
}
