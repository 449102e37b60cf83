// Starts the state and its worker while the views are still loading.

import { createState } from "./state/index.js";

/** The options of the states that `?sample=…` shows without a server. */
const SAMPLES = { signedOut: { phase: "signedOut" }, empty: { empty: true }, offline: { offline: true }, slow: { slow: 400 } };

const sample = new URLSearchParams(location.search).get("sample");

/** Resolves to the state of the page. */
export const starting = sample === null ? createState()
  : import("./state/sample.js").then(({ createSampleState }) => createSampleState(SAMPLES[sample] ?? {}));
