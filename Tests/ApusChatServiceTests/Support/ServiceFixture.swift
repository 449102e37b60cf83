import ApusChatCore
import ApusChatProtocol
import ApusChatSQLite
import ApusChatService
import ApusChatStorage
import ApusJSON
import ApusSocketIOServer
import Dispatch
import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// A chat on a free loopback port, with accounts whose tokens are `NAME:DEVICE`.
final class ServiceFixture: Sendable {
    let service: ChatService
    let gateway: ChatGateway
    let url: String
    /// The milliseconds by which both clocks are ahead.
    private let advance = NIOLockedValueBox<Int64>(0)
    /// The milliseconds by which the wall clock alone is ahead.
    private let leap = NIOLockedValueBox<Int64>(0)
    private let isFrozen: Bool
    let sessions: FakeSessions
    private let folder = TemporaryFolder()
    private let running: Task<Void, any Error>

    /// - Parameters:
    ///   - users: The accounts, whose keys are 1, 2, 3 ….
    ///   - isFrozen: Whether the clocks advance only by `pass` and `leap`.
    init(
        users: [String] = ["alice", "bob", "carol"], isFrozen: Bool = false,
        configure: (inout ChatService.Configuration) -> Void = { _ in },
        storage: (inout SQLiteEnvironment) -> Void = { $0.syncsCommits = false }, prefill: (any MaintainedStorage) throws -> Void = { _ in }
    ) async throws {
        let (advance, leap) = (self.advance, self.leap)
        self.isFrozen = isFrozen
        let elapsed: @Sendable () -> Int64 = { (isFrozen ? 0 : Self.uptime) + advance.withLockedValue { $0 } }
        var configuration = ChatService.Configuration(
            environment: ChatLog.Environment(
                wall: { Self.start + elapsed() + leap.withLockedValue { $0 } }, monotonic: elapsed))
        configuration.rates = .off
        configure(&configuration)
        var environment = SQLiteEnvironment()
        storage(&environment)
        let chatFolder = try ChatFolder(self.folder.path)
        let writer = try SQLiteStorage(chatFolder, environment: environment)
        try Self.create(users, in: writer)
        try prefill(writer)
        let sessions = FakeSessions(users)
        self.sessions = sessions
        self.service = try ChatService(
            storage: .init(writer: writer) { try SQLiteReads(chatFolder) }, index: try SearchIndex(chatFolder),
            configuration: configuration, logger: Logger(label: "test"))
        let server = SocketIOServer()
        self.gateway = ChatGateway(self.service, sessions: sessions, on: server)
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        self.running = Task {
            try await server.run(host: "127.0.0.1", port: 0) { address in found.yield(address.port ?? 0) }
        }
        self.url = "http://127.0.0.1:\(await ports.first { _ in true } ?? 0)"
    }

    static func create(_ users: [String], in writer: any MaintainedStorage) throws {
        var changes = Changes()
        for (index, name) in users.enumerated() {
            let (key, own) = (UserKey(Int64(index) + 1), ConversationKey(Int64(index) + 1_000_000))
            changes.accounts.append(
                AccountRow(key: key, name: UserName(prepared: name), nickname: name.capitalized, selfConversation: own))
            var row = ConversationRow(key: own, kind: .own, createdAt: 0, settings: ConversationSettings())
            row.counters.memberCount = 1
            changes.conversations.append(ConversationChange(key: own, counters: row.counters, row: row, isNew: true))
            changes.members.append(MemberRow(address: MemberAddress(own, key), role: .owner, state: .joined))
        }
        _ = try writer.begin(Needs())
        _ = try writer.commit(changes)
    }

    /// Connects a device of a user and sends `hello`.
    func client(_ name: String, device: Int64 = 0) async throws -> ChatPeer {
        let peer = ChatPeer(url: self.url, token: "\(name):\(device)")
        try await peer.connect()
        _ = try await peer.ask(ChatVerbs.hello, HelloRequest(device: HelloDevice(name: "Test", platform: "test")))
        return peer
    }

