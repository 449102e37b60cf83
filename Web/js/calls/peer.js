// The connection to one other device of a call: perfect negotiation (W3C WebRTC 1.0, section 10.7,
// and RFC 8829), ICE restarts, and the received tracks.

import { levelOf, summarize } from "./stats.js";

const PATIENCE = 2500; // ms to wait until a disconnected connection recovers without a restart of ICE
const RETRY_EVERY = 8000;
const GIVE_UP = 30_000; // ms without a connection after which the peer is abandoned

export class Peer {
  connection;
  /** The received stream: at most one audio track and one video track. */
  stream = new MediaStream();
  state = { microphone: true, camera: false, screen: false };
  quality = null;
  wasConnected = false;
  #making = false;
  #ignoring = false;
  #settling = false;
  #senders = new Map(); // kind -> sender
  #local;
  #send;
  #changed;
  #lost;
  #timer = null;
  #lostAt = null;
  #last = null;
  #closed = false;

  /**
   * `offers`: whether this side makes the first offer. It is then the impolite peer, whose offer
   * takes precedence over a simultaneous one. `send(data)` sends a signal to the device; `lost()`
   * is called after 30 s without a connection.
   */
  constructor({ user, device, session, offers, configuration, local, send, changed, lost }) {
    Object.assign(this, { user, device, session, offers });
    this.#local = local;
    this.#send = send;
    this.#changed = changed;
    this.#lost = lost;
    const connection = this.connection = new RTCPeerConnection(configuration);
    connection.onnegotiationneeded = () => this.#offer();
    connection.onicecandidate = ({ candidate }) => { if (candidate?.candidate) this.#send({ type: "candidate", candidate: candidate.toJSON() }); };
    connection.ontrack = ({ track }) => this.#receive(track);
    connection.onconnectionstatechange = () => this.#moved();
    this.#lostAt = Date.now();
    this.#later(RETRY_EVERY);
    if (offers) for (const kind of ["audio", "video"]) this.#senders.set(kind, connection.addTransceiver(kind, { direction: "sendrecv", streams: [local.stream] }).sender);
    this.update();
  }

  get isConnected() { return this.connection.connectionState === "connected"; }
  get video() { return this.stream.getVideoTracks()[0] ?? null; }
  get showsVideo() { return Boolean(this.video) && (this.state.camera || this.state.screen); }

  /** Sends the current tracks of the local media. */
  update() {
    for (const [kind, sender] of this.#senders) {
      const track = kind === "audio" ? this.#local.microphone : this.#local.video;
      if (sender.track !== track) sender.replaceTrack(track).catch((error) => console.warn("track:", error));
    }
  }

  #receive(track) {
    if (this.stream.getTracks().some(({ kind }) => kind === track.kind)) return;
    this.stream.addTrack(track);
    track.onunmute = () => this.#changed();
    this.#changed();
  }

  // --- Negotiation ---

  async #offer() {
    try {
      this.#making = true;
      await this.connection.setLocalDescription();
      this.#describe();
    } catch (error) {
      if (!this.#closed) console.warn("offer:", error);
    } finally {
      this.#making = false;
    }
  }

  #describe() {
    const { type, sdp } = this.connection.localDescription;
    this.#send({ type, sdp });
  }

  /** Handles an offer, an answer or a candidate of the device. */
  async receive(signal) {
    const { connection } = this;
    try {
      if (signal.type === "candidate") {
        await connection.addIceCandidate(signal.candidate).catch((error) => { if (!this.#ignoring) throw error; });
        return;
      }
      const isReady = !this.#making && (connection.signalingState === "stable" || this.#settling);
      this.#ignoring = signal.type === "offer" && !isReady && this.offers;
      if (this.#ignoring) return;
      this.#settling = signal.type === "answer";
      await connection.setRemoteDescription({ type: signal.type, sdp: signal.sdp });
      this.#settling = false;
      if (signal.type !== "offer") return;
      this.#adopt();
      await connection.setLocalDescription();
      this.#describe();
    } catch (error) {
      this.#settling = false;
      if (!this.#closed) console.warn(`${signal.type}:`, error.message);
    }
  }

  /** Sends the local tracks on the transceivers that the other side offered. */
  #adopt() {
    for (const transceiver of this.connection.getTransceivers()) {
      const { kind } = transceiver.receiver.track;
      if (this.#senders.has(kind)) continue;
      this.#senders.set(kind, transceiver.sender);
      transceiver.direction = "sendrecv";
      transceiver.sender.setStreams?.(this.#local.stream);
    }
    this.update();
  }

  /**
   * Repeats signals that may have been lost. Returns false if no description of the device was
   * received, so that this side must announce itself again.
   */
  resume() {
    if (this.connection.signalingState === "have-local-offer") this.#describe();
    else if (!this.connection.remoteDescription) return false;
    else if (!this.isConnected) this.restart();
    return true;
  }

  /** Restarts ICE (RFC 8445, section 9). */
  restart(configuration = null) {
    if (this.#closed || !this.connection.remoteDescription) return;
    if (configuration) this.connection.setConfiguration(configuration);
    this.connection.restartIce();
  }

  // --- The state of the connection ---

  #moved() {
    if (this.#closed) return;
    switch (this.connection.connectionState) {
      case "connected":
        clearTimeout(this.#timer);
        this.#lostAt = null;
        this.wasConnected = true;
        break;
      case "disconnected":
        this.#lostAt ??= Date.now();
        this.#later(PATIENCE);
        break;
      case "failed":
        this.#lostAt ??= Date.now();
        this.#later(0);
        break;
    }
    this.#changed();
  }

  #later(delay) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#closed || this.isConnected) return;
      if (Date.now() - this.#lostAt >= GIVE_UP) return this.#lost();
      this.resume();
      this.#later(RETRY_EVERY);
    }, delay);
  }

  /** Restarts the time after which the connection is abandoned. */
  wait() {
    if (this.#closed || this.isConnected) return;
    this.#lostAt = Date.now();
    this.#later(RETRY_EVERY);
  }

  /** Measures the quality since the preceding measurement. */
  async measure() {
    const now = summarize(await this.connection.getStats());
    const level = levelOf(this.#last, now);
    this.#last = now;
    if (level === null || level === this.quality) return;
    this.quality = level;
    this.#changed();
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.connection.onconnectionstatechange = null;
    this.connection.close();
  }
}
