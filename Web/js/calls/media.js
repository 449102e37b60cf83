// The microphone, the camera and the screen of this device in a call.

const KEY = "apus-devices";
const CODES = {
  NotAllowedError: "media_denied", SecurityError: "media_denied", NotFoundError: "media_missing", OverconstrainedError: "media_missing",
  NotReadableError: "media_busy", AbortError: "media_busy",
};

/**
 * The microphone or the camera could not be used. `code`: media_denied, media_missing, media_busy
 * or media_insecure.
 */
export class MediaError extends Error {
  constructor(code, message = code) {
    super(message);
    this.code = code;
  }
}

async function request(constraints, method = "getUserMedia") {
  if (!navigator.mediaDevices?.[method]) throw new MediaError("media_insecure");
  try {
    return await navigator.mediaDevices[method](constraints);
  } catch (error) {
    throw new MediaError(CODES[error.name] ?? "media_busy", error.message);
  }
}

/**
 * Returns the ids of the devices that the user chose, by kind: audioinput, videoinput, audiooutput.
 */
export function chosenDevices() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {};
  } catch {
    return {};
  }
}

function keepDevice(kind, id) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...chosenDevices(), [kind]: id }));
  } catch {
    // Without storage, the choice applies only to the current track.
  }
}

/**
 * Returns the media devices of this machine. Browsers do not identify them before the user has
 * permitted the use of one.
 */
export async function listDevices() {
  const all = (await navigator.mediaDevices?.enumerateDevices?.()) ?? [];
  return all.filter(({ deviceId }) => deviceId);
}

const only = (kind) => (chosenDevices()[kind] ? { deviceId: { ideal: chosenDevices()[kind] } } : {});
const SOUND = () => ({ echoCancellation: true, noiseSuppression: true, autoGainControl: true, ...only("audioinput") });
const PICTURE = () => ({ width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { max: 30 }, ...only("videoinput") });

export class LocalMedia {
  microphone = null;
  camera = null;
  screen = null;
  isMuted = false;
  /** Groups the sent tracks, so that the recipient plays them synchronously. */
  stream = new MediaStream();
  #changed;
  #closed = false;

  /** `changed` is called after each change of a track. */
  constructor(changed) { this.#changed = changed; }

  /** The video track that is sent: the screen, or else the camera. */
  get video() { return this.screen ?? this.camera; }
  get state() { return { microphone: Boolean(this.microphone) && !this.isMuted, camera: Boolean(this.camera), screen: Boolean(this.screen) }; }

  /**
   * Opens the microphone and, if `video` (false by default), the camera. If there is no such
   * device, the call continues without it. Throws a MediaError if the browser or the user refuses.
   */
  async open({ video = false } = {}) {
    let stream;
    try {
      stream = await request({ audio: SOUND(), video: video ? PICTURE() : false });
    } catch (error) {
      if (error.code !== "media_missing") throw error;
      const parts = [await this.#optional({ audio: SOUND() }), video ? await this.#optional({ video: PICTURE() }) : null];
      stream = new MediaStream(parts.filter(Boolean).flatMap((each) => each.getTracks()));
    }
    if (this.#closed) return stream.getTracks().forEach((track) => track.stop());
    this.#take("microphone", stream.getAudioTracks()[0] ?? null);
    this.#take("camera", stream.getVideoTracks()[0] ?? null);
  }

  async #optional(constraints) {
    try {
      return await request(constraints);
    } catch (error) {
      if (error.code !== "media_missing") throw error;
      return null;
    }
  }

  #take(name, track) {
    const former = this[name];
    this[name] = track;
    if (former && former !== track) {
      former.onended = null;
      former.stop();
    }
    if (track) {
      track.onended = () => { if (this[name] === track) this.#take(name, null); };
      if (name === "microphone") track.enabled = !this.isMuted;
      if (name !== "microphone") track.contentHint = name === "screen" ? "detail" : "motion";
    }
    for (const each of this.stream.getTracks()) this.stream.removeTrack(each);
    for (const each of [this.microphone, this.video]) if (each) this.stream.addTrack(each);
    this.#changed();
  }

  async setMuted(isMuted) {
    if (!isMuted && !this.microphone) await this.choose("audioinput", chosenDevices().audioinput);
    this.isMuted = isMuted;
    if (this.microphone) this.microphone.enabled = !isMuted;
    this.#changed();
  }

  /** Turns the camera on or off. A camera that is off is released, so that its light goes out. */
  async setCamera(isOn) {
    if (!isOn) return this.#take("camera", null);
    const stream = await request({ video: PICTURE() });
    this.#adopt("camera", stream.getVideoTracks()[0]);
  }

  async setScreen(isOn) {
    if (!isOn) return this.#take("screen", null);
    const stream = await request({ video: { frameRate: { max: 15 } }, audio: false }, "getDisplayMedia");
    this.#adopt("screen", stream.getVideoTracks()[0]);
  }

  /** Uses another device. `kind`: the kind of a MediaDeviceInfo. */
  async choose(kind, id) {
    keepDevice(kind, id);
    const exact = id ? { deviceId: { exact: id } } : {};
    if (kind === "audioinput") this.#adopt("microphone", (await request({ audio: { ...SOUND(), ...exact } })).getAudioTracks()[0]);
    else if (kind === "videoinput" && this.camera) this.#adopt("camera", (await request({ video: { ...PICTURE(), ...exact } })).getVideoTracks()[0]);
    else this.#changed();
  }

  /** Uses a new track. If the permission was given after the end of the call, stops it. */
  #adopt(name, track) {
    if (this.#closed) track?.stop();
    else this.#take(name, track ?? null);
  }

  close() {
    this.#closed = true;
    this.#changed = () => {};
    for (const name of ["microphone", "camera", "screen"]) this.#take(name, null);
  }
}
