// Pictures: fetched with the token, kept as object URLs, prepared before they are sent.

import { downloadBlob } from "../chat/api.js";

const KEPT = 120;
export const MAXIMUM_BYTES = 10 * 1024 * 1024;
const LONGEST_SIDE = 2560; // of a picture that had to be made smaller
export const ACCEPTED = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Object URLs of blobs by hash; the least recently used ones are given back. */
export class Pictures {
  #urls = new Map(); // sha256 → Promise of a URL

  constructor(token) {
    this.token = token;
  }

  url(sha256) {
    let found = this.#urls.get(sha256);
    if (found) this.#urls.delete(sha256);
    else {
      found = downloadBlob(this.token, sha256).then((blob) => URL.createObjectURL(blob));
      found.catch(() => this.#urls.delete(sha256)); // so that the next look tries again
    }
    this.#urls.set(sha256, found);
    if (this.#urls.size > KEPT) this.#forget(this.#urls.keys().next().value);
    return found;
  }

  #forget(sha256) {
    this.#urls.get(sha256)?.then((url) => URL.revokeObjectURL(url), () => {});
    this.#urls.delete(sha256);
  }

  close() {
    for (const sha256 of [...this.#urls.keys()]) this.#forget(sha256);
  }
}

/** Judges a chosen file: {file, dimensions} ready to send, or throws the key of a message. Too large a photo is made smaller. */
export async function preparePicture(file) {
  if (!ACCEPTED.includes(file.type)) throw new Error("notAPicture");
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    throw new Error("notAPicture");
  }
  const dimensions = { width: bitmap.width, height: bitmap.height };
  try {
    if (file.size <= MAXIMUM_BYTES) return { file, dimensions };
    if (file.type === "image/gif") throw new Error("tooLarge"); // a still would lose what it is about
    return await shrink(bitmap);
  } finally {
    bitmap.close();
  }
}

async function shrink(bitmap) {
  const scale = Math.min(1, LONGEST_SIDE / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(bitmap.width * scale);
  canvas.height = Math.round(bitmap.height * scale);
  canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const file = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.88));
  if (!file || file.size > MAXIMUM_BYTES) throw new Error("tooLarge");
  return { file, dimensions: { width: canvas.width, height: canvas.height } };
}
