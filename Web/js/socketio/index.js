// A small Socket.IO client (Engine.IO 4, Socket.IO 5) for browsers, without dependencies.
//
//   const manager = new SocketManager(location.origin);
//   const socket = manager.socket("/chat", { auth: () => ({ token }) });
//   socket.on("message", (text) => …);
//   socket.connect();
//   const [answer] = await socket.emitWithAck("add", [1, 2], { timeout: 5000 });

export { SocketManager } from "./manager.js";
export { SocketError } from "./errors.js";
export { Emitter } from "./emitter.js";
