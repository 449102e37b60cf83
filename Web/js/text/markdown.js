// Converts between Markdown and a text with entities. Offsets count Unicode scalars.

import { replaceShortcodes } from "./emoji.js";

export const LINK = /\bhttps?:\/\/[^\s<>"'“”‘’，。；！？、（）【】《》]+/giu;
const ADDRESS = new RegExp(LINK.source, "iuy");
const ADDRESS_END = /[\s<>"'“”‘’，。；！？、（）【】《》]/u;
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

const count = (text) => {
  let scalars = 0;
  for (const _ of text) scalars += 1;
  return scalars;
};

/** Returns an address without the punctuation that follows it in a sentence. */
export const linkEnd = (address) => address.replace(/[.,:;!?)\]}]+$/, (tail) => (tail.startsWith(")") && address.includes("(") ? ")" : ""));

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

  const inline = (text) => {
    let index = 0;
    let plain = "";
    const flush = () => {
      if (plain) linked(plain);
      plain = "";
    };
    outer: while (index < text.length) {
      const rest = text.slice(index);
      if (rest[0] === "\\" && /^[\\*_~|`[\]@>:]/.test(rest.slice(1))) {
        flush();
        add(rest[1]);
        index += 2;
        continue;
      }
      if (rest[0] === "`") {
        const end = rest.indexOf("`", 1);
        if (end > 1 && !rest.slice(1, end).includes("\n")) {
          flush();
          const offset = out.length;
          add(rest.slice(1, end));
          entity("code", offset);
          index += end + 1;
          continue;
        }
      }
      const link = /^\[([^\]\n]{1,200})\]\(([^\s()]{1,2000})\)/.exec(rest);
      if (link && isSafeURL(link[2])) {
        flush();
        const offset = out.length;
        inlinePlain(link[1]);
        entity("link", offset, { url: link[2] });
        index += link[0].length;
        continue;
      }
      ADDRESS.lastIndex = 0;
      const address = /\w$/.test(plain) ? null : ADDRESS.exec(rest);
      if (address) {
        plain += address[0];
        index += address[0].length;
        continue;
      }
      const before = index ? text[index - 1] : " ";
      for (const { mark, type } of INLINE) {
        if (!rest.startsWith(mark) || /\s/.test(rest[mark.length] ?? " ")) continue;
        if (mark[0] === "_" && /[\p{L}\p{N}]/u.test(before)) continue;
        const end = closing(rest, mark);
        if (end < 0) continue;
        flush();
        const offset = out.length;
        inline(rest.slice(mark.length, end));
        entity(type, offset);
        index += end + mark.length;
        continue outer;
      }
      const character = String.fromCodePoint(rest.codePointAt(0));
      plain += character;
      index += character.length;
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

  const fence = /^```([\w+#.-]{0,30})[ \t]*\n([\s\S]*?)\n?```[ \t]*(?:\n|$)/;
  let rest = source.replace(/\r\n?/g, "\n").trim();
  while (rest) {
    const block = fence.exec(rest);
    if (block && block[2]) {
      const offset = out.length;
      add(block[2]);
      entity("pre", offset, block[1] ? { language: block[1] } : {});
      rest = rest.slice(block[0].length);
      if (rest) add("\n");
      continue;
    }
    const quote = /^(?:> ?[^\n]*(?:\n|$))+/.exec(rest);
    if (quote) {
      const offset = out.length;
      inline(quote[0].replace(/^> ?/gm, "").replace(/\n$/, ""));
      entity("quote", offset);
      rest = rest.slice(quote[0].length);
      if (rest) add("\n");
      continue;
    }
    const list = /^(?:(?:[-*•]|\d{1,3}[.)]) [^\n]+(?:\n|$))+/.exec(rest);
    if (list) {
      const offset = out.length;
      inline(list[0].replace(/^[-*] /gm, "• ").replace(/\n$/, ""));
      entity("list", offset);
      rest = rest.slice(list[0].length);
      if (rest) add("\n");
      continue;
    }
    const end = /\n(?=```|> |[-*•] |\d{1,3}[.)] )/.exec(rest);
    const size = end ? end.index + 1 : rest.length;
    inline(rest.slice(0, size));
    rest = rest.slice(size);
  }
  out.entities.sort((one, other) => one.offset - other.offset || other.length - one.length);
  return { text: out.text, entities: out.entities };
}

/** Returns the names after `@` in a text, in lower case. */
export function namesIn(text) {
  return [...new Set([...text.matchAll(NAME)].map(([, name]) => name.toLowerCase().replace(/[._-]+$/, "")))].filter(Boolean);
}

/** For each mark, a pattern of the next escaped character or mark. */
const CLOSING = new Map(INLINE.map(({ mark }) => [mark, new RegExp(`\\\\[\\\\*_~|\`[\\]@>:]|${mark.replace(/[*|]/g, "\\$&")}`, "g")]));

