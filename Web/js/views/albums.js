// Albums: consecutive pictures and videos of one sender that were sent together are shown as one
// row.

import { gone } from "./model.js";

const MOST = 10;

export class Albums {
  #cache = new Map(); // key -> row

  /**
   * Returns the rows with albums in place of their parts. An unchanged album is the same object.
   */
  merge(state, rows) {
    const merged = [];
    const cache = new Map();
    for (let index = 0; index < rows.length;) {
      const parts = run(state, rows, index);
      index += parts.length;
      if (parts.length === 1) merged.push(parts[0]);
      else {
        const before = this.#cache.get(parts[0].key);
        const row = before && before.parts.length === parts.length && before.parts.every((part, at) => part === parts[at]) ? before : album(parts);
        cache.set(row.key, row);
        merged.push(row);
      }
    }
    this.#cache = cache;
    return merged;
  }
}

/** Returns the messages of a row: the parts of an album, or the row itself. */
export const partsOf = (row) => row.parts ?? [row];

/** Returns the pictures and videos of the rows, including those in albums. */
export function pictureRows(state, rows) {
  return rows.flatMap(partsOf).filter((row) => (row.kind === "image" || row.kind === "video") && !gone(state, row) && (row.localURL || row.body?.blob));
}

function run(state, rows, start) {
  const first = rows[start];
  const name = mediaAlbum(state, first);
  let end = start + 1;
  while (name && end - start < MOST && rows[end] && rows[end].sender === first.sender && mediaAlbum(state, rows[end]) === name) end += 1;
  return rows.slice(start, end);
}

const mediaAlbum = (state, row) => ((row.kind === "image" || row.kind === "video") && !gone(state, row) ? row.body?.album : undefined);

/**
 * Returns the row of an album, with the text of its first part that has one, the key of the first
 * part, and the ordinal and status of the last one.
 */
function album(parts) {
  const [first, last] = [parts[0], parts.at(-1)];
  const named = parts.find((part) => part.body.text) ?? last;
  return { ...named, kind: "image", key: first.key, ref: first.ref, quote: first.quote, n: last.n, status: last.status, parts };
}
