// Socket.IO protocol 5: encodes and decodes packets. The data of a packet may contain binary
// attachments at any depth.
//
// A packet is {type, namespace, data, id}. `data` is the auth of a CONNECT, the array of an EVENT
// or ACK, or the error of a CONNECT_ERROR.

export const PacketType = Object.freeze({ connect: 0, disconnect: 1, event: 2, ack: 3, connectError: 4, binaryEvent: 5, binaryAck: 6 });

const MAXIMUM_ATTACHMENTS = 64;
const RESERVED = new Set(["connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener"]);

/**
 * Returns the frames of a packet: the text, then the attachments in the order of their
 * placeholders.
 */
export function encodePacket({ type, namespace = "/", data, id }) {
  const attachments = [];
  let body = data;
  if (type === PacketType.event || type === PacketType.ack) {
    body = takeOut(data, attachments);
    if (attachments.length > 0) type = type === PacketType.event ? PacketType.binaryEvent : PacketType.binaryAck;
  }
  let text = String(type);
  if (attachments.length > 0) text += attachments.length + "-";
  if (namespace !== "/") text += namespace + ",";
  if (id !== undefined) text += id;
  if (body !== undefined) text += JSON.stringify(body);
  return [text, ...attachments];
}

/**
 * Assembles packets from frames. `add` throws on a protocol error, after which the connection must
 * be closed.
 */
export class PacketDecoder {
  #pending = null; // {packet, missing, attachments}

  /** Returns a complete packet, or null while attachments are missing. */
  add(frame) {
    if (typeof frame === "string") {
      if (this.#pending) throw new Error("text instead of an attachment");
      const { packet, attachments } = decodeText(frame);
      if (attachments === 0) return finish(packet, []);
      this.#pending = { packet, missing: attachments, attachments: [] };
      return null;
    }
    const pending = this.#pending;
    if (!pending) throw new Error("an attachment without a packet");
    pending.attachments.push(frame);
    if (--pending.missing > 0) return null;
    this.#pending = null;
    return finish(pending.packet, pending.attachments);
  }
}

function decodeText(text) {
  const type = text.charCodeAt(0) - 48;
  if (!(type >= 0 && type <= 6)) throw new Error("unknown packet type");
  let at = 1;
  let attachments = 0;
  if (type === PacketType.binaryEvent || type === PacketType.binaryAck) {
    const end = text.indexOf("-", at);
    const digits = text.slice(at, end < 0 ? at : end);
    if (!/^\d{1,4}$/.test(digits) || Number(digits) > MAXIMUM_ATTACHMENTS) throw new Error("an invalid number of attachments");
    attachments = Number(digits);
    at = end + 1;
  }
  let namespace = "/";
  if (text[at] === "/") {
    const end = text.indexOf(",", at);
    namespace = text.slice(at, end < 0 ? undefined : end);
    at = end < 0 ? text.length : end + 1;
  }
  let id;
  const digits = /^\d{1,15}/.exec(text.slice(at, at + 16))?.[0];
  if (digits) {
    id = Number(digits);
    at += digits.length;
  }
  const data = at < text.length ? JSON.parse(text.slice(at)) : undefined;
  const plain = type === PacketType.binaryEvent ? PacketType.event : type === PacketType.binaryAck ? PacketType.ack : type;
  const packet = { type: plain, namespace, id, data };
  validate(packet); // an invalid packet is rejected before its attachments arrive
  return { packet, attachments };
}

function validate({ type, id, data }) {
  if (type === PacketType.event) {
    if (!Array.isArray(data) || (typeof data[0] !== "string" && typeof data[0] !== "number")) throw new Error("an event without a name");
    if (RESERVED.has(data[0])) throw new Error("a reserved event name");
  } else if (type === PacketType.ack && (!Array.isArray(data) || id === undefined)) throw new Error("a malformed ack");
}

function finish(packet, attachments) {
  return attachments.length > 0 ? { ...packet, data: putBack(packet.data, attachments) } : packet;
}

const isBinary = (value) => value instanceof ArrayBuffer || ArrayBuffer.isView(value);
const bytesOf = (value) =>
  value instanceof ArrayBuffer ? new Uint8Array(value) : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);

function takeOut(value, attachments) {
  if (value === null || typeof value !== "object") return value;
  if (isBinary(value)) return { _placeholder: true, num: attachments.push(bytesOf(value)) - 1 };
  if (Array.isArray(value)) return value.map((element) => takeOut(element, attachments));
  if (typeof value.toJSON === "function") return takeOut(value.toJSON(), attachments);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, takeOut(member, attachments)]));
}

function putBack(value, attachments) {
  if (value === null || typeof value !== "object") return value;
  if (value._placeholder === true) {
    if (!Number.isInteger(value.num) || value.num < 0 || value.num >= attachments.length) throw new Error("a placeholder out of range");
    return attachments[value.num];
  }
  if (Array.isArray(value)) return value.map((element) => putBack(element, attachments));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, putBack(member, attachments)]));
}
