// The composer: text, reply and edit bars, attachments, drafts.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { Completion } from "./completion.js";
import { emojiPicker } from "./emojipicker.js";
import { openMenu } from "./menu.js";
import { withPanels } from "./later.js";
import { sendFiles } from "./sendfiles.js";
import { ScheduledLine } from "./scheduledline.js";
import { SlowLine } from "./slowmode.js";
import { attempt, toast } from "./toast.js";
import { Tray } from "./tray.js";
import { VoiceBar } from "./voicebar.js";
import { actorName, eventText, isGroup, permits, userName } from "./model.js";
import { parseMarkdown } from "../text/markdown.js";
import { shortDate, span } from "../i18n/format.js";
import { t } from "../i18n/index.js";

/** Ignores the failure of a request. */
const quietly = (promise) => promise?.catch?.(() => {});

export class Composer {
  #reply = null;
  #edit = null;
  #draftTimer = 0;
  #saved = null; // the draft that was saved last
  #typingAt = -Infinity;
  #isTouched = false; // whether the user has edited the text; until then, the input shows the draft of other devices
  #turn = Promise.resolve(); // messages are sent in the order in which they were written

  constructor(view) {
    this.view = view;
    this.state = view.state;
    this.id = view.id;
    this.#build();
    this.completion = new Completion(this);
    this.#showDraft();
    this.#update();
  }

