// The service worker: keeps the shell for the time without a connection, and shows notifications.
//
// Only files of the page are cached. Answers of /api/ and /socket.io/ never are, so that a sign-out
// leaves nothing here.

const CACHE = "apus-shell-1";
const WORDS = "apus-words"; // how the page shows notifications, for pushes while it is closed
const PRIVATE = /^\/(api|socket\.io|health|metrics)(\/|$)/;
const SHELL = /^\/(index\.html|join)?$/; // other pages of the server, such as /admin, are not of this page
const FIXED = /[.-][0-9a-f]{12,}\./; // a name with the hash of the content
const NETWORK_TIME = 1500;
const SHELL_TIME = 150; // a slow network does not delay a page that is kept
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

// The browser has given the subscription another address.
self.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(subscribeAgain(event)));

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.conv));
});

// The page tells of messages while it is not focused, and what was read, so that its notifications end.
self.addEventListener("message", (event) => {
  const { type, ...message } = event.data ?? {};
  if (type === "notify") event.waitUntil(noted(message, event.source));
  if (type === "read") event.waitUntil(closeNotifications(message.conv));
  if (type === "words") event.waitUntil(keepWords(message));
  if (type === "signedOut") event.waitUntil(Promise.all([closeNotifications(), unsubscribe(), caches.delete(WORDS)]));
});

async function forgetOthers() {
  for (const name of await caches.keys()) if (name !== CACHE && name !== WORDS) await caches.delete(name);
}

/** The page: of the network if it answers soon, else of the cache. */
const shell = () => newest("/", SHELL_TIME);

const fixedFiles = (html) => [...html.matchAll(/(?:src|href|content)="([^"]+)"/g)].map(([, path]) => new URL(path, self.location).pathname).filter((path) => FIXED.test(path));

/** Keeps the files with a hash in their names that the page needs, and those of the version before, which may be on the screen. */
async function keepFiles(cache, html) {
  const needed = fixedFiles(html);
  const former = fixedFiles((await (await cache.match("/"))?.text()) ?? "");
  const kept = (await cache.keys()).map((request) => new URL(request.url).pathname);
  for (const path of kept) if (FIXED.test(path) && !needed.includes(path) && !former.includes(path)) await cache.delete(path);
  await Promise.all(needed.filter((path) => !kept.includes(path)).map((path) => cache.add(path)));
}

/** A file of the page. One with a hash in its name never changes; the others belong to one version of the page. */
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
 * Returns a pushed message {conv, kind, sender, title, body, nick?, bare?, badge?} in the language of
 * the page, with the alias of the sender, and without its text if the user wants none. `nick` is at
 * the beginning of the body in a group. `bare`: the body has no text of the message, only its kind.
 */
async function pushed({ kind, sender, nick, bare, ...message }) {
  const { texts = {}, aliases = {}, preview = true, colon = ": " } = await keptWords();
  const { title, body = "" } = message;
  const said = nick ? body.slice(nick.length + 2) : body;
  const text = preview ? (bare && texts[kind]) || said : texts.message ?? "New message";
  return { ...message, title: nick ? title : aliases[sender] ?? title, body: nick && preview ? `${aliases[sender] ?? nick}${colon}${text}` : text };
}

/**
 * Shows a message {conv, title, body, icon?, badge?, silent?}. Nothing is shown for a conversation that
 * a focused window of the page shows.
 */
async function showUnlessOpen({ conv, title, body, icon, silent, badge }) {
  if (badge !== undefined) await (badge > 0 ? navigator.setAppBadge?.(badge) : navigator.clearAppBadge?.())?.catch(() => {});
  if (await isShown(conv)) return;
  await self.registration.showNotification(title || "Apus", {
    body: body ?? "", tag: conv, renotify: Boolean(conv) && !silent, silent: Boolean(silent), icon: icon ?? "/img/icon-192.png", data: { conv },
  });
}

/** A message of the page: shown, and told with a sound by the page itself. */
async function noted({ show, sound, ...message }, page) {
  if (await isShown(message.conv)) return;
  if (sound) page?.postMessage({ type: "sound" });
  if (show) await showUnlessOpen({ ...message, silent: true });
}

/** Whether a focused window shows the conversation. It is asked, because its address here may be an old one. */
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

async function closeNotifications(conv) {
  for (const each of await self.registration.getNotifications(conv ? { tag: conv } : {})) each.close();
}

async function open(conv) {
  const address = conv ? `/#/c/${encodeURIComponent(conv)}` : "/";
  const windows = await self.clients.matchAll({ type: "window" });
  if (windows.length === 0) return self.clients.openWindow(address);
  await windows[0].focus();
  windows[0].postMessage({ type: "open", conv });
}
