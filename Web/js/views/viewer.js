// The picture viewer over the whole page.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { userName } from "./model.js";
import { fullDate } from "../i18n/format.js";
import { t } from "../i18n/index.js";

export function openViewer(state, row) {
  const { body } = row;
  const src = row.localURL ?? state.blobURL(body.blob);
  const label = body.text ?? body.name ?? t(row.kind === "video" ? "video" : "picture");
  const stage = row.kind === "video" ? h("video", { src, controls: true, autoplay: true }) : h("img", { src, alt: label });
  const dialog = h("dialog", { class: "viewer", "aria-label": label },
    h("div", { class: "bar" }, h("span", { class: "grow" }, h("strong", { class: "ellipsis" }, userName(state, row.sender)), h("div", { class: "small" }, row.at ? fullDate(row.at) : "")),
      h("a", { class: "icon-button", href: src, download: body.name ?? "", "aria-label": t("download") }, icon("download")),
      h("button", { type: "button", class: "icon-button", "aria-label": t("close"), autofocus: true, onclick: () => dialog.close() }, icon("close"))),
    h("div", { class: "stage", onclick: (event) => { if (event.target === event.currentTarget) dialog.close(); } }, stage));
  const before = document.activeElement;
  dialog.addEventListener("close", () => { dialog.remove(); if (document.activeElement === document.body) before?.focus?.({ preventScroll: true }); });
  document.body.append(dialog);
  dialog.showModal();
}
