// The actions on messages: menu, reply, forward, edit, recall, reactions, selection.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { addressOf } from "./address.js";
import { emojiPicker } from "./emojipicker.js";
import { partsOf, pictureRows } from "./albums.js";
import { withPanels } from "./later.js";
import { closeMenu, openMenu } from "./menu.js";
import { confirm } from "./dialog.js";
import { attempt, toast } from "./toast.js";
import { canWrite, errorText, eventText, gone, headTitle, isAdmin, isGroup, permits, showsVoters } from "./model.js";
import { chooseConversation } from "./pickers.js";
import { canCall } from "../calls/center.js";
import { showsReceipts } from "../core/receipts.js";
import { QUICK_REACTIONS } from "../text/emoji.js";
import { t } from "../i18n/index.js";

const EDITABLE = new Set(["text", "image", "video", "audio", "file"]);

const QUESTIONS = { pair: "recallQuestionPair", self: "recallQuestionSelf" };

/** Returns an anchor that remains valid when the row of the menu is rendered again. */
const anchorOf = (anchor) => {
  if (!(anchor instanceof Element)) return anchor;
  const { left, bottom } = anchor.getBoundingClientRect();
  return { x: left, y: bottom };
};

export class ThreadActions {
  constructor(view) {
    this.view = view;
    this.state = view.state;
    this.id = view.id;
    this.openUser = (name) => view.app.openProfile(name);
    this.openPicture = (row) => withPanels(({ openViewer }) => openViewer(this.state, row, { rows: pictureRows(this.state, view.rows) }));
    this.nextVoice = (row) => view.rows.slice(view.rows.findIndex((each) => each.key === row.key) + 1).find((each) => each.kind === "audio" && each.body?.voice && !gone(this.state, each)) ?? null;
    this.openThread = (row) => view.app.openConversation(this.id, row.thread ? { thread: row.thread, seq: row.seq } : { thread: row.seq });
    this.jump = (seq) => view.jumpTo(seq);
    this.reason = (error) => errorText(error);
  }

  /** Starts a call, or null while the user cannot call. */
  get call() {
    const { app, head, id, isBlocked } = this.view;
    const { calls } = app.owner ?? {};
    return calls && head && canCall(head) && !isBlocked ? (media) => calls.start(id, media === "video" ? "video" : "audio") : null;
  }

  menu(row, anchor) {
    const { view, state } = this;
    const { head } = view;
    const alive = !gone(state, row);
    const stored = Boolean(row.seq);
    const mine = new Set(row.mine?.reactions ?? []);
    const pinned = head.pins?.includes(row.seq);
    const limits = state.session.limits ?? {};
    const age = (state.now - (row.at ?? state.now)) / 1000;
    const text = alive ? row.body?.text : null;
    const writes = canWrite(head, state.now) && !view.isBlocked;
    const failed = row.status === "failed";
    openMenu(anchor, [
      failed && { icon: "undo", label: t("retry"), run: () => this.retry(row) },
      failed && { icon: "trash", label: t("discard"), danger: true, run: () => this.discard(row) },
      stored && alive && writes && { icon: "reply", label: t("reply"), run: () => this.reply(row) },
      stored && alive && writes && isGroup(head) && view.thread === null && { icon: "thread", label: t("replyInThread"), run: () => this.openThread(row) },
      stored && row.own && alive && EDITABLE.has(row.kind) && age < (limits.edit_seconds ?? 172_800) && { icon: "edit", label: t("edit"), run: () => this.edit(row) },
      stored && row.own && alive && row.body?.preview && age < (limits.edit_seconds ?? 172_800) && { icon: "close", label: t("removePreview"), run: () => attempt(state.removePreview(this.id, row.seq)) },
      stored && alive && head.state !== "left" && { icon: "smile", label: t("react"), run: () => emojiPicker(anchorOf(anchor), (face) => { closeMenu(); this.react(row, face, false); }) },
      stored && alive && row.kind === "poll" && !row.body?.closed && (row.body?.closes_at ?? Infinity) > state.now && row.own && { icon: "check", label: t("pollClose"), run: () => attempt(state.closePoll(this.id, row.seq)) },
      stored && alive && row.state === "edited" && { icon: "clock", label: t("editHistory"), run: () => this.showEdits(row) },
      stored && alive && row.reactions?.length > 0 && { icon: "smile", label: t("whoReacted"), run: () => this.showReactions(row) },
      stored && alive && showsVoters(row, state.now) && { icon: "poll", label: t("whoVoted"), run: () => this.showVotes(row) },
      text && { icon: "copy", label: t("copyText"), run: () => this.copy(text) },
      stored && { icon: "link", label: t("copyLink"), run: () => this.copy(new URL(addressOf(this.id, row.seq, view.thread), location.href).href) },
      stored && alive && row.kind !== "call" && { icon: "forward", label: t("forward"), run: () => this.forward([row]) },
      stored && alive && permits(head, "pin", "admins") && { icon: "pin", label: t(pinned ? "unpin" : "pin"), run: () => attempt(state.pin(this.id, row.seq, pinned)) },
      stored && row.own && isGroup(head) && showsReceipts(head) && { icon: "eye", label: t("readBy"), run: () => withPanels(({ showReaders }) => showReaders(view.app, this.id, row.seq)) },
      stored && { icon: "select", label: t("select"), run: () => this.toggle(row) },
      null,
      stored && { icon: "trash", label: t("hide"), danger: true, run: () => this.hide([row]) },
      stored && alive && (isAdmin(head) || (row.own && age < (limits.recall_seconds ?? 172_800))) && { icon: "undo", label: t("recall"), danger: true, run: () => this.recall(row) },
      stored && !row.own && { icon: "warning", label: t("report"), danger: true, run: () => view.app.report({ conv: this.id, seqs: [row.seq], user: row.sender }) },
    ], {
      label: t("messageActions"),
      quick: stored && alive && view.head.state !== "left" ? {
        items: QUICK_REACTIONS.map((face) => ({ face, checked: mine.has(face), label: t("reactWith", { emoji: face }) })),
        run: (face) => this.react(row, face, mine.has(face)),
      } : null,
    });
  }

