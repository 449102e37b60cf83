import ApusJSON
import ApusSocketIOProtocol
import Testing

/// The state of a namespace before a packet.
enum SocketIOMembersState: CaseIterable {
    case unknown, requested, admitting, left, joined, disconnected
}

private typealias Members = SocketIOMembers<Int>

extension Members {
    fileprivate mutating func connect(_ namespace: String) throws -> String {
        Self.text(try self.received(SocketIOPacket(namespace: namespace, content: .connect(nil))))
    }

    fileprivate mutating func join(_ namespace: String) throws {
        #expect(try self.connect(namespace) == "admit \(namespace) {}")
        #expect(self.join(7, in: namespace) == true)
    }

    fileprivate init(_ before: SocketIOMembersState, in namespace: String) throws {
        self.init(version: .v5, maximum: 10)
        switch before {
        case .unknown: break
        case .requested: _ = try self.connect(namespace)
        case .admitting:
            _ = try self.connect(namespace)
            self.admitting(7, in: namespace)
        case .left:
            _ = try self.connect(namespace)
            _ = try self.received(SocketIOPacket(namespace: namespace, content: .disconnect))
        case .joined: try self.join(namespace)
        case .disconnected:
            try self.join(namespace)
            #expect(self.disconnect(from: namespace) == true)
        }
    }

    fileprivate static func text(_ action: ReceivedAction) -> String {
        switch action {
        case .event(let member, let name, let arguments, let ackID): "event \(member) \(name) \(arguments) \(ackID ?? -1)"
        case .ack(let member, let id, let arguments): "ack \(member) \(id) \(arguments)"
        case .admit(let namespace, let auth): "admit \(namespace) \(auth)"
        case .refuse(let namespace): "refuse \(namespace)"
        case .leave(let member): "leave \(member)"
        case .abandon(let member): "abandon \(member.map { String($0) } ?? "nil")"
        case .ignore: "ignore"
        }
    }
}

private let connect = SocketIOPacket.Content.connect(["token": "t"])
private let event = SocketIOPacket.Content.event(name: "e", arguments: [1], ackID: 2)
private let ack = SocketIOPacket.Content.ack(id: 3, arguments: [4])

/// Each state with each packet of a client, and the name of the action or of the error.
private let table: [(before: SocketIOMembersState, content: SocketIOPacket.Content, outcome: String)] = [
    (.unknown, connect, "admit /a {\"token\":\"t\"}"),
    (.unknown, .disconnect, "ignore"),
    (.unknown, event, "an event for /a, which it has not joined"),
    (.unknown, ack, "ignore"),
    (.unknown, .connectError("no"), "CONNECT_ERROR"),
    (.requested, connect, "a second CONNECT for /a"),
    (.requested, .disconnect, "abandon nil"),
    (.requested, event, "a packet for /a before its CONNECT was answered"),
    (.requested, ack, "a packet for /a before its CONNECT was answered"),
    (.requested, .connectError("no"), "CONNECT_ERROR"),
    (.admitting, connect, "a second CONNECT for /a"),
    (.admitting, .disconnect, "abandon 7"),
    (.admitting, event, "a packet for /a before its CONNECT was answered"),
    (.admitting, ack, "a packet for /a before its CONNECT was answered"),
    (.admitting, .connectError("no"), "CONNECT_ERROR"),
    (.left, connect, "a second CONNECT for /a"),
    (.left, .disconnect, "ignore"),
    (.left, event, "a packet for /a before its CONNECT was answered"),
    (.left, ack, "ignore"),
    (.left, .connectError("no"), "CONNECT_ERROR"),
    (.joined, connect, "a second CONNECT for /a"),
    (.joined, .disconnect, "leave 7"),
    (.joined, event, "event 7 e [1] 2"),
    (.joined, ack, "ack 7 3 [4]"),
    (.joined, .connectError("no"), "CONNECT_ERROR"),
    (.disconnected, connect, "admit /a {\"token\":\"t\"}"),
    (.disconnected, .disconnect, "ignore"),
    (.disconnected, event, "ignore"),
    (.disconnected, ack, "ignore"),
    (.disconnected, .connectError("no"), "CONNECT_ERROR"),
]

