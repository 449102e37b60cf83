// One call on this device: its media, the connections to the other devices, and the signals between
// them.

import { CallMachine } from "./machine.js";
import { LocalMedia } from "./media.js";
import { Peer } from "./peer.js";
import { makeSession, readSignal } from "./signals.js";

export const MOST_PEERS = 3; // other devices; four devices form a full mesh
const MOST_JOINS = 8; // the maximum number of announcements that are stored while the call rings
const MEASURE_EVERY = 2000; // ms
const LEAVE_TIME = 10_000; // ms within which a reloaded page can join again
const JOIN_TIME = 3000; // ms to wait for a connection after another device reported that the call is full

export class Call {
  peers = new Map(); // key -> Peer
  session = makeSession();
  /** The time of the answer in ms since 1970, by the clock of the server. */
  startedAt = null;
  /** The name of the user who started the call. */
  caller = null;
  local;
  machine;
  seq = null;
  #joins = []; // [user, device] of each announcement that arrived before the answer
  #configuration = null;
  #expiresAt = Infinity;
  #measuring = null;
  #isJoining = false; // whether this device announced itself in a group, and no other device has connected since then
  #joinTimer = null;
  #owner;

  /** `owner`: {state, changed(), over(call), lost(call, reason)}. */
  constructor(owner, { conv, seq = null, media, isGroup, phase, caller }) {
    Object.assign(this, { conv, seq, media, isGroup, caller });
    this.#owner = owner;
    this.machine = new CallMachine(phase, { isGroup });
    this.releaseMedia();
  }

  /**
   * Closes the microphone, the camera and the screen, also those that are still being opened. They
   * can be opened again.
   */
  releaseMedia() {
    this.local?.close();
    this.local = new LocalMedia(() => this.#mediaChanged());
  }

  get phase() { return this.machine.phase; }
  get reason() { return this.machine.reason; }
  get isOver() { return this.machine.isOver; }
  get isConnected() { return [...this.peers.values()].some((peer) => peer.isConnected); }
  get #state() { return this.#owner.state; }

  // --- Steps ---

  /** Loads the ICE servers of the connections. If this fails, the connections use none. */
  async prepare() {
    const { servers = [], expires_at: expiresAt, relay_only: isRelayed } = await this.#state.callServers().catch(() => ({}));
    this.#expiresAt = servers.length && expiresAt ? expiresAt : Infinity;
    this.#configuration = {
      iceServers: servers.map(({ urls, username, credential }) => ({ urls, ...(username && { username, credential }) })),
      iceTransportPolicy: isRelayed ? "relay" : "all", bundlePolicy: "max-bundle",
    };
  }

  /** Performs an action of the machine. */
  act(action) {
    switch (action) {
      case "connect":
        this.startedAt ??= this.#state.now;
        this.#measuring ??= setInterval(() => { for (const peer of this.peers.values()) peer.measure().catch(() => {}); }, MEASURE_EVERY);
        break;
      case "end": this.#close(); break;
    }
    this.#owner.changed();
  }

  /**
   * Handles a state of the call that the log reports. `isOwn`: whether a device of this user caused
   * it. `at`: the time of the state.
   */
  told(state, isOwn, at) {
    if (state === "accepted" && this.phase !== "incoming") this.startedAt = at ?? this.startedAt;
    this.act(this.machine.told(state, isOwn));
  }

  /** Announces this device to the others. */
  join() {
    for (const [user, device] of this.#joins.splice(0)) {
      this.#send(user, device, "", { type: "join" });
      this.#add(user, device, "", true);
    }
    const state = this.#state;
    this.#isJoining = this.isGroup && this.peers.size === 0;
    // In a group, the server forwards the announcement to the devices that take part.
    this.#send(this.isGroup ? undefined : state.conversation(this.conv)?.peer?.name, undefined, "", { type: "join" });
    // The log records only the first answer. In a group, the other ringing devices of the user are
    // notified by a signal.
    if (this.isGroup) this.#send(state.account.name, undefined, "", { type: "answered" });
  }

