// The controls of a voice message or another sound: playback, position, rate, and whether it was
// played.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { toast } from "./toast.js";
import { markPlayed, wasPlayed } from "../media/played.js";
import { player } from "../media/player.js";
import { levelsOf } from "../media/wave.js";
import { duration as clockOf, number } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const LONGEST = 86_400_000; // ms, the limit of the server
const STEP = 0.05; // the fraction of the duration by which an arrow key moves the position

const lengthOf = (body) => (Number.isFinite(body.duration) ? Math.max(0, Math.min(LONGEST, body.duration)) : 0);
const keyOf = (row) => `${row.conv}/${row.key}`;

/** Returns the track of a message for the player, or null if there is no file. */
function trackOf(context, row) {
  const { state, actions } = context;
  const { body } = row;
  const src = row.localURL ?? (body.blob ? state.blobURL(body.blob) : null);
  if (!src) return null;
  return {
    key: keyOf(row), src, duration: lengthOf(body),
    started: () => { if (!row.own && row.seq) markPlayed(state.account?.name, `${row.conv}/${row.seq}`); paint(); },
    next: () => {
      const next = body.voice ? actions.nextVoice?.(row) : null;
      return next ? trackOf(context, next) : null;
    },
  };
}

export function voice(context, row, body) {
  const levels = levelsOf(body.wave);
  const track = trackOf(context, row);
  const name = body.voice ? t("voiceMessage") : body.name ?? t("audio");
  const button = h("button", { type: "button", class: "file-icon play", "data-focus": "play", disabled: !track, onclick: () => player.toggle(track) });
  const place = h("span", {
    class: "wave", role: "slider", tabindex: track ? "0" : "-1", "data-focus": "place", "aria-label": t("playPlace"), "aria-valuemin": "0", "aria-valuemax": String(Math.round(lengthOf(body) / 1000)),
    onpointerdown: (event) => {
      const { left, width } = place.getBoundingClientRect();
      if (track && width) player.seek(track, (event.clientX - left) / width);
    },
    onkeydown: (event) => {
      const step = { ArrowLeft: -STEP, ArrowRight: STEP, ArrowDown: -STEP, ArrowUp: STEP, Home: -1, End: 1 }[event.key];
      if (!step || !track) return;
      event.preventDefault();
      event.stopPropagation();
      player.seek(track, player.at(track.key, track.duration).fraction + step);
    },
  }, levels.length ? levels.map((level) => h("i", { style: { height: `${Math.round(12 + level * 88)}%` } })) : h("b", {}));
  const speed = h("button", { type: "button", class: "speed", "data-focus": "speed", onclick: () => player.nextRate() });
  const time = h("span", { class: "time" });
  const element = h("div", { class: "voice", role: "group", "aria-label": name, "data-voice": keyOf(row), "data-length": lengthOf(body), "data-played": row.own || !body.voice ? null : `${row.conv}/${row.seq}`, "data-listener": context.state.account?.name },
    button, h("span", { class: "grow" }, body.voice ? null : h("span", { class: "name ellipsis" }, name), place, h("span", { class: "line" }, time, h("span", { class: "unplayed", role: "img", "aria-label": t("notPlayed"), title: t("notPlayed"), hidden: true }), speed)));
  show(element);
  return element;
}

/** Updates the controls of all sounds on the screen. */
function paint() {
  for (const element of document.querySelectorAll(".voice[data-voice]")) show(element);
}

function show(element) {
  const length = Number(element.dataset.length);
  const { playing, seconds, fraction } = player.at(element.dataset.voice, length);
  const isCurrent = player.key === element.dataset.voice;
  const button = element.querySelector(".play");
  if (button.dataset.shown !== String(playing)) {
    button.dataset.shown = String(playing);
    button.replaceChildren(icon(playing ? "pause" : "play"));
    button.setAttribute("aria-label", `${t(playing ? "pause" : "play")}, ${clockOf(length)}`);
  }
  const shown = isCurrent ? seconds * 1000 : length;
  element.querySelector(".time").textContent = clockOf(shown);
  const place = element.querySelector(".wave");
  place.setAttribute("aria-valuenow", String(Math.round(isCurrent ? seconds : 0)));
  place.setAttribute("aria-valuetext", t("placeOf", { time: clockOf(isCurrent ? shown : 0), length: clockOf(length) }));
  place.style.setProperty("--played", `${Math.round(fraction * 100)}%`);
  const bars = place.children;
  for (let index = 0; index < bars.length; index += 1) bars[index].classList.toggle("done", isCurrent && index < fraction * bars.length);
  const speed = element.querySelector(".speed");
  speed.hidden = !isCurrent;
  speed.textContent = `${number(player.rate)}×`;
  speed.setAttribute("aria-label", t("playSpeed", { rate: number(player.rate) }));
  const { played, listener } = element.dataset;
  element.querySelector(".unplayed").hidden = !played || wasPlayed(listener, played);
}

player.listen(paint);
player.onfailed = () => toast(t("playFailed"), { role: "alert" });