/**
 * Returns the index of the closing mark in `text`, which begins with the opening mark, or -1. A mark
 * after a backslash closes nothing.
 */
function closing(text, mark) {
  const pattern = CLOSING.get(mark);
  let at = mark.length;
  let escaped = at; // the index after the last escaped character
  for (;;) {
    pattern.lastIndex = at;
    let match = pattern.exec(text);
    for (; match?.[0][0] === "\\"; match = pattern.exec(text)) escaped = pattern.lastIndex;
    let end = match ? match.index : -1;
    if (mark.length === 2) while (end >= 0 && text[end + 2] === mark[0]) end += 1;
    if (end < 0 || text.slice(mark.length, end).includes("\n\n")) return -1;
    const doubled = mark.length === 1 && (text[end + 1] === mark || (end > escaped && text[end - 1] === mark));
    const word = mark[0] === "_" && /[\p{L}\p{N}]/u.test(text[end + mark.length] ?? " ");
    if (end > mark.length && !/\s/.test(text[end - 1]) && !doubled && !word) return end;
    at = end + (doubled ? 2 : 1);
  }
}

const MARKS = { bold: "**", italic: "*", underline: "__", strike: "~~", spoiler: "||", code: "`" };

/**
 * Returns Markdown that parses to this text and these entities, for an edit in the composer.
 * Characters of the text are escaped if they would be parsed as marks.
 */
export function toMarkdown(text, entities = []) {
  const source = withMarks(text, entities, "");
  const parsed = parseMarkdown(source);
  // A backslash of the text would escape the one before `@`.
  if (parsed.text === text && !text.includes("\\@") && formats(parsed.entities) === formats(entities)) return source;
  return withMarks(text, entities, "\\*_~|`[" + (replaceShortcodes(text) === text ? "" : ":"));
}

/** Returns the entities that Markdown expresses by marks, as a text to compare. */
function formats(entities) {
  return entities.filter(({ type }) => MARKS[type] || type === "pre").map(({ type, offset, length }) => `${type} ${offset} ${length}`).sort().join();
}

/**
 * Inserts the marks of the entities. A backslash precedes each character of `escapes` in the text,
 * except in code, addresses and mentions. It also precedes `@` before a name that is not mentioned:
 * after an edit, it must not notify the user of the name.
 */
function withMarks(text, entities, escapes) {
  const scalars = [...text];
  const inserts = [];
  const literal = new Set();
  for (const { type, offset, length, url, language } of entities) {
    const end = offset + length;
    if (["code", "pre", "link", "mention", "all"].includes(type)) for (let at = offset; at < end; at += 1) literal.add(at);
    if (MARKS[type]) inserts.push([offset, 1, MARKS[type]], [end, 0, MARKS[type]]);
    else if (type === "pre") inserts.push([offset, 1, `\`\`\`${language ?? ""}\n`], [end, 0, "\n```"]);
    else if (type === "link" && scalars.slice(offset, end).join("") !== url) inserts.push([offset, 1, "["], [end, 0, `](${url})`]);
    else if (type === "quote") {
      inserts.push([offset, 1, "> "]);
      for (let at = offset; at < end - 1; at += 1) if (scalars[at] === "\n") inserts.push([at + 1, 1, "> "]);
    }
  }
  const boundaries = new Set(inserts.map(([at]) => at));
  // In an address, a backslash is not an escape.
  for (let at = 0; at < scalars.length; at += 1) {
    const before = boundaries.has(at) ? " " : scalars[at - 1] ?? " ";
    ADDRESS.lastIndex = 0;
    if (/\w/.test(before) && !escapes.includes(before) || !ADDRESS.test(scalars.slice(at, at + 9).join(""))) continue;
    do literal.add(at++); while (at < scalars.length && !ADDRESS_END.test(scalars[at]) && !boundaries.has(at));
    at -= 1;
  }
  scalars.forEach((scalar, at) => {
    if (literal.has(at)) return;
    // A word before `@` makes an address of it, unless a mark stands between them.
    const beginsName = scalar === "@" && /^[\p{L}\p{N}._-]/u.test(scalars[at + 1] ?? "")
      && (!/^[\p{Script=Latin}\p{N}]/u.test(scalars[at - 1] ?? "") || boundaries.has(at));
    if (beginsName || escapes.includes(scalar)) inserts.push([at, 2, "\\"]);
  });
  inserts.sort((one, other) => other[0] - one[0] || other[1] - one[1]);
  for (const [offset, , mark] of inserts) scalars.splice(offset, 0, mark);
  return scalars.join("").replace(/^• /gm, "- ");
}
