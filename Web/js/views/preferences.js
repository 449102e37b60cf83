// The preferences of this browser: language, theme, notifications, the Enter key.

const KEY = "apus-preferences";
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
