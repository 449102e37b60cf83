// The card of a ringing call, with the caller and the buttons to answer or decline.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { userAvatar } from "./avatar.js";
import { headTitle, userName } from "./model.js";
import { attempt } from "./toast.js";
import { t } from "../i18n/index.js";

/** Shows the ringing call. `center` is the CallCenter. Returns { element, close }. */
export function showRing(state, center, call) {
  const head = state.conversation(call.conv);
  const caller = state.user(call.caller);
  const name = userName(state, call.caller);
  const title = call.isGroup ? t("callIncomingGroup", { name, group: headTitle(state, head) }) : t(call.media === "video" ? "callIncomingVideo" : "callIncoming", { name });
  const isVideo = call.media === "video";
  const answer = (video) => attempt(center.answer({ video }));
  const element = h("section", { class: "call-ring", role: "alertdialog", "aria-label": title, "aria-describedby": "call-ring-text", tabindex: "-1" },
    userAvatar(state, caller, { size: "m" }),
    h("div", { class: "lines grow" }, h("strong", { class: "ellipsis" }, call.isGroup ? headTitle(state, head) : name), h("span", { id: "call-ring-text", class: "small" }, title)),
    h("div", { class: "answers" },
      h("button", { type: "button", class: "call-button hang-up", "data-action": "decline", "aria-label": t("callDecline"), title: t("callDecline"), onclick: () => attempt(center.decline()) }, icon("hangUp")),
      isVideo ? h("button", { type: "button", class: "call-button quiet", "data-action": "answer-audio", "aria-label": t("callAnswerAudio"), title: t("callAnswerAudio"), onclick: () => answer(false) }, icon("call")) : null,
      h("button", { type: "button", class: "call-button answer", "data-action": "answer", "aria-label": t(isVideo ? "callAnswerVideo" : "callAnswer"), title: t(isVideo ? "callAnswerVideo" : "callAnswer"), onclick: () => answer(isVideo) }, icon(isVideo ? "video" : "call"))));
  document.body.prepend(element);
  // An element that has the focus, such as a text field in which the user types, keeps it.
  if (document.activeElement === document.body || document.activeElement === null) element.focus({ preventScroll: true });
  return { element, close: () => element.remove() };
}
