// The preferences of this browser: language, theme, notifications, the Enter key; and whether it had a session.

const KEY = "apus-preferences";
const SESSION = "apus-session";
const DEFAULTS = { language: "system", theme: "system", enterSends: true, desktop: true, push: false, sound: true, preview: true };

export function loadPreferences() {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return { ...DEFAULTS };
  }
}

export function savePreferences(preferences) {
  try {
    localStorage.setItem(KEY, JSON.stringify(preferences));
  } catch {
    // Without storage, the preferences are kept until the page is closed.
  }
}

/** Returns whether this browser had a session when the page was last open. */
export function hadSession() {
  try {
    return localStorage.getItem(SESSION) !== null;
  } catch {
    return false;
  }
}

export function keepSession(hasSession) {
  try {
    if (hasSession) localStorage.setItem(SESSION, "1");
    else localStorage.removeItem(SESSION);
  } catch {
    // Without storage, the form is shown until the core has answered.
  }
}
