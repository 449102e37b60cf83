/**
 * Wraps an async function so that it does not run twice at a time. Logs failures, which are retried
 * by later calls.
 */
export function onceAtATime(work) {
  let running = null;
  return () => {
    running ??= work().catch((error) => console.warn(error)).finally(() => { running = null; });
    return running;
  };
}

/**
 * Returns a function that runs async work, at most `limit` at a time, in order. Ignores rejections.
 */
export function limited(limit) {
  let running = 0;
  const waiting = [];
  const next = () => {
    while (running < limit && waiting.length > 0) {
      running += 1;
      Promise.resolve().then(waiting.shift()).catch(() => {}).finally(() => { running -= 1; next(); });
    }
  };
  return (work) => { waiting.push(work); next(); };
}

/** Waits for a number of milliseconds. */
export const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));
