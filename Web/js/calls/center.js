// The calls of this tab: the ringing calls, the running call, and their states in the log.

import { Call } from "./call.js";
import { isFinal } from "./machine.js";

const LEAVING = new Set(["member.leave", "member.remove", "member.ban"]);
const RING_TIME = 60_000; // ms, the same as in the server
const LONGEST_GROUP = 32; // the maximum number of members of a group with calls; at most four devices take part in a call

/** Returns whether the user can start a call in a conversation, or join the running one. */
export const canCall = (head) => (!head.state || head.state === "joined") && (head.kind === "pair" || (head.kind === "group" && (head.members ?? 0) <= LONGEST_GROUP))
  && head.role !== "reader" && head.role !== "guest" && ((head.role ?? "member") !== "member" || head.call || head.settings?.write !== "admins") && !(head.silenced_until > Date.now());

export class CallCenter {
  /** The call of this tab, which is kept until `dismiss` after its end. */
  current = null;
  #listeners = new Set();
  #isTelling = false;
  #ringTimer = null;
  #departure = Promise.resolve(); // the last report that this device has left a call

  constructor(state) {
    this.state = state;
    state.oncall = (conv, events) => { for (const event of events) this.#event(conv, event); };
    state.onsignal = (signal) => this.#signal(signal);
    let isOnline = state.connection?.state === "online";
    state.subscribe("connection", () => {
      const was = isOnline;
      isOnline = state.connection?.state === "online";
      if (isOnline && !was) this.#online();
    });
    state.subscribe("session", () => { if (state.session.phase === "signedOut") this.current?.leave("ended"); });
    state.subscribe("conversations", () => this.#checkMembership());
    addEventListener("online", () => this.current?.restartICE());
    navigator.connection?.addEventListener?.("change", () => this.current?.restartICE());
    addEventListener("pagehide", ({ persisted }) => {
      if (!persisted) this.#closed();
      for (const peer of this.current?.peers.values() ?? []) peer.close();
    });
    if (isOnline) this.#online();
  }

  get isBusy() { return this.current !== null && !this.current.isOver; }

  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  changed() {
    if (this.#isTelling) return;
    this.#isTelling = true;
    queueMicrotask(() => {
      this.#isTelling = false;
      for (const listener of [...this.#listeners]) listener();
    });
  }

  over(call) {
    if (this.current === call) clearTimeout(this.#ringTimer);
    this.changed();
  }

  /** Removes the call after its end was shown. */
  dismiss() {
    if (!this.current?.isOver) return;
    this.current = null;
    this.changed();
  }

  // --- Actions of the user ---

  /**
   * Starts a call, or joins the running one. `media` is "audio" or "video". Throws a MediaError, or
   * the refusal of the server.
   */
  async start(conv, media) {
    if (this.isBusy) throw Object.assign(new Error(), { code: "call_busy" });
    const head = this.state.conversation(conv);
    const call = this.#begin(new Call(this, { conv, media, isGroup: head.kind !== "pair", phase: "starting", caller: this.state.account.name }));
    try {
      await Promise.all([call.local.open({ video: media === "video" }), call.prepare()]);
      await this.#departure;
      if (call.isOver) return;
      const answer = await this.state.startCall(conv, media).catch((error) => { throw error.code === "unsupported" ? Object.assign(error, { code: "call_backend" }) : error; });
      call.seq = answer.call;
      if (call.isOver) return await this.#depart(call);
      const event = await this.state.callEvent(conv, call.seq);
      const action = call.machine.started(!event || (event.sender === this.state.account.name && event.body?.state === "ringing"));
      if (action === "accept") {
        call.caller = event.sender;
        call.media = event.body?.media ?? media;
        if (isFinal(event.body?.state)) return call.told(event.body.state, false);
        return await this.#join(call, true);
      }
      this.#ringUntil(call);
      call.act(action);
      if (event) call.told(event.body?.state, false);
    } catch (error) {
      call.act(call.machine.ended("failed"));
      this.dismiss();
      throw error;
    }
  }

  /** Answers the ringing call. `video`: whether to open the camera, false by default. */
  async answer({ video = false } = {}) {
    const call = this.current;
    if (call?.machine.answered() !== "accept") return;
    clearTimeout(this.#ringTimer);
    this.changed();
    try {
      await Promise.all([call.local.open({ video }), call.prepare()]);
      if (!call.isOver) await this.#join(call, call.isGroup);
    } catch (error) {
      call.machine.answerFailed();
      if (call.phase === "incoming") call.releaseMedia();
      this.#ringUntil(call);
      this.changed();
      throw error;
    }
  }

  /**
   * Sends the answer. `isOpen`: whether several devices of the user may join. In a pair, only the
   * first device that answers joins the call.
   */
  async #join(call, isOpen) {
    await this.#departure;
    // A retry has the same id, so the server's answer to it also indicates whether this device was
    // the first.
    const answer = await this.state.updateCall(call.conv, call.seq, "accepted", `accept-${call.session}`);
    if (call.isOver) return this.#depart(call);
    if (answer.seq === undefined) {
      const event = await this.state.callEvent(call.conv, call.seq);
      if (event && isFinal(event.body?.state)) return call.told(event.body.state, false);
    }
    const action = call.machine.joined(isOpen || answer.seq !== undefined);
    call.act(action);
    if (action === "connect") call.join();
  }

  /** Declines the ringing call; in a group, only for this user. */
  async decline(state = "declined") {
    const call = this.current;
    if (!call?.machine.rings) return;
    call.act(call.machine.ended("declined"));
    this.dismiss();
    await this.#report(call, state);
  }

  /** Ends the call. In a group, leaves the call, which the server ends after the last device. */
  async hangUp(reason = "hungUp") {
    const call = this.current;
    if (!call || call.isOver) return;
    call.leave(reason);
    if (call.seq !== null) await this.#depart(call);
  }

  /**
   * Reports that this device leaves or ends a call. A later call waits for the report, because the
   * server must not receive the report after the device has joined again.
   */
  #depart(call) {
    const departure = this.#departure.then(() => this.#report(call, "ended"));
    this.#departure = departure;
    return departure;
  }

  /**
   * Handles the close or reload of the page. The connected devices are notified, and in a pair the
   * other one ends the call unless this page joins again soon. If no device is connected, the page
   * ends the call; in a group, it leaves the call.
   */
  #closed() {
    const { current: call } = this;
    if (!call || call.isOver || call.seq === null || !["outgoing", "active"].includes(call.phase)) return;
    call.announceLeaving();
    if (!call.isGroup && call.peers.size) return;
    // The report is sent twice, because a browser may drop one of the two requests. They have the
    // same id, so the server processes only one.
    const id = `end-${call.session}`;
    this.state.updateCall(call.conv, call.seq, "ended", id).catch(() => {});
    const body = JSON.stringify({ id, conv: call.conv, call: call.seq, state: "ended" });
    fetch("/api/chat/call.update", { method: "POST", keepalive: true, headers: { "Content-Type": "application/json", "Chat-Session": "cookie" }, body }).catch(() => {});
  }

  lost(call, reason = "lost") {
    if (this.current === call) this.hangUp(reason).catch((error) => console.warn(error));
  }

  async #report(call, state) {
    try {
      await this.state.updateCall(call.conv, call.seq, state);
    } catch (error) {
      if (error.code !== "not_found") console.warn("call:", error.message); // the server ends a call without devices
    }
  }

  // --- Events of other devices ---

  #begin(call) {
    clearTimeout(this.#ringTimer);
    this.current = call;
    this.changed();
    return call;
  }

  #event(conv, event) {
    if (event.kind === "call") return this.#rings(conv, event);
    const call = this.current;
    if (call?.conv !== conv) return;
    if (LEAVING.has(event.kind)) return call.dismissed(event.body?.users ?? event.users ?? [event.sender]);
    if (event.kind !== "call.update" || event.ref === undefined || call.seq !== event.ref) return;
    call.told(event.body?.state, event.sender === this.state.account?.name, event.at);
  }

  #rings(conv, event) {
    const { state } = this;
    if (event.state || event.body?.state !== "ringing" || event.sender === state.account?.name || state.now - event.at > RING_TIME) return;
    const head = state.conversation(conv);
    if (!head) return;
    // The page does not support calls over a media server.
    if (event.body.backend) return this.onforeign?.();
    const call = this.current;
    if (call && !call.isOver) {
      // If two users call each other, the answer to `call.start` contains the call that remains.
      if (call.conv !== conv && head.kind === "pair") this.#report({ conv, seq: event.seq }, "busy");
      return;
    }
    const ring = this.#begin(new Call(this, { conv, seq: event.seq, media: event.body.media === "video" ? "video" : "audio", isGroup: head.kind !== "pair", phase: "incoming", caller: event.sender }));
    this.#ringUntil(ring, event.at + RING_TIME - state.now);
  }

  /**
   * Ends the ringing after `left` ms and 3 s. The server usually ends it first. The timer is needed
   * if its event is lost, and in a group whose call other members have answered.
   */
  #ringUntil(call, left = RING_TIME) {
    clearTimeout(this.#ringTimer);
    this.#ringTimer = setTimeout(() => {
      if (call.phase === "incoming") {
        call.act(call.machine.told("missed", false));
        this.dismiss();
      } else if (call.phase === "outgoing") this.hangUp("noAnswer");
    }, Math.max(0, left) + 3000);
  }

  /** Ends the call when the user is no longer a member of the conversation. */
  #checkMembership() {
    const call = this.current;
    if (!call || call.isOver || !this.state.account) return;
    const head = this.state.conversation(call.conv);
    if (!head || (head.state && head.state !== "joined")) call.leave("ended");
  }

  #signal(signal) {
    const call = this.current;
    if (call && call.conv === signal.conv && call.seq === signal.call) call.received(signal);
  }

  /**
   * Handles a reconnection: states in the log may have been missed, and a restarted server does not
   * know the devices of the call.
   */
  async #online() {
    const call = this.current;
    if (call && !call.isOver && call.seq !== null) {
      const event = await this.state.callEvent(call.conv, call.seq).catch(() => null);
      // In a pair, a call that rings here can only have been answered by a device of this user.
      if (event) call.told(event.body?.state, call.phase === "incoming" && !call.isGroup);
      if (!call.isOver && call.phase === "active") {
        await this.state.updateCall(call.conv, call.seq, "accepted").catch(() => {});
        call.resume();
      }
    }
    if (!this.isBusy) await this.#findRinging();
  }

  /** Finds a call that began to ring before this page was loaded or connected. */
  async #findRinging() {
    for (const head of this.state.conversations({ filter: "everything" })) {
      if (!head.call || this.isBusy) continue;
      const event = await this.state.callEvent(head.conv, head.call).catch(() => null);
      if (event && !this.isBusy) this.#rings(head.conv, event);
    }
  }
}
