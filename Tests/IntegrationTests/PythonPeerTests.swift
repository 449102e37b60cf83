import ApusConnectivity
import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import Testing

/// The transports of a session.
enum Way: String, CaseIterable, CustomTestStringConvertible {
    case polling, webSocket, upgrade

    var testDescription: String { self.rawValue }

    func configuration(auth: SocketIOClientAuthentication = .none, reconnection: ReconnectionPolicy = .none) -> SocketIOManagerConfiguration
    {
        switch self {
        case .polling: .init(transports: [.polling], auth: auth, reconnection: reconnection)
        case .webSocket: .init(transports: [.webSocket], auth: auth, reconnection: reconnection)
        case .upgrade: .init(auth: auth, reconnection: reconnection)
        }
    }
}

/// The client with python-socketio 5.x over every transport, including its deviations from Node's
/// Socket.IO.
///
/// Serialized, because starting a peer takes most of a test's time.
@Suite(
    .enabled(if: PythonPeer.interpreter != nil, "APUS_PYTHON does not name a Python with python-socketio"), .serialized,
    .timeLimit(.minutes(5))
)
struct PythonPeerTests {
    private let seconds = Duration.seconds(60)

    @Test(arguments: Way.allCases) func textNumbersAndUnicodeAreEchoed(way: Way) async throws {
        let peer = try PythonPeer()
        let socket = SocketIOManager(url: peer.url, configuration: way.configuration()).defaultSocket
        let echoes = socket.messages("echo", as: String.self, bufferingPolicy: .unbounded)
        try await socket.connect(timeout: self.seconds)
        #expect(socket.state == .connected)
        #expect(socket.id != nil)
        for text in ["hello", "", "在吗 🐦 \u{1e} \u{2028}", String(repeating: "x", count: 200_000)] {
            socket.emit("echo", text)
            #expect(await echoes.first { _ in true } == text)
        }
        let values: [SocketIOValue] = [1, -2.5, true, nil, ["a": [1, "b"]], "c"]
        #expect(try await socket.emitWithAck("ack", arguments: values, timeout: self.seconds) == values)
        #expect(try await socket.emitWithAck("ack", 20, timeout: self.seconds, as: Int.self) == 20)
        socket.disconnect()
    }

