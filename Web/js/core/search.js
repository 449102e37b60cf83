// The search of what this device has, for the time without a connection.

const MOST = 30;

/** Hits in the form of the verb `search`; all words must occur. */
export async function searchCache(database, { query, conv, sender, kinds, from_at: from, until_at: until }) {
  const words = query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const hits = [];
  await database.scan((event) => {
    if ((conv && event.conv !== conv) || (sender && event.sender !== sender) || (kinds && !kinds.includes(event.kind))) return true;
    if (event.n === undefined || (from && event.at < from) || (until && event.at > until)) return true;
    const text = event.body?.text ?? event.body?.question ?? event.body?.name;
    if (typeof text === "string") {
      const plain = text.toLocaleLowerCase();
      if (words.every((word) => plain.includes(word))) hits.push({ event, ...snippet(text, plain, words), local: true });
    }
    return true;
  });
  hits.sort((a, b) => b.event.at - a.event.at);
  return { hits: hits.slice(0, MOST), local: true };
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
