// Loads the modules that the first view does not need.

import { attempt } from "./toast.js";

let panels = null;

/**
 * Calls `use` with the exports of `panels.js`: immediately if they are loaded, else after loading.
 * Shows an error if they cannot be loaded.
 */
export function withPanels(use) {
  return panels ? use(panels) : attempt(load()).then((loaded) => loaded && use(loaded));
}

/**
 * Loads the panels while the page is idle, so that they open immediately, even without a
 * connection.
 */
export function preparePanels() {
  const start = () => load().catch(() => {}); // after a failure, the panels are loaded again when one is opened
  globalThis.requestIdleCallback ? requestIdleCallback(start, { timeout: 5000 }) : setTimeout(start, 2000);
}

async function load() {
  panels = await import("./panels.js");
  return panels;
}
