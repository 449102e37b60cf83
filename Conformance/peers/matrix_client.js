// The official JavaScript client as a column of the interop matrix, in a page of Chromium. `matrix_browser.py` loads the client and this file
// and calls `runMatrix(url, transport)`; `report` is its binding. The checks are those of `matrix_client.py`.

const WAIT = 30_000;
const TEXTS = [
  "hello", "", '在吗？ 🐦 \u2028 \u001e \\ "quoted" \u0000', 0, -1, 2 ** 53, 1.5, -2.5e-7, true, false, null, [], {},
  [1, [2, [3, { four: [null, false] }]]], { clé: { ключ: "值" }, _placeholder: false }, "x".repeat(100_000), "🐦".repeat(30_000),
];
const bytes = (...values) => new Uint8Array(values).buffer;
const letters = (text) => new TextEncoder().encode(text).buffer;
const BINARIES = [
  bytes(0, 1, 0xfe, 0xff), bytes(), { bytes: bytes(1, 2, 3) },
  { a: { b: [letters("first"), { c: letters("second") }] }, text: "between 🐦", d: new Uint8Array(10_000).fill(0xff).buffer },
  [bytes(4), bytes(0x1e), bytes(0xff, 0), "4"],
];

function fail(what) {
  throw new Error(what.slice(0, 600));
}

// Encodes bytes in a form that JSON can show; no check sends a value of this form.
function plain(value) {
  return JSON.stringify(value, (_, inner) => {
    if (inner instanceof ArrayBuffer) return { ArrayBuffer: Array.from(new Uint8Array(inner)).join() };
    if (ArrayBuffer.isView(inner)) return { wrongKind: inner.constructor.name };
    return inner;
  });
}

function same(got, wanted, what) {
  const [a, b] = [plain(got), plain(wanted)];
  if (a !== b) fail(`${what}: ${a.slice(0, 250)} instead of ${b.slice(0, 250)}`);
}

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function eventually(condition, what) {
  const deadline = Date.now() + WAIT;
  while (!(await condition())) {
    if (Date.now() > deadline) fail(`never: ${what()}`);
    await sleep(5);
  }
}

class Inbox {
  constructor(socket, event, wanted = () => true) {
    this.all = [];
    this.taken = 0;
    socket.on(event, (...values) => wanted(...values) && this.all.push(values));
  }

  get count() {
    return this.all.length;
  }

  async take(count) {
    await eventually(() => this.all.length >= this.taken + count, () => `${count} more events after ${this.taken}; ${this.all.length} came`);
    this.taken += count;
    return this.all.slice(this.taken - count, this.taken);
  }
}

class Rows {
  constructor(url, transport) {
    this.url = url;
    this.transports = { polling: ["polling"], websocket: ["websocket"], upgrade: ["polling", "websocket"] }[transport];
    this.options = { forceNew: true, transports: this.transports, reconnectionDelay: 100, reconnectionDelayMax: 500 };
  }

  // `io()` without options, on the page's own origin, if its default matches this transport.
  make(options = {}) {
    if (this.transports.length === 2 && Object.keys(options).length === 0) return io({ forceNew: true, reconnectionDelay: 100, reconnectionDelayMax: 500 });
    return io(this.url, { ...this.options, ...options });
  }

  async joined(socket) {
    await eventually(() => socket.connected, () => `${socket.nsp} is joined`);
    return socket;
  }

  refused(socket) {
    return new Promise((resolve, reject) => {
      socket.once("connect_error", (error) => resolve({ message: error.message, ...(error.data === undefined ? {} : { data: error.data }) }));
      socket.once("connect", () => reject(new Error(`${socket.nsp} was joined`)));
    });
  }

  ask(socket, event, ...values) {
    return socket.timeout(WAIT).emitWithAck(event, ...values);
  }

  async barrier(socket) {
    same(await this.ask(socket, "ack", "barrier"), "barrier", "the ack after it");
  }

  async text() {
    const socket = this.make();
    const inbox = new Inbox(socket, "echo");
    await this.joined(socket);
    for (const value of TEXTS) socket.emit("echo", value);
    same(await inbox.take(TEXTS.length), TEXTS.map((value) => [value]), "echoes");
    const wanted = this.transports.at(-1);
    await eventually(() => socket.io.engine.transport.name === wanted, () => `the client's transport is ${wanted}`);
    await eventually(async () => (await this.ask(socket, "transport")) === wanted, () => `the server's transport is ${wanted}`);
    const several = [[], [1], [1, "two", { three: 3 }]];
    for (const values of several) socket.emit("echo", ...values);
    same(await inbox.take(several.length), several, "arguments");
    for (let number = 0; number < 300; number += 1) socket.emit("echo", number);
    same(await inbox.take(300), Array.from({ length: 300 }, (_, number) => [number]), "order");
    await this.barrier(socket);
    same(inbox.count, TEXTS.length + several.length + 300, "each once");
    socket.disconnect();
  }

