// Shows ringing calls and the call screen, and plays the tones of the calls that the center
// reports.

import { showRing } from "./callring.js";
import { withPanels } from "./later.js";
import { attempt, toast } from "./toast.js";
import { isMuted } from "./model.js";
import { CallCenter } from "../calls/center.js";
import { ring } from "../calls/tone.js";
import { isQuiet } from "../state/notifications.js";
import { t } from "../i18n/index.js";

const SHOWN = 2500; // ms for which the end of a call is shown

export class CallsView {
  #shown = null; // the call that is shown
  #ring = null;
  #screen = null;

  constructor(app) {
    this.app = app;
    this.state = app.state;
    this.center = new CallCenter(this.state);
    this.center.subscribe(() => this.#update());
    this.center.onforeign = () => toast(t("callNeedsClient"));
  }

  get current() { return this.center.current; }

  /** Starts a call in a conversation, or joins the running one. `media` is "audio" or "video". */
  async start(conv, media) {
    if (this.center.isBusy) {
      if (this.center.current.conv === conv) return this.#screen?.setSmall(false);
      return toast(t("callOtherFirst"), { role: "alert" });
    }
    await attempt(this.center.start(conv, media));
  }

  #update() {
    const call = this.center.current;
    if (call !== this.#shown) this.#clear();
    this.#shown = call;
    this.#playTone(call);
    if (!call) return;
    const rings = call.phase === "incoming" || (this.#ring && call.phase === "joining" && !call.local.microphone);
    if (rings) this.#ring ??= showRing(this.state, this.center, call);
    else {
      this.#ring?.close();
      this.#ring = null;
    }
    if (this.#ring) return;
    if (call.isOver && !this.#screen) {
      // The call only rang on this device, and its message in the chat shows the result.
      if (call.reason === "elsewhere") toast(t("callElsewhere"));
      return queueMicrotask(() => this.center.dismiss());
    }
    withPanels(({ CallScreen }) => this.#showScreen(CallScreen, call));
  }

  #showScreen(CallScreen, call) {
    if (call !== this.center.current) return; // it ended while the screen was being loaded
    this.#screen ??= new CallScreen(this.state, this.center, call);
    this.#screen.update();
    if (call.isOver && !this.#screen.isEnding) {
      this.#screen.isEnding = true;
      setTimeout(() => { if (this.center.current === call) this.center.dismiss(); }, SHOWN);
    }
  }

  #playTone(call) {
    const head = call && this.state.conversation(call.conv);
    const isLoud = this.app.preferences.sound && head && !isMuted(head) && !isQuiet(this.state.settings ?? {});
    // The call of a user who is not a contact is shown without a tone.
    const isKnown = call?.isGroup || this.state.contact(call?.caller)?.state === "friend";
    if (call?.phase === "incoming") ring(isLoud && isKnown && this.state.port.leads ? "incoming" : null);
    else ring(call?.phase === "outgoing" && this.app.preferences.sound ? "outgoing" : null);
  }

  #clear() {
    this.#ring?.close();
    this.#screen?.close();
    this.#ring = this.#screen = null;
  }
}
