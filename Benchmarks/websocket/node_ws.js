// An echo server with Debian's `ws` for Node: node node_ws.js PORT
"use strict";
const { WebSocketServer } = require("ws");
const server = new WebSocketServer({ host: "127.0.0.1", port: Number(process.argv[2]), backlog: 4096, perMessageDeflate: false });
server.on("connection", (connection) => {
  connection.on("message", (data, isBinary) => connection.send(data, { binary: isBinary }));
  connection.on("error", () => {});
});
