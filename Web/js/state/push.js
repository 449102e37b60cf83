// Web Push: the subscription with which the server notifies this browser of messages while the page
// is closed.

/** Returns the key of the server for push messages, in base64url, if there is one. */
export const pushKey = (store) => store.session.push_key ?? store.session.server?.push_key;

/** Returns whether this browser and the server support push messages. */
export function canPush(store) {
  return Boolean(globalThis.isSecureContext && navigator.serviceWorker && globalThis.PushManager && pushKey(store));
}

/**
 * Subscribes this browser, and sends the subscription to the server. A subscription for another key
 * is replaced.
 */
export async function subscribePush(store) {
  const { pushManager } = await navigator.serviceWorker.ready;
  const key = bytesOf(pushKey(store));
  let subscription = await pushManager.getSubscription();
  if (subscription && !isSame(subscription.options?.applicationServerKey, key)) {
    await subscription.unsubscribe();
    subscription = null;
  }
  subscription ??= await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint, keys } = subscription.toJSON();
  await store.setPush("web", { endpoint, keys });
}

/**
 * Ends the subscription of this browser. The server is notified first, so that it does not send to
 * an ended subscription.
 */
export async function unsubscribePush(store) {
  await store.setPush("none");
  const subscription = await (await navigator.serviceWorker.ready).pushManager.getSubscription();
  await subscription?.unsubscribe();
}

/**
 * Sends the subscription again after each sign-in while `isWanted()` is true, because the server
 * may have lost or rejected it.
 */
export function keepPush(store, isWanted) {
  let told = null;
  const check = () => {
    const user = store.connection.state === "online" && canPush(store) && isWanted() && Notification.permission === "granted" ? store.account?.name : null;
    if (!user || told === user) return;
    told = user;
    subscribePush(store).catch((error) => { console.warn("push:", error); });
  };
  store.subscribe("connection", check);
  store.subscribe("session", () => { if (store.session.phase !== "signedIn") told = null; check(); });
}

function bytesOf(key) {
  return Uint8Array.from(atob(key.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}

function isSame(buffer, key) {
  const bytes = buffer && new Uint8Array(buffer);
  return Boolean(bytes) && bytes.length === key.length && bytes.every((byte, index) => byte === key[index]);
}
