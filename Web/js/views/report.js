// Reports to the operators of the server.

import { h } from "./dom.js";
import { openDialog } from "./dialog.js";
import { submitting } from "./fields.js";
import { attempt, toast } from "./toast.js";
import { userName } from "./model.js";
import { t } from "../i18n/index.js";

const REASONS = { spam: "reasonSpam", abuse: "reasonAbuse", violence: "reasonViolence", illegal: "reasonIllegal", impersonation: "reasonImpersonation", other: "reasonOther" };
const LONGEST = 1000;

/**
 * Asks for a reason and a text, and reports messages (`conv`, `seqs`), a conversation or a user.
 */
export function report(app, { conv, seqs, user }) {
  const { state } = app;
  const error = h("p", { class: "form-error", role: "alert" });
  const text = h("textarea", { class: "input", rows: "3", maxlength: String(LONGEST) });
  const send = h("button", { type: "submit", class: "button dangerous" }, t("report"));
  const reasons = h("fieldset", { class: "group" }, h("legend", {}, t("reportReason")), Object.entries(REASONS).map(([reason, label]) =>
    h("label", { class: "choice" }, h("input", { type: "radio", name: "reason", value: reason }), t(label))));
  const form = h("form", { onsubmit: submitting(send, async () => {
    const reason = new FormData(form).get("reason");
    if (!reason) {
      error.textContent = t("chooseReason");
      reasons.querySelector("input").focus();
      return;
    }
    if (await attempt(state.report({ conv, seqs, user, reason, text: text.value.trim() })) === undefined) return;
    dialog.close();
    toast(t("reported"));
  }) },
  h("div", { class: "dialog-body" }, h("p", { class: "small muted" }, t("reportHint")), reasons, error, h("label", { class: "field" }, t("reportText"), text)),
  h("div", { class: "dialog-foot" }, h("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, t("cancel")), send));
  const dialog = openDialog(user ? t("reportNamed", { name: userName(state, user) }) : t("report"), form, { label: "scrolls" });
  reasons.querySelector("input").focus();
}
