// Copies and saves texts.

import { h } from "./dom.js";
import { openDialog } from "./dialog.js";
import { toast } from "./toast.js";
import { t } from "../i18n/index.js";

/**
 * Copies a text and confirms it. If there is no clipboard, such as without HTTPS, the text is shown
 * so that the user can copy it.
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(t("copied"), { seconds: 2 });
  } catch {
    const isLong = text.includes("\n");
    const field = h(isLong ? "textarea" : "input", { class: "input", rows: isLong ? "8" : null, readonly: true, value: text, "aria-label": t("copy"), autofocus: true });
    openDialog(t("copy"), h("div", { class: "dialog-body" }, field));
    field.select();
  }
}

/** Downloads a text as a file. */
export function saveText(text, name) {
  const address = URL.createObjectURL(new Blob([`${text}\n`], { type: "text/plain" }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
