// Starts the page with the state of its server.

import { start } from "./app.js";
import { createState } from "./state/index.js";

start(createState);
