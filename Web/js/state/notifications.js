// Decides for which messages notifications are shown while the page is open, and sets the badge.
// The service worker shows these notifications, and the notifications of pushes while the page is
// closed.

import { mentions } from "../core/applying.js";

const FRESH = 60_000; // ms; older messages cause no notification, but the badge counts them

/** Registers the service worker, and reports new messages to it. Requires HTTPS or loopback. */
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
  store.tellWords = (words) => tell({ type: "words", ...words });
  // Another device may have read the messages of a notification, also while the page was closed.
  let unread = null;
  const tellUnread = () => {
    if (store.connection.state !== "online" || Notification.permission !== "granted") return;
    const convs = store.conversations({ filter: "everything" }).filter((head) => head.unread > 0).map(({ conv }) => conv);
    if (!unread?.every((conv) => convs.includes(conv))) tell({ type: "unread", convs });
    unread = convs;
  };
  for (const key of ["connection", "conversations"]) store.subscribe(key, tellUnread);
  store.onread = (conv) => { if (Notification.permission === "granted") tell({ type: "read", conv }); };
  store.subscribe("session", () => { if (store.session.phase === "signedOut") tell({ type: "signedOut" }); });
  try {
    await serviceWorker.register("/sw.js");
  } catch (error) {
    console.warn("No service worker:", error);
  }
}

/** Shows the number of unread messages at the icon of the installed page. */
function watchBadge(store) {
  let badge = -1;
  store.subscribe("conversations", () => {
    const { unread } = store;
    if (unread === badge) return;
    badge = unread;
    (unread > 0 ? navigator.setAppBadge?.(unread) : navigator.clearAppBadge?.())?.catch(() => {});
  });
}

/**
 * Returns whether to show a notification for a new message: another user sent it less than 60 s ago
 * and not silently, it is unread, the conversation is not muted, and the message mentions the user if
 * only mentions are to be notified.
 */
export function deserves(store, head, event, now = store.now) {
  const user = store.account?.name;
  const { muted_until: muted = 0, notify } = head.own ?? {};
  if (event.n === undefined || event.sender === user || event.silent || event.kind === "hidden" || event.state) return false;
  if (now - event.at > FRESH || event.n <= (head.read ?? 0) || muted > now) return false;
  return notify !== "mentions" || mentions(event, user);
}

/** Returns whether `now` is within the quiet hours, whose limits are minutes after midnight UTC. */
export function isQuiet({ quiet_from: from, quiet_until: until }, now = new Date()) {
  if (from === undefined || until === undefined || from === until) return false;
  const minute = now.getUTCHours() * 60 + now.getUTCMinutes();
  return from < until ? minute >= from && minute < until : minute >= from || minute < until;
}