@Suite struct SocketIOMembersTests {
    @Test func theTableIsComplete() { #expect(table.count == SocketIOMembersState.allCases.count * 5) }

    /// `/` is stored apart from the other namespaces.
    @Test(arguments: ["/a", "/"]) func eachPacketHasOneMeaning(namespace: String) throws {
        for (before, content, expected) in table {
            var members = try Members(before, in: namespace)
            var outcome: String
            do throws(SocketIOError) {
                outcome = Members.text(try members.received(SocketIOPacket(namespace: namespace, content: content)))
            } catch {
                #expect(error.code == .malformedPacket)
                outcome = error.message.replacing("the client sent ", with: "").replacing(", which only a server may send", with: "")
            }
            outcome.replace(" \(namespace)", with: " /a")
            #expect(outcome == expected, "\(before), \(content)")
        }
    }

    /// Attachments occupy memory, so only members and clients that were disconnected may send them.
    @Test(arguments: SocketIOMembersState.allCases) func attachmentsAreForMembers(before: SocketIOMembersState) throws {
        let members = try Members(before, in: "/a")
        switch before {
        case .joined, .disconnected: try members.checkPartialPacket(in: "/a")
        case .unknown, .requested, .admitting, .left:
            let error = #expect(throws: SocketIOError.self) { try members.checkPartialPacket(in: "/a") }
            #expect(error?.code == .malformedPacket)
        }
    }

    @Test(arguments: SocketIOMembersState.allCases) func onlyAnAwaitedAdmissionEndsInAMember(before: SocketIOMembersState) throws {
        var members = try Members(before, in: "/a")
        let isAwaited = before == .requested || before == .admitting
        #expect(members.isRequested("/a") == isAwaited)
        #expect(members.isEmpty == (before == .unknown || before == .disconnected))
        #expect(members.joined(in: "/a") == (before == .joined ? 7 : nil))
        #expect(members.join(8, in: "/a") == isAwaited)
        #expect(members.joined(in: "/a") == (isAwaited ? 8 : before == .joined ? 7 : nil))
        #expect(members.isEmpty == !(isAwaited || before == .joined))
    }

    @Test(arguments: SocketIOMembersState.allCases) func anAdmissionMayEndWithoutAMember(before: SocketIOMembersState) throws {
        var members = try Members(before, in: "/a")
        #expect(members.endAdmission(in: "/a") == (before == .requested || before == .admitting))
        #expect(members.isEmpty == (before != .joined))
        #expect(members.joined == (before == .joined ? [7] : []))
    }

    @Test func aMemberIsRecordedOnlyForAnAwaitedAdmission() throws {
        var members = try Members(.left, in: "/a")
        members.admitting(7, in: "/a")
        members.admitting(7, in: "/b")
        for namespace in ["/a", "/b"] { #expect(members.join(7, in: namespace) == false) }
    }

    /// Namespaces from which the server disconnected the client do not count, and have a limit of
    /// their own.
    @Test func theNamespacesOfAClientAreLimited() throws {
        var members = Members(version: .v5, maximum: 2)
        for namespace in ["/a", "/b"] {
            try members.join(namespace)
            #expect(members.disconnect(from: namespace) == true)
            #expect(members.disconnect(from: namespace) == false)
        }
        try members.join("/")
        #expect(try members.connect("/c") == "admit /c {}")
        #expect(try members.connect("/d") == "refuse /d")
        #expect(try members.connect("/a") == "refuse /a")
        members.endAdmission(in: "/c")
        try members.join("/a")
        #expect(members.joined.count == 2)
        // `/b` is the oldest of the namespaces that are remembered, so it is forgotten.
        for namespace in ["/", "/a"] { #expect(members.disconnect(from: namespace) == true) }
        #expect(throws: SocketIOError.self) { try members.received(SocketIOPacket(namespace: "/b", content: event)) }
        #expect(Members.text(try members.received(SocketIOPacket(namespace: "/a", content: event))) == "ignore")
    }

    /// In version 4, the server connects a client to `/`, and the auth is the query of the
    /// namespace.
    @Test func aClientOfVersion4HasRequestedTheRoot() throws {
        var members = Members(version: .v4, maximum: 2)
        #expect(members.isRequested("/"))
        #expect(members.join(7, in: "/") == true)
        #expect(try members.connect("/a?b=1") == "admit /a {\"b\":\"1\"}")
        #expect(throws: SocketIOError.self) { try members.connect("/a?b=2") }
    }

    @Test func theEndRemovesAllStates() throws {
        var members = try Members(.left, in: "/left")
        try members.join("/")
        _ = try members.connect("/requested")
        _ = try members.connect("/admitting")
        members.admitting(8, in: "/admitting")
        let states = members.removeAll().map { state in
            switch state {
            case .requested: "requested"
            case .admitting(let member): "admitting \(member)"
            case .left: "left"
            case .joined(let member): "joined \(member)"
            }
        }
        #expect(states.sorted() == ["admitting 8", "joined 7", "left", "requested"])
        #expect(members.isEmpty && members.joined.isEmpty)
        #expect(members.join(8, in: "/admitting") == false)
    }
}
