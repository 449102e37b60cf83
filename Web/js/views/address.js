// Addresses of this page: #/c/CONVERSATION[/SEQ] or, for a thread, #/t/CONVERSATION/FIRST[/SEQ].
// FIRST is the `seq` of the first message of the thread.

/** Returns the address of a conversation, a message or a thread. */
export function addressOf(conv, seq = null, thread = null) {
  return ["#", thread === null ? "c" : "t", conv, thread, seq].filter((part) => part !== null).join("/");
}

/** Returns {conv, seq, thread} of an address. */
export function readAddress(hash) {
  const [, kind, conv, ...places] = hash.split("/");
  const [first = null, second = null] = places.map((place) => (/^\d{1,16}$/.test(place) ? Number(place) : null));
  if (kind !== "c" && kind !== "t") return { conv: null, seq: null, thread: null };
  return kind === "t" ? { conv, thread: first, seq: second } : { conv, thread: null, seq: first };
}