    @Test(arguments: Way.allCases) func theSessionTravelsAsAsked(way: Way) async throws {
        let peer = try PythonPeer()
        let socket = SocketIOManager(url: peer.url, configuration: way.configuration()).defaultSocket
        try await socket.connect(timeout: self.seconds)
        var seen: [String] = []
        // The requests continue during an upgrade, which loses no message.
        repeat {
            seen.append(try await socket.emitWithAck("transport", timeout: self.seconds, as: String.self))
        } while way == .upgrade && seen.last != "websocket" && seen.count < 1000
        #expect(seen.last == (way == .polling ? "polling" : "websocket"))
        if way == .upgrade { #expect(try await socket.emitWithAck("ack", "after", timeout: self.seconds, as: String.self) == "after") }
        socket.disconnect()
    }

    @Test(arguments: Way.allCases) func nestedBinaryIsEchoed(way: Way) async throws {
        let peer = try PythonPeer()
        let socket = SocketIOManager(url: peer.url, configuration: way.configuration()).defaultSocket
        try await socket.connect(timeout: self.seconds)
        let large = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let values: [SocketIOValue] = [
            .binary([1, 2, 3]), ["deep": [["er": .binary(large)], .binary([])]], "text", .binary([0xff, 0x1e]),
        ]
        #expect(try await socket.emitWithAck("ack", arguments: values, timeout: self.seconds) == values)
        socket.disconnect()
    }

    @Test(arguments: Way.allCases) func theClientAnswersTheServersPing(way: Way) async throws {
        let peer = try PythonPeer()
        let socket = SocketIOManager(url: peer.url, configuration: way.configuration()).defaultSocket
        socket.on("question") { (a: Int, b: Int) in a * b }
        try await socket.connect(timeout: self.seconds)
        #expect(try await socket.emitWithAck("emit-back", 6, 7, timeout: self.seconds, as: Int.self) == 42)
        socket.off("question")
        socket.on("question") { data, ack in ack.with(.binary([9]), .array(data)) }
        #expect(try await socket.emitWithAck("emit-back", arguments: ["x"], timeout: self.seconds) == [.binary([9]), ["x"]])
        socket.disconnect()
    }

    @Test(arguments: Way.allCases) func twoNamespacesShareAConnection(way: Way) async throws {
        let peer = try PythonPeer()
        let manager = SocketIOManager(url: peer.url, configuration: way.configuration(auth: ["who": "root"]))
        let root = manager.defaultSocket
        let custom = manager.socket(forNamespace: "/custom", auth: ["who": "custom"])
        try await root.connect(timeout: self.seconds)
        try await custom.connect(timeout: self.seconds)
        #expect(root.id != custom.id)
        #expect(try await root.emitWithAck("auth", arguments: [], timeout: self.seconds) == [["who": "root"]])
        #expect(try await custom.emitWithAck("auth", arguments: [], timeout: self.seconds) == [["who": "custom"]])
        root.disconnect()
        #expect(try await custom.emitWithAck("ack", 1, timeout: self.seconds, as: Int.self) == 1)
        #expect(root.state == .disconnected)
        custom.disconnect()
    }

    @Test(arguments: Way.allCases) func aRefusalCarriesItsData(way: Way) async throws {
        let peer = try PythonPeer()
        let manager = SocketIOManager(url: peer.url, configuration: way.configuration(reconnection: .socketIO))
        let refused = await #expect(throws: SocketIOError.self) {
            try await manager.socket(forNamespace: "/private", auth: ["token": "wrong"]).connect(timeout: self.seconds)
        }
        #expect(refused == SocketIOError(.connectRefused, message: "unauthorized", data: ["code": "unauthorized"]))
        // python-socketio refuses an unknown namespace with a plain string.
        let unknown = await #expect(throws: SocketIOError.self) {
            try await manager.socket(forNamespace: "/nowhere").connect(timeout: self.seconds)
        }
        #expect(unknown?.code == .connectRefused)
        #expect(unknown?.message == "Unable to connect")
        let allowed = SocketIOManager(url: peer.url, configuration: way.configuration(auth: .closure { ["token": "secret"] }))
        try await allowed.socket(forNamespace: "/private").connect(timeout: self.seconds)
    }

    @Test(arguments: Way.allCases) func eventsKeepTheirOrderAndEarlyOnesAreDelivered(way: Way) async throws {
        let peer = try PythonPeer()
        let socket = SocketIOManager(url: peer.url, configuration: way.configuration()).defaultSocket
        let early = socket.messages("early", as: String.self, bufferingPolicy: .unbounded)
        let burst = socket.messages("burst", as: Int.self, bufferingPolicy: .unbounded)
        let echoes = socket.messages("echo", as: Int.self, bufferingPolicy: .unbounded)
        // Events that are emitted before the connection wait in the buffer.
        for number in 0..<100 { socket.emit("echo", number) }
        try await socket.connect(timeout: self.seconds)
        #expect(await early.first { _ in true } == "before connect")
        socket.emit("burst", 500)
        var received: [Int] = []
        for await number in burst.prefix(500) { received.append(number) }
        #expect(received == Array(0..<500))
        received = []
        for await number in echoes.prefix(100) { received.append(number) }
        #expect(received.sorted() == Array(0..<100))
        socket.disconnect()
    }

    @Test(arguments: Way.allCases) func aServerDisconnectPreventsReconnection(way: Way) async throws {
        let peer = try PythonPeer()
        let socket = SocketIOManager(url: peer.url, configuration: way.configuration(reconnection: .fixed(.milliseconds(10)))).defaultSocket
        let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
        try await socket.connect(timeout: self.seconds)
        socket.emit("leave-me")
        for await event in lifecycle {
            if case .disconnect(let reason) = event {
                #expect(reason == .serverDisconnect)
                break
            }
        }
        #expect(socket.state == .disconnected)
    }

    @Test func anAckRunsIntoItsTimeout() async throws {
        let peer = try PythonPeer()
        let socket = SocketIOManager(url: peer.url, configuration: Way.webSocket.configuration()).defaultSocket
        try await socket.connect(timeout: self.seconds)
        let error = await #expect(throws: SocketIOError.self) {
            try await socket.emitWithAck("silent", arguments: [], timeout: .milliseconds(50))
        }
        #expect(error?.code == .ackTimeout)
        socket.disconnect()
    }

    @Test(arguments: Way.allCases) func aRestartedServerIsFoundAgain(way: Way) async throws {
        let first = try PythonPeer()
        let manager = SocketIOManager(url: first.url, configuration: way.configuration(reconnection: .fixed(.milliseconds(50))))
        let socket = manager.defaultSocket
        let states = socket.states(bufferingPolicy: .unbounded)
        let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
        try await socket.connect(timeout: self.seconds)
        let id = socket.id
        async let failed: [SocketIOValue] = socket.emitWithAck("silent", arguments: [], timeout: .seconds(60))
        // The echo follows `silent` on the wire: when it arrives, the ack is pending on the server.
        _ = try await socket.emitWithAck("ack", arguments: [], timeout: self.seconds)
        first.kill()
        do {
            _ = try await failed
            Issue.record("the ack came")
        } catch let error as SocketIOError {
            #expect(error.code == .disconnected)
        }
        let second = try PythonPeer(port: first.port)
        for await event in lifecycle {
            if case .reconnect(let attempts) = event {
                #expect(attempts >= 1)
                break
            }
        }
        #expect(socket.id != id)
        #expect(try await socket.emitWithAck("ack", "back", timeout: self.seconds, as: String.self) == "back")
        socket.disconnect()
        var seen: [SocketIOClientState] = []
        for await state in states {
            seen.append(state)
            if state == .disconnected, seen.count > 1 { break }
        }
        #expect(seen == [.disconnected, .connecting, .connected, .reconnecting, .connected, .disconnected])
        second.kill()
    }

    @Test func repeatedEventsOutliveARestartOfTheServer() async throws {
        let first = try PythonPeer()
        var configuration = Way.webSocket.configuration(reconnection: .fixed(.milliseconds(50)))
        configuration.retries = 100
        let manager = SocketIOManager(url: first.url, configuration: configuration)
        let socket = manager.defaultSocket
        try await socket.connect(timeout: self.seconds)
        let (answers, continuation) = AsyncStream.makeStream(of: SocketIOValue?.self)
        for number in 0..<200 { socket.emitWithAck("ack", number, timeout: .seconds(60)) { continuation.yield((try? $0.get())?.first) } }
        var received: [SocketIOValue?] = []
        for await answer in answers.prefix(20) { received.append(answer) }
        first.kill()
        let second = try PythonPeer(port: first.port)
        for await answer in answers.prefix(180) { received.append(answer) }
        #expect(received == (0..<200).map { .integer($0) })
        await manager.close()
        second.kill()
    }

    @Test func shortHeartbeatsAreAnswered() async throws {
        // The server announces an interval below a second as 0. During several heartbeats, it
        // closes a client that does not respond.
        let peer = try PythonPeer(arguments: ["--ping-interval", "0.2", "--ping-timeout", "1.5"])
        for way in Way.allCases {
            let socket = SocketIOManager(url: peer.url, configuration: way.configuration()).defaultSocket
            try await socket.connect(timeout: self.seconds)
            let id = socket.id
            try? await socket.emitWithAck("silent", arguments: [], timeout: .seconds(2)).discard()
            #expect(try await socket.emitWithAck("ack", "alive", timeout: self.seconds, as: String.self) == "alive")
            #expect(socket.id == id)
            socket.disconnect()
        }
    }

    @Test func withoutAnUpgradePollingCarriesOn() async throws {
        let peer = try PythonPeer(arguments: ["--http-only"])
        let socket = SocketIOManager(url: peer.url, configuration: Way.upgrade.configuration()).defaultSocket
        try await socket.connect(timeout: self.seconds)
        #expect(try await socket.emitWithAck("ack", "still here", timeout: self.seconds, as: String.self) == "still here")
        socket.disconnect()
    }

    @Test func twentyClientsAtOnce() async throws {
        let peer = try PythonPeer()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let way = Way.allCases[number % 3]
                    let socket = SocketIOManager(url: peer.url, configuration: way.configuration()).defaultSocket
                    try await socket.connect(timeout: .seconds(60))
                    for round in 0..<10 {
                        #expect(try await socket.emitWithAck("ack", number, round, timeout: .seconds(60), as: Int.self) == number)
                    }
                    socket.disconnect()
                }
            }
            try await group.waitForAll()
        }
    }
}

extension Array {
    /// Discards the result.
    fileprivate func discard() {}
}
