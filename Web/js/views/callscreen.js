// The screen of a call: tiles, state, duration and controls. It covers the page, or occupies a
// small area in a corner.

import { announce, h } from "./dom.js";
import { icon } from "./icons.js";
import { headAvatar } from "./avatar.js";
import { OwnTile, PeerTile } from "./calltiles.js";
import { openDeviceMenu } from "./calldevices.js";
import { headTitle } from "./model.js";
import { attempt } from "./toast.js";
import { duration } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const REASONS = {
  noAnswer: "callNoAnswer", declined: "callWasDeclined", busy: "callWasBusy", missed: "callMissed", elsewhere: "callElsewhere", ended: "callOver", hungUp: "callOver",
  lost: "callLost", full: "callFull", failed: "callFailed",
};

export class CallScreen {
  #tiles = new Map(); // peer -> PeerTile
  #own = new OwnTile();
  #spoken = "";
  #corner = null; // {left, top} of the small call after the user has moved it
  #clock;

  constructor(state, center, call) {
    Object.assign(this, { state, center, call });
    const head = state.conversation(call.conv);
    this.title = headTitle(state, head);
    this.status = h("span", { class: "call-status" });
    this.face = h("div", { class: "call-face" }, headAvatar(state, head, { size: "xl", online: false }), h("h2", {}, this.title));
    this.grid = h("div", { class: "call-grid" });
    this.full = this.#button("minimize", "minimize", "callMinimize", () => this.setSmall(!this.isSmall));
    this.microphone = this.#button("microphone", "voice", "callMute", () => attempt(call.local.setMuted(call.local.state.microphone)));
    this.camera = this.#button("camera", "video", "callCameraOn", () => attempt(call.local.setCamera(!call.local.camera)));
    this.screen = this.#button("screen", "screen", "callShare", () => this.#share());
    this.devices = this.#button("devices", "settings", "callDevices", () => openDeviceMenu(this.devices, call.local, () => this.update()));
    this.picture = this.#button("picture", "mirrorPicture", "callPicture", () => attempt(this.#popOut()));
    this.hangUp = h("button", { type: "button", class: "call-button hang-up", "data-action": "hang-up", onclick: () => attempt(center.hangUp()) }, icon("hangUp"));
    this.screen.hidden = !navigator.mediaDevices?.getDisplayMedia;
    this.picture.hidden = !document.pictureInPictureEnabled;
    this.element = h("section", { class: "call-screen", role: "dialog", "aria-label": t("callWith", { name: this.title }), tabindex: "-1" },
      h("header", { class: "call-head" }, h("div", { class: "lines grow" }, h("strong", { class: "ellipsis" }, this.title), this.status), this.full),
      h("div", { class: "call-stage" }, this.face, this.grid, this.#own.element),
      h("div", { class: "call-controls", role: "toolbar", "aria-label": t("callControls") }, this.microphone, this.camera, this.screen, this.picture, this.devices, this.hangUp));
    this.element.addEventListener("keydown", (event) => this.#typed(event));
    this.element.firstChild.addEventListener("pointerdown", (event) => this.#drag(event));
    this.resized = () => this.#place(this.isSmall ? this.#corner : null);
    addEventListener("resize", this.resized);
    this.before = document.activeElement;
    document.body.append(this.element);
    this.setSmall(false);
    this.update();
    this.#clock = setInterval(() => this.#showStatus(), 500);
  }

  #button(action, symbol, label, run) {
    return h("button", { type: "button", class: "call-button", "data-action": action, "aria-label": t(label), title: t(label), onclick: run }, icon(symbol));
  }

  /** Shows the call small in a corner, so that the page can be used, or over the whole page. */
  setSmall(isSmall) {
    this.isSmall = isSmall;
    this.element.classList.toggle("small-call", isSmall);
    this.#place(isSmall ? this.#corner : null);
    if (isSmall) this.element.removeAttribute("aria-modal");
    else this.element.setAttribute("aria-modal", "true");
    document.getElementById("app").inert = !isSmall;
    this.#label(this.full, isSmall ? "maximize" : "minimize", t(isSmall ? "callMaximize" : "callMinimize"));
    if (!isSmall) this.hangUp.focus({ preventScroll: true });
    else if (this.before?.isConnected) this.before.focus({ preventScroll: true });
  }

  /** Moves the small call with the pointer, so that it covers nothing that the user reads. */
  #drag(event) {
    if (!this.isSmall || event.button !== 0 || event.target.closest("button")) return;
    const { currentTarget: handle, pointerId, clientX, clientY } = event;
    const { left, top } = this.element.getBoundingClientRect();
    const move = ({ clientX: x, clientY: y }) => this.#place((this.#corner = { left: left + x - clientX, top: top + y - clientY }));
    handle.setPointerCapture(pointerId);
    handle.addEventListener("pointermove", move);
    handle.addEventListener("lostpointercapture", () => handle.removeEventListener("pointermove", move), { once: true });
  }

  /** Places the small call within the window; without a corner, where the styles place it. */
  #place(corner) {
    const { style, offsetWidth: width, offsetHeight: height } = this.element;
    style.inset = "";
    if (!corner) return;
    const within = (value, most) => Math.max(8, Math.min(value, most - 8));
    style.inset = `${within(corner.top, innerHeight - height)}px auto auto ${within(corner.left, innerWidth - width)}px`;
  }

