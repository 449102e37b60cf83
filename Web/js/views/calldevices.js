// The menu of the microphones, cameras and speakers of a call.

import { openMenu } from "./menu.js";
import { attempt } from "./toast.js";
import { chosenDevices, listDevices } from "../calls/media.js";
import { t } from "../i18n/index.js";

const KINDS = [["audioinput", "voice", "callMicrophone"], ["videoinput", "video", "callCamera"], ["audiooutput", "bell", "callSpeaker"]];

/**
 * Opens the menu of the devices, in which those in use are checked. `changed` is called after a
 * choice.
 */
export async function openDeviceMenu(anchor, local, changed) {
  const devices = await listDevices();
  const chosen = chosenDevices();
  const inUse = { audioinput: local.microphone?.getSettings().deviceId, videoinput: local.camera?.getSettings().deviceId };
  const groups = KINDS.map(([kind, symbol, name]) => devices.filter((each) => each.kind === kind).map((each, index, { length }) => ({
    icon: symbol, label: `${t(name)}${t("colon")}${each.label || index + 1}`, checked: inUse[kind] ? inUse[kind] === each.deviceId : chosen[kind] === each.deviceId || (!chosen[kind] && (length === 1 || each.deviceId === "default")),
    run: () => attempt(local.choose(kind, each.deviceId).then(changed)),
  }))).filter((group) => group.length);
  openMenu(anchor, groups.length ? groups.flatMap((group, index) => (index ? [null, ...group] : group)) : [{ icon: "info", label: t("callNoDevices"), run: () => {} }], { label: t("callDevices") });
}
