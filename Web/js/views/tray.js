// The files in the composer that are not sent yet: chosen, pasted or dropped.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { toast } from "./toast.js";
import { fileSize } from "../i18n/format.js";
import { t } from "../i18n/index.js";

export class Tray {
  #entries = []; // {file, asFile, url, element}
  #asFiles = false; // whether the picker is open for files that are sent without a preview

  /** `changed` is called after each change of the files. */
  constructor(state, changed) {
    this.state = state;
    this.changed = changed;
    this.element = h("div", { class: "attachments", hidden: true });
    this.picker = h("input", { type: "file", multiple: true, hidden: true, tabindex: "-1", onchange: () => { this.add(this.picker.files, { asFiles: this.#asFiles }); this.#asFiles = false; this.picker.value = ""; } });
  }

  get isEmpty() { return this.#entries.length === 0; }

  close() {
    for (const { url } of this.#entries) if (url) URL.revokeObjectURL(url);
  }

  /**
   * Opens the file picker. `asFiles` (false by default) sends pictures as files, without a preview.
   */
  pick(accept, { asFiles = false } = {}) {
    this.#asFiles = asFiles;
    this.picker.accept = accept;
    this.picker.click();
  }

  add(files, { asFiles = false } = {}) {
    const limit = this.state.session.limits?.blob_bytes ?? 104_857_600;
    for (const file of files) {
      if (file.size > limit) {
        toast(t("errorTooLarge", { size: fileSize(limit) }), { role: "alert" });
        continue;
      }
      const entry = { file, asFile: asFiles, url: file.type.startsWith("image/") && !asFiles ? URL.createObjectURL(file) : null };
      entry.element = h("div", { class: "attachment", title: file.name }, entry.url ? h("img", { src: entry.url, alt: file.name }) : [icon(file.type.startsWith("video/") ? "video" : "file"), h("bdi", { class: "ellipsis" }, file.name), h("span", { class: "muted" }, fileSize(file.size))],
        h("button", { type: "button", "aria-label": t("removeAttachment", { name: file.name }), onclick: () => this.#remove(entry) }, icon("close")));
      this.#entries.push(entry);
      this.element.append(entry.element);
    }
    this.#tell();
  }

  /**
   * Empties the tray. Returns its files [{file, asFile}], whose object URLs remain valid for 60 s.
   */
  take() {
    const files = this.#entries.map(({ file, asFile }) => ({ file, asFile }));
    for (const { url } of this.#entries) if (url) setTimeout(() => URL.revokeObjectURL(url), 60_000);
    this.#entries = [];
    this.element.replaceChildren();
    this.element.hidden = true;
    return files;
  }

  #remove(entry) {
    this.#entries = this.#entries.filter((other) => other !== entry);
    if (entry.url) URL.revokeObjectURL(entry.url);
    entry.element.remove();
    this.#tell();
  }

  #tell() {
    this.element.hidden = this.isEmpty;
    this.changed();
  }

  /**
   * Accepts files that are dropped on `target` while `isActive()` is true, and marks `box` during
   * the drag.
   */
  accept(target, box, isActive) {
    let depth = 0;
    const mark = h("div", { class: "drop-target" }, t("dropHere"));
    const leave = () => { depth = 0; mark.remove(); };
    const has = (event) => event.dataTransfer?.types.includes("Files") && isActive();
    target.addEventListener("dragenter", (event) => { if (has(event)) { event.preventDefault(); depth += 1; box.append(mark); } });
    target.addEventListener("dragover", (event) => { if (has(event)) event.preventDefault(); });
    target.addEventListener("dragleave", () => { depth -= 1; if (depth <= 0) leave(); });
    target.addEventListener("drop", (event) => {
      if (!has(event)) return;
      event.preventDefault();
      leave();
      this.add(event.dataTransfer.files);
    });
  }
}
