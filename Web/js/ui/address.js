// The part of the page's address after #, which selects the conversation.

/**
 * Parses an address: `id` is the conversation or null; `isBroken` means that the address is
 * malformed.
 */
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
