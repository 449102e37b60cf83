// The sound of a new message: two short notes, which are synthesized.

const NOTES = [[880, 0], [1174.7, 0.09]]; // hertz, seconds
const LENGTH = 0.28; // seconds of a note
const LOUDNESS = 0.12;
const PAUSE = 1500; // ms between two sounds

let context = null;
let playedAt = -Infinity;

/** Starts the audio context at the first press or key, before which browsers permit no sound. */
export function prepareSound() {
  const begin = () => {
    try {
      context ??= new AudioContext();
      context.resume();
    } catch (error) {
      console.warn("No sound:", error);
    }
  };
  for (const type of ["pointerdown", "keydown"]) addEventListener(type, begin, { once: true, capture: true });
}

/** Plays the sound, at most once in 1.5 s. Returns whether it was played. */
export function playSound(now = performance.now()) {
  if (!context || context.state !== "running" || now - playedAt < PAUSE) return false;
  playedAt = now;
  for (const [frequency, delay] of NOTES) {
    const begin = context.currentTime + delay;
    const tone = new OscillatorNode(context, { type: "sine", frequency });
    const volume = new GainNode(context, { gain: 0 });
    volume.gain.setValueAtTime(0, begin);
    volume.gain.linearRampToValueAtTime(LOUDNESS, begin + 0.012);
    volume.gain.exponentialRampToValueAtTime(0.0001, begin + LENGTH);
    tone.connect(volume).connect(context.destination);
    tone.start(begin);
    tone.stop(begin + LENGTH);
  }
  return true;
}
