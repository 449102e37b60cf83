// Starts the page with sample data, without a server. The query names a state: `sample.html?offline`.

import { start } from "../app.js";
import { createSampleState } from "./state.js";

const STATES = { signedOut: { phase: "signedOut" }, empty: { empty: true }, offline: { offline: true }, slow: { slow: 400 } };

start(() => createSampleState(STATES[location.search.slice(1)] ?? {}));
