// The code of the pages "Coming from socket.io-client-swift" and "Options".
// `scripts/check-snippets` compares them.
import ApusConnectivity
import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOClientCompatibility
import Dispatch
import Foundation
import HTTPTypes
import Logging

func aManager() -> SocketManager {
    let manager = SocketManager(socketURL: URL(string: "http://localhost:8080")!, config: [.log(true), .compress])
    return manager
}

func theExample(_ manager: SocketManager) {
    let socket = manager.defaultSocket

    socket.on(clientEvent: .connect) { data, ack in
        print("socket connected")
    }

    socket.on("currentAmount") { data, ack in
        guard let cur = data[0].doubleValue else { return }

        socket.emitWithAck("canUpdate", cur).timingOut(after: 0) { data in
            if data.first == SocketAckStatus.noAck {
                // Handle ack timeout
            }

            socket.emit("update", ["amount": cur + 2.50])
        }

        ack.with("Got your currentAmount", "dude")
    }

    socket.connect()
}

func theTimeoutHandler(_ socket: SocketIOClient) {
    socket.connect(timeoutAfter: 15) {
        print("no connection within 15 seconds")
    }
}

func thePayload(_ manager: SocketManager) -> SocketIOClient {
    manager.socket(forNamespace: "/swift", auth: ["token": "…"])
}

func theListeners(_ socket: SocketIOClient) {
    let id = socket.on("news") { data, ack in
        print(data)
    }
    socket.onAny { event, data in
        print(event, data)
    }
    socket.once("welcome") { data, ack in
        print(data)
    }
    socket.off(id: id)
    socket.off("welcome")
    socket.off(clientEvent: .disconnect)
    socket.removeAllHandlers()
}

func theOptions(logger: Logger) -> SocketIOManager {
    var configuration = SocketIOManagerConfiguration(
        transports: [.webSocket],
        version: .v3,
        path: "/custom/",
        query: ["platform": "iOS"],
        headers: [.cookie: "a=b"],
        reconnection: .exponential(from: .seconds(2), to: .seconds(30), jitter: 0.5, maximumAttempts: 3),
        tls: .system)
    configuration.callbacks = .queue(DispatchQueue(label: "sockets"))
    return SocketIOManager(url: "https://localhost:3443", configuration: configuration, logger: logger)
}