  announceLeaving() { for (const peer of this.peers.values()) this.#sendTo(peer, { type: "leave" }); }

  leave(reason) {
    this.announceLeaving();
    this.act(this.machine.ended(reason));
  }

  #close() {
    clearInterval(this.#measuring);
    clearTimeout(this.#joinTimer);
    for (const peer of this.peers.values()) peer.close();
    this.peers.clear();
    this.local.close();
    this.#owner.over(this);
  }

  /** Handles a reconnection to the chat server. */
  resume() {
    if (this.phase !== "active") return;
    for (const peer of this.peers.values()) {
      if (!peer.resume()) this.#sendTo(peer, { type: "join" });
      this.#sendTo(peer, { type: "state", ...this.local.state });
    }
    // A device may have joined while this one was not connected.
    if (this.isGroup && this.peers.size) this.#send(undefined, undefined, "", { type: "join", again: true });
    if (this.peers.size === 0) this.join();
  }

  /** Restarts ICE on each connection after a change of the network. */
  async restartICE() {
    if (this.phase !== "active") return;
    if (this.#expiresAt <= this.#state.now + 60_000) await this.prepare();
    for (const peer of this.peers.values()) peer.restart(this.#configuration);
  }

  // --- The other devices ---

  /** Handles a `signal` from a device. */
  received({ from: user, device, data }) {
    const signal = readSignal(data);
    if (!signal || this.isOver || signal.session === this.session) return;
    // Legacy apps send no session. A page names the session of the recipient in all signals except
    // announcements.
    if (signal.to ? signal.to !== this.session : signal.session && signal.type !== "join" && signal.type !== "answered") return;
    if (user === this.#state.account?.name) {
      if (signal.type !== "answered") return;
      // Another page of this browser joined the call of the group. The server treats both pages as
      // one device, so this page does not report that it leaves.
      const isThisDevice = this.isGroup && device === this.#state.session?.device && (this.phase === "outgoing" || this.phase === "active");
      return this.act(isThisDevice ? this.machine.ended("elsewhere") : this.machine.told("accepted", true));
    }
    if (this.phase === "incoming" || this.phase === "joining") {
      // Only announcements of legacy apps are stored, because these apps wait for an offer. A page
      // answers the announcement of this device.
      if (signal.type === "join" && !signal.session && this.#joins.length < MOST_JOINS) this.#joins.push([user, device]);
      return;
    }
    if (this.phase !== "outgoing" && this.phase !== "active") return;
    if (signal.type === "join") return this.#joined(user, device, signal);
    const peer = this.peers.get(keyOf(user, device, signal.session));
    if (signal.type === "full" && this.isGroup && signal.to === this.session) return this.#refused(peer);
    if (!peer) return;
    switch (signal.type) {
      case "leave": return signal.moved && !this.isGroup ? this.act(this.machine.ended("elsewhere")) : this.#left(peer);
      case "full": return this.peers.size <= 1 ? this.leave("full") : this.#remove(peer);
      case "state":
        peer.state = signal.state;
        return this.#owner.changed();
      default: return peer.receive(signal);
    }
  }

  /**
   * Handles `full` in a group. The call ends here only if no device connects: one member cannot make
   * this device leave.
   */
  #refused(peer) {
    if (peer) this.#remove(peer);
    if (this.phase !== "active" || this.peers.size || !(peer || this.#isJoining)) return;
    this.#joinTimer ??= setTimeout(() => {
      this.#joinTimer = null;
      if (!this.isOver && this.peers.size === 0) this.#owner.lost(this, "full");
    }, JOIN_TIME);
  }

  #joined(user, device, { session, reply, again }) {
    const known = this.peers.get(keyOf(user, device, session));
    if ((reply || again) && known) return;
    // The connection of a reloaded page replaces the page's former connection. In a pair, a
    // connection of another device of the user also replaces it.
    for (const peer of [...this.peers.values()]) {
      if (peer.user !== user || (this.isGroup && peer.device !== device && peer !== known)) continue;
      if (peer !== known && peer.session) this.#sendTo(peer, { type: "leave", moved: true });
      this.#remove(peer, true);
    }
    if (this.peers.size >= MOST_PEERS) return this.#send(user, device, session, { type: "full" });
    if (!reply) this.#send(user, device, session, { type: "join", reply: true });
    this.#add(user, device, session, false);
    this.act(this.machine.connected());
  }

  /** `isFirst`: whether this side sends the offer to a device that has no session. */
  #add(user, device, session, isFirst) {
    const key = keyOf(user, device, session);
    if (this.peers.size >= MOST_PEERS || this.peers.has(key)) return null;
    const peer = new Peer({
      user, device, session, offers: session ? this.session > session : isFirst, configuration: this.#configuration ?? {}, local: this.local,
      send: (data) => this.#sendTo(peer, data),
      changed: () => this.#owner.changed(),
      lost: () => this.#lost(peer),
    });
    this.peers.set(key, peer);
    this.#isJoining = false;
    this.#sendTo(peer, { type: "state", ...this.local.state });
    this.#owner.changed();
    return peer;
  }

  #remove(peer, isReplaced = false) {
    const key = keyOf(peer.user, peer.device, peer.session);
    if (this.peers.get(key) !== peer) return;
    this.peers.delete(key);
    peer.close();
    if (!isReplaced) this.#owner.changed();
  }

  /** Removes the devices of users who are no longer members of the conversation. */
  dismissed(users) {
    for (const peer of [...this.peers.values()]) if (users.includes(peer.user)) this.#remove(peer);
  }

  /**
   * Handles the departure of a device. In a pair, the log reports the end of the call; if it does
   * not within 10 s, the call ends here.
   */
  #left(peer) {
    this.#remove(peer);
    if (!this.isGroup) setTimeout(() => { if (!this.isOver && this.peers.size === 0) this.#owner.lost(this, "ended"); }, LEAVE_TIME);
  }

  #lost(peer) {
    // Without the chat server, no connection can be negotiated, so the peer waits for the server.
    if (this.#state.connection?.state !== "online") return peer.wait();
    this.#remove(peer);
    if (!this.isGroup && this.peers.size === 0) this.#owner.lost(this);
  }

  #sendTo(peer, data) { this.#send(peer.user, peer.device, peer.session, data); }

  #send(user, device, session, data) {
    if (this.seq === null) return;
    this.#state.signal(this.conv, this.seq, user, device, { ...data, session: this.session, ...(session && { to: session }) }).catch((error) => {
      if (error.code !== "offline" && error.code !== "not_found") console.warn("signal:", error.message);
    });
  }

  // --- The media of this device ---

  #mediaChanged() {
    for (const peer of this.peers.values()) {
      peer.update();
      this.#sendTo(peer, { type: "state", ...this.local.state });
    }
    this.#owner.changed();
  }
}

const keyOf = (user, device, session) => `${user}/${device}/${session}`;
