// Leaves a group, and deletes a group for all members. An owner who leaves must first choose
// another owner.

import { h } from "./dom.js";
import { confirm, openDialog } from "./dialog.js";
import { personRow, searchField } from "./pickers.js";
import { RowList } from "./rows.js";
import { attempt, toast } from "./toast.js";
import { headTitle, userName } from "./model.js";
import { t } from "../i18n/index.js";

export async function leave(app, head) {
  const isChannel = head.kind === "channel";
  if (head.role === "owner" && (head.members ?? 0) > 1) return nameOwner(app, head);
  if (!(await confirm(t(isChannel ? "leaveChannelQuestion" : "leaveQuestion"), { yes: t(isChannel ? "leaveChannel" : "leave"), dangerous: true, detail: (head.members ?? 0) > 1 ? null : t("leaveLast") }))) return;
  await go(app, head);
}

async function go(app, head) {
  if (await attempt(app.state.leave(head.conv)) !== undefined && app.openID === head.conv) app.closeThread();
}

/** Asks the owner for another owner, and then leaves the group. */
function nameOwner(app, head) {
  const { state } = app;
  const { input, element } = searchField(t("searchMembers"));
  let list = null;
  const rows = new RowList({
    label: t("members"), className: "people", estimate: 56, search: input, key: (member) => member.user.name,
    render: (member) => personRow(state, member.user),
    choose: async ({ user: { name } }) => {
      if (!(await confirm(t("transferAndLeave", { name: userName(state, name) }), { yes: t("leave"), dangerous: true }))) return;
      dialog.close();
      if (await attempt(state.setRole(head.conv, [name], "owner")) !== undefined) await go(app, head);
    },
    onend: () => list?.hasMore && !list.loading && list.loadMore(),
  });
  const show = () => rows.setRows((list?.members ?? []).filter(({ user }) => user.name !== state.account?.name));
  const open = () => {
    list?.close();
    list = state.members(head.conv, input.value);
    show();
  };
  let timer = 0;
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(open, 150); });
  const end = state.subscribe(`members:${head.conv}`, show);
  const dialog = openDialog(t("newOwner"), [h("div", { class: "pad" }, h("p", { class: "small muted" }, t("leaveOwner")), element), rows.element], { label: "tall", onclose: () => { end(); list?.close(); rows.close(); } });
  open();
}

/** Deletes a group or channel for all members. Only its owner can do this. */
export async function deleteForAll(app, head) {
  if (!(await confirm(t("deleteForAllQuestion", { title: headTitle(app.state, head) }), { yes: t("deleteForAll"), dangerous: true, detail: t("deleteForAllHint") }))) return;
  const isOpen = app.openID === head.conv;
  if (await attempt(app.state.deleteConversation(head.conv, true)) === undefined) return;
  if (isOpen) app.closeThread();
  toast(t("deletedForAll"));
}
