// The dialogs for a new chat and a new group.

import { errorText, t } from "../i18n.js";
import { personAvatar } from "./avatar.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";

const SEARCH_DELAY = 200; // ms between the last key and the request

/** Selects one user. Calls `chosen(conversation)` with the pair conversation. */
export function newChatDialog(chat, chosen) {
  const dialog = openDialog(t("newChat"));
  const pick = attempt(dialog, async (person) => {
    const id = await chat.openPair(person.id);
    dialog.element.close();
    chosen(id);
  });
  dialog.body.append(...peoplePicker(chat, dialog, { pick }));
}

/** Selects several users and a title. */
export function newGroupDialog(chat, chosen) {
  const dialog = openDialog(t("newGroup"));
  const members = new Map();
  const title = h("input", { name: "title", maxlength: 100, required: true, placeholder: t("groupTitle"), "aria-label": t("groupTitle"), autocomplete: "off", oninput: update });
  const chips = h("div", { class: "chips", "aria-live": "polite" });
  const create = h("button", { type: "button", class: "primary wide", disabled: true, onclick: attempt(dialog, async () => {
    const id = await chat.createGroup(title.value.trim(), [...members.keys()]);
    dialog.element.close();
    chosen(id);
  }) }, t("createGroup"));

  function update() {
    create.disabled = members.size === 0 || title.value.trim() === "";
    chips.replaceChildren(...[...members.values()].map((person) => h("button", { type: "button", class: "chip", "aria-label": `${t("remove")} ${person.display}`, onclick: () => toggle(person) },
      person.display, icon("close"))));
  }
  function toggle(person) {
    if (!members.delete(person.id)) members.set(person.id, person);
    update();
    picker.refresh();
  }
  const picker = peoplePicker(chat, dialog, { pick: toggle, isPicked: (id) => members.has(id) });
  dialog.body.append(title, chips, ...picker);
  dialog.element.append(h("footer", {}, create));
  title.focus();
}

function openDialog(title) {
  const body = h("div", { class: "dialog-body" });
  const problem = h("p", { class: "form-error", role: "alert" });
  const close = () => element.close();
  const element = h("dialog", { class: "card sheet", "aria-label": title, onclose: () => element.remove(), onclick: (event) => event.target === element && close() },
    h("header", {}, h("h2", {}, title), h("button", { type: "button", class: "icon-button", "aria-label": t("close"), onclick: close }, icon("close"))), body, problem);
  document.body.append(element);
  element.showModal();
  return { element, body, problem };
}

/** Runs an action of a dialog, which shows a failure. */
function attempt(dialog, action) {
  return async (...values) => {
    dialog.problem.textContent = "";
    try {
      await action(...values);
    } catch (error) {
      dialog.problem.textContent = errorText(error);
    }
  };
}

/** A search field and the users found. With `isPicked`, the rows are toggles. */
function peoplePicker(chat, dialog, { pick, isPicked }) {
  const input = h("input", { type: "search", id: "find-people", placeholder: t("findPeople"), "aria-label": t("findPeople"), autocomplete: "off", oninput: () => {
    clearTimeout(timer);
    timer = setTimeout(ask, SEARCH_DELAY);
  } });
  const list = h("ul", { class: "people", "aria-label": t("findPeople") });
  let timer = 0;
  let turn = 0; // counts requests, so that late answers are ignored
  let query = "";
  let found = [];
  let next = null; // the token of the next page

  const ask = attempt(dialog, async () => {
    const mine = ++turn;
    const wanted = input.value.trim();
    const page = await chat.findPeople(wanted);
    if (mine !== turn) return;
    [query, found, next] = [wanted, page.users, page.next];
    list.scrollTop = 0;
    refresh();
  });

  const more = attempt(dialog, async () => {
    const mine = ++turn;
    const page = await chat.findPeople(query, next);
    if (mine !== turn) return;
    const known = new Set(found.map((person) => person.id));
    const first = found.length;
    [found, next] = [[...found, ...page.users.filter((person) => !known.has(person.id))], page.next];
    refresh();
    list.children[first]?.querySelector("button")?.focus({ preventScroll: true });
  });

  function refresh() {
    const shown = found.map((person) => {
      const picked = isPicked?.(person.id) ?? false;
      return h("li", {}, h("button", { type: "button", class: `person${picked ? " picked" : ""}`, "data-user": person.name, "aria-pressed": isPicked ? String(picked) : null, onclick: () => pick(person) },
        personAvatar(chat.person(person.id)), h("span", { class: "who" }, h("strong", {}, person.display), h("span", { class: "sub" }, `@${person.name}`)),
        picked ? icon("check") : null));
    });
    if (next) shown.push(h("li", { class: "more" }, h("button", { type: "button", class: "link", id: "more-people", onclick: more }, t("morePeople"))));
    list.replaceChildren(...(shown.length === 0 ? [h("li", { class: "nobody" }, t("nobody"))] : shown));
  }

  ask();
  return Object.assign([h("div", { class: "search" }, icon("search"), input), list], { refresh });
}
