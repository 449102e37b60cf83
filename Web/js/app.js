// Starts the page: the state, the language, the theme, the notifications, the calls, and the view
// of the session's phase.

import { starting } from "./boot.js";
import { h } from "./views/dom.js";
import { AuthView } from "./views/auth.js";
import { CallsView } from "./views/calls.js";
import { Shell } from "./views/shell.js";
import { logo } from "./views/icons.js";
import { eventText, headTitle, isGroup, kindNames, userName } from "./views/model.js";
import { prepareSound, playSound } from "./views/sound.js";
import { forgetPlayed } from "./media/played.js";
import { keepPush } from "./state/push.js";
import { setLanguage, t } from "./i18n/index.js";
import { loadPreferences, savePreferences } from "./views/preferences.js";

class App {
  constructor(state) {
    this.state = state;
    this.preferences = loadPreferences();
    this.root = document.getElementById("app");
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", () => this.#applyTheme());
    this.#applyTheme();
    this.#describeNotifications();
    this.calls = new CallsView(this);
    state.subscribe("session", () => this.#show());
    state.subscribe("contacts", () => this.#tellWords());
    this.#show();
  }

  #show() {
    const { phase } = this.state.session;
    if (phase === this.phase) return;
    this.phase = phase;
    if (phase === "signedOut") {
      this.words = null; // the service worker forgets them
      forgetPlayed();
    }
    this.#render();
  }

  #render() {
    const former = this.view;
    former?.close();
    this.#tellWords();
    if (this.phase === "signedIn") this.view = new Shell(this);
    else if (this.phase === "signedOut") this.view = new AuthView(this);
    else this.view = { element: h("div", { class: "empty" }, logo()), close() { this.element.remove(); } };
    this.root.replaceChildren(this.view.element);
    this.view.start?.();
  }

  /**
   * Sets a preference of this browser. For the language it returns a promise, because its texts may
   * have to be loaded.
   */
  setPreference(name, value) {
    this.preferences = { ...this.preferences, [name]: value };
    savePreferences(this.preferences);
    this.state.notifying = this.preferences;
    this.#tellWords();
    if (name === "theme") this.#applyTheme();
    return name === "language" ? setLanguage(value).then(() => this.#render()) : undefined;
  }

  showRecovery(answer) {
    this.view?.showRecovery?.(answer);
    this.recovery = answer?.recovery ?? null;
  }

  /** Sets how the state notifies the user, by the preferences of this browser. */
  #describeNotifications() {
    const { state } = this;
    state.notifying = this.preferences;
    state.onsound = () => playSound();
    prepareSound();
    keepPush(state, () => this.preferences.push);
    state.describe = (head, event) => {
      const title = headTitle(state, head);
      const text = this.preferences.preview ? eventText(state, event).slice(0, 200) : t("oneNewMessage");
      return { title, body: isGroup(head) && this.preferences.preview ? `${userName(state, event.sender)}${t("colon")}${text}` : text };
    };
  }

  /** Tells the service worker the words, the preference and the aliases with which it shows pushes. */
  #tellWords() {
    const { state, preferences: { preview } } = this;
    if (this.phase !== "signedIn") return;
    const texts = { message: t("oneNewMessage"), ...kindNames() };
    const aliases = Object.fromEntries(state.contacts().filter((each) => each.alias).map((each) => [each.user.name, each.alias]));
    const words = JSON.stringify({ texts, aliases, preview, colon: t("colon") });
    if (words === this.words) return;
    this.words = words;
    state.tellWords?.(JSON.parse(words));
  }

  #applyTheme() {
    const { theme } = this.preferences;
    document.documentElement.dataset.theme = theme === "dark" || (theme === "system" && this.dark.matches) ? "dark" : "light";
  }
}

// The texts and the state are loaded concurrently.
Promise.all([starting, setLanguage(loadPreferences().language)]).then(([state]) => { globalThis.chatApp = new App(state); });
