// The ringing tone of an incoming call and the ringback tone of an outgoing one. They are
// synthesized, like the sound of a new message.

const TONES = {
  incoming: { notes: [[659.3, 0], [830.6, 0.18], [987.8, 0.36]], length: 0.5, every: 2400, loudness: 0.14 },
  outgoing: { notes: [[440, 0]], length: 0.9, every: 4000, loudness: 0.05 },
};

let context = null;
let timer = null;
let current = null;

/**
 * Repeats the tone `name`, "incoming" or "outgoing", until the function is called with another
 * name; null stops it.
 */
export function ring(name) {
  if (name === current) return;
  current = name;
  clearInterval(timer);
  if (!name) return;
  play(TONES[name]);
  timer = setInterval(() => play(TONES[name]), TONES[name].every);
}

function play({ notes, length, loudness }) {
  try {
    context ??= new AudioContext();
    context.resume().catch(() => {}); // browsers permit sound only after a gesture of the user
    if (context.state !== "running") return;
    for (const [frequency, delay] of notes) {
      const begin = context.currentTime + delay;
      const tone = new OscillatorNode(context, { type: "sine", frequency });
      const volume = new GainNode(context, { gain: 0 });
      volume.gain.setValueAtTime(0, begin);
      volume.gain.linearRampToValueAtTime(loudness, begin + 0.03);
      volume.gain.exponentialRampToValueAtTime(0.0001, begin + length);
      tone.connect(volume).connect(context.destination);
      tone.start(begin);
      tone.stop(begin + length);
    }
  } catch (error) {
    console.warn("No tone:", error);
  }
}