    private static let start: Int64 = 1_790_000_000_000
    private static var uptime: Int64 { Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000) }

    /// The time of the service in milliseconds since 1970, without `leap`.
    var now: Int64 { Self.start + (self.isFrozen ? 0 : Self.uptime) + self.advance.withLockedValue { $0 } }

    /// Advances both clocks.
    func pass(milliseconds: Int64) { self.advance.withLockedValue { $0 += milliseconds } }

    /// Adds accounts to a conversation by writing their rows. Does nothing if there is no such
    /// conversation.
    func join(
        _ conversation: ConversationID, users: ClosedRange<Int64>, configure: @escaping @Sendable (inout MemberRow) -> Void = { _ in }
    ) async throws {
        try await self.service.log.withStorage { storage in
            let key = ConversationKey(conversation.number)
            var needs = Needs()
            needs.conversations = [key]
            guard let row = try storage.begin(needs).conversations[key] else { return storage.abandon() }
            var changes = Changes()
            var counters = row.counters
            for user in users {
                var member = MemberRow(address: MemberAddress(key, UserKey(user)), role: .member, state: .joined)
                (member.floorN, member.readN) = (counters.lastN, counters.lastN)
                configure(&member)
                changes.members.append(member)
            }
            counters.memberCount += users.count
            counters.membersVersion += 1
            changes.conversations = [ConversationChange(key: key, counters: counters)]
            _ = try storage.commit(changes)
        }
    }

    /// Sets the difference by which the wall clock is ahead of the monotonic clock.
    func leap(milliseconds: Int64) { self.leap.withLockedValue { $0 = milliseconds } }

    func close() async throws {
        self.running.cancel()
        try await self.running.value
        await self.service.close()
    }
}

/// Runs `body` with a chat, and closes the chat afterwards.
func withService(
    users: [String] = ["alice", "bob", "carol"], isFrozen: Bool = false,
    configure: (inout ChatService.Configuration) -> Void = { _ in },
    storage: (inout SQLiteEnvironment) -> Void = { $0.syncsCommits = false }, prefill: (any MaintainedStorage) throws -> Void = { _ in },
    _ body: (ServiceFixture) async throws -> Void
) async throws {
    let fixture = try await ServiceFixture(users: users, isFrozen: isFrozen, configure: configure, storage: storage, prefill: prefill)
    do {
        try await body(fixture)
    } catch {
        try await fixture.close()
        throw error
    }
    try await fixture.close()
}

/// Sessions whose tokens are `NAME:DEVICE`.
struct FakeSessions: ChatSessions {
    private let users: [String: UserKey]
    let ended = NIOLockedValueBox<Set<String>>([])

    init(_ users: [String]) {
        self.users = Dictionary(uniqueKeysWithValues: users.enumerated().map { ($1, UserKey(Int64($0) + 1)) })
    }

    func requester(of handshake: SocketIOHandshake) async throws(ChatError) -> Requester {
        let token = handshake.auth["token"]?.stringValue ?? ""
        let parts = token.split(separator: ":")
        guard parts.count == 2, let user = self.users[String(parts[0])], let device = Int64(parts[1]),
            !self.ended.withLockedValue({ $0.contains(token) })
        else { throw ChatError(.unauthorized, message: "The session has ended.") }
        return Requester(user: user, device: DeviceKey(user.rawValue * 100 + device), origin: [.address(UInt64(user.rawValue))])
    }

    func setPush(_ request: PushSetRequest, of requester: Requester) async throws(ChatError) {
        throw ChatError(.unsupported, message: "The server sends no pushes.")
    }

    func devices(of requester: Requester) async throws(ChatError) -> DevicesAnswer { DevicesAnswer(devices: []) }

    func removeDevice(_ request: DeviceRemoveRequest, of requester: Requester) async throws(ChatError) -> ChangeAnswer {
        throw ChatError(.notFound, message: "There is no such device.", field: "device")
    }
}
