/** Wraps an async function so that a call while one is under way starts no second one. Failures are logged: these are repairs that come again. */
export function onceAtATime(work) {
  let running = null;
  return () => {
    running ??= work().catch((error) => console.warn(error)).finally(() => { running = null; });
    return running;
  };
}

/** Waits for a number of milliseconds. */
export const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));
