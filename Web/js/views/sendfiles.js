// Sends the files of the composer, in albums and with a caption.

import { attempt } from "./toast.js";
import { describe } from "../media/describe.js";
import { uuid } from "../core/requests.js";

const ALBUM = 10; // pictures
const CAPTION = 2000; // Unicode scalars, the limit of the server

/**
 * Queues `entries` [{file, asFile}] in their order. Consecutive pictures and videos form albums.
 * The first file has the reply, the last one the text; a text that is too long for a caption is a
 * further message.
 */
export async function sendFiles(view, entries, caption, { ref, thread, silent }) {
  const { state, id } = view;
  const isLong = [...(caption.text ?? "")].length > CAPTION;
  const contents = [];
  for (const { file, asFile } of entries) contents.push({ file, ...(await describe(file, asFile)) });
  inAlbums(contents);
  for (const [index, { file, kind, size, poster, album }] of contents.entries()) {
    const isLast = index === contents.length - 1;
    const body = { name: file.name || "file", size: file.size, type: typeOf(file), ...size, ...(album && { album }), ...(isLast && !isLong && caption.text && caption) };
    await attempt(state.send(id, { kind, file, poster, body, ref: index === 0 ? ref : undefined, thread, silent }));
    view.sent();
  }
  if (isLong) await attempt(state.send(id, { kind: "text", body: caption, thread, silent }));
}

const typeOf = (file) => (/^[a-z]+\/[a-z0-9.+-]+$/.test(file.type) ? file.type : "application/octet-stream");

/** Sets the ids of the albums, which are runs of up to ten pictures and videos. */
function inAlbums(contents) {
  let run = [];
  const end = () => {
    if (run.length > 1) {
      const album = uuid();
      for (const each of run) each.album = album;
    }
    run = [];
  };
  for (const each of contents) {
    if (each.kind !== "image" && each.kind !== "video") end();
    else {
      run.push(each);
      if (run.length === ALBUM) end();
    }
  }
  end();
}
