// Pictures: downloaded with the token and cached as object URLs; prepared before they are sent.

import { downloadBlob } from "../chat/api.js";

const KEPT = 120;
export const MAXIMUM_BYTES = 10 * 1024 * 1024;
const LONGEST_SIDE = 2560; // of a picture that is scaled down
export const ACCEPTED = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** The object URLs of blobs by hash. The least recently used ones are revoked. */
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
      found.catch(() => this.#urls.delete(sha256)); // the next request tries again
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

/**
 * Validates a file. Returns {file, dimensions}, or throws the key of an error text. Scales down a
 * photo that is too large.
 */
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
    if (file.type === "image/gif") throw new Error("tooLarge"); // scaling would lose the animation
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