  async binary() {
    const socket = this.make();
    const inbox = new Inbox(socket, "echo");
    await this.joined(socket);
    for (const value of BINARIES) socket.emit("echo", value);
    same(await inbox.take(BINARIES.length), BINARIES.map((value) => [value]), "echoes");
    const mixed = Array.from({ length: 200 }, (_, number) => [number % 5 === 0 ? { n: number, b: bytes(number) } : number]);
    for (const values of mixed) socket.emit("echo", ...values);
    same(await inbox.take(200), mixed, "order");
    await this.barrier(socket);
    same(inbox.count, BINARIES.length + 200, "each once");
    socket.disconnect();
  }

  async acks() {
    const socket = this.make();
    const asked = [];
    socket.on("question", (...values) => {
      asked.push(values.slice(0, -1));
      values.at(-1)({ answer: values.slice(0, -1), bytes: bytes(9, 8) });
    });
    await this.joined(socket);
    const everything = [...TEXTS, ...BINARIES];
    same(await new Promise((resolve) => socket.emit("ack", ...everything, (...values) => resolve(values))), everything, "many values");
    same(await new Promise((resolve) => socket.emit("ack", (...values) => resolve(values))), [], "no value");
    const numbers = Array.from({ length: 100 }, (_, number) => number);
    const answers = [];
    await Promise.all(numbers.map((number) => new Promise((resolve) => socket.emit("ack", number, (...values) => resolve(answers.push([number, ...values]))))));
    same(answers.sort((a, b) => a[0] - b[0]), numbers.map((number) => [number, number]), "the ack of each event");
    for (const value of [...BINARIES, "why"]) {
      same(await this.ask(socket, "emit-back", value), { answer: [value], bytes: bytes(9, 8) }, "the client's answer");
    }
    same(asked, [...BINARIES, "why"].map((value) => [value]), "the questions");
    await this.barrier(socket);
    same(answers.length, 100, "acks that came twice");
    socket.disconnect();
  }

  async namespaces() {
    const root = this.make();
    const custom = root.io.socket("/custom");
    const [atRoot, atCustom] = [new Inbox(root, "echo"), new Inbox(custom, "echo")];
    custom.connect();
    await this.joined(root);
    await this.joined(custom);
    if (root.id.length !== 20 || custom.id.length !== 20 || root.id === custom.id) fail(`ids ${root.id} and ${custom.id}`);
    root.emit("echo", "root");
    custom.emit("echo", { bytes: bytes(0) });
    same([...(await atRoot.take(1)), ...(await atCustom.take(1))], [["root"], [{ bytes: bytes(0) }]], "echoes");
    same(await Promise.all([this.ask(root, "ack", "/"), this.ask(custom, "ack", "/custom")]), ["/", "/custom"], "acks");
    const nowhere = root.io.socket("/nowhere");
    nowhere.connect();
    same(await this.refused(nowhere), { message: "Invalid namespace" }, "an unknown namespace");
    custom.disconnect();
    await this.barrier(root);
    same([atRoot.count, atCustom.count], [1, 1], "each once");
    root.disconnect();
  }

  async refusal() {
    const root = this.make({ auth: { token: "wrong" } });
    const refused = root.io.socket("/private", { auth: { token: "wrong" } });
    refused.connect();
    same(await this.refused(refused), { message: "unauthorized", data: { code: "unauthorized" } }, "refusal");
    await this.joined(root);
    await this.barrier(root);
    refused.auth = (answer) => answer({ token: "secret" });
    refused.connect();
    await this.joined(refused);
    await this.barrier(refused);
    refused.disconnect();
    root.disconnect();
  }

