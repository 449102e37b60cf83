import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOServer
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@testable import ApusChatService

/// The hub on an event loop whose time the test advances. Its connections share one socket.
@Suite(.timeLimit(.minutes(5)))
struct HubTests {
    /// A hub with the rows of a `ViewWorld`, and the pushes that its connections received.
    private final class HubWorld {
        let world: ViewWorld
        let loop = EmbeddedEventLoop()
        let hub: Hub
        private let socket: SocketIOServerSocket
        private let received = NIOLockedValueBox<[SocketKey: [(name: String, value: JSONValue)]]>([:])

        init(_ world: ViewWorld, _ socket: SocketIOServerSocket) {
            self.world = world
            self.socket = socket
            let calls = CallTimers(on: self.loop, CallWatch(ringTime: .seconds(60), absenceTime: .seconds(60)))
            self.hub = Hub(
                on: self.loop, reads: world.storage, names: world.names, presence: world.presence, received: world.received,
                environment: ChatLog.Environment(wall: { 1_790_000_000_000 }, monotonic: { 0 }), calls: calls, rooms: nil,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, random: { $0.lowerBound }
            ) { frame, connections in
                for connection in connections { connection.receive?(frame) }
            }
        }

        /// Connects a device of a user. The key of the connection is the number of the device.
        func connect(
            _ user: Int64, device: Int64, omitting omitted: Set<PushFeature> = [], isGreeted: Bool = true
        ) throws {
            let (key, received) = (SocketKey(device), self.received)
            let connection = ChatConnection(
                key: key, requester: self.requester(user, device: device), socket: self.socket,
                receive: { frame in received.withLockedValue { $0[key, default: []].append((frame.event, frame.value)) } })
            try self.hub.connect(connection, omitting: omitted)
            if isGreeted { self.hub.greeted(key) }
        }

        func requester(_ user: Int64, device: Int64) -> Requester { Requester(user: UserKey(user), device: DeviceKey(device)) }

        /// Returns the pushes of a kind that a device received since the last call.
        func take<Payload>(_ push: ChatPush<Payload>, at device: Int64) throws -> [Payload] {
            let all = self.received.withLockedValue { received in
                let all = received[SocketKey(device)] ?? []
                received[SocketKey(device)]?.removeAll { $0.name == push.name }
                return all
            }
            return try all.filter { $0.name == push.name }.map { try Payload(json: $0.value) }
        }

        func commit(_ pushes: [Push] = [], calls: [CallChange] = [], changes: Changes = Changes()) {
            self.hub.committed(DecidedBatch(changes: changes, pushes: pushes, hidden: [], calls: calls), SocketIODeliveries())
        }
    }

