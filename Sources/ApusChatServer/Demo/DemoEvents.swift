import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Foundation

/// Answers the demo events in the namespace `/`: the events of RTCVPSocketIO's test server, which
/// `test.html` uses, and the events of the first client in the README.
struct DemoEvents: Sendable {
    let namespace: SocketIONamespace

    func mount() {
        let namespace = self.namespace
        namespace.onConnection { socket in
            socket.emit(
                "welcome", arguments: [["message": "Welcome to Apus", "socketId": .string(socket.id), "timestamp": Self.timestamp()]])
            socket.broadcast.emit("userConnected", arguments: [["socketId": .string(socket.id), "timestamp": Self.timestamp()]])
            socket.onDisconnect { reason in
                namespace.emit(
                    "userDisconnected",
                    arguments: [["socketId": .string(socket.id), "reason": .string("\(reason)"), "timestamp": Self.timestamp()]])
            }
            socket.on("chat message") { (event: SocketIOReceivedEvent) in socket.broadcast.emit("chat message", arguments: event.arguments)
            }
            socket.on("add") { (a: Int, b: Int) in a &+ b }
            socket.on("chatMessage") { (event: SocketIOReceivedEvent) in
                let data = event.arguments.first ?? .null
                event.acknowledge(["status": "received", "timestamp": Self.timestamp()])
                socket.broadcast.emit(
                    "chatMessage",
                    arguments: [
                        [
                            "sender": .string(socket.id), "message": data["message"] ?? data,
                            "timestamp": data["timestamp"] ?? Self.timestamp(),
                        ]
                    ])
            }
            socket.on("customEvent") { (event: SocketIOReceivedEvent) in
                event.acknowledge(["status": "processed", "receivedData": event.arguments.first ?? .null, "timestamp": Self.timestamp()])
            }
            socket.on("binaryEvent") { (event: SocketIOReceivedEvent) in
                let data = event.arguments.first ?? .null
                let bytes = data["binaryData"] ?? data
                event.acknowledge([
                    "status": "received", "size": .integer(Int64(bytes.binaryValue?.count ?? 0)), "timestamp": Self.timestamp(),
                ])
                socket.broadcast.emit(
                    "binaryEvent",
                    arguments: [
                        [
                            "sender": .string(socket.id), "binaryData": bytes, "text": data["text"] ?? .null,
                            "timestamp": data["timestamp"] ?? Self.timestamp(),
                        ]
                    ])
            }
            socket.on("binaryAckTest") { (event: SocketIOReceivedEvent) in
                // Returns the bytes in the acknowledgement, to test the round trip of binary data.
                let data = event.arguments.first ?? .null
                let bytes = data["binaryData"] ?? data
                event.acknowledge([
                    "status": "received", "size": .integer(Int64(bytes.binaryValue?.count ?? 0)), "binaryData": bytes,
                    "timestamp": Self.timestamp(),
                ])
            }
        }
    }

    /// Sends the periodic `heartbeat` of RTCVPSocketIO's test server. Called every 10 seconds.
    func beat() {
        self.namespace.emit(
            "heartbeat", arguments: [["timestamp": Self.timestamp(), "clients": .integer(Int64(self.namespace.sockets.count))]])
    }

    /// Returns the current time in the format of JavaScript's `toISOString()`.
    private static func timestamp() -> SocketIOValue {
        .string(Date().formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(separator: .omitted)))
    }
}
