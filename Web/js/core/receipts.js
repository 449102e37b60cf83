// The positions up to which the members of a conversation have received and read messages.

const MOST = 100; // the maximum number of members of a group with visible read positions

/** Returns whether the members see the positions of each other. */
export function showsReceipts({ kind, members = 0, settings, state }) {
  if (state && state !== "joined") return false;
  return kind === "pair" || (kind === "group" && members <= MOST && settings?.receipts !== false);
}

/**
 * The positions of the other members of one conversation. A message counts as delivered or read when
 * all of them have received or read it.
 */
export class Positions {
  #all = new Map(); // user -> {read, received}

  /** Advances a position; it never moves back. Returns whether it changed. */
  mark(user, { read = 0, received = 0 }) {
    const before = this.#all.get(user);
    const after = { read: Math.max(before?.read ?? 0, read), received: Math.max(before?.received ?? 0, received, read) };
    if (before && after.read <= before.read && after.received <= before.received) return false;
    this.#all.set(user, after);
    return true;
  }

  /** Removes the positions of users who are not in `users`, the members. */
  keep(users) {
    for (const user of this.#all.keys()) if (!users.has(user)) this.#all.delete(user);
  }

  /**
   * Returns "sent", "delivered" or "read" for the message number `n` of this user. `others` is the
   * number of the other members.
   */
  status(n, others) {
    const all = [...this.#all.values()];
    if (others === 0 || all.length < others) return "sent";
    return all.every(({ read }) => read >= n) ? "read" : all.every(({ received }) => received >= n) ? "delivered" : "sent";
  }
}
