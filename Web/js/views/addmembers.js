// The dialog that adds members to a group or channel.

import { h } from "./dom.js";
import { openDialog } from "./dialog.js";
import { PeopleList, personRow } from "./pickers.js";
import { attempt, toast } from "./toast.js";
import { userName } from "./model.js";
import { list } from "../i18n/format.js";
import { t } from "../i18n/index.js";

export function addMembers(app, conv) {
  const { state } = app;
  const picked = new Set();
  const people = new PeopleList(app, {
    choose: (user) => { if (!picked.delete(user.name)) picked.add(user.name); done.disabled = !picked.size; people.refresh(); },
    render: (user) => personRow(state, user, { chosen: picked.has(user.name) }), signature: (user) => String(picked.has(user.name)),
    exclude: (user) => user.name === state.account?.name,
  });
  const done = h("button", { type: "button", class: "button primary", disabled: true, onclick: async () => {
    dialog.close();
    const answer = await attempt(state.invite(conv, [...picked]));
    if (answer) tellAdded(state, answer, [...picked]);
  } }, t("addMembers"));
  const dialog = openDialog(t("addMembers"), [h("div", { class: "pad" }, people.field.element), people.rows.element, h("div", { class: "dialog-foot" }, done)], { label: "tall", onclose: () => people.close() });
  people.show();
}

/** Reports which users were invited instead of added, and which were neither. */
function tellAdded(state, { added = [], invited = [] }, picked) {
  const names = (users) => list(users.map((name) => userName(state, name)));
  const others = picked.filter((name) => !added.includes(name) && !invited.includes(name));
  if (invited.length) toast(t("wereInvited", { users: names(invited) }));
  if (others.length) toast(t("wereNotAdded", { users: names(others) }), { role: "alert" });
}
