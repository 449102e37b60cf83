// The menu of attachments.

import { openMenu } from "./menu.js";
import { recordVideo } from "./camera.js";
import { newPoll, shareContact } from "./compose.js";
import { shareLocation } from "./locationdialog.js";
import { canRecord } from "../media/recorder.js";
import { t } from "../i18n/index.js";

/** Opens the menu of a composer. `send(content)` takes a promise of {kind, body} or null. */
export function openAttachMenu(composer, { send, schedule }) {
  const { attach, tray, view } = composer;
  openMenu(attach, [
    { icon: "picture", label: t("attachPicture"), run: () => tray.pick("image/*,video/*") },
    canRecord() && { icon: "video", label: t("attachCamera"), run: async () => { const film = await recordVideo(); if (film) tray.add([film]); } },
    { icon: "file", label: t("attachFile"), run: () => tray.pick("", { asFiles: true }) },
    { icon: "poll", label: t("attachPoll"), run: () => send(newPoll()) },
    { icon: "person", label: t("attachContact"), run: () => send(shareContact(view.app)) },
    { icon: "pinPlace", label: t("attachLocation"), run: () => send(shareLocation()) },
    null,
    { icon: "calendar", label: t("schedule"), run: schedule },
    { icon: "bellOff", label: t("sendSilently"), run: () => composer.submit({ silent: true }) },
  ], { label: t("attach") });
}
