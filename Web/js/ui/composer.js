// Where one writes: a field that grows, pictures from the button, the clipboard or dropped, a draft per conversation.

import { t } from "../i18n.js";
import { h, toast } from "./dom.js";
import { icon } from "./icons.js";
import { ACCEPTED, preparePicture } from "./pictures.js";

const LONGEST = 8000;
const MOST_PICTURES = 9;

/** `send({text, file, dimensions})` stores a message; it resolves when that is safe. */
export function makeComposer({ send, wrote }) {
  const drafts = new Map(); // conversation → {text, pictures}
  let current = null;
  let pictures = []; // {file, dimensions, url}

  const input = h("textarea", { id: "message", rows: 1, dir: "auto", "aria-label": t("message"), enterkeyhint: "send", oninput: changed, onkeydown: key, onpaste: paste });
  const file = h("input", { type: "file", id: "file", accept: ACCEPTED.join(","), multiple: true, hidden: true, tabindex: "-1", onchange: () => {
    take([...file.files]);
    file.value = "";
  } });
  const button = h("button", { type: "submit", class: "send", id: "send", "aria-label": t("send"), title: t("send"), disabled: true }, icon("send"));
  const tray = h("div", { class: "tray", id: "tray", hidden: true });
  const element = h("form", { class: "composer", onsubmit: submit }, tray,
    h("div", { class: "composer-row" },
      h("button", { type: "button", class: "icon-button", id: "attach", "aria-label": t("attach"), title: t("attach"), onclick: () => file.click() }, icon("picture")),
      file, input, button));

  function changed() {
    input.rows = 1;
    // Lines as they wrap, up to six; by rows, because a strict CSP and a style attribute do not go together.
    const line = parseFloat(getComputedStyle(input).lineHeight) || 22;
    const padding = input.offsetHeight - line;
    input.rows = Math.max(1, Math.min(6, Math.round((input.scrollHeight - padding) / line)));
    button.disabled = input.value.trim() === "" && pictures.length === 0;
  }

  function key(event) {
    // While an input method composes, Enter chooses a word. On phones Enter is a new line and the button sends.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229 || matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault();
    submit();
  }

  async function submit(event) {
    event?.preventDefault();
    const text = input.value.trim();
    if ([...text].length > LONGEST) return toast(t("tooLong"));
    if (!text && pictures.length === 0) return;
    const leaving = pictures;
    pictures = [];
    input.value = "";
    renderTray();
    changed();
    // The words go under the last picture.
    for (const [index, picture] of leaving.entries()) {
      const caption = index === leaving.length - 1 ? text : "";
      await send({ text: caption, file: picture.file, dimensions: picture.dimensions });
      URL.revokeObjectURL(picture.url);
    }
    if (leaving.length === 0) await send({ text });
    wrote();
    input.focus();
  }

  async function take(files) {
    for (const chosen of files) {
      if (pictures.length >= MOST_PICTURES) break;
      try {
        const prepared = await preparePicture(chosen);
        pictures.push({ ...prepared, url: URL.createObjectURL(prepared.file) });
      } catch (error) {
        toast(t(error.message));
      }
    }
    renderTray();
    changed();
    input.focus();
  }

  function paste(event) {
    const files = [...(event.clipboardData?.files ?? [])].filter((each) => ACCEPTED.includes(each.type));
    if (files.length === 0) return;
    event.preventDefault();
    take(files);
  }

  function renderTray() {
    tray.hidden = pictures.length === 0;
    tray.replaceChildren(...pictures.map((picture) => h("div", { class: "tray-item" }, h("img", { src: picture.url, alt: picture.file.name ?? t("photo") }),
      h("button", { type: "button", class: "tray-remove", "aria-label": t("remove"), onclick: () => {
        URL.revokeObjectURL(picture.url);
        pictures = pictures.filter((each) => each !== picture);
        renderTray();
        changed();
      } }, icon("close")))));
    input.placeholder = pictures.length > 0 ? t("caption") : input.dataset.placeholder ?? "";
  }

  /** Lets pictures be dropped anywhere on `area`. */
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
      take([...event.dataTransfer.files]);
    });
  }

  return {
    element, acceptDrops,
    open(id, name) {
      if (current) drafts.set(current, { text: input.value, pictures });
      const draft = drafts.get(id) ?? { text: "", pictures: [] };
      current = id;
      pictures = draft.pictures;
      input.value = draft.text;
      input.dataset.placeholder = t("messageTo", { name });
      renderTray();
      changed();
      if (matchMedia("(pointer: fine)").matches) input.focus();
    },
  };
}
