// Records a short video with the camera.

import { announce, h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { openDialog } from "./dialog.js";
import { toast } from "./toast.js";
import { openCamera, recordFilm } from "../media/recorder.js";
import { duration } from "../i18n/format.js";
import { t } from "../i18n/index.js";

const LONGEST = 60_000; // ms, the maximum duration

/** Records a video of at most 60 s. Resolves to a File, or to null if nothing was recorded. */
export async function recordVideo() {
  let facing = "user";
  let stream;
  try {
    stream = await openCamera(facing);
  } catch (error) {
    console.warn(error);
    toast(t(error.name === "NotAllowedError" ? "cameraRefused" : "cameraFailed"), { role: "alert" });
    return null;
  }
  return new Promise((resolve) => {
    let recording = null;
    let file = null;
    let clock = 0;
    const view = h("video", { class: "camera", playsinline: true, autoplay: true, "aria-label": t("cameraPicture") });
    view.muted = true;
    const time = h("span", { class: "time", role: "timer" }, duration(0));
    const main = h("button", { type: "button", class: "record-button", autofocus: true, onclick: () => (recording ? finish() : begin()) });
    const flip = h("button", { type: "button", class: "icon-button", "aria-label": t("cameraFlip"), onclick: () => turn() }, icon("undo"));

    const show = () => {
      view.srcObject = stream;
      view.classList.toggle("mirrored", facing === "user");
    };
    const stop = () => { for (const track of stream.getTracks()) track.stop(); };
    const label = () => {
      replace(main, icon(recording ? "stop" : "record"));
      main.setAttribute("aria-label", t(recording ? "recordStop" : "recordVideo"));
      flip.disabled = Boolean(recording);
    };
    const begin = () => {
      recording = recordFilm(stream);
      announce(t("recording"));
      label();
      clock = setInterval(() => {
        time.textContent = duration(recording?.duration ?? 0);
        if (recording?.duration >= LONGEST) finish();
      }, 200);
    };
    const finish = async () => {
      clearInterval(clock);
      main.disabled = true;
      const made = await recording.finish();
      recording = null;
      if (made.file.size) file = new File([made.file], `video.${made.file.type.includes("mp4") ? "mp4" : "webm"}`, { type: made.file.type });
      dialog.close();
    };
    const turn = async () => {
      const other = facing === "user" ? "environment" : "user";
      try {
        stop();
        stream = await openCamera(other);
        facing = other;
      } catch {
        stream = await openCamera(facing).catch(() => stream);
      }
      show();
    };
    const dialog = openDialog(t("attachCamera"), [view, h("div", { class: "camera-bar" }, flip, main, time)], { label: "camera-dialog", onclose: () => {
      clearInterval(clock);
      recording?.cancel();
      stop();
      resolve(file);
    } });
    label();
    show();
  });
}
