// The state of the connection, which is hidden while the page is connected.

import { t } from "../i18n.js";
import { h } from "./dom.js";

/** The time in ms after which "connecting" is shown. */
const SHOW_DELAY = 900;

export function connectionPill(chat) {
  const text = h("span", { class: "pill-text" });
  const retry = h("button", { type: "button", class: "link", onclick: () => chat.retryNow() }, t("retry"));
  const pill = h("div", { class: "pill quiet", id: "connection", role: "status", "aria-live": "polite" }, h("span", { class: "pill-dot" }), text, retry);
  let ticking = 0;
  let quiet = 0;

  function render() {
    const { name, retryAt } = chat.connection;
    clearInterval(ticking);
    clearTimeout(quiet);
    pill.dataset.state = name;
    retry.hidden = name !== "waiting";
    if (name === "online") {
      text.textContent = t("connected");
      quiet = setTimeout(() => pill.classList.add("quiet"), 1500); // hides "connected" again
      return;
    }
    if (name !== "waiting") {
      text.textContent = t("connecting");
      quiet = setTimeout(() => pill.classList.remove("quiet"), SHOW_DELAY);
      return;
    }
    pill.classList.remove("quiet");
    const count = () => { text.textContent = t("waiting", { s: Math.max(0, Math.ceil((retryAt - Date.now()) / 1000)) }); };
    count();
    ticking = setInterval(count, 500);
  }

  chat.on("connection", render);
  render();
  return pill;
}
