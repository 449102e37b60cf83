// The waveform of a recording: the loudness of up to 100 parts of equal duration, with two
// hexadecimal digits per part.

const PARTS = 100;
const QUIET = 0.02; // loudness; a quieter recording is not amplified to the maximum

/**
 * Returns the waveform of loudness values between 0 and 1 in the order of time, or undefined if
 * there are none.
 */
export function waveOf(levels) {
  if (levels.length === 0) return undefined;
  const count = Math.min(PARTS, levels.length);
  const peaks = Array.from({ length: count }, (_, part) => {
    const [from, end] = [part, part + 1].map((edge) => Math.floor((edge * levels.length) / count));
    return levels.slice(from, end).reduce((most, level) => Math.max(most, level), 0);
  });
  const loudest = peaks.reduce((most, level) => Math.max(most, level), QUIET);
  return peaks.map((level) => Math.round((255 * level) / loudest).toString(16).padStart(2, "0")).join("");
}

/**
 * Returns up to `most` loudness values (48 by default) between 0 and 1 of a waveform that a peer
 * sent.
 */
export function levelsOf(wave, most = 48) {
  if (typeof wave !== "string" || !/^(?:[0-9a-f]{2}){1,100}$/i.test(wave)) return [];
  const levels = wave.match(/../g).map((pair) => parseInt(pair, 16) / 255);
  const count = Math.min(most, levels.length);
  return Array.from({ length: count }, (_, part) => {
    const [from, end] = [part, part + 1].map((edge) => Math.floor((edge * levels.length) / count));
    return Math.max(...levels.slice(from, end));
  });
}
