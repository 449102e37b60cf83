// Parts of forms that several dialogs share.

import { h } from "./dom.js";

/** Returns a listener of `submit` that disables the button while `run` is running. */
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

/** Shows the reason for which a form was refused, and focuses the field. */
export function refusedPassword(error, input, text) {
  error.textContent = text;
  input.setAttribute("aria-invalid", "true");
  input.focus();
}
