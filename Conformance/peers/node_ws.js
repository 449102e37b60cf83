// Node's `ws` (Debian package), as a server or a client of the WebSocket tests.
//
//     node node_ws.js server [--compress]         prints `listening on 127.0.0.1:PORT`; its paths are those of websockets_server.py
//     node node_ws.js client URL [--compress]     sends messages, compares the echoes, prints a line of JSON
"use strict";
const http = require("http");
const crypto = require("crypto");
const { WebSocket, WebSocketServer } = require("ws");

const [role, ...rest] = process.argv.slice(2);
const compress = rest.includes("--compress");

function serve() {
  const server = http.createServer((request, response) => response.writeHead(426).end());
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: compress ? { threshold: 0 } : false,
    maxPayload: 64 << 20,
    handleProtocols: (offered) => (offered.has("chat") ? "chat" : false),
  });
  server.on("upgrade", (request, socket, head) => {
    if (request.url === "/refuse") {
      return socket.end("HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
    }
    sockets.handleUpgrade(request, socket, head, (connection) => talk(connection, request));
  });
  server.listen(0, "127.0.0.1", () => console.log(`listening on 127.0.0.1:${server.address().port}`));
}

function talk(connection, request) {
  connection.on("error", () => {});
  switch (request.url) {
    case "/close":
      return connection.close(4001, "bye");
    case "/headers":
      connection.send(JSON.stringify(request.headers));
      return connection.close();
    case "/fragments":
      connection.send("first ", { fin: false });
      connection.send("second ", { fin: false });
      connection.send("third", { fin: true });
      return connection.close();
    case "/ping":
      connection.on("pong", (payload) => {
        connection.send(`pong ${payload}`);
        connection.close();
      });
      return connection.ping("are you there");
    case "/cut":
      connection.send("last words", () => connection.terminate());
      return;
    default:
      connection.on("message", (data, isBinary) => connection.send(data, { binary: isBinary }));
  }
}

async function check(url) {
  const connection = new WebSocket(url, { perMessageDeflate: compress ? { threshold: 0 } : false, maxPayload: 64 << 20 });
  const next = (event) => new Promise((resolve, reject) => {
    connection.once(event, (...values) => resolve(values));
    connection.once("error", reject);
  });
  await next("open");
  let count = 0;
  const texts = ["hello", "", "在吗？ 🐦 \u0000 \u2028", "x".repeat(125), "x".repeat(126), "é".repeat(40_000), "abc ".repeat(200_000)];
  const sizes = [0, 1, 125, 126, 65535, 65536, 1 << 20];
  for (const value of [...texts, ...sizes.map((size) => crypto.randomBytes(size))]) {
    connection.send(value);
    const [data, isBinary] = await next("message");
    if (isBinary !== (typeof value !== "string")) throw new Error(`message ${count} changed its kind`);
    if (!data.equals(Buffer.from(value))) throw new Error(`message ${count} came back as ${data.length} other bytes`);
    count += 1;
  }
  for (const [piece, fin] of [["frag", false], ["men", false], ["", false], ["ted", true]]) connection.send(piece, { fin });
  if (String((await next("message"))[0]) !== "fragmented") throw new Error("the fragments were not joined");
  // Many concurrent messages keep their order.
  const received = [];
  const all = new Promise((resolve) => connection.on("message", (data) => received.push(Number(data)) === 1000 && resolve()));
  for (let number = 0; number < 1000; number += 1) connection.send(String(number));
  await all;
  if (received.some((number, index) => number !== index)) throw new Error("the order changed");
  connection.ping("12345");
  if (String((await next("pong"))[0]) !== "12345") throw new Error("a pong with another payload");
  const extensions = connection.extensions;
  connection.close(4002, "done");
  const [code, reason] = await next("close");
  console.log(JSON.stringify({ count, extensions, code, reason: String(reason) }));
}

if (role === "server") serve();
else {
  check(rest[0]).then(
    () => process.exit(0),
    (error) => {
      console.error(String(error));
      process.exit(1);
    },
  );
}
