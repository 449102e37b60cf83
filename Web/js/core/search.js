// Searches the cache of this device, for use without a connection.

import { isBlank } from "./applying.js";

const PAGE = 30; // hits
const TIME = 300; // ms after which a page ends even with fewer hits

/**
 * Returns hits in the form of the verb `search`, newest first. All words of `query` must occur;
 * without words, each message that passes the filters is a hit. `page`: the `page` of the preceding
 * answer.
 */
export async function searchCache(database, { query = "", conv, sender, kinds, from_at: from = 0, until_at: until = Infinity, page }) {
  const words = wordsOf(query);
  const hits = [];
  const end = performance.now() + TIME;
  let last;
  await database.scan({ conv, after: page }, (event) => {
    if (conv === undefined && event.at < from) return false;
    const hit = matching(event, words, (each) => (!sender || each.sender === sender) && (!kinds || kinds.includes(each.kind)) && each.at >= from && each.at <= until);
    if (hit) hits.push(hit);
    if (hits.length < PAGE && performance.now() < end) return true;
    last = { conv: event.conv, seq: event.seq, at: event.at };
    return false;
  });
  return { hits, page: last, local: true };
}

/** Returns the words of a query. A part in quotes is one word. */
function wordsOf(query) {
  return [...query.toLocaleLowerCase().matchAll(/"([^"]+)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word);
}

function matching(event, words, passes) {
  if (event.n === undefined || event.kind === "hidden" || !passes(event)) return null;
  if (words.length === 0) return isBlank(event) ? null : { event, snippet: "", ranges: [], local: true };
  const { text, question, title, name, nick } = event.body ?? {};
  const content = [text, question, title, name, nick].find((each) => typeof each === "string");
  const plain = content?.toLocaleLowerCase();
  return plain !== undefined && words.every((word) => plain.includes(word)) ? { event, ...snippet(content, plain, words), local: true } : null;
}

function snippet(text, plain, words) {
  const start = Math.max(0, plain.indexOf(words[0]) - 40);
  const part = text.slice(start, start + 160);
  const ranges = words.flatMap((word) => {
    const index = part.toLocaleLowerCase().indexOf(word);
    return index < 0 ? [] : [{ offset: [...part.slice(0, index)].length, length: [...word].length }];
  });
  return { snippet: part, ranges: ranges.sort((a, b) => a.offset - b.offset) };
}
