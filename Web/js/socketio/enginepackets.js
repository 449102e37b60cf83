// Engine.IO protocol 4: packets and polling payloads. Pure functions.
//
// A packet is {type, data}: `type` is one of the digits below; `data` is a string or, in a binary
// message, a Uint8Array.

export const PacketType = Object.freeze({
  open: "0", close: "1", ping: "2", pong: "3", message: "4", upgrade: "5", noop: "6",
});

const SEPARATOR = "\x1e";
const isType = (digit) => digit >= "0" && digit <= "6" && digit.length === 1;

/**
 * Encodes a packet as an element of a polling payload. Binary data becomes `b` and base64, without
 * a type digit.
 */
export function encodeText(packet) {
  return packet.data instanceof Uint8Array ? "b" + toBase64(packet.data) : packet.type + (packet.data ?? "");
}

/** Encodes a packet as a WebSocket frame. Binary data is sent unchanged. */
export function encodeFrame(packet) {
  return packet.data instanceof Uint8Array ? packet.data : packet.type + (packet.data ?? "");
}

export function decodeFrame(frame) {
  if (typeof frame !== "string") return { type: PacketType.message, data: new Uint8Array(frame) };
  if (!isType(frame.charAt(0))) throw new Error("a frame that is not an Engine.IO packet");
  return { type: frame.charAt(0), data: frame.slice(1) };
}

export function encodePayload(packets) {
  return packets.map(encodeText).join(SEPARATOR);
}

export function decodePayload(body) {
  return body.split(SEPARATOR).map((element) =>
    element.charAt(0) === "b" ? { type: PacketType.message, data: fromBase64(element.slice(1)) } : decodeFrame(element));
}

/**
 * Returns an upper bound of the size of a packet in a POST body, in bytes, including the separator.
 */
export function payloadSize(packet) {
  if (packet.data instanceof Uint8Array) return 2 + Math.ceil(packet.data.length / 3) * 4;
  // UTF-8 needs at most three bytes for each UTF-16 code unit. An exact count would encode the text
  // twice.
  return 2 + (packet.data ?? "").length * 3;
}

function toBase64(bytes) {
  let binary = "";
  // The bytes are converted in pieces, because the number of arguments of a call is limited.
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}

function fromBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
