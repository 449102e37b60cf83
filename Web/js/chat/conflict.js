// What to do about a message whose id the server knows with other content.

const PULL = 200;

/** Whether an event of one's own is the message of an outbox entry with the same id. A picture may have been uploaded by another page. */
export function isSame({ kind, body }, event) {
  return event.kind === kind && event.body?.text === body.text && (!body.blob || event.body?.blob === body.blob);
}

/**
 * Whether the server has this very message. It looks through everything that was logged since the message was written: an id is made when
 * its message is, so nothing older can carry it. `request(payload)` answers a `sync`.
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

/** The id under which a message is sent when its first one stands for something else: the same on every page that has the message. */
export function renewedID(id) {
  const [, first, count] = /^(.*?)(?:-(\d+))?$/s.exec(id);
  return `${first}-${Number(count ?? 1) + 1}`;
}
