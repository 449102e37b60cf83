// The parts of the page for a signed-in user: the panes, the calls and the notifications.

import { CallsView } from "./calls.js";
import { eventText, headTitle, isGroup, kindNames, userName } from "./model.js";
import { Shell } from "./shell.js";
import { prepareSound, playSound } from "./sound.js";
import { forgetPlayed } from "../media/played.js";
import { watchNotifications } from "../state/notifications.js";
import { keepPush } from "../state/push.js";
import { t } from "../i18n/index.js";

export class Inside {
  #words = null; // those that the service worker has

  constructor(app) {
    this.app = app;
    this.state = app.state;
    watchNotifications(this.state);
    this.#describeNotifications();
    this.calls = new CallsView(app);
    this.state.subscribe("contacts", () => this.tellWords());
    this.state.subscribe("session", () => this.#forget());
    this.#forget();
  }

  makeShell() {
    this.tellWords();
    return new Shell(this.app);
  }

  #forget() {
    if (this.state.session.phase !== "signedOut") return;
    this.#words = null; // the service worker deletes its copy
    forgetPlayed();
  }

  /** Configures the notifications of the state with the preferences of this browser. */
  #describeNotifications() {
    const { app, state } = this;
    state.onsound = () => playSound();
    prepareSound();
    keepPush(state, () => app.preferences.push);
    state.describe = (head, event) => {
      const title = headTitle(state, head);
      const text = app.preferences.preview ? eventText(state, event).slice(0, 200) : t("oneNewMessage");
      return { title, body: isGroup(head) && app.preferences.preview ? `${userName(state, event.sender)}${t("colon")}${text}` : text };
    };
  }

  /** Sends the service worker the texts, the preference and the aliases that it needs to show pushes. */
  tellWords() {
    const { state, app: { preferences: { preview } } } = this;
    if (state.session.phase !== "signedIn") return;
    const texts = { message: t("oneNewMessage"), joinRequest: t("joinRequest"), joinRequests: t("joinRequestsPush", { n: "{n}" }), ...kindNames() };
    const aliases = Object.fromEntries(state.contacts().filter((each) => each.alias).map((each) => [each.user.name, each.alias]));
    const words = JSON.stringify({ texts, aliases, preview, colon: t("colon") });
    if (words === this.#words) return;
    this.#words = words;
    state.tellWords?.(JSON.parse(words));
  }
}