  async rooms() {
    const room = `nest ${Math.random()}`;
    const sockets = [this.make(), this.make(), this.make()];
    const heard = sockets.map((socket) => new Inbox(socket, "room"));
    const broadcast = sockets.map((socket) => new Inbox(socket, "bc", (value) => value.room === room));
    for (const socket of sockets) await this.joined(socket);
    for (const socket of sockets.slice(0, 2)) if (!(await this.ask(socket, "join", room)).includes(room)) fail("not in the room joined");
    const values = [...BINARIES, ...Array(20).keys()];
    for (const value of values) sockets[0].emit("to-room", room, value);
    same(await heard[1].take(values.length), values.map((value) => [room, value]), "the room's events");
    if ((await this.ask(sockets[1], "leave", room)).includes(room)) fail("still in the room left");
    sockets[0].emit("to-room", room, "to an empty room");
    const everyone = { room, bytes: bytes(1, 2) };
    sockets[2].emit("bc", everyone);
    for (const inbox of broadcast) same(await inbox.take(1), [[everyone]], "the broadcast");
    for (const socket of sockets) await this.barrier(socket);
    same(broadcast.map((inbox) => inbox.count), [1, 1, 1], "the broadcast, once");
    same(heard.map((inbox) => inbox.count), [0, values.length, 0], "the number of room events for each socket");
    for (const socket of sockets) socket.disconnect();
  }

  async megabyte() {
    const socket = this.make();
    const inbox = new Inbox(socket, "echo");
    await this.joined(socket);
    const large = new Uint8Array(1_000_000).map((_, index) => (index * 31) & 255);
    const isRight = (value, text) => (text ? value === text : new Uint8Array(value.deep[0]).every((byte, index) => byte === large[index]) && value.deep[0].byteLength === large.length);
    for (const text of ["x".repeat(1_000_000), "🐦".repeat(250_000), null]) {
      const value = text ?? { deep: [large.buffer] };
      socket.emit("echo", value);
      if (!isRight((await inbox.take(1))[0][0], text)) fail("the echo of a megabyte differs");
      if (!isRight(await this.ask(socket, "ack", value), text)) fail("the ack of a megabyte differs");
    }
    same(inbox.count, 3, "each once");
    socket.disconnect();
  }

  async serverDisconnect() {
    const root = this.make();
    const custom = root.io.socket("/custom");
    let [reasons, connects] = [[], 0];
    custom.on("disconnect", (reason) => reasons.push(reason));
    custom.on("connect", () => (connects += 1));
    custom.connect();
    await this.joined(root);
    await this.joined(custom);
    custom.emit("leave-me");
    await eventually(() => reasons.length > 0, () => "the disconnect of /custom");
    await sleep(500); // several times the reconnection delay
    same(reasons, ["io server disconnect"], "reasons");
    same([custom.active, custom.connected, root.connected], [false, false, true], "states");
    await this.barrier(root);
    custom.connect();
    await this.joined(custom);
    await this.barrier(custom);
    same(connects, 2, "times connected");
    // The whole connection: each namespace receives the disconnect, and no socket reconnects.
    reasons = [];
    root.on("disconnect", (reason) => reasons.push(reason));
    root.emit("close-me");
    await eventually(() => reasons.length === 2, () => `both are told: ${reasons}`);
    await sleep(500);
    same(reasons, ["io server disconnect", "io server disconnect"], "reasons");
    same([root.active, custom.active, connects], [false, false, 2], "who comes back");
  }

  async restart() {
    const root = this.make();
    const custom = root.io.socket("/custom");
    const [ids, reasons] = [[], []];
    const inbox = new Inbox(root, "echo");
    root.on("connect", () => ids.push(root.id));
    root.on("disconnect", (reason) => reasons.push(reason));
    custom.connect();
    await this.joined(root);
    await this.joined(custom);
    await this.ask(root, "join", "before");
    await report({ ready: "restart" });
    await eventually(() => reasons.length > 0, () => "the connection is lost");
    // Buffered until the server is available again.
    for (let number = 0; number < 20; number += 1) root.emit("echo", number);
    same(await inbox.take(20), Array.from({ length: 20 }, (_, number) => [number]), "the events emitted while disconnected");
    await this.joined(custom);
    await this.barrier(custom);
    if (ids.length !== 2 || ids[0] === ids[1] || root.id !== ids[1]) fail(`ids ${ids}`);
    if (reasons.length !== 1 || !["transport close", "transport error"].includes(reasons[0])) fail(`reasons ${reasons}`);
    if ((await this.ask(root, "join", "after")).includes("before")) fail("the rooms of the old server");
    same(inbox.count, 20, "each once");
    root.disconnect();
  }
}

async function runMatrix(url, transport) {
  const rows = new Rows(url, transport);
  for (const check of ["text", "binary", "acks", "namespaces", "refusal", "rooms", "megabyte", "serverDisconnect", "restart"]) {
    let failure = null;
    try {
      await rows[check]();
    } catch (error) {
      failure = error.message;
    }
    await report({ check: check.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), failure });
  }
}
