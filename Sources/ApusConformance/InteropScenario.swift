import ApusConnectivity
import ApusEngineIOClient
import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import NIOConcurrencyHelpers

/// The checks of the interop matrix for the Apus client. `Conformance/peers/matrix_client.py` and
/// `matrix_client.js` implement them for the other clients.
struct InteropScenario: Sendable {
    let url: String
    let transport: InteropTransport
    /// The Engine.IO version; `nil` if the client detects it.
    let version: Int?
    /// Whether the server is python-socketio 4.6. If so, the checks omit cases in which it has
    /// faults: it accepts any namespace, sends an empty attachment as null, and counts characters
    /// instead of UTF-16 code units in payload lengths.
    let isPython4: Bool
    let parser: SocketIOParser
    let wait = Duration.seconds(30)

    var texts: [SocketIOValue] { self.isPython4 ? Self.texts.map(Self.basicPlane) : Self.texts }
    var binaries: [SocketIOValue] { self.isPython4 ? Self.binaries.filter { $0 != .binary([]) }.map(Self.basicPlane) : Self.binaries }

    /// Replaces characters beyond the Basic Multilingual Plane in a value.
    private static func basicPlane(_ value: SocketIOValue) -> SocketIOValue {
        switch value {
        case .string(let text): .string(String(text.map { $0 == "🐦" ? "雨" : $0 }))
        case .array(let values): .array(values.map(self.basicPlane))
        case .object(let object): .object(.init(object.map { (key: $0.key, value: self.basicPlane($0.value)) }))
        case .null, .bool, .integer, .double, .binary, .date: value
        }
    }

    private static let texts: [SocketIOValue] = [
        "hello", "", "在吗？ 🐦 \u{2028} \u{1e} \\ \"quoted\" \u{0}", 0, -1, 9_007_199_254_740_992, 1.5, -2.5e-7, true, false, .null, [], [:],
        [1, [2, [3, ["four": [.null, false]]]]], ["clé": ["ключ": "值"], "_placeholder": false],
        .string(String(repeating: "x", count: 100_000)),
        .string(String(repeating: "🐦", count: 30_000)),
    ]

    private static let binaries: [SocketIOValue] = [
        .binary([0, 1, 0xfe, 0xff]), .binary([]), ["bytes": .binary([1, 2, 3])],
        [
            "a": ["b": [.binary(Array("first".utf8)), ["c": .binary(Array("second".utf8))]]], "text": "between 🐦",
            "d": .binary([UInt8](repeating: 0xff, count: 10_000)),
        ],
        [.binary([4]), .binary([0x1e]), .binary([0xff, 0]), "4"],
    ]

    func manager(auth: SocketIOClientAuthentication = .none) -> SocketIOManager {
        var configuration = SocketIOManagerConfiguration(
            transports: self.transport.transports, auth: auth,
            reconnection: .exponential(from: .milliseconds(100), to: .milliseconds(500), stableTime: .zero))
        configuration.engine.version = self.version.map { $0 == 3 ? .v3 : .v4 } ?? .automatic
        configuration.parser = self.parser
        return SocketIOManager(url: self.url, configuration: configuration)
    }

    // MARK: Checks

    /// Checks the echo of texts, that the session uses the requested transport, and that an upgrade
    /// neither loses nor reorders messages.
    func textIsEchoed() async throws {
        let socket = self.manager().defaultSocket
        let inbox = InteropInbox(socket, "echo")
        try await socket.connect(timeout: self.wait)
        for value in self.texts { socket.emit("echo", arguments: [value]) }
        try InteropMismatch.check(await inbox.take(self.texts.count), is: self.texts.map { [$0] }, "echoes")
        var seen = ""
        for _ in 0..<2000 {
            seen = try await socket.emitWithAck("transport", timeout: self.wait, as: String.self)
            if self.transport != .upgrade || seen == "websocket" { break }
        }
        try InteropMismatch.check(seen, is: self.transport.finalName, "transport")
        let arguments: [[SocketIOValue]] = [[], [1], [1, "two", ["three": 3]]]
        for values in arguments { socket.emit("echo", arguments: values) }
        try InteropMismatch.check(await inbox.take(arguments.count), is: arguments, "arguments")
        for number in 0..<300 { socket.emit("echo", number) }
        try InteropMismatch.check(await inbox.take(300), is: (0..<300).map { [.integer($0)] }, "order")
        try await self.barrier(socket)
        try InteropMismatch.check(inbox.count, is: self.texts.count + arguments.count + 300, "each once")
        socket.disconnect()
    }

    func binaryIsEchoed() async throws {
        let socket = self.manager().defaultSocket
        let inbox = InteropInbox(socket, "echo")
        try await socket.connect(timeout: self.wait)
        for value in self.binaries { socket.emit("echo", arguments: [value]) }
        try InteropMismatch.check(await inbox.take(self.binaries.count), is: self.binaries.map { [$0] }, "echoes")
        // Text events and events with attachments must arrive in order.
        let mixed = (0..<200).map(Self.numbered)
        for values in mixed { socket.emit("echo", arguments: values) }
        try InteropMismatch.check(await inbox.take(200), is: mixed, "order")
        try await self.barrier(socket)
        try InteropMismatch.check(inbox.count, is: self.binaries.count + 200, "each once")
        socket.disconnect()
    }

