// Shares a location: the location of the device, or coordinates that the user enters.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { openDialog } from "./dialog.js";
import { coordinatesOf, coordinatesText, sketch } from "./place.js";
import { t } from "../i18n/index.js";

/** Returns the number in a field, which may have a decimal comma, or null. */
const numberOf = (text) => (/^\s*[+-]?\d+([.,]\d+)?\s*$/.test(text) ? Number(text.replace(",", ".")) : null);

/** Returns the two numbers of a text such as "54.3233, 10.1228", or null. */
export function coordinatesIn(text) {
  const found = text.match(/^\s*([+-]?\d{1,3}(?:\.\d+)?)\s*[,;\s]\s*([+-]?\d{1,3}(?:\.\d+)?)\s*$/);
  return found ? [found[1], found[2]] : null;
}

/** Asks for a location. Resolves to {kind, body} or null. */
export function shareLocation() {
  return new Promise((resolve) => {
    let content = null;
    let accuracy = 0;
    const field = (label) => h("input", { class: "input", inputmode: "decimal", maxlength: "40", placeholder: label });
    const [latitude, longitude] = [field("54.3233"), field("10.1228")];
    const name = h("input", { class: "input", maxlength: "100" });
    const preview = h("div", { class: "place-preview", role: "status" });
    const send = h("button", { type: "submit", class: "button primary", disabled: true }, t("send"));
    const own = h("button", { type: "button", class: "button wide", autofocus: true, hidden: !navigator.geolocation, onclick: () => locate() }, icon("pinPlace"), t("myLocation"));
    const note = h("p", { class: "form-error", role: "alert" });

    const read = () => coordinatesOf({ latitude: numberOf(latitude.value), longitude: numberOf(longitude.value), accuracy });
    const update = () => {
      const at = read();
      send.disabled = !at;
      for (const [input, limit] of [[latitude, 90], [longitude, 180]]) {
        const value = numberOf(input.value);
        input.setAttribute("aria-invalid", String(input.value.trim() !== "" && (value === null || Math.abs(value) > limit)));
      }
      replace(preview, at ? [sketch(at), h("p", { class: "small muted" }, coordinatesText(at))] : null);
    };
    const typed = () => {
      accuracy = 0;
      update();
    };
    const locate = () => {
      own.disabled = true;
      note.textContent = "";
      navigator.geolocation.getCurrentPosition(({ coords }) => {
        own.disabled = false;
        [latitude.value, longitude.value] = [coords.latitude.toFixed(6), coords.longitude.toFixed(6)];
        accuracy = Math.round(Math.min(1_000_000, coords.accuracy || 0));
        update();
        send.focus();
      }, ({ code }) => {
        own.disabled = false;
        note.textContent = t(code === 1 ? "locationRefused" : "locationFailed");
      }, { timeout: 15_000, enableHighAccuracy: true });
    };
    for (const input of [latitude, longitude]) {
      input.addEventListener("input", typed);
      input.addEventListener("paste", (event) => {
        const both = coordinatesIn(event.clipboardData?.getData("text") ?? "");
        if (!both) return;
        event.preventDefault();
        [latitude.value, longitude.value] = both;
        typed();
      });
    }
    const form = h("form", { onsubmit: (event) => {
      event.preventDefault();
      const at = read();
      if (!at) return;
      content = { kind: "location", body: { latitude: at.latitude, longitude: at.longitude, ...(at.accuracy && { accuracy: at.accuracy }), ...(name.value.trim() && { name: name.value.trim() }) } };
      dialog.close();
    } },
    h("div", { class: "dialog-body" }, own, note, h("div", { class: "input-pair" }, h("label", { class: "field grow" }, t("latitude"), latitude), h("label", { class: "field grow" }, t("longitude"), longitude)), h("label", { class: "field" }, t("placeName"), name), preview),
    h("div", { class: "dialog-foot" }, h("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, t("cancel")), send));
    const dialog = openDialog(t("attachLocation"), form, { onclose: () => resolve(content), label: "scrolls" });
  });
}
