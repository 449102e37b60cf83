// The menu of attachments.

import { openMenu } from "./menu.js";
import { withPanels } from "./later.js";
import { canRecord } from "../media/recorder.js";
import { t } from "../i18n/index.js";

/** Opens the menu of a composer. `send(content)` receives a promise of {kind, body} or null. */
export function openAttachMenu(composer, { send, schedule }) {
  const { attach, tray, view } = composer;
  const hasText = composer.text.trim() !== "";
  openMenu(attach, [
    { icon: "picture", label: t("attachPicture"), run: () => tray.pick("image/*,video/*") },
    canRecord() && { icon: "video", label: t("attachCamera"), run: async () => { const film = await withPanels(({ recordVideo }) => recordVideo()); if (film) tray.add([film]); } },
    { icon: "file", label: t("attachFile"), run: () => tray.pick("", { asFiles: true }) },
    { icon: "poll", label: t("attachPoll"), run: () => send(withPanels(({ newPoll }) => newPoll())) },
    { icon: "person", label: t("attachContact"), run: () => send(withPanels(({ shareContact }) => shareContact(view.app))) },
    { icon: "pinPlace", label: t("attachLocation"), run: () => send(withPanels(({ shareLocation }) => shareLocation())) },
    hasText || !tray.isEmpty ? null : false,
    hasText && { icon: "calendar", label: t("schedule"), run: schedule },
    (hasText || !tray.isEmpty) && { icon: "bellOff", label: t("sendSilently"), run: () => composer.submit({ silent: true }) },
  ], { label: t("attach") });
}
