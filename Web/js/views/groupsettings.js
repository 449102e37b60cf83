// The settings of a group or channel, and the expiry of messages in any conversation.

import { h } from "./dom.js";
import { openDialog, selectRow, switchRow } from "./dialog.js";
import { attempt, toast } from "./toast.js";
import { errorText, refuseExpiry } from "./model.js";
import { span } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const SLOW = [0, 10, 30, 60, 300, 900, 3600];
const EXPIRIES = [0, 3_600, 86_400, 604_800, 2_592_000];

/** Returns the values including the current one, which another client may have chosen freely. */
const withPresent = (values, present) => (values.includes(present) ? values : [...values, present].sort((one, other) => one - other));
const spans = (values, present) => withPresent(values, present).map((seconds) => [seconds, seconds ? span(seconds) : t("off")]);

/**
 * Returns a function that sets one value. It resolves to false after a refusal, so that the field
 * shows the former value.
 */
const setter = (state, conv) => (name) => async (value) => ((await attempt(state.setConversation(conv, { settings: { [name]: value } }))) === undefined ? false : undefined);

export function groupSettings(state, head) {
  const settings = head.settings ?? {};
  const set = setter(state, head.conv);
  const level = [["members", t("everyMember")], ["admins", t("onlyAdmins")]];
  const number = (name) => (value) => set(name)(Number(value));
  openDialog(t("groupSettings"), h("div", { class: "dialog-body rows" },
    h("h3", {}, t("rightsOfMembers")),
    selectRow(t("whoWrite"), settings.write ?? (head.kind === "channel" ? "admins" : "members"), level, set("write")),
    selectRow(t("whoInvite"), settings.invite ?? "members", level, set("invite")),
    selectRow(t("whoManage"), settings.manage ?? "admins", level, set("manage")),
    selectRow(t("whoPin"), settings.pin ?? "admins", level, set("pin")),
    selectRow(t("whoMentionAll"), settings.mention_all ?? "admins", level, set("mention_all")),
    h("h3", {}, t("joining")),
    selectRow(t("whoJoins"), settings.join ?? "closed", [["closed", t("joinClosed")], ["approval", t("joinApproval")], ["open", t("joinOpen")]], set("join")),
    switchRow(t("listed"), settings.listed ?? false, set("listed")),
    selectRow(t("historyFor"), settings.history ?? "all", [["all", t("historyAll")], ["join", t("historyJoin")]], set("history")),
    h("h3", {}, t("messages")),
    selectRow(t("slowMode"), settings.slow ?? 0, spans(SLOW, settings.slow ?? 0), number("slow")),
    selectRow(t("disappearing"), settings.expire ?? 0, spans(EXPIRIES, settings.expire ?? 0), number("expire")),
    switchRow(t("showReceipts"), settings.receipts ?? true, set("receipts"))), { label: "scrolls" });
}

export function chooseExpiry(state, head) {
  const before = head.settings?.expire ?? 0;
  const dialog = openDialog(t("disappearing"), h("div", { class: "dialog-body" }, h("p", { class: "small muted" }, t("disappearingHint")), selectRow(t("disappearAfter"), before, spans(EXPIRIES, before), async (value) => {
    try {
      await state.setConversation(head.conv, { settings: { expire: Number(value) } });
      return undefined;
    } catch (error) {
      if (["unsupported", "forbidden", "bad_request"].includes(error.code)) {
        refuseExpiry(head.kind);
        dialog.close();
      }
      toast(errorText(error), { role: "alert" });
      return false;
    }
  })));
}
