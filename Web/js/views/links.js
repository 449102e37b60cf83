// The invite links of a group: the list, the revocation of links, and new links with an expiry, a
// maximum number of uses, a role, and optional approval.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { confirm, openDialog, selectRow, switchRow } from "./dialog.js";
import { submitting } from "./fields.js";
import { attempt, toast } from "./toast.js";
import { copyText } from "./clipboard.js";
import { roleName, userName } from "./model.js";
import { shortDate, span } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const ENDS = [0, 3_600, 86_400, 7 * 86_400, 30 * 86_400];
const USES = [0, 1, 5, 10, 50, 100, 1000];

export const linkAddress = (code) => new URL(`/join#${code}`, location.href).href;

/** The block of the invite links in the details of a group. */
export class LinkList {
  constructor(state, conv) {
    this.state = state;
    this.conv = conv;
    this.list = h("ul", {});
    this.make = h("button", { type: "button", class: "button", onclick: () => this.#create() }, icon("link"), t("newLink"));
    this.element = h("div", { class: "block" }, h("h3", {}, t("inviteLinks")), this.list, this.make);
    this.update();
  }

  async update() {
    const links = await this.state.links(this.conv).catch(() => []);
    replace(this.list, links.length ? links.map((link) => this.#row(link)) : h("li", { class: "small muted" }, t("noLinks")));
  }

  #row(link) {
    const address = linkAddress(link.code);
    const isOver = (link.expires_at && link.expires_at < Date.now()) || (link.uses && link.used >= link.uses);
    const facts = [link.uses ? t("linkUses", { used: link.used ?? 0, n: link.uses }) : t("linkUsed", { n: link.used ?? 0 }),
      link.expires_at ? t("linkExpires", { time: shortDate(link.expires_at) }) : t("linkForever"), link.role && link.role !== "member" ? roleName(link.role) : null, t("linkBy", { name: userName(this.state, link.by) })];
    return h("li", { class: "link-row" },
      h("div", { class: "lines" }, h("div", { class: `ellipsis${isOver ? " muted" : ""}`, title: address }, address.split("/").at(-1)), h("div", { class: "small muted" }, facts.filter(Boolean).join(" · "))),
      h("button", { type: "button", class: "icon-button", "aria-label": t("copyLink"), title: t("copyLink"), onclick: () => copyText(address) }, icon("copy")),
      h("button", { type: "button", class: "icon-button danger", "aria-label": t("revoke"), title: t("revoke"), onclick: async () => {
        if (!(await confirm(t("revokeQuestion"), { yes: t("revoke"), dangerous: true }))) return;
        await attempt(this.state.revokeLink(this.conv, link.code));
        this.update();
        this.make.focus();
      } }, icon("trash")));
  }

  #create() {
    const values = { ends: 7 * 86_400, uses: 0, role: "member", approval: false };
    const set = (name) => (value) => { values[name] = name === "role" ? value : Number(value); };
    const save = h("button", { type: "submit", class: "button primary" }, t("createLink"));
    const form = h("form", { onsubmit: submitting(save, async () => {
      const link = await attempt(this.state.createLink(this.conv, { role: values.role, approval: values.approval, uses: values.uses || undefined, expires_at: values.ends ? Date.now() + values.ends * 1000 : undefined }));
      if (!link) return;
      dialog.close();
      this.update();
      copyText(linkAddress(link.code));
    }) },
    h("div", { class: "dialog-body rows" },
      selectRow(t("linkEnds"), values.ends, ENDS.map((seconds) => [seconds, seconds ? t("linkAfter", { time: span(seconds) }) : t("never")]), set("ends")),
      selectRow(t("linkMost"), values.uses, USES.map((uses) => [uses, uses ? t("peopleCount", { n: uses }) : t("unlimited")]), set("uses")),
      selectRow(t("linkRole"), values.role, ["member", "reader", "guest"].map((role) => [role, roleName(role)]), set("role")),
      switchRow(t("linkApproval"), false, (on) => { values.approval = on; }),
      h("p", { class: "small muted" }, t("linkHint"))),
    h("div", { class: "dialog-foot" }, h("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, t("cancel")), save));
    const dialog = openDialog(t("newLink"), form);
  }
}
