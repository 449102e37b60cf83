// The card for signing in and registering.

import { login, register } from "../chat/api.js";
import { errorText, t } from "../i18n.js";
import { h } from "./dom.js";
import { icon, logo } from "./icons.js";

const NAME = "[A-Za-z0-9](?:[A-Za-z0-9_]{2,13})[A-Za-z0-9]";

/**
 * Shows the card in `root`. Calls `done(session)` after success. `notice` is the reason for a
 * repeated sign-in.
 */
export function showAuth(root, { notice, done }) {
  let registering = false;
  render();

  function render() {
    const error = h("p", { class: "form-error", role: "alert" });
    const name = field("name", t("name"), {
      autocomplete: "username", autocapitalize: "none", spellcheck: "false", required: true, maxlength: 15, pattern: registering ? NAME : null,
      title: registering ? t("nameHint") : null,
    });
    const display = registering ? field("display", t("display"), { autocomplete: "nickname", maxlength: 50 }) : null;
    const password = field("password", t("password"), {
      type: "password", autocomplete: registering ? "new-password" : "current-password", required: true, minlength: registering ? 8 : null,
    });
    const input = password.querySelector("input");
    const eye = h("button", { type: "button", class: "icon-button peek", "aria-label": t("showPassword"), "aria-pressed": "false", onclick: peek }, icon("eye"));
    password.append(eye);
    function peek() {
      const shown = input.type === "password";
      input.type = shown ? "text" : "password";
      eye.setAttribute("aria-pressed", String(shown));
      eye.setAttribute("aria-label", t(shown ? "hidePassword" : "showPassword"));
    }
    const submit = h("button", { class: "primary wide", type: "submit" }, t(registering ? "register" : "signIn"));

    const form = h("form", { class: "card auth-card", id: "auth-form", onsubmit: send },
      h("div", { class: "brand" }, h("span", { class: "brand-mark" }, logo()), h("h1", {}, "Apus"), h("p", { class: "tagline" }, t("tagline"))),
      notice ? h("p", { class: "notice", role: "status" }, notice) : null,
      name, registering ? h("p", { class: "hint" }, t("nameHint")) : null,
      display,
      password, registering ? h("p", { class: "hint" }, t("passwordHint")) : null,
      error, submit,
      h("p", { class: "switch" }, t(registering ? "haveAccount" : "noAccount"), " ",
        h("button", { type: "button", class: "link", id: "auth-switch", onclick: () => { registering = !registering; notice = null; render(); } },
          t(registering ? "signIn" : "register"))));

    async function send(event) {
      event.preventDefault();
      error.textContent = "";
      submit.disabled = true;
      const values = Object.fromEntries(new FormData(form));
      try {
        done(registering
          ? await register(values.name.trim(), values.password, values.display?.trim())
          : await login(values.name.trim(), values.password));
      } catch (failure) {
        // The server's message says which rule was violated.
        error.textContent = failure.code === "bad_request" ? failure.message : errorText(failure);
        submit.disabled = false;
        input.select();
      }
    }

    root.replaceChildren(h("main", { class: "auth" }, form));
    name.querySelector("input").focus();
  }
}

function field(name, label, attributes) {
  return h("label", { class: "field" }, h("span", { class: "field-label" }, label), h("input", { name, type: "text", ...attributes }));
}
