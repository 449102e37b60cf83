// The read positions and drafts of this user. They are shown immediately, and sent repeatedly until
// the server has confirmed them.

import { reading } from "./applying.js";
import { uuid } from "./requests.js";

const MARK_PAUSE = 150;
const DRAFT_PAUSE = 1000;

export class OwnValues {
  #core;
  #marks = new Map(); // conversation -> the read position
  #drafts = new Map(); // conversation -> {id, text, ref, at}

  constructor(core) { this.#core = core; }

  restore(marks, drafts) {
    this.#marks = new Map(marks ?? []);
    this.#drafts = new Map(drafts ?? []);
  }

  clear() {
    this.#marks.clear();
    this.#drafts.clear();
  }

  /**
   * Handles a server whose data was replaced: sends the drafts of `heads` again, which it may lack,
   * without the messages that they reply to, and discards the read positions. Both are positions in
   * the former logs.
   */
  requeue(heads) {
    this.#marks.clear();
    for (const { conv, own } of heads) if (own?.draft && !this.#drafts.has(conv)) this.#drafts.set(conv, { id: uuid(), ...own.draft });
    for (const [conv, { ref: _, ...draft }] of this.#drafts) this.#drafts.set(conv, draft);
    this.#saveMarks();
    this.#saveDrafts();
  }

  connected() {
    for (const conv of this.#marks.keys()) this.#sendMark(conv);
    for (const conv of this.#drafts.keys()) this.#sendDraft(conv);
  }

  /**
   * Returns a head of the server with the read position and the draft that the server has not
   * confirmed.
   */
  applied(head) {
    const marked = this.#marks.has(head.conv) ? reading(head, this.#marks.get(head.conv)) : head;
    return this.#drafts.has(head.conv) ? drafted(marked, this.#drafts.get(head.conv)) : marked;
  }

  hasDraft(conv) { return this.#drafts.has(conv); }

  mark({ conv, read }) {
    const head = this.#core.head(conv);
    if (!head || read <= (head.read ?? 0)) return {};
    this.#marks.set(conv, read);
    this.#core.putHead(conv, (each) => reading(each, Math.min(read, each.n)));
    this.#saveMarks();
    this.#core.later(`mark ${conv}`, MARK_PAUSE, () => this.#sendMark(conv));
    return {};
  }

  draft({ conv, text, ref }) {
    const draft = { id: uuid(), text, ref, at: Date.now() };
    this.#drafts.set(conv, draft);
    this.#core.putHead(conv, (head) => drafted(head, draft));
    this.#saveDrafts();
    // The removal is sent at once, because the page may be closed after a message was sent.
    this.#core.later(`draft ${conv}`, text ? DRAFT_PAUSE : 0, () => this.#sendDraft(conv));
    return {};
  }

  async #sendMark(conv) {
    const read = this.#marks.get(conv);
    if (!this.#core.isOnline || read === undefined) return;
    try {
      await this.#core.call("mark", { conv, read });
    } catch (error) {
      if (error.isTemporary) return;
    }
    if (this.#marks.get(conv) === read) this.#marks.delete(conv);
    this.#saveMarks();
  }

  async #sendDraft(conv) {
    const draft = this.#drafts.get(conv);
    if (!this.#core.isOnline || !draft) return;
    try {
      await this.#core.call("draft", { id: draft.id, conv, text: draft.text, ref: draft.ref });
    } catch (error) {
      if (error.isTemporary) return;
    }
    if (this.#drafts.get(conv) === draft) this.#drafts.delete(conv);
    this.#saveDrafts();
  }

  #saveMarks() { return this.#core.database.setMeta("marks", [...this.#marks]); }
  #saveDrafts() { return this.#core.database.setMeta("drafts", [...this.#drafts]); }
}

/** Returns the head with a draft, or without one if the draft has no text. */
export function drafted(head, draft) {
  const { draft: _, ...rest } = head.own ?? {};
  return { ...head, own: draft?.text ? { ...rest, draft: { text: draft.text, ref: draft.ref, at: draft.at ?? Date.now() } } : rest };
}

/** Returns the user's settings of a conversation after a request `own.set`. */
export function owning(before = {}, { pinned, archived, muted_until: muted, notify, marked_unread: unread, folders }) {
  const after = { ...before };
  if (pinned !== undefined) after.pinned_at = pinned ? before.pinned_at ?? Date.now() : undefined;
  if (archived !== undefined) after.archived = archived;
  if (muted !== undefined) after.muted_until = muted;
  if (notify !== undefined) after.notify = notify === "all" ? undefined : notify;
  if (unread !== undefined) after.marked_unread = unread;
  if (folders !== undefined) after.folders = folders;
  return after;
}
