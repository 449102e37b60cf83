// The viewer that covers the page: the pictures and videos of a conversation, with zoom, captions
// and download.

import { announce, h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { userName } from "./model.js";
import { previewURL } from "./pictures.js";
import { Zoom } from "./zoom.js";
import { blurCanvas } from "../text/blurhash.js";
import { renderText } from "../text/render.js";
import { player } from "../media/player.js";
import { fullDate } from "../i18n/format.js";
import { t } from "../i18n/index.js";

/** Opens `row`, which is one of `rows`. `jump(row)` shows its message in the log. */
export function openViewer(state, row, { rows = [row], jump = null } = {}) {
  let index = Math.max(0, rows.findIndex((each) => each.key === row.key));
  const button = (name, label, run, more = {}) => h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick: run, ...more }, icon(name));
  const who = h("span", { class: "grow" });
  const save = h("a", { class: "icon-button", "aria-label": t("download"), title: t("download") }, icon("download"));
  const smaller = button("minus", t("zoomOut"), () => zoom.by(-1));
  const larger = button("plus", t("zoomIn"), () => zoom.by(1));
  const toMessage = button("chatBubble", t("showInChat"), () => { dialog.close(); jump(rows[index]); }, { hidden: !jump });
  const before = button("back", t("previousPicture"), () => go(-1), { class: "icon-button step" });
  const after = button("chevron", t("nextPicture"), () => go(1), { class: "icon-button step next" });
  const stage = h("div", { class: "stage" });
  const caption = h("div", { class: "caption", hidden: true });
  const closer = button("close", t("close"), () => dialog.close(), { autofocus: true });
  const dialog = h("dialog", { class: "viewer" },
    h("div", { class: "bar" }, who, smaller, larger, toMessage, save, closer),
    h("div", { class: "stage-box" }, stage, before, after), caption);
  const zoom = new Zoom(stage, { swiped: (step) => go(step), changed: () => {
    const [isSmallest, isLargest] = [zoom.scale <= 1, !zoom.target || zoom.scale >= 8];
    // A disabled button that has the focus would suppress key events.
    if ((isSmallest && document.activeElement === smaller) || (isLargest && document.activeElement === larger)) closer.focus();
    smaller.disabled = isSmallest;
    larger.disabled = isLargest;
  } });

  function show() {
    const current = rows[index];
    const { body } = current;
    const isFilm = current.kind === "video";
    const src = current.localURL ?? state.blobURL(body.blob);
    const name = t(isFilm ? "video" : "picture");
    dialog.setAttribute("aria-label", body.text ? `${name}: ${body.text}` : name);
    replace(who, h("strong", { class: "ellipsis" }, userName(state, current.sender)),
      h("div", { class: "small" }, [current.at ? fullDate(current.at) : "", rows.length > 1 ? t("pictureOf", { n: index + 1, total: rows.length }) : ""].filter(Boolean).join(" · ")));
    save.href = src;
    save.download = body.name ?? "";
    before.hidden = index === 0;
    after.hidden = index === rows.length - 1;
    for (const each of [smaller, larger]) each.hidden = isFilm;
    const shown = isFilm ? film(current, src) : still(current, src, body.text ?? body.name ?? name);
    stage.querySelector("video")?.pause();
    replace(stage, shown);
    zoom.show(isFilm ? null : shown);
    caption.hidden = !body.text;
    replace(caption, body.text ? renderText(body.text, body.entities, { me: state.account?.name }) : null);
  }

  function still(current, src, alt) {
    const { body } = current;
    const image = h("img", { alt, draggable: "false", width: body.width, height: body.height });
    const preview = previewURL(state, current);
    image.src = preview && preview !== src ? preview : src;
    if (image.getAttribute("src") === src) return image;
    const whole = new Image();
    whole.onload = () => { image.src = src; };
    whole.src = src;
    return image;
  }

  function film(current, src) {
    player.stop();
    const video = h("video", { src, controls: true, autoplay: true, playsinline: true, loop: current.body.duration < 10_000, poster: previewURL(state, current), "aria-label": t("video") });
    const blur = blurCanvas(current.body.thumb);
    if (blur && !current.body.poster) video.poster = blur.toDataURL();
    return video;
  }

  function go(step) {
    if (!rows[index + step]) return;
    index += step;
    const lost = document.activeElement === before || document.activeElement === after;
    show();
    announce(dialog.getAttribute("aria-label"));
    if (lost && document.activeElement === document.body) (after.hidden ? before : after).focus();
  }

  dialog.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (zoom.target && zoom.typed(event)) event.preventDefault();
    else if ((event.key === "ArrowLeft" || event.key === "ArrowRight") && event.target.tagName !== "VIDEO") {
      event.preventDefault();
      go(event.key === "ArrowLeft" ? -1 : 1);
    }
  });
  stage.addEventListener("click", (event) => { if (event.target === stage && !zoom.wasMoved && zoom.scale === 1) dialog.close(); });
  const focused = document.activeElement;
  dialog.addEventListener("close", () => {
    stage.querySelector("video")?.pause();
    dialog.remove();
    if (document.activeElement === document.body) focused?.focus?.({ preventScroll: true });
  });
  document.body.append(dialog);
  dialog.showModal();
  show();
}
