// Records a voice message in the composer: hold the button and release it to send, or press it to
// record without holding. Sliding up locks the recording; sliding to the side or Escape cancels it.

import { announce, h, Scope } from "./dom.js";
import { icon } from "./icons.js";
import { toast } from "./toast.js";
import { canRecord, recordVoice } from "../media/recorder.js";
import { duration } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const HOLD = 350; // ms, after which a release sends the recording
const CANCEL = 90; // px, the distance to the side that cancels
const LOCK = 70; // px, the distance upwards that locks
const LONGEST = 15 * 60_000; // ms; then the recording pauses and waits to be sent
const SHORTEST = 400; // ms; a shorter recording is discarded
const BARS = 40;

/** Returns the effect of sliding a held button by `x` and `y` px: "cancel", "lock" or null. */
export function slide(x, y, isRightToLeft = false) {
  if ((isRightToLeft ? x : -x) > CANCEL) return "cancel";
  return -y > LOCK ? "lock" : null;
}

export class VoiceBar {
  #phase = "idle"; // "starting", "held", "locked"
  #recording = null;
  #attempt = 0;
  #scope = new Scope();
  #pressed = null;

  /**
   * `send(recording)` receives the recording; `changed()` is called when the bar opens or closes;
   * `focus()` moves the focus back to the composer.
   */
  constructor({ send, changed, focus }) {
    Object.assign(this, { send, changed, focus });
    this.button = h("button", { type: "button", id: "record", class: "send", "aria-label": t("recordVoice"), title: t("recordHint"), hidden: !canRecord() }, icon("voice"));
    this.time = h("span", { class: "time", role: "timer" });
    this.bars = h("span", { class: "wave", "aria-hidden": "true" });
    this.hint = h("span", { class: "hint small muted" });
    this.element = h("div", { class: "record-strip", role: "group", "aria-label": t("recording"), hidden: true },
      h("button", { type: "button", class: "icon-button danger", "aria-label": t("recordCancel"), onclick: () => this.cancel() }, icon("trash")),
      h("span", { class: "record-dot" }), this.time, this.bars, this.hint);
    this.button.addEventListener("pointerdown", (event) => this.#press(event));
    this.button.addEventListener("pointermove", (event) => this.#move(event));
    this.button.addEventListener("pointerup", (event) => this.#release(event));
    this.button.addEventListener("pointercancel", () => this.#pressed && this.cancel());
    this.button.addEventListener("contextmenu", (event) => event.preventDefault());
    // The keyboard and assistive technology cause a click without a pointer.
    this.button.addEventListener("click", (event) => { if (event.detail === 0 && this.#phase === "idle") this.#begin("locked"); });
  }

  get isAvailable() { return canRecord(); }
  get isActive() { return this.#phase !== "idle"; }
  get isLocked() { return this.#phase === "locked"; }

  close() {
    this.cancel({ quiet: true });
  }

  async #begin(phase) {
    const attempt = (this.#attempt += 1);
    this.#phase = "starting";
    this.#scope.listen(document, "keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      this.cancel();
    }, { capture: true });
    this.bars.replaceChildren();
    this.time.textContent = duration(0);
    this.#show(phase);
    try {
      const recording = await recordVoice((level) => this.#level(level));
      if (attempt !== this.#attempt) return recording.cancel();
      this.#recording = recording;
    } catch (error) {
      console.warn(error);
      if (attempt !== this.#attempt) return;
      this.#end();
      toast(t(error.name === "NotAllowedError" ? "microphoneRefused" : "microphoneFailed"), { role: "alert" });
      return;
    }
    // If the button was released while the browser asked for permission, the recording does not
    // depend on it.
    this.#show(phase === "held" && this.#pressed ? "held" : "locked");
    announce(t("recording"));
    const clock = setInterval(() => this.#tick(), 200);
    this.#scope.add(() => clearInterval(clock));
  }

  #show(phase) {
    if (this.#recording) this.#phase = phase;
    this.element.hidden = false;
    this.element.classList.toggle("held", phase === "held");
    this.hint.textContent = t(phase === "held" ? "recordSlide" : "recordLocked");
    this.changed();
    if (this.#phase === "locked") this.focus();
  }

  #tick() {
    const time = this.#recording?.duration ?? 0;
    this.time.textContent = duration(time);
    if (time >= LONGEST) this.#recording.pause();
  }

  #level(level) {
    this.bars.append(h("i", { style: { height: `${Math.round(12 + level * 88)}%` } }));
    while (this.bars.children.length > BARS) this.bars.firstElementChild.remove();
  }

  // The held button

  #press(event) {
    if (event.button !== 0 || this.isActive) return;
    event.preventDefault();
    this.#pressed = { x: event.clientX, y: event.clientY, at: performance.now() };
    try { this.button.setPointerCapture(event.pointerId); } catch { /* the pointer has gone */ }
    this.#begin("held");
  }

  #move(event) {
    if (!this.#pressed || this.#phase !== "held") return;
    const [x, y] = [event.clientX - this.#pressed.x, event.clientY - this.#pressed.y];
    const action = slide(x, y, getComputedStyle(this.element).direction === "rtl");
    this.element.style.setProperty("--slide", `${Math.max(-CANCEL, Math.min(0, x))}px`);
    if (action === "cancel") this.cancel();
    else if (action === "lock") {
      this.#pressed = null;
      this.#show("locked");
      announce(t("recordLocked"));
    }
  }

  #release() {
    const pressed = this.#pressed;
    this.#pressed = null;
    if (!pressed || this.#phase !== "held") return;
    if (performance.now() - pressed.at < HOLD) this.#show("locked");
    else this.finish();
  }

  // The end

  /** Ends the recording and passes it to `send`, unless it is too short. */
  async finish() {
    const recording = this.#recording;
    if (!recording) return;
    this.#end();
    const made = await recording.finish();
    if (made.duration < SHORTEST || made.file.size === 0) toast(t("recordShort"));
    else this.send(made);
  }

  cancel({ quiet = false } = {}) {
    if (!this.isActive) return;
    this.#recording?.cancel();
    this.#end();
    if (quiet) return;
    announce(t("recordCancelled"));
    this.focus();
  }

  #end() {
    this.#attempt += 1;
    this.#recording = null;
    this.#pressed = null;
    this.#phase = "idle";
    this.#scope.close();
    this.element.hidden = true;
    this.element.classList.remove("held");
    this.element.style.removeProperty("--slide");
    this.changed();
  }
}
