// Line icons, 24 × 24, and the logo.

import { svg } from "./dom.js";

const PATHS = {
  back: ["M15 5l-7 7 7 7"],
  chat: ["M20 11.500a7.5 7.5 0 0 1-7.5 7.500H5l1.7-2.900A7.5 7.5 0 1 1 20 11.500Z", "M12.5 8.500v6M9.5 11.500h6"],
  group: ["M9 11a3.250 3.250 0 1 0 0-6.500A3.250 3.250 0 0 0 9 11Z", "M3 19c.3-3.2 2.7-5 6-5s5.7 1.8 6 5", "M15.5 4.900a3 3 0 0 1 0 5.800M17.5 14.600c2 .6 3.2 2.1 3.5 4.4"],
  signOut: ["M14 4.500H7A2.5 2.5 0 0 0 4.5 7v10A2.5 2.5 0 0 0 7 19.500h7", "M10.5 12H20M16.5 8.5 20 12l-3.5 3.5"],
  search: ["M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM16.2 16.2 20.5 20.5"],
  picture: ["M6.5 4.500h11a2 2 0 0 1 2 2v11a2 2 0 0 1-2 2h-11a2 2 0 0 1-2-2v-11a2 2 0 0 1 2-2Z", "m5 17 4.5-5 3.5 3.5 2.5-2.5 4 4", "M15.250 9.500a.75.75 0 1 0 0-1.5.75.75 0 0 0 0 1.500Z"],
  send: ["M5 12h6.500M4.5 4.800c5 1.4 10.5 3.9 15.5 7.2-5 3.3-10.5 5.8-15.5 7.200L7 12 4.5 4.800Z"],
  close: ["M6 6l12 12M18 6 6 18"],
  check: ["M5 12.500l4.5 4.500L19 7.5"],
  down: ["M12 5v14M6 13l6 6 6-6"],
  up: ["M12 19V5M6 11l6-6 6 6"],
  eye: ["M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12Z", "M12 14.500a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z"],
  download: ["M12 4v11M7 10.500l5 5 5-5M5 20h14"],
};

export function icon(name) {
  return svg("svg", { viewBox: "0 0 24 24", class: `icon icon-${name}`, "aria-hidden": "true" }, PATHS[name].map((d) => svg("path", { d })));
}

/** The delivery state of an own message: a clock, one tick or two ticks. */
export function ticks(state) {
  const paths = state === "waiting" ? ["M8 1.500a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8 4.500V8l2.3 1.5"]
    : state === "read" ? ["M1 8.5 4.2 11.7 10.5 4.5", "M7.3 11.200l.6.500L14.5 4.5"] : ["M3 8.500l3.3 3.2 6.5-7.2"];
  return svg("svg", { viewBox: "0 0 16 16", class: "ticks", "aria-hidden": "true" }, paths.map((d) => svg("path", { d })));
}

/** The logo: a swift in flight. The style sheet sets its colors. */
export function logo(className = "logo") {
  return svg("svg", { viewBox: "0 0 64 64", class: className, "aria-hidden": "true" },
    svg("path", { d: SWIFT, transform: "rotate(32 32 33)" }));
}

// A swift seen from below, rotated by the logo.
const SWIFT = "M32 14C33.6 14 34.8 15.6 35.2 18.2C45 18.6 55 26 61 41C53 33 45 29.6 36 29.5C35.6 34 34.8 38.5 34 42.5L38.5 55L32 48L25.5 55L30 42.5C29.2 38.5 28.4 34 28 29.5C19 29.6 11 33 3 41C9 26 19 18.6 28.8 18.2C29.2 15.6 30.4 14 32 14Z";
