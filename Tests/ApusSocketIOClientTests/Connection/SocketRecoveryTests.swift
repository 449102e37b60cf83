import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import Testing

@Suite(.timeLimit(.minutes(5))) struct SocketRecoveryTests {
    @Test func aLostSessionIsRecoveredAndMissedEventsArriveOnce() async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager { $0.auth = ["token": "t"] }
            let socket = manager.defaultSocket
            let events = socket.messages("e", as: Int.self, bufferingPolicy: .unbounded)
            let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
            socket.open()
            var peer = try await server.nextPeer()
            #expect(await peer.letIn(#"{"sid":"s1","pid":"p1"}"#) == #"40{"token":"t"}"#)
            peer.say(#"42["e",1,"o1"]"#)
            #expect(await events.first { _ in true } == 1)
            #expect(!socket.isRecovered)
            peer.hangUp()
            peer = try await server.nextPeer()
            let connect = await peer.next()
            #expect(try JSONReader.value(of: connect) == ["pid": "p1", "offset": "o1", "token": "t"])
            peer.say(#"42["e",1,"o1"]"#, #"42["e",2,"o2"]"#, #"40{"sid":"s1","pid":"p1"}"#, #"42["e",3,"o3"]"#)
            #expect(await events.first { _ in true } == 2)
            #expect(await events.first { _ in true } == 3)
            #expect(socket.isRecovered)
            #expect(socket.id == "s1")
            var kinds: [SocketIOClientLifecycleEvent.Kind] = []
            for await event in lifecycle where event.kind != .statusChange {
                kinds.append(event.kind)
                if event.kind == .reconnect { break }
            }
            #expect(kinds == [.connect, .disconnect, .reconnectAttempt, .connect, .reconnect])
            await manager.close()
            #expect(!socket.isRecovered)
        }
    }
}

extension JSONReader {
    /// Returns the payload of a CONNECT.
    fileprivate static func value(of connect: String?) throws -> JSONValue {
        try JSONReader.read(Array(try #require(connect).dropFirst(2).utf8))
    }
}
