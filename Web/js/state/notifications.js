// Notifications of the page while it is open: which messages deserve one, and the badge. The service
// worker shows them, as it does those that are pushed while the page is closed.

import { mentions } from "../core/applying.js";

const FRESH = 60_000; // older messages were missed, and are shown by the badge alone

/** Registers the service worker, and notifies it of new messages. Requires HTTPS or loopback. */
export async function watchNotifications(store) {
  watchBadge(store);
  if (!globalThis.isSecureContext || !navigator.serviceWorker) return;
  const { serviceWorker } = navigator;
  serviceWorker.addEventListener("message", ({ data, ports }) => {
    if (data?.type === "shown") ports[0]?.postMessage(document.hasFocus() && store.shown.includes(data.conv));
    if (data?.type === "open" && data.conv) location.hash = `#/c/${data.conv}`;
    if (data?.type === "sound") store.onsound?.();
  });
  const tell = async (message) => (await serviceWorker.ready).active?.postMessage(message);
  store.onevents = (conv, events) => {
    const head = store.conversation(conv);
    const event = events.findLast((each) => head && deserves(store, head, each));
    if (!event || !store.port.leads || isQuiet(store.settings)) return;
    const { desktop = true, sound = false } = store.notifying ?? {};
    const show = desktop && Notification.permission === "granted";
    if (show || sound) tell({ type: "notify", conv, show, sound, silent: !sound || undefined, ...store.describe(head, event) });
  };
  store.onread = (conv) => { if (Notification.permission === "granted") tell({ type: "read", conv }); };
  store.subscribe("session", () => { if (store.session.phase === "signedOut") tell({ type: "signedOut" }); });
  try {
    await serviceWorker.register("/sw.js");
  } catch (error) {
    console.warn("No service worker:", error);
  }
}

/** The number at the icon of the installed page. */
function watchBadge(store) {
  let badge = -1;
  store.subscribe("conversations", () => {
    const { unread } = store;
    if (unread === badge) return;
    badge = unread;
    (unread > 0 ? navigator.setAppBadge?.(unread) : navigator.clearAppBadge?.())?.catch(() => {});
  });
}

/** Whether a new message is notified: of others, just sent, not muted, and of the kind that the user wants. */
export function deserves(store, head, event, now = store.now) {
  const user = store.account?.name;
  const { muted_until: muted = 0, notify } = head.own ?? {};
  if (event.n === undefined || event.sender === user || event.silent || event.kind === "hidden" || event.state) return false;
  if (now - event.at > FRESH || event.n <= (head.read ?? 0) || muted > now) return false;
  return notify !== "mentions" || mentions(event, user);
}

/** Whether it is within the quiet hours, which are minutes after midnight UTC. */
export function isQuiet({ quiet_from: from, quiet_until: until }, now = new Date()) {
  if (from === undefined || until === undefined || from === until) return false;
  const minute = now.getUTCHours() * 60 + now.getUTCMinutes();
  return from < until ? minute >= from && minute < until : minute >= from || minute < until;
}
