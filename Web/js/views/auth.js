// Sign-in, registration and recovery.

import { h, replace, uniqueID } from "./dom.js";
import { icon, logo } from "./icons.js";
import { errorText } from "./model.js";
import { openMenu } from "./menu.js";
import { LANGUAGE_NAMES, currentLanguage, t } from "../i18n/index.js";

const LEADS = { signIn: "signInLead", register: "registerLead", recover: "recoverLead" };
const DISMISSED = { account_closed: "dismissedClosed", protocol_error: "dismissedVersion", version: "dismissedVersion" };
/** The inputs of fields that requests name. */
const FIELDS = { password: "password", new: "password" };
const ACTIONS = { signIn: "signIn", register: "register", recover: "recover" };

export class AuthView {
  constructor(app, mode = "signIn") {
    this.app = app;
    this.card = h("div", { class: "card" });
    this.element = h("main", { class: "auth" }, this.card);
    this.#show(mode);
    this.end = app.state.subscribe("session", () => this.#learn());
    const { notice } = app.state;
    if (notice?.kind === "dismissed") this.error.textContent = t(DISMISSED[notice.reason] ?? "dismissed");
  }

  close() {
    this.end();
    this.element.remove();
  }

  /** The users who can create accounts on the server: "open", "invitation" or "closed". */
  get registration() {
    return this.app.state.session.server?.registration ?? "open";
  }

  /** Updates the form if the answer of the server arrived after it was shown. */
  #learn() {
    if (this.shown === this.registration) return;
    const { name, password } = this.form.elements;
    const [focused, typed] = [document.activeElement?.name, password.value];
    this.#show(this.mode === "register" && this.registration === "closed" ? "signIn" : this.mode, name.value, focused);
    this.form.elements.password.value = typed;
  }

  #show(mode, name = "", focused = null) {
    this.mode = mode;
    this.shown = this.registration;
    this.error = h("p", { class: "form-error", role: "alert" });
    this.codeField = null;
    const hints = mode === "register";
    const isNewPassword = mode !== "signIn";
    this.fields = h("div", { class: "dialog-fields" });
    this.button = h("button", { type: "submit", class: "button primary wide" }, t(ACTIONS[mode]));
    const form = h("form", { id: "auth-form", novalidate: true, onsubmit: (event) => { event.preventDefault(); this.#submit(new FormData(form)); } },
      field("name", t("userName"), { autocomplete: "username", value: name, autocapitalize: "none", spellcheck: "false", maxlength: "32", hint: hints ? t("userNameHint") : null }),
      mode === "register" ? field("nick", t("nick"), { autocomplete: "nickname", maxlength: "50" }) : null,
      mode === "recover" ? field("recovery", t("recoveryCode"), { autocomplete: "off", spellcheck: "false" }) : null,
      mode === "register" && this.registration === "invitation" ? field("invitation", t("inviteCode"), { autocomplete: "off", spellcheck: "false", autocapitalize: "none", maxlength: "100", hint: t("inviteCodeHint") }) : null,
      passwordField(mode === "recover" ? t("newPassword") : t("password"), isNewPassword ? "new-password" : "current-password", isNewPassword ? t("passwordHint") : null),
      this.fields, this.error, this.button);
    this.form = form;
    const link = (target, label) => h("button", { type: "button", class: "link", onclick: () => this.#show(target, form.elements.name.value) }, label);
    const language = h("button", { type: "button", class: "button quiet", "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => openMenu(language, Object.entries(LANGUAGE_NAMES).map(([key, label]) =>
      ({ label, checked: key === currentLanguage(), icon: "globe", run: () => { this.app.setPreference("language", key); } })), { label: t("language") }) }, icon("globe"), LANGUAGE_NAMES[currentLanguage()]);
    const closed = this.registration === "closed";
    const lead = mode === "signIn" && location.pathname.endsWith("/join") && location.hash ? "invitedLead" : LEADS[mode];
    replace(this.card,
      h("div", { class: "brand" }, h("span", { class: "brand-mark" }, logo()), h("h1", {}, t("appName")), h("p", { class: "muted" }, t(lead))),
      form,
      h("div", { class: "foot" }, mode === "signIn" ? [closed ? h("span", { class: "muted" }, t("registrationClosed")) : link("register", t("noAccount")), link("recover", t("forgot"))] : link("signIn", t("haveAccount"))),
      language);
    // The focus is set at the end of the task. In a later frame, it could leave a field in which
    // the user is already typing.
    queueMicrotask(() => (form.elements[focused] ?? (form.elements.name.value ? form.elements.password : form.elements.name)).focus());
  }

  async #submit(data) {
    const value = (name) => String(data.get(name) ?? "").trim();
    const missing = [...this.form.elements].find((input) => input.tagName === "INPUT" && !input.value.trim() && input.name !== "nick");
    if (missing) {
      this.#fail(t("fieldRequired"), missing);
      return;
    }
    const { state } = this.app;
    const password = String(data.get("password"));
    this.button.disabled = true;
    this.error.textContent = "";
    try {
      if (this.mode === "register") this.app.showRecovery(await state.register({ name: value("name"), nick: value("nick") || undefined, password, invitation: value("invitation") || undefined }));
      else if (this.mode === "recover") await state.recover({ name: value("name"), recovery: value("recovery"), password });
      else await state.signIn({ name: value("name"), password, code: value("code") || undefined });
    } catch (error) {
      this.#refused(error);
    } finally {
      this.button.disabled = false;
    }
  }

