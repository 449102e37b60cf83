// A picture over the whole page. Escape, the close button or a click outside the picture closes it.

import { t } from "../i18n.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";

export function showLightbox(url, { label, caption }) {
  const close = () => dialog.close();
  const dialog = h("dialog", { class: "lightbox", "aria-label": label, onclose: () => dialog.remove(), onclick: (event) => {
    if (!event.target.closest("img, a, button")) close();
  } },
  h("div", { class: "lightbox-bar" },
    h("span", { class: "lightbox-title" }, label),
    h("a", { class: "icon-button", href: url, download: "picture", "aria-label": t("download") }, icon("download")),
    h("button", { type: "button", class: "icon-button", "aria-label": t("close"), onclick: close }, icon("close"))),
  h("img", { src: url, alt: label }),
  caption ? h("p", { class: "lightbox-caption" }, caption) : null);
  document.body.append(dialog);
  dialog.showModal();
}
