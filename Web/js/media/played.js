// Records which voice messages the user has played in this browser. The marks of another account
// are discarded.

const KEY = "apus-played";
const MOST = 2000;

function load(user) {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return stored.user === user && Array.isArray(stored.keys) ? stored.keys : [];
  } catch {
    return [];
  }
}

let cached = { user: null, keys: new Set() };

function played(user) {
  if (cached.user !== user) cached = { user, keys: new Set(load(user)) };
  return cached.keys;
}

export const wasPlayed = (user, key) => played(user).has(key);

export function markPlayed(user, key) {
  const keys = played(user);
  if (keys.has(key)) return;
  keys.add(key);
  if (keys.size > MOST) keys.delete(keys.values().next().value);
  try {
    localStorage.setItem(KEY, JSON.stringify({ user, keys: [...keys] }));
  } catch {
    // Without storage, the marks are kept until the page is closed.
  }
}

/** Removes the marks, so that none remains after a sign-out. */
export function forgetPlayed() {
  cached = { user: null, keys: new Set() };
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Without storage there is nothing to remove.
  }
}
