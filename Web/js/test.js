// The test page: buttons for events of the demo, and a log of all packets in both directions.

import { SocketManager } from "./socketio/index.js";
import { h } from "./views/dom.js";

const KEPT = 1000; // the maximum number of lines in the log
const LONGEST = 2000; // the maximum number of characters of a packet to show
const ACK_TIMEOUT = 10_000;
const ENGINE = { 0: "open", 1: "close", 2: "ping", 3: "pong", 5: "upgrade", 6: "noop" };
const SOCKET = { 0: "CONNECT", 1: "DISCONNECT", 2: "EVENT", 3: "ACK", 4: "CONNECT_ERROR", 5: "BINARY_EVENT", 6: "BINARY_ACK" };
const TRANSPORTS = { auto: ["polling", "websocket"], polling: ["polling"], websocket: ["websocket"] };

const dark = matchMedia("(prefers-color-scheme: dark)");
const applyTheme = () => (document.documentElement.dataset.theme = dark.matches ? "dark" : "light");
applyTheme();
dark.addEventListener("change", applyTheme);

const $ = (id) => document.getElementById(id);
const log = $("log");
const counts = { in: 0, out: 0 };
let manager = null;
let socket = null;

$("connect").addEventListener("click", connect);
$("disconnect").addEventListener("click", () => socket?.disconnect());
$("clear").addEventListener("click", () => log.replaceChildren());
$("heartbeats").addEventListener("change", (event) => log.classList.toggle("with-heartbeats", event.target.checked));
$("send-text").addEventListener("click", () => {
  socket.emit("chatMessage", message());
  tell("Sent.", true);
});
$("send-binary").addEventListener("click", () => {
  socket.emit("binaryEvent", binary());
  tell("Sent.", true);
});
$("send-ack").addEventListener("click", () => ack("chatMessage", message()));
$("send-binary-ack").addEventListener("click", () => ack("binaryAckTest", binary()));
$("send-ten").addEventListener("click", tenAcks);

function connect() {
  const transport = document.querySelector("[name=transport]:checked").value;
  manager = new SocketManager(location.origin, { transports: TRANSPORTS[transport], trace: packet });
  socket = manager.socket("/");
  manager.on("state", render);
  socket.on("connect", () => {
    note(`connected, socket id ${socket.id}`);
    render();
  });
  socket.on("disconnect", (reason) => {
    note(`disconnected: ${reason}`);
    render();
  });
  socket.on("connect_error", (error) => {
    note(`connection failed: ${error.message}`);
    render();
  });
  socket.onAny((name, values) => {
    // Acknowledges events of the server that request it.
    const answer = values.at(-1);
    if (typeof answer === "function") answer({ status: "ok", event: name });
  });
  socket.connect();
  render();
}

function render() {
  const { name, retryAt, transport } = manager.state;
  const connected = socket.connected;
  const state = connected ? "open" : name === "open" ? "connecting" : name;
  $("state").dataset.state = state;
  $("state").textContent = { open: "connected", connecting: "connecting…", closed: "disconnected" }[state]
    ?? `waiting ${Math.max(0, Math.round((retryAt - Date.now()) / 100) / 10)} s`;
  $("connect").disabled = socket.wanted;
  $("disconnect").disabled = !socket.wanted;
  for (const choice of document.querySelectorAll("[name=transport]")) choice.disabled = socket.wanted;
  for (const button of document.querySelectorAll("#actions button")) button.disabled = !connected;
  $("transport-in-use").textContent = connected ? transport : "–";
  $("socket-id").textContent = socket.id ?? "–";
}

const message = () => ({ message: $("text").value, timestamp: new Date().toISOString() });

/** Returns a payload with 256 bytes, one of each value. */
const binary = () => ({ binaryData: Uint8Array.from({ length: 256 }, (_, at) => at), text: $("text").value, timestamp: new Date().toISOString() });

async function ack(name, payload) {
  const began = performance.now();
  try {
    const answer = await socket.emitWithAck(name, [payload], { timeout: ACK_TIMEOUT });
    tell(`Ack of ${name} after ${milliseconds(began)}: ${shown(answer)}`, true);
  } catch (error) {
    tell(`${name}: ${error.message}`, false);
  }
}

async function tenAcks() {
  const began = performance.now();
  const results = await Promise.allSettled(Array.from({ length: 10 }, (_, at) =>
    socket.emitWithAck("customEvent", [{ message: `ACK Test ${at + 1}`, index: at + 1, timestamp: new Date().toISOString() }], { timeout: ACK_TIMEOUT })));
  const good = results.filter((result) => result.status === "fulfilled").length;
  tell(`${good} of 10 acks after ${milliseconds(began)}`, good === 10);
}

const milliseconds = (began) => `${(performance.now() - began).toFixed(1)} ms`;

function tell(text, ok) {
  $("result").textContent = text;
  $("result").dataset.ok = String(ok);
}

// --- the log ---

/** Handles a packet that the client traces: adds one line to the log. */
function packet({ direction, transport, data }) {
  counts[direction]++;
  $("counts").textContent = `${counts.in} / ${counts.out}`;
  const what = describe(data);
  line(direction, transport, what, data instanceof Uint8Array ? hexadecimal(data) : data);
}

function describe(data) {
  if (data instanceof Uint8Array) return "attachment";
  if (data.startsWith("b")) return "attachment";
  if (data.charAt(0) !== "4") return ENGINE[data.charAt(0)] ?? "?";
  return SOCKET[data.charAt(1)] ?? "message";
}

function hexadecimal(bytes) {
  const head = Array.from(bytes.subarray(0, 24), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return `${bytes.length} bytes: ${head}${bytes.length > 24 ? " …" : ""}`;
}

const shown = (value) => JSON.stringify(value, (_, each) => (each instanceof Uint8Array ? `<${each.length} bytes>` : each));

function note(text) {
  line("note", "", "", text);
}

function line(kind, transport, what, text) {
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length} characters)` : text;
  const heartbeat = what === "ping" || what === "pong" || /^42\["heartbeat"/.test(text);
  log.append(h("li", { class: `${kind}${heartbeat ? " heartbeat" : ""}` },
    h("time", {}, new Date().toISOString().slice(11, 23)), h("span", { class: "arrow" }, { in: "←", out: "→", note: "·" }[kind]),
    h("span", { class: "via" }, transport), h("span", { class: "what" }, what), h("span", { class: "data" }, cut)));
  while (log.children.length > KEPT) log.firstElementChild.remove();
  if (atEnd) log.scrollTop = log.scrollHeight;
}

setInterval(() => manager?.state.name === "waiting" && render(), 200);
