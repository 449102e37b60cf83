// Converts a text with entities to Markdown, for an edit in the composer. Offsets count Unicode scalars.

import { ADDRESS, ADDRESS_END, parseMarkdown } from "./markdown.js";

const MARKS = { bold: "**", italic: "*", underline: "__", strike: "~~", spoiler: "||", code: "`", pre: "```" };
const BLOCKS = new Set(["quote", "list"]);
const LITERAL = new Set(["code", "pre", "link", "mention", "all"]);
/** The characters of the text that a backslash precedes. The first text without a loss is used. */
const LEVELS = ["", "\\*_~|`[", "\\*_~|`[:："];
/** The beginning of a line that would begin a list or a quotation. */
const BLOCK = /^(?:[-*•>]|\d{1,3}[.)]) /;

/**
 * Returns Markdown that parses to this text and these entities. Entities that Markdown cannot
 * express are joined with adjacent ones or omitted, so that the text is kept. White space around the
 * text is omitted too.
 */
export function toMarkdown(text, entities = []) {
  const body = trimmed(text, entities);
  const source = exact(body, body.entities);
  if (source !== undefined) return source;
  const kept = expressible({ ...body, entities: joined(body) });
  return exact(body, kept) ?? withMarks(body.scalars, kept, LEVELS[2]);
}

/** Returns the scalars of a text and its entities as `parseMarkdown` returns them. */
function trimmed(text, entities) {
  const all = [...text];
  const first = all.findIndex((scalar) => /\S/.test(scalar));
  const end = all.findLastIndex((scalar) => /\S/.test(scalar)) + 1;
  const scalars = [];
  const places = all.map((scalar, at) => {
    const isKept = first >= 0 && at >= first && at < end && !(scalar === "\r" && all[at + 1] === "\n");
    return isKept ? scalars.push(scalar === "\r" ? "\n" : scalar) - 1 : scalars.length;
  });
  const place = (at) => places[at] ?? scalars.length;
  const known = entities.filter(({ type, offset, length }) => (MARKS[type] || BLOCKS.has(type) || LITERAL.has(type)) && offset >= 0 && offset + length <= all.length)
    .map((entity) => ({ ...entity, offset: place(entity.offset), length: place(entity.offset + entity.length) - place(entity.offset) }))
    .filter(({ length }) => length > 0);
  return { scalars, text: scalars.join(""), entities: known };
}

/** Returns Markdown that parses to a text with exactly these entities, or undefined. */
function exact({ scalars, text }, entities, levels = LEVELS) {
  const names = (type) => entities.filter((entity) => entity.type === type).map((entity) => [slice(scalars, entity).slice(1).toLowerCase(), entity.user]);
  const options = { mentions: new Map(names("mention")), all: new Set(["all", ...names("all").map(([name]) => name)]) };
  const wanted = described(entities);
  for (const escapes of levels) {
    // A backslash of the text would escape the one before `@`.
    if (!escapes && text.includes("\\@")) continue;
    const source = withMarks(scalars, entities, escapes);
    const parsed = parseMarkdown(source, options);
    if (parsed.text !== text) continue;
    // An address of the text becomes a link, as in a new message.
    const found = parsed.entities.filter((entity) => entity.type !== "link" || entity.url !== slice(scalars, entity) || wanted.includes(described([entity])[0]));
    if (described(found).join("\n") === wanted.join("\n")) return source;
  }
  return undefined;
}

/** Returns the entities with one in place of two formats of the same type without a text between them. */
function joined({ scalars, entities }) {
  const found = [];
  for (const entity of ordered(entities)) {
    const isBlock = BLOCKS.has(entity.type);
    const before = LITERAL.has(entity.type) ? undefined : found.find(({ type, offset, length }) =>
      type === entity.type && (offset + length === entity.offset || (isBlock && offset + length + 1 === entity.offset && scalars[entity.offset - 1] === "\n")));
    if (before) before.length = entity.offset + entity.length - before.offset;
    else found.push({ ...entity });
  }
  return found;
}

/** Returns the entities that Markdown can express together. Of two that exclude each other, the first is kept. */
function expressible(body) {
  let kept = [];
  const add = (entities) => {
    const variants = [[...kept, ...entities]];
    // Beside another mark, only the other form of an italic text or of a link may be possible.
    if (entities.length === 1) {
      const [entity] = entities;
      const touches = ({ offset, length }) => [offset, offset + length].some((at) => at === entity.offset || at === entity.offset + entity.length);
      variants.push([...kept, { ...entity, isOther: true }], [...kept.map((each) => (touches(each) ? { ...each, isOther: true } : each)), entity]);
    }
    const found = variants.find((variant) => exact(body, variant, LEVELS.slice(-1)) !== undefined);
    if (found) kept = found;
    else if (entities.length > 1) {
      const half = Math.ceil(entities.length / 2);
      add(entities.slice(0, half));
      add(entities.slice(half));
    }
  };
  add(ordered(body.entities));
  return kept;
}