  #showDraft() {
    if (this.view.thread !== null || this.#edit) return;
    const draft = this.state.draft(this.id);
    // If there is no text, no reply and no stored draft, the input shows the drafts of other
    // devices again.
    if (!this.text && !this.#reply && !draft?.text) this.#isTouched = false;
    if (this.#isTouched || (draft?.text ?? "") === this.text) return;
    this.input.value = draft?.text ?? "";
    this.#reply = draft?.ref && this.view.head ? this.state.event?.(this.id, draft.ref) ?? null : null;
    this.#update();
  }

  close() {
    clearTimeout(this.#draftTimer);
    this.#saveDraft();
    this.tray.close();
    this.voice.close();
    this.slow.close();
    this.scheduled.close();
    this.completion.dispose();
    this.element.remove();
  }

  #build() {
    this.bar = h("div", { class: "reply-bar", hidden: true });
    this.tray = new Tray(this.state, () => { this.#update(); this.focus(); });
    this.input = h("textarea", { id: "message", rows: "1", maxlength: "8000", placeholder: t("messagePlaceholder"), "aria-label": t("messagePlaceholder"), "aria-autocomplete": "list", enterkeyhint: "send" });
    this.attach = h("button", { type: "button", class: "icon-button", "aria-label": t("attach"), "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => this.#attachMenu() }, icon("paperclip"));
    this.smile = h("button", { type: "button", class: "icon-button", "aria-label": t("emoji"), "aria-haspopup": "dialog", "aria-expanded": "false", onclick: () => emojiPicker(this.smile, (face) => this.insert(face), () => this.focus()) }, icon("smile"));
    this.sendButton = h("button", { type: "submit", id: "send", class: "send", "aria-label": t("send") }, icon("send"));
    this.slow = new SlowLine(this.view);
    this.scheduled = new ScheduledLine(this.view);
    this.voice = new VoiceBar({ send: (recording) => this.#sendVoice(recording), changed: () => this.#update(), focus: () => (this.voice.isLocked ? this.sendButton : this.input).focus({ preventScroll: true }) });
    this.row = h("div", { class: "input-row" }, this.attach, this.input, this.smile, this.voice.element, this.sendButton, this.voice.button);
    this.frame = h("div", { class: "frame" }, this.scheduled.element, this.slow.element, this.bar, this.tray.element, this.row);
    this.element = h("form", { class: "composer", onsubmit: (event) => { event.preventDefault(); this.submit(); } }, this.frame, this.tray.picker);
    this.input.addEventListener("input", () => this.#changed());
    this.input.addEventListener("keydown", (event) => this.#typed(event));
    this.input.addEventListener("paste", (event) => {
      if (!event.clipboardData?.files.length) return;
      event.preventDefault();
      this.tray.add(event.clipboardData.files);
    });
    this.sendButton.addEventListener("contextmenu", (event) => { event.preventDefault(); this.#sendMenu(); });
    this.tray.accept(this.view.element, this.view.box, () => this.element.isConnected);
  }

  focus() {
    this.input.focus({ preventScroll: true });
  }

  insert(text) {
    this.input.setRangeText(text, this.input.selectionStart, this.input.selectionEnd, "end");
    this.focus();
    this.#changed();
  }

  updateHead(head) {
    this.slow.update();
    this.#showDraft();
    this.#updateButtons(head);
  }

  get text() {
    return this.input.value;
  }

  // Bars

  reply(row) {
    this.#isTouched = true;
    this.#edit = null;
    this.#reply = row;
    this.#update();
    this.focus();
  }

  edit(row) {
    withPanels(({ toMarkdown }) => {
      this.#isTouched = true;
      this.#reply = null;
      this.#edit = row;
      this.input.value = toMarkdown(row.body?.text ?? "", row.body?.entities);
      this.#update();
      this.focus();
      this.input.setSelectionRange(this.input.value.length, this.input.value.length);
    });
  }

  /** Ends the edit or reply. Returns whether there was one. */
  cancel() {
    if (this.#edit) this.input.value = this.state.draft(this.id)?.text ?? "";
    const had = this.#edit || this.#reply;
    this.#edit = null;
    this.#reply = null;
    this.#update();
    return Boolean(had);
  }

  #update() {
    const row = this.#edit ?? this.#reply;
    this.bar.hidden = !row;
    if (row) {
      replace(this.bar, icon(this.#edit ? "edit" : "reply"),
        h("span", { class: "grow" }, h("strong", {}, this.#edit ? t("editMessage") : t("replyTo", { name: actorName(this.state, row.sender) })),
          h("div", { class: "ellipsis muted" }, eventText(this.state, row).slice(0, 160))),
        h("button", { type: "button", class: "icon-button", "aria-label": t("cancel"), onclick: () => { this.cancel(); this.focus(); } }, icon("close")));
    }
    replace(this.sendButton, icon(this.#edit ? "check" : "send"));
    this.sendButton.setAttribute("aria-label", t(this.#edit ? "save" : "send"));
    this.#updateButtons();
    this.#fit();
  }

  /**
   * Updates the buttons. Without content to send, the button records a voice message if the browser
   * can.
   */
  #updateButtons(head = this.view.head) {
    const expire = head?.settings?.expire;
    this.input.placeholder = expire ? t("disappearingOn", { time: span(expire) }) : t(this.tray.isEmpty ? "messagePlaceholder" : "captionPlaceholder");
    const { isActive, isLocked, isAvailable } = this.voice;
    const isEmpty = !this.text.trim() && this.tray.isEmpty;
    const records = isAvailable && isEmpty && !this.#edit && !isLocked;
    for (const each of [this.attach, this.input, this.smile]) each.hidden = isActive;
    this.voice.button.hidden = !records;
    this.sendButton.hidden = records;
    this.sendButton.disabled = isEmpty && !isLocked;
  }

  #fit() {
    if (CSS.supports("field-sizing", "content")) return;
    this.input.style.height = "auto";
    this.input.style.height = `${Math.min(this.input.scrollHeight, innerHeight * 0.4)}px`;
  }

  // Input

  #changed() {
    this.#isTouched = true;
    this.#updateButtons();
    this.#fit();
    this.completion.update();
    if (this.text.trim() && performance.now() - this.#typingAt > 4000) {
      this.#typingAt = performance.now();
      quietly(this.state.sendTyping(this.id));
    }
    clearTimeout(this.#draftTimer);
    this.#draftTimer = setTimeout(() => this.#saveDraft(), 700);
  }

  #saveDraft() {
    if (!this.#isTouched || this.#edit || this.view.thread !== null) return;
    const { text } = this;
    const ref = this.#reply?.seq;
    const isSame = (draft) => (draft?.text ?? "") === text && draft?.ref === ref;
    // The state may not have the draft that was saved last.
    if (isSame(this.state.draft(this.id)) && (!this.#saved || isSame(this.#saved))) return;
    this.#saved = { text, ref };
    quietly(this.state.saveDraft(this.id, text, ref));
  }

  #typed(event) {
    if (event.isComposing || this.completion.typed(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey && this.view.app.preferences.enterSends) {
      event.preventDefault();
      this.submit();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.submit();
    } else if (event.key === "ArrowUp" && !this.text && !event.shiftKey) {
      const row = this.view.lastOwn();
      event.preventDefault();
      if (row) this.edit(row);
      else this.view.focusLog();
    } else if (event.key === "Escape" && this.cancel()) {
      event.preventDefault();
      event.stopPropagation();
    } else if ((event.ctrlKey || event.metaKey) && (event.key === "b" || event.key === "i")) {
      event.preventDefault();
      this.#wrap(event.key === "b" ? "**" : "*");
    }
  }

  #wrap(mark) {
    const { selectionStart: start, selectionEnd: end } = this.input;
    this.input.setRangeText(`${mark}${this.text.slice(start, end)}${mark}`, start, end, "preserve");
    this.input.setSelectionRange(start + mark.length, end + mark.length);
    this.#changed();
  }

  // Attachments

  #attachMenu() {
    withPanels(({ openAttachMenu }) => openAttachMenu(this, {
      send: async (made) => {
        const content = await made;
        if (!content) return;
        const where = this.#takeWhere();
        attempt(this.#send(content.kind, content.body, { where }));
      },
      schedule: () => this.#schedule(),
    }));
  }

  #sendMenu() {
    openMenu(this.sendButton, [
      { icon: "bellOff", label: t("sendSilently"), run: () => this.submit({ silent: true }) },
      { icon: "calendar", label: t("schedule"), run: () => this.#schedule() },
    ], { label: t("send") });
  }

  async #schedule() {
    if (!this.text.trim()) return;
    const at = await withPanels(({ scheduleTime }) => scheduleTime());
    if (at) this.submit({ at });
    this.focus();
  }

  // Sending

  #body(source) {
    const { head } = this.view;
    const names = new Map();
    for (const { user } of this.completion.members) {
      names.set(user.name.toLowerCase(), user.name);
      const shown = userName(this.state, user.name).toLowerCase();
      if (!/\s/.test(shown) && !names.has(shown)) names.set(shown, user.name);
    }
    const all = isGroup(head) && permits(head, "mention_all", "admins") ? new Set(["all", t("mentionAll").toLowerCase()]) : new Set();
    const { text, entities } = parseMarkdown(source, { mentions: names, all });
    return entities.length ? { text, entities } : { text };
  }

  submit(options = {}) {
    if (this.voice.isActive) {
      this.voice.finish();
      return;
    }
    const source = this.text;
    this.#isTouched = true;
    if (this.#edit) {
      const row = this.#edit;
      this.#edit = null;
      this.input.value = this.state.draft(this.id)?.text ?? "";
      this.#update();
      this.#inTurn(source, (body) => body.text && this.state.edit(this.id, row.seq, { ...row.body, entities: undefined, preview: undefined, forwarded: undefined, ...body }));
      return;
    }
    if (!source.trim() && this.tray.isEmpty) return;
    const files = this.tray.take();
    const where = this.#where();
    this.input.value = "";
    this.#reply = null;
    if (files.length) {
      this.#inTurn(source, (caption) => sendFiles(this.view, files, caption, { ...where, silent: options.silent }));
    } else this.#inTurn(source, (body) => body.text && this.#send("text", body, { ...options, where }));
    this.#typingAt = -Infinity;
    clearTimeout(this.#draftTimer);
    this.#saveDraft();
    this.#update();
    this.completion.close();
  }

  /**
   * Runs `work` with the body of a text, after the work for the preceding texts. Unknown names in
   * the text are requested first.
   */
  #inTurn(source, work) {
    this.#turn = this.#turn.then(async () => {
      await quietly(this.completion.resolve(source));
      await attempt(Promise.resolve(work(this.#body(source))));
    });
  }

  #sendVoice({ file, duration, wave }) {
    const body = { type: file.type, size: file.size, duration, voice: true, wave };
    attempt(this.state.send(this.id, { kind: "audio", file, body, ...this.#takeWhere() }).then(() => this.view.sent()));
  }

  #where() {
    return { ref: this.#reply?.seq, thread: this.view.thread ?? undefined };
  }

  /** Returns the reply and the thread of the next message, and ends the reply. */
  #takeWhere() {
    const where = this.#where();
    this.#reply = null;
    this.#update();
    return where;
  }

  /**
   * Sends a message. Resolves when it is queued or, with `at`, when the server has stored it for
   * that time.
   */
  async #send(kind, body, { silent, at, where }) {
    if (at) {
      await this.state.schedule(this.id, { kind, body, ...where, silent }, at);
      toast(t("scheduledFor", { time: shortDate(at) }));
      return;
    }
    await this.state.send(this.id, { kind, body, ...where, silent });
    requestAnimationFrame(() => this.view.sent());
  }
}
