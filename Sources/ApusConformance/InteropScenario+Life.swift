import ApusConnectivity
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import Foundation
import NIOConcurrencyHelpers

// The checks that use several sockets, and the checks of the connection's life cycle.
extension InteropScenario {
    func roomsAreReached() async throws {
        // The name is unique, because other columns use the same server at the same time.
        let room = "nest \(UUID().uuidString)"
        let sockets = (0..<3).map { _ in self.manager().defaultSocket }
        let rooms = sockets.map { InteropInbox($0, "room") }
        let received = NIOLockedValueBox([[SocketIOValue]](repeating: [], count: 3))
        for (index, socket) in sockets.enumerated() {
            socket.on("bc") { data, _ in
                if case .object(let object)? = data.first, object["room"] == .string(room) {
                    received.withLockedValue { $0[index].append(contentsOf: data) }
                }
            }
            try await socket.connect(timeout: self.wait)
        }
        for socket in sockets.prefix(2) {
            let joined = try await socket.emitWithAck("join", room, timeout: self.wait, as: [String].self)
            try InteropMismatch.check(joined.contains(room), "rooms after joining: \(joined)")
        }
        let values = self.binaries + (0..<20).map { .integer($0) }
        for value in values { sockets[0].emit("to-room", arguments: [.string(room), value]) }
        try InteropMismatch.check(await rooms[1].take(values.count), is: values.map { [.string(room), $0] }, "the room's events")
        let left = try await sockets[1].emitWithAck("leave", room, timeout: self.wait, as: [String].self)
        try InteropMismatch.check(!left.contains(room), "rooms after leaving: \(left)")
        sockets[0].emit("to-room", room, "to an empty room")
        let everyone: SocketIOValue = ["room": .string(room), "bytes": .binary([1, 2])]
        sockets[2].emit("bc", arguments: [everyone])
        // The broadcast and the events of the room have different senders, so their order is not
        // defined. Waits until the broadcast has arrived, and then for further events.
        for socket in sockets { try await self.barrier(socket) }
        while received.withLockedValue({ $0.contains { $0.isEmpty } }) { try await Task.sleep(for: .milliseconds(5)) }
        for socket in sockets { try await self.barrier(socket) }
        try InteropMismatch.check(received.withLockedValue { $0 }, is: [[everyone], [everyone], [everyone]], "the broadcast")
        try InteropMismatch.check(rooms.map(\.count), is: [0, values.count, 0], "the number of room events for each socket")
        for socket in sockets { socket.disconnect() }
    }

    func aMegabyteIsEchoed() async throws {
        let socket = self.manager().defaultSocket
        let inbox = InteropInbox(socket, "echo")
        try await socket.connect(timeout: self.wait)
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let values: [SocketIOValue] = [
            .string(String(repeating: "x", count: 1_000_000)), .string(String(repeating: "🐦", count: 250_000)), ["deep": [.binary(bytes)]],
        ]
        for value in values {
            socket.emit("echo", arguments: [value])
            try InteropMismatch.check(await inbox.take(1) == [[value]], "the echo of a megabyte differs")
            let answer = try await socket.emitWithAck("ack", arguments: [value], timeout: self.wait)
            try InteropMismatch.check(answer == [value], "the ack of a megabyte differs")
        }
        try InteropMismatch.check(inbox.count, is: values.count, "each once")
        socket.disconnect()
    }

    func theServerDisconnects() async throws {
        let manager = self.manager()
        let root = manager.defaultSocket, custom = manager.socket(forNamespace: "/custom")
        let reasons = NIOLockedValueBox<[SocketIOClientDisconnectReason]>([])
        let connects = NIOLockedValueBox(0)
        custom.onLifecycle { event in
            switch event {
            case .disconnect(let reason): reasons.withLockedValue { $0.append(reason) }
            case .connect: connects.withLockedValue { $0 += 1 }
            default: break
            }
        }
        try await root.connect(timeout: self.wait)
        try await custom.connect(timeout: self.wait)
        custom.emit("leave-me")
        while reasons.withLockedValue({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(5)) }
        // Waits for several times the reconnection delay. The client must not reconnect in this
        // time.
        for _ in 0..<10 {
            try await self.barrier(root)
            try await Task.sleep(for: .milliseconds(50))
        }
        try InteropMismatch.check(reasons.withLockedValue { $0 }, is: [.serverDisconnect], "reasons")
        try InteropMismatch.check([custom.state, root.state], is: [.disconnected, .connected], "states")
        // An explicit call reconnects the socket.
        try await custom.connect(timeout: self.wait)
        try await self.barrier(custom)
        try InteropMismatch.check(connects.withLockedValue { $0 }, is: 2, "times connected")
        manager.disconnect()
    }

    func theServerIsRestarted() async throws {
        let manager = self.manager()
        let socket = manager.defaultSocket, custom = manager.socket(forNamespace: "/custom")
        let inbox = InteropInbox(socket, "echo")
        let connects = NIOLockedValueBox<[String]>([])
        let reasons = NIOLockedValueBox<[SocketIOClientDisconnectReason]>([])
        socket.onLifecycle { event in
            switch event {
            case .connect(let id): connects.withLockedValue { $0.append(id) }
            case .disconnect(let reason): reasons.withLockedValue { $0.append(reason) }
            default: break
            }
        }
        try await socket.connect(timeout: self.wait)
        try await custom.connect(timeout: self.wait)
        _ = try await socket.emitWithAck("join", "before", timeout: self.wait, as: [String].self)
        ConformanceClient.say(["ready": "restart"])
        while reasons.withLockedValue({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(5)) }
        // The client buffers these events until the server is available again.
        for number in 0..<20 { socket.emit("echo", number) }
        try InteropMismatch.check(await inbox.take(20), is: (0..<20).map { [.integer($0)] }, "the events emitted while disconnected")
        try await self.barrier(socket)
        while custom.state != .connected { try await Task.sleep(for: .milliseconds(5)) }
        try await self.barrier(custom)
        let ids = connects.withLockedValue { $0 }
        try InteropMismatch.check(ids.count == 2 && Set(ids).count == 2 && socket.id == ids.last, "ids: \(ids)")
        try InteropMismatch.check(
            reasons.withLockedValue { $0.count == 1 && $0.allSatisfy(\.permitsReconnect) }, "\(reasons.withLockedValue { $0 })")
        let rooms = try await socket.emitWithAck("join", "after", timeout: self.wait, as: [String].self)
        try InteropMismatch.check(!rooms.contains("before"), "the rooms of the old server: \(rooms)")
        try InteropMismatch.check(inbox.count, is: 20, "each once")
        manager.disconnect()
    }
}