const slice = (scalars, { offset, length }) => scalars.slice(offset, offset + length).join("");

/** Returns texts for a comparison of entities in any order. */
const described = (entities) => entities.map(({ type, offset, length, url, user, language }) => JSON.stringify([type, offset, length, url, user, language || undefined])).sort();

/** Returns entities in the order in which their marks begin: blocks, then outer formats, then code and links. */
function ordered(entities) {
  const rank = ({ type }) => (BLOCKS.has(type) ? 0 : LITERAL.has(type) ? 2 : 1);
  // Of formats with the same range, the parser returns the inner one first.
  return [...entities].reverse().sort((one, other) => one.offset - other.offset || other.length - one.length || rank(one) - rank(other));
}

/**
 * Inserts the marks of the entities. A backslash precedes each character of `escapes` in the text,
 * except in code, addresses and mentions. It also precedes the beginning of a line that would begin
 * a block, and `@` before a name that is not mentioned: after an edit, it must not notify the user
 * of the name.
 */
function withMarks(scalars, entities, escapes) {
  const ends = [];
  const begins = [];
  const literal = new Set();
  const items = new Set(); // the beginnings of lines in lists
  const isLineStart = (at) => at === 0 || scalars[at - 1] === "\n";
  const put = (list, at, mark) => { list[at] = (list[at] ?? "") + mark; };
  const inOrder = ordered(entities);
  for (const entity of inOrder) {
    const { type, offset, length, language, isOther } = entity;
    const end = offset + length;
    if (LITERAL.has(type)) for (let at = offset; at < end; at += 1) literal.add(at);
    if (type === "pre") put(begins, offset, `\`\`\`${language ?? ""}\n`);
    else if (MARKS[type]) put(begins, offset, type === "italic" && isOther ? "_" : MARKS[type]);
    else if (isTitled(scalars, entity)) put(begins, offset, "[");
    else if (BLOCKS.has(type)) {
      for (let at = offset; at < end; at += 1) {
        if (at > offset && !isLineStart(at)) continue;
        if (type === "quote") put(begins, at, "> ");
        else items.add(at);
      }
    }
  }
  for (const entity of inOrder.reverse()) {
    const { type, offset, length, url, isOther } = entity;
    if (type === "pre") put(ends, offset + length, "\n```");
    else if (MARKS[type]) put(ends, offset + length, type === "italic" && isOther ? "_" : MARKS[type]);
    else if (isTitled(scalars, entity)) put(ends, offset + length, `](${url})`);
  }
  const isBoundary = (at) => begins[at] !== undefined || ends[at] !== undefined;
  // In an address, a backslash is not an escape.
  for (let at = 0; at < scalars.length; at += 1) {
    if (scalars[at] !== "h" && scalars[at] !== "H") continue;
    const before = isBoundary(at) ? " " : scalars[at - 1] ?? " ";
    ADDRESS.lastIndex = 0;
    if (/\w/.test(before) && !escapes.includes(before) || !ADDRESS.test(scalars.slice(at, at + 9).join(""))) continue;
    do literal.add(at++); while (at < scalars.length && !ADDRESS_END.test(scalars[at]) && !isBoundary(at));
    at -= 1;
  }
  let escaped = -1; // the index of the character that begins a block and gets a backslash
  const parts = scalars.map((scalar, at) => {
    if (isLineStart(at)) {
      const mark = items.has(at) ? null : BLOCK.exec(scalars.slice(at, at + 5).join(""))?.[0];
      // A mark of an entity in the beginning of the line prevents the block.
      if (mark && !Array.from(mark, (_, index) => at + index).some((each) => isBoundary(each) || literal.has(each))) escaped = at + mark.length - 2;
    }
    // A word before `@` makes an address of it, unless a mark stands between them.
    const beginsName = scalar === "@" && /^[\p{L}\p{N}._-]/u.test(scalars[at + 1] ?? "")
      && (!/^[\p{Script=Latin}\p{N}]/u.test(scalars[at - 1] ?? "") || isBoundary(at));
    const beginsQuote = scalar === ">" && escapes && isLineStart(at);
    const isEscaped = !literal.has(at) && (at === escaped || beginsName || beginsQuote || escapes.includes(scalar));
    return (ends[at] ?? "") + (begins[at] ?? "") + (isEscaped ? "\\" : "") + (items.has(at) && scalar === "•" ? "-" : scalar);
  });
  return parts.join("") + (ends[scalars.length] ?? "");
}

/** Whether an entity is a link that is written as a title and an address. */
const isTitled = (scalars, entity) => entity.type === "link" && (entity.isOther || slice(scalars, entity) !== entity.url);
