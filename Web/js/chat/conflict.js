// Resolves a conflict: the server has an event with the id of a message but different content.

const PULL = 200;

/**
 * Whether an own event is the message of an outbox entry with the same id. Another page may have
 * uploaded its picture.
 */
export function isSame({ kind, body }, event) {
  return event.kind === kind && event.body?.text === body.text && (!body.blob || event.body?.blob === body.blob);
}

/**
 * Whether the server has this message. Searches the events since the message was written, because
 * no earlier event can have its id. `request(payload)` sends a `sync`.
 */
export async function isStored(entry, me, request) {
  let from = (entry.after ?? 0) + 1;
  for (;;) {
    const { events, head } = await request({ conv: entry.conv, from, limit: PULL });
    const found = events.find((event) => event.sender === me && event.id === entry.id);
    if (found) return isSame(entry, found);
    if (events.length === 0 || events.at(-1).seq >= head.seq) return false;
    from = events.at(-1).seq + 1;
  }
}

/**
 * The next id for a message whose id is already used. The same on every page that has the message.
 */
export function renewedID(id) {
  const [, first, count] = /^(.*?)(?:-(\d+))?$/s.exec(id);
  return `${first}-${Number(count ?? 1) + 1}`;
}
