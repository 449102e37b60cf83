import ApusChatCore
import ApusChatProtocol
import ApusChatSQLite
import ApusChatService
import ApusChatStorage
import ApusJSON
import ApusPasswords
import ApusSocketIOServer
import Foundation
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore

@testable import ApusChatHTTP

/// A complete chat server on a free loopback port. Accounts, uploads and the log are in one folder.
final class LiveServer: Sendable {
    let service: ChatService
    let accounts: Accounts
    let port: Int
    private let gateway: ChatGateway
    private let files: BlobFiles
    private let io = SocketIOServer(logger: .silent)
    private let running: Task<Void, any Error>

    /// - Parameter folder: The folder of the data, which another server can open afterwards.
    init(_ folder: ChatFolder, clock: LiveClock) async throws {
        var environment = SQLiteEnvironment()
        environment.syncsCommits = false
        let writer = try SQLiteStorage(folder, environment: environment)
        var configuration = ChatService.Configuration(
            environment: ChatLog.Environment(wall: { clock.now }, monotonic: { clock.now }))
        configuration.rates = .off
        self.service = try ChatService(
            storage: .init(writer: writer) { try SQLiteReads(folder) }, index: try SearchIndex(folder), configuration: configuration,
            logger: .silent)
        var settings = AccountsConfiguration()
        settings.passwordCost = ScryptHash.Cost(logRounds: 1)
        settings.hasLimits = false
        self.accounts = try Accounts(
            database: LogDatabase(log: self.service.log), folder: folder.path, configuration: settings,
            clock: AccountsClock(now: { clock.now }, elapsed: { clock.now }))
        self.files = try BlobFiles(folder: folder.path)
        let gateway = ChatGateway(self.service, sessions: LiveSessions(accounts: self.accounts), on: self.io)
        self.gateway = gateway
        self.accounts.onEnd { devices in gateway.end(Set(devices.map(\.rawValue))) }
        let routes = ChatRoutes(
            accounts: self.accounts, chat: LiveRequests(service: self.service), files: self.files,
            uploads: try Uploads(folder: folder.path, accounts: self.accounts, files: self.files),
            server: ServerAnswer(name: "Apus", version: "1", registration: .open, limits: HelloLimits()))
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: routes.router(), server: .http1(configuration: .init(additionalChannelHandlers: self.io.channelHandlers())),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in found.yield(channel.localAddress?.port ?? 0) }, logger: .silent)
        self.running = Task { try await application.run() }
        self.port = await ports.first { _ in true } ?? 0
    }

    /// Writes the rows of accounts `m1`, `m2` …, and adds them to a conversation.
    func addMembers(_ count: Int, to conversation: ConversationID) async throws {
        try await self.service.log.withStorage { storage in
            let key = ConversationKey(conversation.number)
            var needs = Needs()
            needs.conversations = [key]
            guard var counters = try storage.begin(needs).conversations[key]?.counters else { return storage.abandon() }
            var changes = Changes()
            for number in 1...count {
                let user = UserKey(1_000_000 + Int64(number))
                changes.accounts.append(
                    AccountRow(
                        key: user, name: UserName(prepared: "m\(number)"), nickname: "",
                        selfConversation: ConversationKey(2_000_000 + Int64(number))))
                changes.members.append(MemberRow(address: MemberAddress(key, user), role: .member, state: .joined))
            }
            counters.memberCount += count
            counters.membersVersion += 1
            changes.conversations = [ConversationChange(key: key, counters: counters)]
            _ = try storage.commit(changes)
        }
    }

    /// Stops the server: announces the shutdown to the clients and closes the connections.
    func close() async {
        self.gateway.announceShutdown()
        await self.io.shutdown()
        self.running.cancel()
        _ = await self.running.result
        await self.service.close()
        self.accounts.close()
        self.files.close()
    }
}

/// The clock of a server, which a test can advance.
final class LiveClock: Sendable {
    private let advance = NIOLockedValueBox<Int64>(0)

    var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) + self.advance.withLockedValue { $0 } }

    func pass(milliseconds: Int64) { self.advance.withLockedValue { $0 += milliseconds } }
}

/// The account rows in the storage of a log, accessed between its batches.
struct LogDatabase: AccountDatabase {
    let log: ChatLog

    func read<Value: Sendable>(_ body: @escaping @Sendable (any AccountReads) throws -> Value) async throws -> Value {
        try await self.log.withStorage { try body($0) }
    }

    func write<Value: Sendable>(_ body: @escaping @Sendable (any AccountStorage) throws -> Value) async throws -> Value {
        try await self.log.withStorage { try body($0) }
    }
}

/// Verifies access tokens with `Accounts`.
struct LiveSessions: ChatSessions {
    let accounts: Accounts

    func requester(of handshake: SocketIOHandshake) async throws(ChatError) -> Requester {
        let token = handshake.auth["token"]?.stringValue ?? ""
        let session = try await Self.answer { try await self.accounts.session(access: token) }
        return Requester(user: session.user, device: session.device)
    }

    func devices(of requester: Requester) async throws(ChatError) -> DevicesAnswer {
        try await Self.answer { try await self.accounts.devices(of: requester.session) }
    }

    func setPush(_ request: PushSetRequest, of requester: Requester) async throws(ChatError) {
        try await Self.answer { try await self.accounts.setPush(request, of: requester.session) }
    }

    func removeDevice(_ request: DeviceRemoveRequest, of requester: Requester) async throws(ChatError) -> ChangeAnswer {
        try await Self.answer { try await self.accounts.endDevices(request, of: requester.session) }
    }

    private static func answer<Value>(_ body: () async throws -> Value) async throws(ChatError) -> Value {
        do { return try await body() } catch {
            throw error as? ChatError ?? ChatError(.internal, message: "\(error)")
        }
    }
}

/// The requests that arrive over HTTP.
struct LiveRequests: ChatRequests {
    let service: ChatService

    func answer(
        _ verb: String, _ request: JSONValue, of session: AccountSession, from client: ClientOrigin
    ) async throws(ChatError) -> JSONValue {
        try await self.service.answer(verb, request, of: Requester(user: session.user, device: session.device))
    }

    func read(_ verb: String, _ request: JSONValue, of session: AccountSession) async throws(ChatError) -> JSONValue {
        try await self.service.read(verb, request, of: session.user)
    }

    func writeFailure() async -> String? { nil }
}

extension Requester {
    var session: AccountSession { AccountSession(user: self.user, device: self.device, expiresAt: .max) }
}

extension Logger {
    static let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
}