  #refused(error) {
    const { elements } = this.form;
    // The server requests a second factor or an invitation only if one is required.
    const extra = error?.field === "code" ? ["code", t("code")] : error?.field === "invitation" ? ["invitation", t("inviteCode")] : null;
    if (extra && !elements[extra[0]]) {
      this.#fail("");
      this.fields.append(field(extra[0], extra[1], extra[0] === "code" ? { autocomplete: "one-time-code", autocapitalize: "none", hint: t("codeHint") } : { autocomplete: "off" }));
      elements[extra[0]].focus();
      return;
    }
    this.#fail(this.#reason(error), elements[FIELDS[error?.field] ?? error?.field] ?? elements.recovery ?? elements.password);
  }

  #reason(error) {
    const isNew = this.mode === "register";
    if (isNew && error?.code === "conflict") return t("nameTaken");
    if (isNew && error?.code === "forbidden") return t(this.registration === "invitation" || this.form.elements.invitation ? "invitationWrong" : "registrationClosed");
    if (error?.code === "unauthorized") return t({ signIn: error.field === "code" ? "wrongCode" : "wrongPassword", recover: "recoveryWrong" }[this.mode] ?? "errorUnauthorized");
    if (error?.code === "bad_request" && error.field === "name") return t("nameRefused");
    if (error?.code === "bad_request" && FIELDS[error.field] === "password") return t("passwordHint");
    return errorText(error);
  }

  #fail(text, input) {
    for (const field of this.form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
    this.error.textContent = text;
    input?.setAttribute("aria-invalid", "true");
    input?.focus();
  }
}

function field(name, label, { hint = null, ...extra } = {}) {
  return h("label", { class: "field" }, label, h("input", { class: "input", name, type: "text", ...extra }), hint ? h("span", { class: "small muted" }, hint) : null);
}

function passwordField(label, autocomplete, hint) {
  const input = h("input", { class: "input", name: "password", type: "password", autocomplete, maxlength: "200" });
  const show = h("button", { type: "button", class: "icon-button", "aria-label": t("showPassword"), "aria-pressed": "false", onclick: () => {
    const shown = input.type === "password";
    input.type = shown ? "text" : "password";
    show.setAttribute("aria-pressed", String(shown));
  } }, icon("eye"));
  const id = uniqueID("password");
  input.id = id;
  return h("div", { class: "field" }, h("label", { for: id }, label), h("div", { class: "password-box" }, input, show), hint ? h("span", {}, hint) : null);
}
