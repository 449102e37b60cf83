// The buttons that lead to the newest message and back to the first unread one, each with the
// number of unread messages in its direction.

import { t } from "../i18n.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";

const MOST = 999;

export function makeJumps({ toEnd, toUnread }) {
  const down = button("jump", "down", toEnd);
  const up = button("to-unread", "up", toUnread);

  function button(id, name, act) {
    return h("button", { type: "button", class: "jump", id, hidden: true, onclick: act }, icon(name), h("span", { class: "badge", hidden: true }));
  }

  function show(element, hidden, count, label) {
    const badge = element.querySelector(".badge");
    element.hidden = hidden;
    badge.hidden = count === 0;
    badge.textContent = count > MOST ? `${MOST}+` : String(count);
    element.setAttribute("aria-label", count === 0 ? label : `${label} (${t("unread", { n: count })})`);
    element.title = label;
  }

  return {
    element: h("div", { class: "jumps" }, up, down),
    /** `above`, `below`: unread messages out of sight. */
    update({ above, below, atEnd }) {
      show(up, above === 0, above, t("toUnread"));
      show(down, atEnd, below, t("toBottom"));
    },
  };
}
