// The states of a call on this device, from the ring to the end. The machine performs no I/O: its
// methods handle events and return actions. The log contains the state for all devices; this
// machine adds the state of this device.
//
//   starting ── outgoing ─┐
//                         ├─ active ── over
//   incoming ── joining ──┘
//
// Every phase can end in `over`, which is final.

const FINAL = new Set(["ended", "missed", "declined", "busy"]);

/** Returns whether a state of the log is final. Unknown states of later versions are not. */
export const isFinal = (state) => FINAL.has(state);

export class CallMachine {
  phase;
  /**
   * The reason of the end: hungUp, noAnswer, declined, busy, missed, elsewhere, ended, lost, full
   * or failed; null before the end.
   */
  reason = null;
  #isGroup;
  #isCaller;

  constructor(phase, { isGroup = false } = {}) {
    this.phase = phase;
    this.#isCaller = phase === "starting";
    this.#isGroup = isGroup;
  }

  get isOver() { return this.phase === "over"; }
  get rings() { return this.phase === "incoming"; }

  /**
   * Handles the server's answer to the start. `isOwn`: whether this user started the call, so that
   * it rings; if false, a running call is joined.
   */
  started(isOwn) {
    if (this.phase !== "starting") return "nothing";
    if (isOwn) {
      this.phase = "outgoing";
      return "ring";
    }
    this.#isCaller = false;
    this.phase = "joining";
    return "accept";
  }

  /** Handles the answer of the user. */
  answered() {
    if (this.phase !== "incoming") return "nothing";
    this.phase = "joining";
    return "accept";
  }

  /**
   * Handles an answer that could not be sent, or a microphone that could not be used. The call
   * rings again.
   */
  answerFailed() {
    if (this.phase === "joining") this.phase = "incoming";
  }

  /**
   * Handles the server's answer to an accepted call. `counts`: whether this device may take the
   * call.
   */
  joined(counts) {
    if (this.phase !== "joining") return "nothing";
    if (!counts) return this.#end("elsewhere");
    this.phase = "active";
    return "connect";
  }

  /** Handles the announcement of another device, which may precede its answer in the log. */
  connected() {
    if (this.phase !== "outgoing") return "nothing";
    this.phase = "active";
    return "connect";
  }

  /** Handles a state in the log. `isOwn`: whether a device of this user caused it. */
  told(state, isOwn) {
    if (this.isOver) return "nothing";
    if (isFinal(state)) return this.#end(this.#reasonOf(state));
    if (state !== "accepted") return "nothing";
    if (this.phase === "outgoing" && (!isOwn || this.#isGroup)) {
      this.phase = "active";
      return "connect";
    }
    // In the phase `joining`, the answer of the server determines which device was first.
    if (this.phase === "incoming" && isOwn) return this.#end("elsewhere");
    return "nothing";
  }

  #reasonOf(state) {
    if (state === "missed") return this.#isCaller ? "noAnswer" : "missed";
    return state;
  }

  /** Ends the call because the user hangs up, or for another reason. */
  ended(reason = "hungUp") { return this.isOver ? "nothing" : this.#end(reason); }

  #end(reason) {
    this.phase = "over";
    this.reason = reason;
    return "end";
  }
}
