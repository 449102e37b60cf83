// The settings of the password, the recovery codes and the sign-in with a code of an authenticator.

import { h, replace, svg } from "./dom.js";
import { password, refusedPassword, submitting } from "./fields.js";
import { errorText } from "./model.js";
import { toast } from "./toast.js";
import { qrcode } from "../text/qrcode.js";
import { t } from "../i18n/index.js";

const SHORTEST = 8;

export function securityPage(app, page) {
  page.append(passwordForm(app.state), totpForm(app.state), recoveryForm(app));
}

function passwordForm(state) {
  const [old, oldField] = password(t("currentPassword"), "current-password");
  const [fresh, freshField] = password(t("newPassword"), "new-password");
  const error = h("p", { class: "form-error", role: "alert" });
  const save = h("button", { type: "submit", class: "button primary" }, t("changePassword"));
  return h("form", { class: "dialog-fields", onsubmit: submitting(save, async () => {
    error.textContent = "";
    if (!old.value) return refusedPassword(error, old, t("fieldRequired"));
    if ([...fresh.value].length < SHORTEST) return refusedPassword(error, fresh, t("passwordHint"));
    try {
      await state.changePassword({ old: old.value, password: fresh.value });
    } catch (refusal) {
      const isWrong = ["unauthorized", "forbidden"].includes(refusal.code);
      return refusedPassword(error, isWrong ? old : fresh, isWrong ? t("passwordWrong") : errorText(refusal));
    }
    old.value = fresh.value = "";
    toast(t("passwordChanged"));
  }) }, h("h3", {}, t("changePassword")), oldField, freshField, h("span", { class: "small muted" }, t("passwordHint"), h("br"), t("passwordEnds")), error, save);
}

function recoveryForm(app) {
  const [proof, proofField] = password(t("currentPassword"), "current-password");
  const error = h("p", { class: "form-error", role: "alert" });
  const make = h("button", { type: "submit", class: "button" }, t("newRecoveryCodes"));
  return h("form", { class: "dialog-fields", onsubmit: submitting(make, async () => {
    error.textContent = "";
    if (!proof.value) return refusedPassword(error, proof, t("fieldRequired"));
    try {
      app.showRecovery(await app.state.recoveryCodes(proof.value));
      proof.value = "";
    } catch (refusal) {
      refusedPassword(error, proof, refusal.code === "forbidden" ? t("passwordWrong") : errorText(refusal));
    }
  }) }, h("h3", {}, t("recoveryCodes")), h("p", { class: "small muted" }, t("recoveryCodesHint")), proofField, error, make);
}

/**
 * Returns a form that asks for the password. It then removes the authenticator, or shows the secret
 * of a new one as a QR code and asks for its first code.
 */
function totpForm(state) {
  const [proof, proofField] = password(t("currentPassword"), "current-password");
  const error = h("p", { class: "form-error", role: "alert" });
  const button = h("button", { type: "submit", class: "button" });
  const body = h("div", { class: "dialog-fields" }, error);
  let hasTotp;
  const start = async () => {
    try {
      hasTotp = await state.hasTotp();
    } catch (refusal) {
      error.textContent = errorText(refusal);
      return;
    }
    button.textContent = t(hasTotp ? "totpRemove" : "totpSetUp");
    button.classList.toggle("quiet", hasTotp);
    replace(body, proofField, error, button);
  };
  const restart = async () => {
    await start();
    proof.focus();
  };
  const begin = async () => {
    error.textContent = "";
    if (!proof.value) return refusedPassword(error, proof, t("fieldRequired"));
    try {
      if (hasTotp) await state.removeTotp(proof.value);
      else {
        const { secret, uri } = await state.makeTotp(proof.value);
        replace(body, ...secretStep(state, secret, uri, restart));
        body.querySelector("input").focus({ preventScroll: true });
        body.querySelector("svg")?.scrollIntoView({ block: "nearest" });
      }
      proof.value = "";
    } catch (refusal) {
      // Another device may have set up an authenticator.
      if (refusal.code === "conflict") await start();
      return refusedPassword(error, proof, refusal.code === "forbidden" ? t("passwordWrong") : errorText(refusal));
    }
    if (!hasTotp) return;
    toast(t("totpRemoved"));
    await restart();
  };
  start();
  return h("form", { class: "dialog-fields", onsubmit: submitting(button, begin) }, h("h3", {}, t("totp")), h("p", { class: "small muted" }, t("totpHint")), body);
}

function secretStep(state, secret, uri, done) {
  const code = h("input", { class: "input", inputmode: "numeric", autocomplete: "one-time-code", maxlength: "10", id: "totp-code" });
  const error = h("p", { class: "form-error", role: "alert" });
  const confirm = async () => {
    error.textContent = "";
    try {
      await state.confirmTotp(code.value.replace(/\s/g, ""));
      toast(t("totpOn"));
      done();
    } catch (refusal) {
      error.textContent = refusal.code === "forbidden" || refusal.code === "bad_request" ? t("wrongCode") : errorText(refusal);
      code.select();
    }
  };
  const button = h("button", { type: "button", class: "button primary", onclick: confirm }, t("confirm"));
  code.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); confirm(); } });
  return [
    h("p", {}, t("totpScan")), picture(uri),
    h("p", { class: "small muted" }, t("totpType")), h("pre", { class: "codes", tabindex: "0" }, secret.replace(/(.{4})(?=.)/g, "$1 ")),
    /^otpauth:/.test(uri) ? h("a", { class: "link", href: uri }, t("totpOpen")) : null,
    h("label", { class: "field" }, t("code"), code), error, button,
  ];
}

function picture(uri) {
  const rows = qrcode(uri);
  if (!rows) return null;
  const path = rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + 4} ${y + 4}h1v1h-1z` : ""))).join("");
  return svg("svg", { class: "qrcode", viewBox: `0 0 ${rows.length + 8} ${rows.length + 8}`, role: "img", "aria-label": t("qrcode"), "shape-rendering": "crispEdges" }, svg("path", { d: path }));
}
