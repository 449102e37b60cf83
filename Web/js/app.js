// The page: the language, the theme, and the view of the session's phase.

import { h } from "./views/dom.js";
import { AuthView } from "./views/auth.js";
import { logo } from "./views/icons.js";
import { setLanguage, t } from "./i18n/index.js";
import { hadSession, keepSession, loadPreferences, savePreferences } from "./views/preferences.js";

class App {
  /** The objects that only a signed-in user needs; null until they are loaded during the sign-in. */
  inside = null;
  #loading = null;
  #hasFailed = false;

  constructor(state) {
    this.state = state;
    this.preferences = loadPreferences();
    state.notifying = this.preferences;
    this.root = document.getElementById("app");
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", () => this.#applyTheme());
    this.#applyTheme();
    state.subscribe("session", () => this.#show());
    this.#show();
  }

  get calls() { return this.inside?.calls; }

  #show() {
    const { phase } = this.state.session;
    if (phase !== "starting") keepSession(phase === "signedIn");
    // Without a former session, the form does not wait for the core.
    const shown = phase === "starting" && !hadSession() ? "signedOut" : phase;
    if (shown === this.phase) return;
    this.phase = shown;
    this.#render();
    if (!this.inside) this.#load();
  }

  #render() {
    this.view?.close();
    if (this.phase === "signedIn" && this.inside) this.view = this.inside.makeShell();
    else if (this.phase === "signedOut") this.view = new AuthView(this);
    else this.view = this.#waiting();
    this.root.replaceChildren(this.view.element);
    this.view.start?.();
  }

  #waiting() {
    const failure = this.#hasFailed ? [h("p", { role: "alert" }, t("errorOffline")), h("button", { type: "button", class: "button", onclick: () => this.#load() }, t("retry"))] : null;
    return { element: h("div", { class: "empty" }, logo(), failure), close() { this.element.remove(); } };
  }

  async #load() {
    if (this.#loading) return;
    try {
      this.#loading = import("./views/inside.js");
      this.inside = new (await this.#loading).Inside(this);
    } catch (error) {
      console.warn("page:", error);
      this.#loading = null;
      this.#hasFailed = true;
    }
    if (this.phase !== "signedOut") this.#render();
  }

  /**
   * Sets a preference of this browser. For the language, returns a promise, because the texts of the
   * language may have to be loaded.
   */
  setPreference(name, value) {
    this.preferences = { ...this.preferences, [name]: value };
    savePreferences(this.preferences);
    this.state.notifying = this.preferences;
    if (name === "theme") this.#applyTheme();
    if (name !== "language") return this.inside?.tellWords();
    return setLanguage(value).then(() => { this.inside?.tellWords(); this.#render(); });
  }

  showRecovery(answer) {
    if (this.view?.showRecovery) this.view.showRecovery(answer);
    else this.recovery = answer?.recovery ?? null;
  }

  #applyTheme() {
    const { theme } = this.preferences;
    document.documentElement.dataset.theme = theme === "dark" || (theme === "system" && this.dark.matches) ? "dark" : "light";
  }
}

/** Shows the page of the state that `makeState` returns. */
export async function start(makeState) {
  const texts = setLanguage(loadPreferences().language);
  if (!hadSession()) await texts; // the worker would delay them, and the form does not need it
  const state = makeState();
  await texts;
  globalThis.chatApp = new App(state);
}
