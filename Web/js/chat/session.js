// Who is signed in on this browser. The token lives in localStorage and travels in headers and CONNECT auth, never in a URL.

const KEY = "apus.session";

/** {token, device, expires, user} or null. */
export function loadSession() {
  try {
    const session = JSON.parse(localStorage.getItem(KEY));
    return typeof session?.token === "string" && typeof session.user?.id === "string" ? session : null;
  } catch {
    return null;
  }
}

export function saveSession(session) {
  try {
    localStorage.setItem(KEY, JSON.stringify(session));
  } catch { /* storage refused: the session lasts as long as the page */ }
}

/** Forgets the session, unless another tab has begun a new one meanwhile. */
export function clearSession(token) {
  if (!token || loadSession()?.token === token) localStorage.removeItem(KEY);
}

/** Hears of a sign-in or sign-out in another tab. */
export function onSessionChange(listener) {
  addEventListener("storage", (event) => {
    if (event.key === KEY || event.key === null) listener(loadSession());
  });
}