  reply(row) {
    this.view.composer?.reply(row);
  }

  edit(row) {
    this.view.composer?.edit(row);
  }

  react(row, key, remove) {
    return attempt(this.state.react(this.id, row.seq, key, remove));
  }

  showEdits(row) {
    return withPanels(({ showEdits }) => showEdits(this.view.app, this.id, row.seq));
  }

  showReactions(row) {
    return withPanels(({ showReactions }) => showReactions(this.view.app, this.id, row));
  }

  showVotes(row) {
    return withPanels(({ showVotes }) => showVotes(this.view.app, this.id, row));
  }

  vote(row, options) {
    return attempt(this.state.vote(this.id, row.seq, options));
  }

  retry(row) {
    return attempt(this.state.retry(row.key));
  }

  discard(row) {
    return attempt(this.state.discard(row.key));
  }

  async copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = h("textarea", { class: "visually-hidden", value: text });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    toast(t("copied"), { seconds: 2 });
  }

  async recall(row) {
    if (!(await confirm(t(QUESTIONS[this.view.head.kind] ?? "recallQuestion"), { yes: t("recall"), dangerous: true, detail: eventText(this.state, row).slice(0, 160) }))) return;
    for (const part of partsOf(row)) await attempt(this.state.recall(this.id, part.seq));
  }

  async hide(chosen) {
    const rows = chosen.flatMap(partsOf);
    const local = rows.filter((row) => !row.seq);
    for (const row of local) await this.discard(row);
    const seqs = rows.filter((row) => row.seq).map((row) => row.seq);
    if (!seqs.length || !(await confirm(t("hideQuestion", { n: seqs.length }), { yes: t("delete"), dangerous: true }))) return;
    await attempt(this.state.hide(this.id, seqs));
    this.clearSelection();
  }

  async forward(rows) {
    const chosen = rows.flatMap(partsOf).filter((row) => row.seq && !gone(this.state, row) && row.kind !== "call");
    if (chosen.length === 0) return;
    const switches = { ...(chosen.length > 1 && { bundle: t("forwardMerged") }), anonymous: t("forwardAnonymous"), silent: t("sendSilently") };
    const target = await chooseConversation(this.view.app, t("forwardTo"), { switches });
    if (!target) return;
    const seqs = chosen.map((row) => row.seq).sort((one, other) => one - other);
    const title = target.bundle ? headTitle(this.state, this.view.head).slice(0, 100) : undefined;
    const { bundle, anonymous, silent } = target;
    const sent = await attempt(this.state.forward(target.conv, this.id, seqs, { bundle: bundle || undefined, title, anonymous: anonymous || undefined, silent: silent || undefined }));
    if (sent === undefined) return;
    this.clearSelection();
    this.view.app.openConversation(target.conv);
  }

  // Selection

  toggle(row) {
    const { selected } = this.view;
    if (selected.has(row.key)) selected.delete(row.key);
    else if (row.seq) selected.set(row.key, row);
    this.view.updateSelection();
  }

  clearSelection() {
    if (!this.view.selected.size) return;
    this.view.selected.clear();
    this.view.updateSelection();
  }

  selectionBar() {
    const rows = [...this.view.selected.values()].sort((one, other) => one.seq - other.seq);
    const texts = rows.filter((row) => row.body?.text && !gone(this.state, row)).map((row) => row.body.text);
    const button = (name, label, run, danger = false) => h("button", { type: "button", class: `icon-button${danger ? " danger" : ""}`, "aria-label": label, title: label, onclick: run }, icon(name));
    return h("div", { class: "selection-bar", role: "toolbar", "aria-label": t("messageActions") },
      button("close", t("cancel"), () => this.clearSelection()),
      h("strong", { class: "grow" }, t("selectedCount", { n: rows.length })),
      texts.length ? button("copy", t("copyText"), () => this.copy(texts.join("\n"))) : null,
      button("forward", t("forward"), () => this.forward(rows)),
      button("trash", t("hide"), () => this.hide(rows), true));
  }
}
