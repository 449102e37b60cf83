// A location: its name, its coordinates and a sketch, which is drawn without a map service. The
// sketch shows the lines of latitude and longitude around the location, and a scale.

import { h, svg } from "./dom.js";
import { icon } from "./icons.js";
import { number } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const [WIDTH, HEIGHT] = [280, 132];
const APART = 58; // px between two lines
const METRES = 111_320; // the length of a degree of latitude
const STEPS = [90, 45, 30, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005];

const within = (value, limit) => typeof value === "number" && Number.isFinite(value) && Math.abs(value) <= limit;

/** Returns the coordinates of a body that a peer sent, or null if they are not valid. */
export function coordinatesOf(body) {
  const { latitude, longitude, accuracy } = body ?? {};
  if (!within(latitude, 90) || !within(longitude, 180)) return null;
  return { latitude, longitude, accuracy: within(accuracy, 1_000_000) ? Math.max(0, accuracy) : 0 };
}

/** Returns a text such as "54.3233° N, 10.1228° E". */
export function coordinatesText({ latitude, longitude }, digits = 4) {
  const part = (value, above, below) => t(value < 0 ? below : above, { degrees: `${Math.abs(value).toFixed(digits)}°` });
  return t("coordinates", { latitude: part(latitude, "north", "south"), longitude: part(longitude, "east", "west") });
}

/** Formats a distance in metres or kilometres. */
const distance = (metres) => (metres >= 1000 ? `${number(metres / 1000)} km` : `${number(metres)} m`);

/** Draws the surroundings of a location. `accuracy`, in metres, determines the scale. */
export function sketch({ latitude, longitude, accuracy }) {
  const span = Math.max(0.01, Math.min(60, (accuracy * 4) / METRES));
  const perDegree = HEIGHT / span;
  const narrow = Math.max(0.05, Math.cos((latitude * Math.PI) / 180)); // the length of a degree of longitude relative to one of latitude
  const x = (value) => WIDTH / 2 + (value - longitude) * perDegree * narrow;
  const y = (value) => HEIGHT / 2 - (value - latitude) * perDegree;
  const [north, east] = [perDegree, perDegree * narrow].map((pixels) => stepOf(pixels));
  const lines = [];
  for (const value of marks(latitude, north.step, span / 2)) {
    if (Math.abs(value) > 90) continue;
    lines.push(svg("path", { class: "grid", d: `M0 ${y(value).toFixed(1)}H${WIDTH}` }), svg("text", { x: "5", y: (y(value) - 4).toFixed(1) }, `${value.toFixed(north.digits)}°`));
  }
  for (const value of marks(longitude, east.step, (WIDTH / 2) / (perDegree * narrow))) {
    const shown = ((((value + 180) % 360) + 360) % 360) - 180;
    lines.push(svg("path", { class: "grid", d: `M${x(value).toFixed(1)} 0V${HEIGHT}` }), svg("text", { x: (x(value) + 4).toFixed(1), y: "12" }, `${shown.toFixed(east.digits)}°`));
  }
  const [wide, label] = scale(perDegree / METRES);
  const [cx, cy] = [WIDTH / 2, HEIGHT / 2];
  return svg("svg", { class: "sketch", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "xMidYMid slice", "aria-hidden": "true" }, lines,
    accuracy ? svg("circle", { class: "accuracy", cx, cy, r: Math.min(HEIGHT, Math.max(6, (accuracy / METRES) * perDegree)).toFixed(1) }) : null,
    svg("path", { class: "cross", d: `M${cx} ${cy - 20}V${cy + 20}M${cx - 20} ${cy}H${cx + 20}` }), svg("circle", { class: "spot", cx, cy, r: "6" }),
    svg("path", { class: "scale", d: `M${WIDTH - 10 - wide} ${HEIGHT - 14}v5h${wide}v-5` }), svg("text", { class: "end", x: WIDTH - 10, y: HEIGHT - 18 }, label));
}

/** Returns the smallest round step whose lines leave room for their numbers: {step, digits}. */
function stepOf(pixels) {
  const step = STEPS.findLast((each) => each * pixels >= APART) ?? STEPS[0];
  return { step, digits: Math.max(0, Math.ceil(-Math.log10(step))) };
}

/** Returns up to eight multiples of `step` within `reach` of `middle`. */
function marks(middle, step, reach) {
  const first = Math.ceil((middle - reach) / step);
  const count = Math.min(8, Math.floor((middle + reach) / step) - first + 1);
  return Array.from({ length: Math.max(0, count) }, (_, index) => (first + index) * step);
}

/** Returns a round distance of 40 to 100 pixels: [pixels, text]. */
function scale(perMetre) {
  const longest = 100 / perMetre;
  const unit = 10 ** Math.floor(Math.log10(longest));
  const metres = [5, 2, 1].map((each) => each * unit).find((each) => each <= longest) ?? unit;
  return [Math.round(metres * perMetre), distance(metres)];
}

/**
 * Returns the addresses of a location: for the map application of the system, and for a map on the
 * web.
 */
export function placeLinks({ latitude, longitude }, name) {
  const at = `${latitude},${longitude}`;
  return {
    system: `geo:${at}?q=${at}${name ? `(${encodeURIComponent(name)})` : ""}`,
    web: `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=15/${latitude}/${longitude}`,
  };
}

export function place(context, row, body) {
  const at = coordinatesOf(body);
  const name = typeof body.name === "string" ? body.name.slice(0, 200) : "";
  const address = typeof body.address === "string" ? body.address.slice(0, 300) : "";
  const title = name || t("location");
  if (!at) return h("div", { class: "place" }, h("span", { class: "file-icon" }, icon("pinPlace")), h("span", { class: "name" }, title));
  const links = placeLinks(at, name);
  const link = (href, text) => h("a", { class: "link", href, target: "_blank", rel: "noopener noreferrer nofollow" }, text);
  const text = [address, coordinatesText(at), at.accuracy ? t("accuracy", { distance: distance(Math.round(at.accuracy)) }) : ""].filter(Boolean).join(" · ");
  return h("div", { class: "place-card", role: "group", "aria-label": `${t("location")}${t("colon")}${title}` },
    sketch(at), h("div", { class: "name" }, h("bdi", {}, title)), h("div", { class: "sub" }, text),
    h("div", { class: "place-links" }, link(links.system, t("openInMaps")), link(links.web, "OpenStreetMap")));
}
