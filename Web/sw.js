// The service worker: caches the page for use without a connection, and shows notifications.
//
// Only files of the page are cached. Responses of /api/ and /socket.io/ are never cached, so that
// no data of a user remains after a sign-out.

const CACHE = "apus-shell-1";
const WORDS = "apus-words"; // the texts of notifications, for pushes while the page is closed
const PRIVATE = /^\/(api|socket\.io|health|metrics)(\/|$)/;
const SHELL = /^\/(index\.html|join)?$/; // other paths of the server, such as /admin, do not belong to the page
const FIXED = /[.-][0-9a-f]{12,}\./; // a file name that contains the hash of the content
const NETWORK_TIME = 1500;
const SHELL_TIME = 150; // ms after which a cached page is shown if the network is slow
const ANSWER_TIME = 500;

self.addEventListener("install", (event) => event.waitUntil(newest("/").then(() => self.skipWaiting())));

self.addEventListener("activate", (event) => event.waitUntil(forgetOthers().then(() => self.clients.claim())));

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== self.location.origin || PRIVATE.test(url.pathname)) return;
  if (event.request.mode !== "navigate") event.respondWith(file(event.request));
  else if (SHELL.test(url.pathname)) event.respondWith(shell());
});

self.addEventListener("push", (event) => event.waitUntil(pushed(data(event.data)).then(showUnlessOpen)));

// The browser replaced the subscription.
self.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(subscribeAgain(event)));

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.conv));
});

// The page reports new messages while it is not focused, and conversations that were read, whose
// notifications are then closed.
self.addEventListener("message", (event) => {
  const { type, ...message } = event.data ?? {};
  if (type === "notify") event.waitUntil(noted(message, event.source));
  if (type === "read") event.waitUntil(closeNotifications(message.conv));
  if (type === "unread") event.waitUntil(closeRead(message.convs));
  if (type === "words") event.waitUntil(keepWords(message));
  if (type === "signedOut") event.waitUntil(Promise.all([closeNotifications(), unsubscribe(), caches.delete(WORDS)]));
});

async function forgetOthers() {
  for (const name of await caches.keys()) if (name !== CACHE && name !== WORDS) await caches.delete(name);
}

/** Returns the page from the network or, if the response takes longer than SHELL_TIME, from the cache. */
const shell = () => newest("/", SHELL_TIME);

const fixedFiles = (html) => [...html.matchAll(/(?:src|href|content)="([^"]+)"/g)].map(([, path]) => new URL(path, self.location).pathname).filter((path) => FIXED.test(path));

/**
 * Caches the files with a hash in their names that the page needs. Keeps those of the previous version,
 * which may still be open.
 */
async function keepFiles(cache, html) {
  const needed = fixedFiles(html);
  const former = fixedFiles((await (await cache.match("/"))?.text()) ?? "");
  const kept = (await cache.keys()).map((request) => new URL(request.url).pathname);
  for (const path of kept) if (FIXED.test(path) && !needed.includes(path) && !former.includes(path)) await cache.delete(path);
  await Promise.all(needed.filter((path) => !kept.includes(path)).map((path) => cache.add(path)));
}

/** Returns a file of the page. A file with a hash in its name never changes. */
async function file(request) {
  const isFixed = FIXED.test(new URL(request.url).pathname);
  return (isFixed && (await caches.match(request))) || newest(request);
}

async function newest(request, time = NETWORK_TIME) {
  const cache = await caches.open(CACHE);
  const cached = await cache.match(request);
  const fresh = fetch(request).then((response) => keep(cache, request, response));
  if (!cached) return fresh;
  return Promise.race([fresh.catch(() => cached), new Promise((done) => setTimeout(done, time, cached))]);
}

async function keep(cache, request, response) {
  if (!response.ok || response.type !== "basic") return response;
  if (request === "/") await keepFiles(cache, await response.clone().text()).catch((error) => console.warn("files:", error));
  await cache.put(request, response.clone());
  return response;
}

function data(message) {
  try { return message?.json() ?? {}; } catch { return {}; }
}

async function keepWords(words) {
  await (await caches.open(WORDS)).put("/words", new Response(JSON.stringify(words)));
}

