// The composer: a text field that grows, pictures from a button, the clipboard or a drop, and a
// draft for each conversation.

import { t } from "../i18n.js";
import { h, toast } from "./dom.js";
import { icon } from "./icons.js";
import { ACCEPTED, preparePicture } from "./pictures.js";

const LONGEST = 8000;
const MOST_PICTURES = 9;

/**
 * `send(conversation, {text, file, dimensions})` resolves when the message is stored.
 * `wrote(conversation)` is called when all messages are stored. An action belongs to the
 * conversation that was open when it began.
 */
export function makeComposer({ send, wrote }) {
  const drafts = new Map(); // conversation → {conversation, text, pictures, placeholder, sending}
  let shown = null; // the draft on the screen
  let attaching = null; // the draft that the file dialog was opened for
  let preparing = Promise.resolve(); // prepares one picture at a time, because decoded pictures are large

  const input = h("textarea", { id: "message", rows: 1, dir: "auto", "aria-label": t("message"), enterkeyhint: "send", oninput: changed, onkeydown: key, onpaste: paste });
  const file = h("input", { type: "file", id: "file", accept: ACCEPTED.join(","), multiple: true, hidden: true, tabindex: "-1", onchange: () => {
    take(attaching ?? shown, [...file.files]);
    attaching = null;
    file.value = "";
  } });
  const button = h("button", { type: "submit", class: "send", id: "send", "aria-label": t("send"), title: t("send"), disabled: true }, icon("send"));
  const tray = h("div", { class: "tray", id: "tray", hidden: true });
  const element = h("form", { class: "composer", onsubmit: submit }, tray,
    h("div", { class: "composer-row" },
      h("button", { type: "button", class: "icon-button", id: "attach", "aria-label": t("attach"), title: t("attach"), onclick: () => {
        attaching = shown;
        file.click();
      } }, icon("picture")),
      file, input, button));

  function changed() {
    if (shown) shown.text = input.value;
    input.rows = 1;
    // The number of wrapped lines, up to six. Uses `rows`, because the CSP forbids style
    // attributes.
    const line = parseFloat(getComputedStyle(input).lineHeight) || 22;
    const padding = input.offsetHeight - line;
    input.rows = Math.max(1, Math.min(6, Math.round((input.scrollHeight - padding) / line)));
    button.disabled = input.value.trim() === "" && !shown?.pictures.length;
  }

  function key(event) {
    // Enter selects a word while an input method composes. On phones, Enter inserts a new line.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229 || matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault();
    submit();
  }

  function submit(event) {
    event?.preventDefault();
    const text = input.value.trim();
    if ([...text].length > LONGEST) return toast(t("tooLong"));
    if (!shown || (!text && shown.pictures.length === 0)) return;
    const draft = shown;
    const pictures = draft.pictures;
    draft.pictures = [];
    input.value = "";
    renderTray();
    changed();
    input.focus();
    // Later messages wait for pictures in preparation, which preserves the order.
    draft.sending = draft.sending.then(() => sendAll(draft.conversation, text, pictures)).catch((error) => console.warn(error));
  }

  async function sendAll(conversation, text, pictures) {
    const ready = (await Promise.all(pictures.map((picture) => picture.prepared))).filter(Boolean);
    // The text is the caption of the last picture.
    for (const [index, { file, dimensions }] of ready.entries()) await send(conversation, { text: index === ready.length - 1 ? text : "", file, dimensions });
    if (ready.length === 0 && text) await send(conversation, { text });
    for (const picture of pictures) forget(picture);
    wrote(conversation);
  }

  /**
   * Adds files to a draft. `prepared` resolves to {file, dimensions}, or to null if the file cannot
   * be sent.
   */
  function take(draft, files) {
    for (const chosen of files) {
      if (draft.pictures.length >= MOST_PICTURES) {
        toast(t("tooManyPictures", { n: MOST_PICTURES }));
        break;
      }
      const picture = { name: chosen.name, url: null };
      picture.prepared = preparing.then(() => prepare(draft, picture, chosen));
      preparing = picture.prepared;
      draft.pictures.push(picture);
    }
    if (draft === shown) input.focus();
    rendered(draft);
  }

  async function prepare(draft, picture, chosen) {
    let prepared = null;
    try {
      prepared = await preparePicture(chosen);
      if (draft.pictures.includes(picture)) picture.url = URL.createObjectURL(prepared.file);
    } catch (error) {
      toast(t(error.message));
      draft.pictures = draft.pictures.filter((each) => each !== picture);
    }
    rendered(draft);
    return prepared;
  }

  function forget(picture) {
    if (picture.url) URL.revokeObjectURL(picture.url);
  }

  function paste(event) {
    const files = [...(event.clipboardData?.files ?? [])].filter((each) => ACCEPTED.includes(each.type));
    if (files.length === 0) return;
    event.preventDefault();
    take(shown, files);
  }

  function rendered(draft) {
    if (draft !== shown) return;
    renderTray();
    changed();
  }

  function renderTray() {
    const draft = shown;
    const { pictures } = draft;
    tray.hidden = pictures.length === 0;
    tray.replaceChildren(...pictures.map((picture) => h("div", { class: "tray-item" },
      picture.url ? h("img", { src: picture.url, alt: picture.name ?? t("photo") })
        : h("span", { class: "tray-waiting", role: "status", "aria-label": t("preparing") }, h("span", { class: "spinner" })),
      h("button", { type: "button", class: "tray-remove", "aria-label": t("remove"), onclick: () => {
        draft.pictures = draft.pictures.filter((each) => each !== picture);
        forget(picture);
        rendered(draft);
      } }, icon("close")))));
    input.placeholder = pictures.length > 0 ? t("caption") : draft.placeholder;
  }

  /** Accepts pictures dropped on `area`. */
  function acceptDrops(area) {
    let depth = 0;
    const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
    const show = (by) => {
      depth = Math.max(0, depth + by);
      area.classList.toggle("dropping", depth > 0);
    };
    area.addEventListener("dragenter", (event) => carriesFiles(event) && (event.preventDefault(), show(1)));
    area.addEventListener("dragleave", (event) => carriesFiles(event) && show(-1));
    area.addEventListener("dragover", (event) => carriesFiles(event) && event.preventDefault());
    area.addEventListener("drop", (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      show(-depth);
      if (shown) take(shown, [...event.dataTransfer.files]);
    });
  }

  return {
    element, acceptDrops,
    open(id, name) {
      if (!drafts.has(id)) drafts.set(id, { conversation: id, text: "", pictures: [], sending: Promise.resolve() });
      shown = drafts.get(id);
      shown.placeholder = t("messageTo", { name });
      input.value = shown.text;
      renderTray();
      changed();
      if (matchMedia("(pointer: fine)").matches) input.focus();
    },
  };
}