  #label(button, symbol, label, isPressed) {
    if (isPressed !== undefined) button.setAttribute("aria-pressed", String(isPressed));
    if (button.dataset.shown === `${symbol} ${label}`) return;
    button.dataset.shown = `${symbol} ${label}`;
    button.setAttribute("aria-label", label);
    button.title = label;
    button.replaceChildren(icon(symbol));
  }

  update() {
    const { call } = this;
    const peers = new Set(call.peers.values());
    for (const [peer, tile] of this.#tiles) if (!peers.has(peer)) { tile.close(); this.#tiles.delete(peer); }
    for (const peer of peers) {
      if (!this.#tiles.has(peer)) {
        const tile = new PeerTile(this.state, peer);
        this.#tiles.set(peer, tile);
        this.grid.append(tile.element);
      }
      this.#tiles.get(peer).update();
    }
    this.grid.dataset.count = String(peers.size);
    this.face.hidden = peers.size > 0;
    this.#own.update(call.local);
    const { microphone, camera, screen } = call.local.state;
    this.#label(this.microphone, microphone ? "voice" : "voiceOff", t(microphone ? "callMute" : "callUnmute"));
    this.#label(this.camera, camera ? "video" : "videoOff", t(camera ? "callCameraOff" : "callCameraOn"));
    this.#label(this.screen, "screen", t(screen ? "callUnshare" : "callShare"), screen);
    this.#label(this.hangUp, "hangUp", t(call.isGroup ? "callLeave" : "callHangUp"));
    for (const [button, isOff] of [[this.microphone, !microphone], [this.camera, !camera]]) button.classList.toggle("off", isOff);
    this.picture.disabled = ![...peers].some((peer) => peer.showsVideo);
    const isOver = call.isOver;
    this.element.classList.toggle("is-over", isOver);
    for (const button of this.element.querySelectorAll(".call-controls button")) if (button !== this.picture) button.disabled = isOver;
    this.#showStatus();
  }

  #showStatus() {
    const text = this.#text();
    if (this.status.textContent !== text) this.status.textContent = text;
    const spoken = this.call.isConnected ? t("callConnected") : text;
    if (spoken === this.#spoken) return;
    this.#spoken = spoken;
    announce(spoken);
  }

  #text() {
    const { call } = this;
    switch (call.phase) {
      case "over": return t(REASONS[call.reason] ?? "callOver");
      case "starting": case "outgoing": return t("callCalling");
      case "incoming": case "joining": return t("connecting");
    }
    if (call.peers.size === 0) return t(call.isGroup ? "callAlone" : "connecting");
    if (!call.isConnected) return t([...call.peers.values()].some((peer) => peer.wasConnected) ? "callReconnecting" : "connecting");
    const time = duration(Math.max(0, this.state.now - (call.startedAt ?? this.state.now)));
    return this.state.connection?.state === "online" ? time : `${time} · ${t("offline")}`;
  }

  async #share() {
    const { local } = this.call;
    try {
      await local.setScreen(!local.screen);
    } catch (error) {
      if (error.code !== "media_denied") await attempt(Promise.reject(error)); // the user closed the dialog of the browser
    }
  }

  async #popOut() {
    if (document.pictureInPictureElement) return document.exitPictureInPicture();
    const tile = [...this.#tiles.values()].find(({ peer }) => peer.showsVideo);
    await tile?.video.requestPictureInPicture();
  }

  #typed(event) {
    if (event.key === "Escape" && !this.isSmall && !event.defaultPrevented) {
      event.preventDefault();
      event.stopPropagation();
      this.setSmall(true);
    } else if (!this.isSmall && event.key === "Tab") this.#keepFocus(event);
  }

  /** Keeps the focus in the call while it covers the page. */
  #keepFocus(event) {
    const all = [...this.element.querySelectorAll("button:not(:disabled)")].filter((each) => !each.hidden);
    const [first, last] = [all[0], all.at(-1)];
    if (event.shiftKey ? document.activeElement === first : document.activeElement === last) {
      event.preventDefault();
      (event.shiftKey ? last : first)?.focus();
    }
  }

  close() {
    clearInterval(this.#clock);
    removeEventListener("resize", this.resized);
    if (document.pictureInPictureElement && this.element.contains(document.pictureInPictureElement)) document.exitPictureInPicture().catch(() => {});
    for (const tile of this.#tiles.values()) tile.close();
    this.#own.close();
    document.getElementById("app").inert = false;
    const hadFocus = this.element.contains(document.activeElement);
    this.element.remove();
    if ((hadFocus || document.activeElement === document.body) && this.before?.isConnected) this.before.focus({ preventScroll: true });
  }
}
