// HTTP requests, and the errors that HTTP and the socket share.

const RETRYABLE = new Set(["too_many", "storage", "unavailable", "internal", "offline"]);

export class Refusal extends Error {
  constructor({ code, message = code, field, retry_after: retryAfter, ...more }) {
    super(message);
    Object.assign(this, { code, field, retryAfter, ...more });
  }

  get isTemporary() { return RETRYABLE.has(this.code); }

  /** The error as a plain object, which can be posted to another thread. */
  get plain() { return JSON.parse(JSON.stringify({ ...this, message: this.message })); }
}

/**
 * Converts an error to a Refusal. A lost connection, a missing ack and a failed fetch have the code
 * `offline`.
 */
export function refusal(error) {
  if (error instanceof Refusal) return error;
  if (error?.data?.code) return new Refusal(error.data);
  if (["ack_timeout", "disconnected", "transport", "timeout"].includes(error?.code) || error instanceof TypeError) return new Refusal({ code: "offline", message: "There is no connection." });
  return new Refusal({ code: "internal", message: String(error?.message ?? error) });
}

/** Sends a POST request. The session is in cookies that scripts cannot read. */
export async function post(path, body = {}) {
  return answer(await reach(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", "Chat-Session": "cookie" } }));
}

export const get = async (path) => answer(await reach(path));

export async function reach(path, options = {}) {
  try {
    return await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch (error) {
    throw refusal(error);
  }
}

export async function answer(response) {
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  throw new Refusal(body.error ?? { code: response.status >= 500 ? "unavailable" : response.status === 401 ? "unauthorized" : "internal", message: response.statusText });
}

let newest = 0n; // the time in ms and the 12 bits that follow it in the newest UUID

/**
 * Returns a UUID of version 7 that is greater than all earlier ones, even within a millisecond (RFC
 * 9562, section 6.2).
 */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  // The counter begins with a random value whose first bit is 0, so that many UUIDs of the same
  // millisecond fit.
  const first = (BigInt(Date.now()) << 12n) | BigInt(((bytes[6] & 0x07) << 8) | bytes[7]);
  newest = first > newest ? first : newest + 1n;
  new DataView(bytes.buffer).setBigUint64(0, ((newest >> 12n) << 16n) | 0x7000n | (newest & 0xfffn));
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

export function deviceDescription() {
  const agent = navigator.userAgent;
  const browser = /Edg\//.test(agent) ? "Edge" : /Firefox\//.test(agent) ? "Firefox" : /Chrom/.test(agent) ? "Chrome" : /Safari\//.test(agent) ? "Safari" : "Browser";
  const system = /Android/.test(agent) ? "Android" : /iPhone|iPad/.test(agent) ? "iOS" : /Mac OS/.test(agent) ? "macOS" : /Windows/.test(agent) ? "Windows" : /Linux/.test(agent) ? "Linux" : "";
  return { name: system ? `${browser} on ${system}` : browser, platform: "web" };
}
