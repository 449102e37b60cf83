// Completion of `@name` and `:emoji:` above the composer.

import { h, replace, uniqueID } from "./dom.js";
import { icon } from "./icons.js";
import { shortcode } from "./emojipicker.js";
import { userAvatar } from "./avatar.js";
import { isGroup, permits, userName } from "./model.js";
import { namesIn } from "../text/markdown.js";
import { findEmoji } from "../text/emoji.js";
import { t } from "../i18n/index.js";

const LIMIT = 8;
const NAMES = 10; // the maximum number of names in a text to request
const PATIENCE = 4000; // ms, the maximum time to wait for the names

export class Completion {
  #items = [];
  #awaitsPeople = false; // whether the user is typing a name, even if no member matches yet
  #at = 0;
  #start = 0;
  known = new Map();

  constructor(composer) {
    this.composer = composer;
    this.state = composer.state;
    this.box = h("div", { class: "completion", role: "listbox", id: uniqueID("completion"), "aria-label": t("search"), hidden: true });
    composer.element.append(this.box);
    composer.input.setAttribute("aria-controls", this.box.id);
  }

  /** Shows the completions of the word before the caret. */
  update() {
    const { input } = this.composer;
    const before = input.value.slice(0, input.selectionStart);
    const emoji = /(?:^|\s)[:：]([a-z0-9_+-]{2,20}|\p{Script=Han}{1,6})$/u.exec(before);
    const mention = /(?:^|[\s(\p{Script=Han}，。：、])@([\p{L}\p{N}._-]{0,32})$/u.exec(before);
    this.#awaitsPeople = Boolean(!emoji && mention && isGroup(this.composer.view.head));
    if (emoji) {
      this.#start = before.length - emoji[1].length - 1;
      this.#items = findEmoji(emoji[1], LIMIT).map((item) => ({ insert: item.face, label: shortcode(item), face: item.face }));
    } else if (this.#awaitsPeople) {
      this.#start = before.length - mention[1].length - 1;
      this.#request(mention[1]);
      this.#items = this.#people(mention[1].toLocaleLowerCase());
    } else this.#items = [];
    this.#at = 0;
    this.#show();
  }

  #people(query) {
    const { view } = this.composer;
    const own = this.state.account?.name;
    const found = this.members.filter(({ user }) => user.name !== own && (!query || userName(this.state, user.name).toLocaleLowerCase().includes(query) || user.name.includes(query)));
    const items = found.slice(0, LIMIT).map(({ user }) => ({ insert: `@${user.name} `, label: userName(this.state, user.name), sub: `@${user.name}`, user }));
    const word = t("mentionAll");
    if (isGroup(view.head) && permits(view.head, "mention_all", "admins") && (word.startsWith(query) || "all".startsWith(query))) items.push({ insert: `@${word} `, label: `@${word}`, sub: t("mentionAllHint") });
    return items;
  }

  /** Loads the matching members. Listeners of `members:ID` are called after changes. */
  #request(query) {
    const { id } = this.composer;
    if (this.query === query) return;
    this.query = query;
    this.found?.close?.();
    this.found = this.state.members(id, query);
    this.unsubscribe ??= this.state.subscribe(`members:${id}`, () => {
      this.#remember();
      if (this.#awaitsPeople) {
        this.#items = this.#people(this.query.toLocaleLowerCase());
        this.#show();
      }
    });
    this.#remember();
  }

  #remember() {
    for (const member of this.found?.members ?? []) this.known.set(member.user.name, member);
  }

  /**
   * Loads the members that a text names after `@` and that are not known, such as in a pasted text:
   * at most ten, within 4 s.
   */
  async resolve(text) {
    if (!isGroup(this.composer.view.head)) return;
    const wanted = namesIn(text).filter((name) => !this.members.some(({ user }) => user.name === name || userName(this.state, user.name).toLocaleLowerCase() === name)).slice(0, NAMES);
    const lists = wanted.map((name) => this.state.members(this.composer.id, name));
    await Promise.race([Promise.all(lists.map((list) => list.ready)), new Promise((done) => setTimeout(done, PATIENCE))]);
    for (const list of lists) {
      for (const member of list.members) this.known.set(member.user.name, member);
      list.close();
    }
  }

  get members() {
    return [...this.known.values()];
  }

  /** Ends the subscriptions. */
  dispose() {
    this.unsubscribe?.();
    this.found?.close?.();
  }

  #show() {
    this.box.hidden = !this.#items.length;
    const { input } = this.composer;
    if (this.box.hidden) {
      input.removeAttribute("aria-activedescendant");
      return;
    }
    replace(this.box, this.#items.map((item, index) => h("div", {
      role: "option", id: `${this.box.id}-${index}`, "aria-selected": String(index === this.#at),
      onpointerdown: (event) => { event.preventDefault(); this.#take(index); },
    }, item.face ? h("span", { class: "face" }, item.face) : item.user ? userAvatar(this.state, item.user, { size: "s" }) : icon("megaphone"),
    h("span", { class: "ellipsis" }, item.label), item.sub ? h("span", { class: "small muted ellipsis" }, item.sub) : null)));
    input.setAttribute("aria-activedescendant", `${this.box.id}-${this.#at}`);
    this.box.children[this.#at]?.scrollIntoView({ block: "nearest" });
  }

  #take(index) {
    const { input } = this.composer;
    input.setRangeText(this.#items[index].insert, this.#start, input.selectionStart, "end");
    this.close();
    input.dispatchEvent(new Event("input"));
    input.focus();
  }

  close() {
    this.#items = [];
    this.#awaitsPeople = false;
    this.#show();
  }

  /** Handles a key while the list is open. Returns whether the key was used. */
  typed(event) {
    if (!this.#items.length) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      this.#at = (this.#at + step + this.#items.length) % this.#items.length;
      this.#show();
    } else if (event.key === "Enter" || event.key === "Tab") this.#take(this.#at);
    else if (event.key === "Escape") this.close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }
}
