// Parts of forms that several dialogs have.

import { h } from "./dom.js";

/** A listener of `submit` that disables the button while it runs. */
export const submitting = (button, run) => async (event) => {
  event.preventDefault();
  button.disabled = true;
  await run();
  button.disabled = false;
};

/** Returns [input, field] of a password. */
export function password(label, autocomplete) {
  const input = h("input", { class: "input", type: "password", autocomplete, maxlength: "200" });
  input.addEventListener("input", () => input.removeAttribute("aria-invalid"));
  return [input, h("label", { class: "field" }, label, input)];
}

/** Says at a field why a form was refused. */
export function refusedPassword(error, input, text) {
  error.textContent = text;
  input.setAttribute("aria-invalid", "true");
  input.focus();
}