    /// Returns the arguments of event `number`: every fifth event has an attachment.
    private static func numbered(_ number: UInt8) -> [SocketIOValue] {
        let value = SocketIOValue.integer(Int64(number))
        return number % 5 == 0 ? [["n": value, "b": .binary([number])]] : [value]
    }

    func acksGoBothWays() async throws {
        let socket = self.manager().defaultSocket
        let questions = NIOLockedValueBox<[[SocketIOValue]]>([])
        socket.on("question") { data, ack in
            questions.withLockedValue { $0.append(data) }
            ack.with(["answer": .array(data), "bytes": .binary([9, 8])])
        }
        try await socket.connect(timeout: self.wait)
        let all = self.texts + self.binaries
        try InteropMismatch.check(try await socket.emitWithAck("ack", arguments: all, timeout: self.wait), is: all, "many values")
        try InteropMismatch.check(try await socket.emitWithAck("ack", arguments: [], timeout: self.wait), is: [], "no value")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let answer = try await socket.emitWithAck("ack", number, timeout: self.wait, as: Int.self)
                    try InteropMismatch.check(answer, is: number, "the ack of each event")
                }
            }
            try await group.waitForAll()
        }
        for question in self.binaries + [.string("why")] {
            let answer = try await socket.emitWithAck("emit-back", arguments: [question], timeout: self.wait)
            try InteropMismatch.check(answer, is: [["answer": [question], "bytes": .binary([9, 8])]], "the client's answer")
        }
        try InteropMismatch.check(questions.withLockedValue { $0 }, is: (self.binaries + ["why"]).map { [$0] }, "the questions")
        socket.disconnect()
    }

    func namespacesShareAConnection() async throws {
        let manager = self.manager()
        let root = manager.defaultSocket, custom = manager.socket(forNamespace: "/custom")
        let atRoot = InteropInbox(root, "echo"), atCustom = InteropInbox(custom, "echo")
        try await root.connect(timeout: self.wait)
        try await custom.connect(timeout: self.wait)
        try InteropMismatch.check(root.id != nil && root.id != custom.id, "ids \(root.id ?? "none") and \(custom.id ?? "none")")
        root.emit("echo", "root")
        custom.emit("echo", arguments: [["bytes": .binary([0])]])
        try InteropMismatch.check(await atRoot.take(1), is: [["root"]], "at the root")
        try InteropMismatch.check(await atCustom.take(1), is: [[["bytes": .binary([0])]]], "at /custom")
        // Each namespace must receive its own ack, although the ack IDs are equal.
        async let first = root.emitWithAck("ack", "root", timeout: self.wait, as: String.self)
        async let second = custom.emitWithAck("ack", "custom", timeout: self.wait, as: String.self)
        let answers = try await [first, second]
        try InteropMismatch.check(answers, is: ["root", "custom"], "acks")
        if !self.isPython4 {
            let unknown = await self.refusal(of: manager.socket(forNamespace: "/nowhere"))
            try InteropMismatch.check(unknown?.code, is: .connectRefused, "an unknown namespace")
        }
        custom.disconnect()
        try await self.barrier(root)
        try InteropMismatch.check([atRoot.count, atCustom.count], is: [1, 1], "each once")
        root.disconnect()
    }

    func aRefusalCarriesItsData() async throws {
        let manager = self.manager(auth: ["token": "wrong"])
        try await manager.defaultSocket.connect(timeout: self.wait)
        let refused = await self.refusal(of: manager.socket(forNamespace: "/private"))
        try InteropMismatch.check(refused?.code, is: .connectRefused, "refusal")
        try InteropMismatch.check(refused?.data, is: ["code": "unauthorized"], "the refusal's data")
        // Socket.IO 2.x sends the message or the data, not both.
        if self.version != 3 { try InteropMismatch.check(refused?.message, is: "unauthorized", "the refusal's message") }
        try await self.barrier(manager.defaultSocket)
        manager.disconnect()
        // A Socket.IO 2.x server does not pass `auth` to the application, so only the refusal is
        // checked.
        guard self.version != 3 else { return }
        let asked = NIOLockedValueBox(0)
        let allowed = self.manager(
            auth: .closure {
                asked.withLockedValue { $0 += 1 }
                return ["token": "secret"]
            })
        try await allowed.socket(forNamespace: "/private").connect(timeout: self.wait)
        try InteropMismatch.check(asked.withLockedValue { $0 }, is: 1, "the number of calls of the auth closure")
        allowed.disconnect()
    }

    private func refusal(of socket: SocketIOClient) async -> SocketIOError? {
        do {
            try await socket.connect(timeout: self.wait)
            return nil
        } catch {
            return error as? SocketIOError
        }
    }

    /// Waits until all packets that the server sent before the call have arrived.
    func barrier(_ socket: SocketIOClient) async throws {
        try InteropMismatch.check(
            try await socket.emitWithAck("ack", "barrier", timeout: self.wait, as: String.self), is: "barrier", "the ack after it")
    }
}