async function keptWords() {
  try { return await (await caches.match("/words", { cacheName: WORDS }))?.json() ?? {}; } catch { return {}; }
}

/**
 * Returns a pushed message {conv, kind, sender, title, body, nick?, no_text?, count?, badge?} in the
 * language of the page, with the alias of the sender, and without its text if the user disabled
 * previews. In a group, the body begins with `nick`. `no_text`: the body contains only the kind of the
 * message. `count`: the number of requests to join.
 */
async function pushed({ kind, sender, nick, no_text: hasNoText, count, ...message }) {
  const { texts = {}, aliases = {}, preview = true, colon = ": " } = await keptWords();
  const { title, body = "" } = message;
  const said = nick ? body.slice(nick.length + 2) : body;
  if (kind === "join_request") {
    const name = preview && nick ? `${aliases[sender] ?? nick}${colon}` : "";
    return { ...message, tag: `${message.conv}/join`, body: count > 1 ? texts.joinRequests?.replace("{n}", count) ?? body : `${name}${texts.joinRequest ?? said}` };
  }
  const text = preview ? (hasNoText && texts[kind]) || said : texts.message ?? "New message";
  return { ...message, title: nick ? title : aliases[sender] ?? title, body: nick && preview ? `${aliases[sender] ?? nick}${colon}${text}` : text };
}

/**
 * Shows a message {conv, title, body, icon?, badge?, silent?}. Nothing is shown for a conversation that
 * a focused window of the page shows.
 */
async function showUnlessOpen({ conv, tag = conv, title, body, icon, silent, badge }) {
  if (badge !== undefined) await (badge > 0 ? navigator.setAppBadge?.(badge) : navigator.clearAppBadge?.())?.catch(() => {});
  // Another device has read the other messages. A request to join is not among the unread messages.
  if (badge <= (tag === conv ? 1 : 0)) await closeRead([conv]);
  if (await isShown(conv)) return;
  await self.registration.showNotification(title || "Apus", {
    body: body ?? "", tag, renotify: Boolean(conv) && !silent, silent: Boolean(silent), icon: icon ?? "/img/icon-192.png", data: { conv },
  });
}

/** Handles a message that the page reports. Shows a notification, and requests the sound from the page. */
async function noted({ show, sound, ...message }, page) {
  if (await isShown(message.conv)) return;
  if (sound) page?.postMessage({ type: "sound" });
  if (show) await showUnlessOpen({ ...message, silent: true });
}

/**
 * Returns whether a focused window shows the conversation. The windows are asked, because their known
 * addresses may be outdated.
 */
async function isShown(conv) {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const answers = windows.filter((each) => each.focused).map((each) => new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(data);
    setTimeout(resolve, ANSWER_TIME, false);
    each.postMessage({ type: "shown", conv }, [port2]);
  }));
  return (await Promise.all(answers)).includes(true);
}

async function subscribeAgain({ oldSubscription, newSubscription }) {
  const options = oldSubscription?.options ?? newSubscription?.options;
  const subscription = newSubscription ?? (options && await self.registration.pushManager.subscribe(options));
  if (!subscription) return;
  const { endpoint, keys } = subscription.toJSON();
  const headers = { "Content-Type": "application/json" };
  await fetch("/api/chat/push.set", { method: "POST", headers, body: JSON.stringify({ id: crypto.randomUUID(), kind: "web", data: { endpoint, keys } }) });
}

async function unsubscribe() {
  await (await self.registration.pushManager?.getSubscription())?.unsubscribe();
}

/** Closes the notifications of a conversation, or all. */
async function closeNotifications(conv) {
  for (const each of await self.registration.getNotifications(conv ? { tag: conv } : {})) each.close();
}

/** Closes the notifications of all conversations without unread messages. */
async function closeRead(unread) {
  for (const each of await self.registration.getNotifications()) {
    // A request to join is not among the unread messages.
    if (each.tag && !each.tag.endsWith("/join") && !unread.includes(each.tag)) each.close();
  }
}

async function open(conv) {
  const address = conv ? `/#/c/${encodeURIComponent(conv)}` : "/";
  const windows = await self.clients.matchAll({ type: "window" });
  if (windows.length === 0) return self.clients.openWindow(address);
  await windows[0].focus();
  windows[0].postMessage({ type: "open", conv });
}
