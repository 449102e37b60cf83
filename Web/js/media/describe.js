// Determines the properties of a file before its upload: the kind, the dimensions, the duration, a
// BlurHash and, for a video, a poster.

import { blurHash } from "../text/blurhash.js";

const PICTURE = /^image\/(png|jpeg|gif|webp|avif)$/;
const TIME = 10_000; // ms; a file that is not decoded within this time is sent as a generic file
const POSTER = 800; // px, the maximum length of the longer side
const LONGEST = 86_400_000; // ms, the maximum duration

/**
 * Resolves to {kind, size, poster?}. `size` has the properties of the kind. With `asFile` (false by
 * default), or if the browser cannot decode the file, the kind is `file`.
 */
export async function describe(file, asFile = false) {
  const other = { kind: "file", size: {} };
  if (asFile) return other;
  const url = URL.createObjectURL(file);
  try {
    if (PICTURE.test(file.type)) return await within(picture(url));
    if (file.type.startsWith("video/")) return await within(film(url));
    if (file.type.startsWith("audio/")) return await within(sound(url));
  } catch (error) {
    console.warn(file.type, error);
  } finally {
    URL.revokeObjectURL(url);
  }
  return other;
}

const within = (work) => Promise.race([work, new Promise((_, reject) => { setTimeout(reject, TIME, new Error("The file takes too long.")); })]);

async function picture(url) {
  const image = new Image();
  image.src = url;
  await image.decode();
  const [width, height] = [image.naturalWidth, image.naturalHeight];
  return { kind: "image", size: { width, height, thumb: blurOf(image, width, height) } };
}

async function film(url) {
  const video = document.createElement("video");
  Object.assign(video, { muted: true, playsInline: true, preload: "auto" });
  const duration = await lengthOf(video, url);
  const [width, height] = [video.videoWidth, video.videoHeight];
  if (!width || !height) throw new Error("The file has no picture.");
  try {
    await seek(video, Math.min(1, duration / 3000));
    const poster = await still(video, width, height);
    return { kind: "video", size: { width, height, duration, thumb: blurOf(video, width, height) }, poster };
  } finally {
    video.removeAttribute("src");
    video.load();
  }
}

async function sound(url) {
  return { kind: "audio", size: { duration: await lengthOf(new Audio(), url) } };
}

/**
 * Resolves to the duration in ms. The duration of a recording by a browser is known only after a
 * seek to its end.
 */
async function lengthOf(element, url) {
  await event(element, "loadeddata", () => { element.src = url; });
  if (!Number.isFinite(element.duration)) {
    await new Promise((resolve, reject) => {
      element.ondurationchange = () => { if (Number.isFinite(element.duration)) resolve(); };
      element.onerror = reject;
      element.currentTime = 1e7;
    });
    await seek(element, 0);
  }
  return Math.max(0, Math.min(LONGEST, Math.round(element.duration * 1000)));
}

const seek = (element, seconds) => event(element, "seeked", () => { element.currentTime = seconds; });

function event(target, type, begin) {
  return new Promise((resolve, reject) => {
    target.addEventListener(type, resolve, { once: true });
    target.addEventListener("error", () => reject(target.error ?? new Error("The file cannot be decoded.")), { once: true });
    begin();
  });
}

function drawn(source, width, height, limit) {
  const scale = Math.min(1, limit / Math.max(width, height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const context = canvas.getContext("2d", { willReadFrequently: limit < 100 });
  context.drawImage(source, 0, 0, canvas.width, canvas.height);
  return { canvas, context };
}

function still(video, width, height) {
  const { canvas } = drawn(video, width, height, POSTER);
  return new Promise((resolve) => { canvas.toBlob((blob) => resolve(blob ?? undefined), "image/jpeg", 0.82); });
}

function blurOf(source, width, height) {
  const { canvas, context } = drawn(source, width, height, 32);
  return blurHash(context.getImageData(0, 0, canvas.width, canvas.height));
}
