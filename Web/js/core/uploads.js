// Uploads files with tus 1.0, in parts of 512 KiB. An upload resumes at the offset that the server
// reports.

import { Refusal, answer, reach } from "./requests.js";

const PART = 512 * 1024;
const TUS = { "Tus-Resumable": "1.0.0" };

/**
 * Uploads a file, and resolves to {blob, type, size, width?, height?}. `address` resumes an earlier
 * upload; `began(address)` receives the address of a new one; `progress` receives the uploaded
 * fraction, from 0 to 1.
 */
export async function upload(file, { name = file.name ?? "", address, began = () => {}, progress = () => {}, signal } = {}) {
  let offset = address ? await offsetOf(address, signal) : null;
  if (offset === null) {
    address = await create(file, name, signal);
    await began(address);
    offset = 0;
  }
  let headers;
  do {
    progress(file.size ? offset / file.size : 1);
    // With a file that the browser cannot read, the request would fail as without a connection.
    const part = await file.slice(offset, offset + PART).arrayBuffer().catch(({ message }) => { throw new Refusal({ code: "not_found", field: "blob", message }); });
    const response = await reach(address, { method: "PATCH", body: part, signal, headers: { ...TUS, "Upload-Offset": String(offset), "Content-Type": "application/offset+octet-stream" } });
    if (response.status === 409) { offset = (await offsetOf(address, signal)) ?? 0; continue; }
    if (!response.ok) await answer(response);
    headers = response.headers;
    offset = Number(headers.get("Upload-Offset"));
  } while (offset < file.size);
  headers = headers?.get("Chat-Blob") ? headers : (await reach(address, { method: "HEAD", headers: TUS, signal })).headers;
  if (!headers.get("Chat-Blob")) throw new Refusal({ code: "internal", message: "The server has not reported the blob of the complete upload." });
  const size = { width: Number(headers.get("Chat-Width")) || undefined, height: Number(headers.get("Chat-Height")) || undefined };
  return { blob: headers.get("Chat-Blob"), type: headers.get("Chat-Type"), size: Number(headers.get("Chat-Size")), ...(size.width && size) };
}

/**
 * Returns the kind and body of a message whose file is uploaded. A file whose type does not fit the
 * kind is sent as a generic file.
 */
export function uploaded({ kind, body }, blob) {
  const family = blob.type.split("/")[0];
  // A video container may contain only sound.
  if (kind === "audio" && family === "video") return { kind, body: { ...body, ...blob, type: `audio/${blob.type.slice(6)}` } };
  if (kind === family) return { kind, body: { ...body, ...blob } };
  const { name, text, entities } = body;
  return { kind: "file", body: { name: name ?? "file", ...(text && { text, entities }), blob: blob.blob, size: blob.size, type: blob.type } };
}

export const cancel = (address) => reach(address, { method: "DELETE", headers: TUS }).catch(() => {});

async function create(file, name, signal) {
  const metadata = Object.entries({ name, type: file.type || "application/octet-stream" }).filter(([, value]) => value).map(([key, value]) => `${key} ${base64(value)}`).join(",");
  const response = await reach("/api/uploads", { method: "POST", signal, headers: { ...TUS, "Upload-Length": String(file.size), "Upload-Metadata": metadata } });
  if (!response.ok) await answer(response);
  return response.headers.get("Location");
}

async function offsetOf(address, signal) {
  const response = await reach(address, { method: "HEAD", headers: TUS, signal });
  return response.ok ? Number(response.headers.get("Upload-Offset")) : null;
}

const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
