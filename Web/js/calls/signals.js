// Decodes the data of `signal`, which the devices of a call exchange. Other users send the data, so
// the type and the length of each field are checked.

const LONGEST_DESCRIPTION = 100_000; // characters
const LONGEST_CANDIDATE = 1000;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Returns a random name for the participation of one tab in one call. */
export const makeSession = () => [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Returns the valid signal in `data`, or null. */
export function readSignal(data) {
  if (typeof data !== "object" || data === null) return null;
  const { type } = data;
  const session = nameOf(data.session);
  const to = nameOf(data.to);
  switch (type) {
    case "join": return { type, session, to, reply: data.reply === true, again: data.again === true };
    case "leave": return { type, session, to, moved: data.moved === true };
    case "full": case "answered": return { type, session, to };
    case "state": return { type, session, to, state: { microphone: data.microphone !== false, camera: data.camera === true, screen: data.screen === true } };
    case "offer": case "answer":
      return typeof data.sdp === "string" && data.sdp.length > 0 && data.sdp.length <= LONGEST_DESCRIPTION ? { type, session, to, sdp: data.sdp } : null;
    case "candidate": {
      const candidate = readCandidate(data.candidate);
      return candidate && { type, session, to, candidate };
    }
    default: return null;
  }
}

const nameOf = (value) => (typeof value === "string" && NAME.test(value) ? value : "");

function readCandidate(value) {
  if (typeof value !== "object" || value === null) return null;
  const { candidate, sdpMid, sdpMLineIndex, usernameFragment } = value;
  if (typeof candidate !== "string" || candidate.length > LONGEST_CANDIDATE) return null;
  const isText = (text) => typeof text === "string" && text.length <= 256;
  if (!isText(sdpMid) && !Number.isInteger(sdpMLineIndex)) return null;
  return {
    candidate, ...(isText(sdpMid) && { sdpMid }), ...(Number.isInteger(sdpMLineIndex) && { sdpMLineIndex }), ...(isText(usernameFragment) && { usernameFragment }),
  };
}
