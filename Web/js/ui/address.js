// The part of the page's address after #, which says what is open.

/** `{id}`: the conversation that an address names, or null; `isBroken`: it names one in a way that cannot be read. */
export function readAddress(hash) {
  const found = /^#\/c\/(.+)$/s.exec(hash);
  if (!found) return { id: null, isBroken: false };
  try {
    return { id: decodeURIComponent(found[1]), isBroken: false };
  } catch {
    return { id: null, isBroken: true };
  }
}

export const addressOf = (id) => `#/c/${encodeURIComponent(id)}`;
