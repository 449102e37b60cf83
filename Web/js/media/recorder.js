// Records sound or video from the microphone and the camera, and measures the loudness of sound.

import { waveOf } from "./wave.js";

const AUDIO = ["audio/mp4;codecs=mp4a.40.2", "audio/webm;codecs=opus", "audio/ogg;codecs=opus", "audio/mp4", ""];
const VIDEO = ["video/mp4;codecs=avc1.42E01E,mp4a.40.2", "video/webm;codecs=vp8,opus", "video/webm", "video/mp4", ""];
const STEP = 50; // ms between two measurements

/** Returns whether this browser can record, which requires HTTPS or loopback. */
export const canRecord = () => Boolean(globalThis.MediaRecorder && navigator.mediaDevices?.getUserMedia);

/**
 * Requests the microphone and begins to record. `onlevel(level)` receives the loudness, from 0 to
 * 1, every 50 ms.
 */
export async function recordVoice(onlevel = () => {}) {
  return new Recording(await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true } }), AUDIO, { audioBitsPerSecond: 32_000 }, onlevel);
}

/**
 * Requests the camera and the microphone. The caller can show the stream before `recordFilm`
 * records it.
 */
export function openCamera(facingMode = "user") {
  return navigator.mediaDevices.getUserMedia({ audio: true, video: { facingMode, width: { ideal: 1280 }, height: { ideal: 720 } } });
}

export const recordFilm = (stream) => new Recording(stream, VIDEO, { videoBitsPerSecond: 1_800_000, audioBitsPerSecond: 64_000 }, null);

class Recording {
  #chunks = [];
  #levels = [];
  #timer = 0;
  #context = null;
  #before = 0; // the number of ms recorded before the last pause
  #since = performance.now();
  #ended;

  constructor(stream, types, rates, onlevel) {
    this.stream = stream;
    const mimeType = types.find((type) => !type || MediaRecorder.isTypeSupported(type));
    this.recorder = new MediaRecorder(stream, { ...(mimeType && { mimeType }), ...rates });
    this.recorder.ondataavailable = ({ data }) => { if (data.size) this.#chunks.push(data); };
    this.#ended = new Promise((resolve) => { this.recorder.onstop = resolve; });
    this.recorder.start(1000);
    if (onlevel) this.#measure(onlevel);
  }

  /** The recorded time in milliseconds. */
  get duration() { return Math.round(this.#before + (this.recorder.state === "recording" ? performance.now() - this.#since : 0)); }

  pause() {
    if (this.recorder.state !== "recording") return;
    this.#before = this.duration;
    this.recorder.pause();
  }

  /** Ends the recording. Resolves to {file, duration, wave}. */
  async finish() {
    this.#before = this.duration;
    if (this.recorder.state !== "inactive") this.recorder.stop();
    await this.#ended;
    this.#release();
    const type = this.recorder.mimeType || this.#chunks[0]?.type || (this.stream.getVideoTracks().length > 0 ? "video/webm" : "audio/webm");
    return { file: new Blob(this.#chunks, { type: type.split(";")[0] }), duration: this.#before, wave: waveOf(this.#levels) };
  }

  cancel() {
    this.recorder.ondataavailable = null;
    if (this.recorder.state !== "inactive") this.recorder.stop();
    this.#release();
  }

  #measure(onlevel) {
    this.#context = new AudioContext();
    const analyser = this.#context.createAnalyser();
    analyser.fftSize = 1024;
    this.#context.createMediaStreamSource(this.stream).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    this.#timer = setInterval(() => {
      if (this.recorder.state !== "recording") return;
      analyser.getFloatTimeDomainData(samples);
      const level = Math.min(1, Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length) * 3);
      this.#levels.push(level);
      onlevel(level);
    }, STEP);
  }

  #release() {
    clearInterval(this.#timer);
    this.#context?.close();
    this.#context = null;
    for (const track of this.stream.getTracks()) track.stop();
  }
}