    /// Runs `body` with a hub whose connections share a socket of a server on a loopback port.
    private func withHub(_ prepare: (ViewWorld) throws -> Void, _ body: (HubWorld) throws -> Void) async throws {
        let server = SocketIOServer()
        let (sockets, found) = AsyncStream.makeStream(of: SocketIOServerSocket.self)
        server.namespace("/").onConnection { found.yield($0) }
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await server.run(host: "127.0.0.1", port: 0) { port.yield($0.port ?? 0) } }
        let url = "http://127.0.0.1:\(await ports.first { _ in true } ?? 0)"
        let manager = SocketIOManager(url: url, configuration: SocketIOManagerConfiguration(reconnection: .none))
        let client = manager.socket(forNamespace: "/")
        try await client.connect(timeout: .seconds(60))
        let socket = try #require(await sockets.first { _ in true })
        let result = Result { try Self.run(prepare, body, socket) }
        manager.disconnect()
        running.cancel()
        try await running.value
        try result.get()
    }

    /// Runs `body` without suspension, because an `EmbeddedEventLoop` must stay on one thread.
    private static func run(
        _ prepare: (ViewWorld) throws -> Void, _ body: (HubWorld) throws -> Void, _ socket: SocketIOServerSocket
    ) throws {
        let world = try ViewWorld()
        try prepare(world)
        let hub = HubWorld(world, socket)
        try body(hub)
        hub.hub.calls.close()
    }

    private static let group = ConversationID(number: 7)

    private static func makeGroup(_ world: ViewWorld) throws { try world.conversation(7, members: [1, 2, 3]) }

    // MARK: Typing

    @Test func typingReachesTheOtherMembersWhoTakeIt() async throws {
        try await self.withHub(Self.makeGroup) { hub in
            try hub.connect(1, device: 10)
            try hub.connect(1, device: 11)
            try hub.connect(2, device: 20)
            try hub.connect(2, device: 21, omitting: [.typing])
            try hub.connect(3, device: 30, isGreeted: false)
            try hub.connect(4, device: 40)
            try hub.hub.type(TypingRequest(conversation: Self.group), by: hub.requester(1, device: 10))
            try hub.hub.type(TypingRequest(conversation: Self.group, isStopped: true), by: hub.requester(1, device: 10))
            let pushes = [false, true].map { TypingPush(conversation: Self.group, user: UserName(prepared: "alice"), isStopped: $0) }
            #expect(try hub.take(ChatPushes.typing, at: 20) == pushes)
            for (device, reason) in [(10, "the writer"), (11, "its other device"), (21, "without the feature"), (40, "a stranger")] {
                #expect(try hub.take(ChatPushes.typing, at: Int64(device)).isEmpty, "\(reason)")
            }
            #expect(try hub.take(ChatPushes.typing, at: 30).isEmpty, "before the answer to hello")
            hub.hub.greeted(SocketKey(30))
            #expect(try hub.take(ChatPushes.typing, at: 30) == pushes)
            hub.hub.disconnect(SocketKey(20))
            try hub.hub.type(TypingRequest(conversation: Self.group), by: hub.requester(1, device: 10))
            #expect(try hub.take(ChatPushes.typing, at: 20).isEmpty && hub.take(ChatPushes.typing, at: 30).count == 1)
        }
    }

    @Test func aStrangerAndAUserWhoHidesItTypeUnseen() async throws {
        try await self.withHub { world in
            try Self.makeGroup(world)
            try world.account(2) { $0.privacy.typing = false }
        } _: { hub in
            for user in 1...4 as ClosedRange<Int64> { try hub.connect(user, device: 10 * user) }
            try hub.hub.type(TypingRequest(conversation: Self.group), by: hub.requester(4, device: 40))
            try hub.hub.type(TypingRequest(conversation: Self.group), by: hub.requester(2, device: 20))
            for device in [10, 20, 30] as [Int64] { #expect(try hub.take(ChatPushes.typing, at: device).isEmpty) }
            // The hub applies a changed setting with the batch that changes it.
            try hub.world.account(2) { $0.privacy.typing = true }
            var changes = Changes()
            changes.accounts = hub.world.storage.accounts([UserKey(2)])
            hub.commit(changes: changes)
            try hub.hub.type(TypingRequest(conversation: Self.group), by: hub.requester(2, device: 20))
            #expect(try hub.take(ChatPushes.typing, at: 10).map(\.user.rawValue) == ["bob"])
        }
    }

    @Test func aUserWhoBlocksTheOtherOfAPairSeesNoTyping() async throws {
        try await self.withHub { world in
            try world.conversation(7, .pair, members: [1, 2]) { _ in
            } member: { member in
                if member.address.user == UserKey(2) { member.blockSeq = 5 }
            }
        } _: { hub in
            try hub.connect(1, device: 10)
            try hub.connect(2, device: 20)
            try hub.hub.type(TypingRequest(conversation: Self.group), by: hub.requester(1, device: 10))
            #expect(try hub.take(ChatPushes.typing, at: 20).isEmpty)
            try hub.hub.type(TypingRequest(conversation: Self.group), by: hub.requester(2, device: 20))
            #expect(try hub.take(ChatPushes.typing, at: 10).count == 1)
        }
    }

    // MARK: Profiles

    @Test func aProfileIsReportedOnceToThoseWhoMaySeeIt() async throws {
        try await self.withHub { world in
            try Self.makeGroup(world)
            for (owner, peer) in [(1, 2), (2, 1)] as [(Int64, Int64)] { try world.contact(owner, peer) }
            try world.account(1) { row in
                row.statusText = "rowing"
                row.privacy.lastSeen = .contacts
            }
        } _: { hub in
            for user in 1...4 as ClosedRange<Int64> { try hub.connect(user, device: 10 * user) }
            for _ in 0..<3 { hub.commit([.profile(UserKey(1))]) }
            #expect(try hub.take(ChatPushes.user, at: 20).isEmpty, "changes are collected")
            hub.loop.advanceTime(by: .milliseconds(ProfileDigest.interval))
            let bob = try hub.take(ChatPushes.user, at: 20).flatMap(\.users)
            #expect(bob.map(\.name.rawValue) == ["alice"] && bob.first?.online == true)
            let carol = try hub.take(ChatPushes.user, at: 30).flatMap(\.users)
            #expect(carol.map(\.status) == ["rowing"] && carol.first?.online == nil, "no contact")
            #expect(try hub.take(ChatPushes.user, at: 40).isEmpty, "a stranger")
            hub.loop.advanceTime(by: .seconds(60))
            #expect(try hub.take(ChatPushes.user, at: 20).isEmpty && hub.take(ChatPushes.user, at: 30).isEmpty)
        }
    }

    @Test func manyProfilesAreReportedInTurns() async throws {
        let users = (1...9).map { "user\($0)" }
        try await self.withHub { world in
            // The users 5 to 13 share a group with Alice.
            for (index, name) in users.enumerated() {
                let key = Int64(index) + 5
                world.storage.addAccount(
                    AccountRow(
                        key: UserKey(key), name: UserName(prepared: name), nickname: name,
                        selfConversation: ConversationKey(1_000_000 + key)),
                    at: 0)
            }
            try world.conversation(7, members: [1] + (5...13))
        } _: { hub in
            try hub.connect(1, device: 10)
            hub.commit((5...13).map { .profile(UserKey($0)) })
            var turns: [[String]] = []
            for _ in 0..<4 {
                hub.loop.advanceTime(by: .milliseconds(ProfileDigest.interval))
                turns.append(try hub.take(ChatPushes.user, at: 10).flatMap { $0.users.map(\.name.rawValue) })
            }
            #expect(turns.map(\.count) == [4, 4, 1, 0] && turns.flatMap { $0 } == users)
        }
    }

    // MARK: Signals

    /// Commits a call in the group that Alice's device 10 started and Bob's device 20 accepted.
    private static func call(_ hub: HubWorld) {
        let call = EventAddress(ConversationKey(7), 3)
        hub.commit(calls: [
            CallChange(call: call, .state(.ringing, joined: CallChange.Party(UserKey(1), DeviceKey(10))), isGroup: true),
            CallChange(call: call, .state(.accepted, joined: CallChange.Party(UserKey(2), DeviceKey(20))), isGroup: true),
        ])
    }

    private static func calling(_ world: ViewWorld) throws {
        try world.conversation(7, members: [1, 2, 3], row: { $0.counters.callSeq = 3 })
    }

    private func signal(
        _ hub: HubWorld, from user: Int64, device: Int64, to recipient: String? = nil, at other: Int64? = nil, call: Int64 = 3
    ) throws {
        let request = SignalRequest(
            conversation: Self.group, call: call, recipient: recipient.map { UserName(prepared: $0) },
            device: other.map { DeviceID(number: $0) }, data: ["type": "offer"])
        try hub.hub.signal(request, by: hub.requester(user, device: device))
    }

    @Test func aSignalReachesTheDevicesOfTheCallOrTheNamedOne() async throws {
        try await self.withHub(Self.calling) { hub in
            for (user, devices) in [(1, [10, 11]), (2, [20, 21]), (3, [30])] as [(Int64, [Int64])] {
                for device in devices { try hub.connect(user, device: device) }
            }
            Self.call(hub)
            func reached() throws -> [Int64] {
                try [10, 11, 20, 21, 30].filter { try !hub.take(ChatPushes.signal, at: $0).isEmpty }
            }
            try self.signal(hub, from: 1, device: 10)
            let push = try #require(try hub.take(ChatPushes.signal, at: 20).first)
            #expect(push.sender.rawValue == "alice" && push.device == DeviceID(number: 10) && push.call == 3)
            #expect(try reached() == [], "no other device")
            // A device that sends a signal takes part in the call.
            try self.signal(hub, from: 3, device: 30)
            #expect(try reached() == [10, 20])
            try self.signal(hub, from: 1, device: 10)
            #expect(try reached() == [20, 30])
            try self.signal(hub, from: 3, device: 30, to: "bob")
            #expect(try reached() == [20, 21])
            try self.signal(hub, from: 3, device: 30, to: "bob", at: 21)
            #expect(try reached() == [21])
            try self.signal(hub, from: 3, device: 30, to: "bob", at: 11)
            #expect(try reached() == [], "a device of another user")
        }
    }

    @Test func aSignalOfAnotherCallOrToAStrangerIsRefused() async throws {
        try await self.withHub { world in
            try Self.calling(world)
            try world.conversation(8, members: [1, 4])
        } _: { hub in
            for user in 1...4 as ClosedRange<Int64> { try hub.connect(user, device: 10 * user) }
            Self.call(hub)
            func isRefused(_ body: () throws -> Void) -> Bool {
                do { try body() } catch { return (error as? ChatError)?.code == .notFound }
                return false
            }
            #expect(isRefused { try self.signal(hub, from: 1, device: 10, to: "bob", call: 2) }, "no such call")
            #expect(isRefused { try self.signal(hub, from: 4, device: 40, to: "bob") }, "a stranger sends")
            #expect(isRefused { try self.signal(hub, from: 1, device: 10, to: "dave") }, "to a stranger")
            #expect(isRefused { try self.signal(hub, from: 1, device: 10, to: "nobody") }, "to no user")
            for user in 1...4 as ClosedRange<Int64> { #expect(try hub.take(ChatPushes.signal, at: 10 * user).isEmpty) }
        }
    }

    @Test func aBlockedUserOfAPairSendsNoSignal() async throws {
        try await self.withHub { world in
            try world.conversation(7, .pair, members: [1, 2], row: { $0.counters.callSeq = 3 }) { member in
                if member.address.user == UserKey(2) { member.blockSeq = 5 }
            }
        } _: { hub in
            try hub.connect(1, device: 10)
            try hub.connect(2, device: 20)
            Self.call(hub)
            #expect(throws: ChatError.self) { try self.signal(hub, from: 1, device: 10, to: "bob") }
            #expect(try hub.take(ChatPushes.signal, at: 20).isEmpty)
        }
    }

    /// After a failure of the disk, a call can be in the log that no batch has announced.
    @Test func aCallThatWasNotAnnouncedIsWatchedAfterARecovery() async throws {
        try await self.withHub(Self.calling) { hub in
            let reports = NIOLockedValueBox<[String]>([])
            hub.hub.calls.report = { call, state, _ in reports.withLockedValue { $0.append("\(call.seq) \(state.rawValue)") } }
            hub.loop.advanceTime(by: .seconds(60))
            #expect(reports.withLockedValue { $0 } == [], "it is not known")
            hub.hub.restart()
            hub.loop.advanceTime(by: .seconds(59))
            #expect(reports.withLockedValue { $0 } == [])
            hub.loop.advanceTime(by: .seconds(1))
            #expect(reports.withLockedValue { $0 } == ["3 missed"])
        }
    }

    // MARK: Connections

    @Test func anAccountHasAMaximumOfConnections() async throws {
        try await self.withHub(Self.makeGroup) { hub in
            for device in 0..<Int64(Hub.connectionsPerAccount) { try hub.connect(1, device: 100 + device) }
            #expect { try hub.connect(1, device: 1) } throws: { ($0 as? ChatError)?.code == .tooMany }
            try hub.connect(2, device: 2)
            hub.hub.disconnect(SocketKey(100))
            try hub.connect(1, device: 1)
        }
    }
}
