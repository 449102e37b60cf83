// Albums: pictures and videos of one sender that follow each other and were sent together are one row.

import { gone } from "./model.js";

const MOST = 10;

export class Albums {
  #cache = new Map(); // key -> row

  /** The rows with albums in place of their parts. An album that did not change is the same object. */
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

/** The messages of a row: the parts of an album, or the row itself. */
export const partsOf = (row) => row.parts ?? [row];

/** The pictures and films among rows, those of albums too. */
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

/** Has the text of the part with one, the place of the first part and the end of the last one. */
function album(parts) {
  const [first, last] = [parts[0], parts.at(-1)];
  const named = parts.find((part) => part.body.text) ?? last;
  return { ...named, kind: "image", key: first.key, ref: first.ref, quote: first.quote, n: last.n, status: last.status, parts };
}
