// The tiles of a call: one for each other device, and one for this user.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { userAvatar } from "./avatar.js";
import { userName } from "./model.js";
import { chosenDevices } from "../calls/media.js";
import { t } from "../i18n/index.js";

const QUALITY = { 1: "callQualityPoor", 2: "callQualityFair", 3: "callQualityGood" };

/** Shows a stream in a video element. A stream that is already shown is not restarted. */
function show(video, stream) {
  if (video.srcObject === stream) return;
  video.srcObject = stream;
  video.play?.().catch(() => {}); // plays as soon as the stream has data
}

/** The tile of another device. `update()` shows its current state. */
export class PeerTile {
  constructor(state, peer) {
    this.state = state;
    this.peer = peer;
    this.video = h("video", { autoplay: true, playsinline: true });
    this.face = h("div", { class: "tile-face" }, userAvatar(state, state.user(peer.user), { size: "xl", online: false }));
    this.note = h("div", { class: "tile-note", role: "status" });
    this.muted = h("span", { class: "tile-muted", role: "img", "aria-label": t("callMutedOther") }, icon("voiceOff"));
    this.quality = h("span", { class: "bars", role: "img" }, h("i"), h("i"), h("i"));
    this.name = h("span", { class: "ellipsis" });
    this.element = h("div", { class: "tile", role: "group", "data-user": peer.user }, this.video, this.face, this.note, h("div", { class: "tile-name" }, this.muted, this.name, this.quality));
  }

  update() {
    const { peer, state } = this;
    const name = userName(state, peer.user);
    this.name.textContent = name;
    this.element.setAttribute("aria-label", name);
    show(this.video, peer.stream);
    const { audiooutput } = chosenDevices();
    if (audiooutput !== undefined && this.video.setSinkId && this.video.sinkId !== audiooutput) this.video.setSinkId(audiooutput).catch(() => {});
    this.element.classList.toggle("with-video", peer.showsVideo);
    this.element.classList.toggle("with-screen", peer.state.screen);
    this.muted.hidden = peer.state.microphone;
    const note = peer.isConnected ? "" : t(peer.wasConnected ? "callReconnecting" : "connecting");
    if (this.note.textContent !== note) this.note.textContent = note;
    this.quality.hidden = peer.quality === null || !peer.isConnected;
    this.quality.dataset.level = String(peer.quality ?? 0);
    if (peer.quality) {
      const label = t(QUALITY[peer.quality]);
      this.quality.setAttribute("aria-label", label);
      this.quality.title = label;
    }
  }

  close() {
    this.video.srcObject = null;
    this.element.remove();
  }
}

/** The picture of this user's camera, mirrored, or the shared screen. */
export class OwnTile {
  #stream = new MediaStream();

  constructor() {
    this.video = h("video", { autoplay: true, playsinline: true, muted: true, "aria-label": t("callOwnPicture") });
    this.video.muted = true;
    this.element = h("div", { class: "tile own-tile", role: "group", "aria-label": t("you") }, this.video);
  }

  update(local) {
    const track = local.video;
    this.element.hidden = !track;
    if (this.#stream.getTracks()[0] === (track ?? undefined)) return;
    this.#stream = new MediaStream(track ? [track] : []);
    show(this.video, this.#stream);
    this.element.classList.toggle("with-screen", Boolean(local.screen));
  }

  close() {
    this.video.srcObject = null;
    this.element.remove();
  }
}
