// The HTTP API of the chat: accounts and blobs.

/**
 * An error of the chat server, over HTTP or in an ack: `code` is for programs, `message` for users.
 */
export class ChatError extends Error {
  constructor(code, message) {
    super(message || code);
    this.name = "ChatError";
    this.code = code;
  }
}

export const register = (name, password, display) => post("/api/register", { name, password, ...(display ? { display } : {}) });
export const login = (name, password) => post("/api/login", { name, password, device: deviceName() });

export async function logout(token) {
  await request("/api/logout", { method: "POST", headers: bearer(token) });
}

/** Uploads bytes. The same bytes yield the same blob. */
export async function uploadBlob(token, file) {
  const response = await request("/api/blobs", {
    method: "POST", body: file, headers: { ...bearer(token), "Content-Type": file.type || "application/octet-stream" },
  });
  return response.json();
}

/**
 * Fetches a blob. The request needs a header, so the page uses an object URL instead of an <img>
 * source.
 */
export async function downloadBlob(token, sha256) {
  const response = await request(`/api/blobs/${encodeURIComponent(sha256)}`, { headers: bearer(token) });
  return response.blob();
}

/** Error codes for answers without a chat error. */
const CODES = { 401: "unauthorized", 408: "network", 413: "too_large", 425: "network", 429: "too_many", 502: "network", 503: "network", 504: "network" };

const bearer = (token) => ({ Authorization: `Bearer ${token}` });

async function post(path, body) {
  const response = await request(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
  return response.json();
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "omit", ...options });
  } catch {
    throw new ChatError("network", "The server cannot be reached.");
  }
  if (response.ok) return response;
  let error = null;
  try {
    ({ error } = await response.json());
  } catch { /* not an answer of the chat server, for example a proxy's page */ }
  const code = error?.code ?? CODES[response.status] ?? (response.status < 500 ? "bad_request" : "internal");
  throw new ChatError(code, error?.message ?? `HTTP ${response.status}`);
}

/** The label of this device: the browser and the system. */
function deviceName() {
  const agent = navigator.userAgent;
  const browser = ["Edg", "Firefox", "Chrome", "Safari"].find((name) => agent.includes(name)) ?? "Browser";
  const system = ["iPhone", "iPad", "Android", "Windows", "Mac OS", "Linux"].find((name) => agent.includes(name)) ?? "";
  return `${browser === "Edg" ? "Edge" : browser}${system ? ` (${system})` : ""}`;
}
