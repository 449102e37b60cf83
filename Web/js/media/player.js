// The only audio player of the page. When a message begins to play, the previous message stops.

const RATES = [1, 1.5, 2];

/**
 * A track is {key, src, duration, started(), next()}: `duration` is in ms, and `next` returns the
 * track that follows, or null. The listeners are called after each change.
 */
class Player {
  #audio = null;
  #track = null;
  #rate = 0; // the index in RATES
  #listeners = new Set();

  get rate() { return RATES[this.#rate]; }
  get key() { return this.#track?.key ?? null; }

  /**
   * Returns {playing, seconds, fraction} of a track. A track that is not the current one is at its
   * beginning.
   */
  at(key, duration) {
    if (this.key !== key) return { playing: false, seconds: 0, fraction: 0 };
    const seconds = this.#audio.currentTime;
    return { playing: !this.#audio.paused, seconds, fraction: Math.min(1, duration > 0 ? (seconds * 1000) / duration : 0) };
  }

  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async toggle(track) {
    if (this.key === track.key && !this.#audio.paused) return this.#audio.pause();
    if (this.key !== track.key) this.#load(track);
    await this.#play();
  }

  /** Makes the track the current one, and moves to `fraction` of it, from 0 to 1. */
  seek(track, fraction) {
    if (this.key !== track.key) this.#load(track);
    const seconds = (Math.max(0, Math.min(1, fraction)) * track.duration) / 1000;
    if (Number.isFinite(seconds)) this.#audio.currentTime = seconds;
    this.#tell();
  }

  /** Selects the next playback rate. */
  nextRate() {
    this.#rate = (this.#rate + 1) % RATES.length;
    if (this.#audio) this.#audio.playbackRate = this.#audio.defaultPlaybackRate = this.rate;
    this.#tell();
  }

  stop() {
    if (!this.#audio) return;
    this.#audio.pause();
    this.#audio.removeAttribute("src");
    this.#track = null;
    this.#tell();
  }

  #load(track) {
    this.#audio ??= this.#make();
    this.#track = track;
    this.#audio.src = track.src;
    this.#audio.defaultPlaybackRate = this.#audio.playbackRate = this.rate;
    this.#tell();
  }

  async #play() {
    const track = this.#track;
    try {
      await this.#audio.play();
      track.started?.();
    } catch (error) {
      if (error.name !== "AbortError" && this.#track === track) this.#failed();
    }
  }

  #make() {
    const audio = new Audio();
    audio.preload = "auto";
    for (const type of ["play", "pause", "timeupdate", "seeked"]) audio.addEventListener(type, () => this.#tell());
    audio.addEventListener("ended", () => this.#ended());
    return audio;
  }

  #ended() {
    const next = this.#track?.next?.() ?? null;
    if (!next) return this.stop();
    this.#load(next);
    this.#play();
  }

  #failed() {
    const { onfailed } = this;
    this.stop();
    onfailed?.();
  }

  #tell() {
    for (const listener of [...this.#listeners]) listener();
  }
}

export const player = new Player();
