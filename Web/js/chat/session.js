// The session of this browser. The token is stored in localStorage and sent in headers and CONNECT
// auth, never in a URL.

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
  } catch { /* no storage: the session lasts as long as the page */ }
}

/** Removes the session, unless another tab has stored a new one. */
export function clearSession(token) {
  if (!token || loadSession()?.token === token) localStorage.removeItem(KEY);
}

/** Calls the listener after a sign-in or sign-out in another tab. */
export function onSessionChange(listener) {
  addEventListener("storage", (event) => {
    if (event.key === KEY || event.key === null) listener(loadSession());
  });
}
