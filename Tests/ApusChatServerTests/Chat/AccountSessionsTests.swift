import ApusChatHTTP
import ApusChatProtocol
import ApusChatService
import ApusChatStorage
import ApusConnectivity
import ApusEventLoop
import ApusJSON
import ApusPasswords
import ApusSocketIOClient
import ApusSocketIOServer
import ApusWebSocket
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ApusChatServer

/// The sessions of the accounts, as the gateway of the chat uses them.
@Suite(.timeLimit(.minutes(5)))
struct AccountSessionsTests {
    /// A database in memory whose operations throw an I/O error while `isFailing` is set.
    private final class Database: AccountDatabase, @unchecked Sendable {  // the lock guards the storage
        private let storage = MemoryStorage()
        private let lock = NIOLock()
        let isFailing = NIOLockedValueBox(false)

        private func run<Value>(_ body: (MemoryStorage) throws -> Value) throws -> Value {
            if self.isFailing.withLockedValue({ $0 }) { throw StorageError(.io, message: "the disk failed") }
            return try self.lock.withLock { try body(self.storage) }
        }

        func read<Value: Sendable>(_ body: @escaping @Sendable (any AccountReads) throws -> Value) async throws -> Value {
            try self.run { try body($0) }
        }

        func write<Value: Sendable>(_ body: @escaping @Sendable (any AccountStorage) throws -> Value) async throws -> Value {
            try self.run { try body($0) }
        }
    }

    /// Accounts with a database in memory and a temporary folder.
    private final class World {
        let database = Database()
        let time = NIOLockedValueBox<Int64>(1_790_000_000_000)
        let accounts: Accounts
        private let folder: String

        init() throws {
            self.folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-sessions-" + UUID().uuidString).path
            try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
            var configuration = AccountsConfiguration()
            configuration.passwordCost = ScryptHash.Cost(logRounds: 1)
            let time = self.time
            let now: @Sendable () -> Int64 = { time.withLockedValue { $0 } }
            self.accounts = try Accounts(
                database: self.database, folder: self.folder, configuration: configuration,
                clock: AccountsClock(now: now, elapsed: now, isTrusted: { true }))
        }

        deinit {
            self.accounts.close()
            try? FileManager.default.removeItem(atPath: self.folder)
        }

        func register(_ name: String) async throws -> SessionAnswer {
            try await self.accounts.register(
                RegisterRequest(
                    name: UserName(prepared: name), password: "correct horse", device: HelloDevice(name: "Test", platform: "test")),
                from: ClientOrigin(IPAddress("192.0.2.1")))
        }

        func sessions(proxies: [String] = []) throws -> AccountSessions {
            AccountSessions(accounts: self.accounts, proxies: try TrustedProxies(networks: proxies))
        }
    }

    /// Connects a client over loopback and returns its handshake.
    private func handshake(_ token: String?, headers: HTTPFields = [:]) async throws -> SocketIOHandshake {
        let server = SocketIOServer()
        let (handshakes, found) = AsyncStream.makeStream(of: SocketIOHandshake.self)
        server.namespace("/").onConnection { found.yield($0.handshake) }
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await server.run(host: "127.0.0.1", port: 0) { port.yield($0.port ?? 0) } }
        let manager = SocketIOManager(
            url: "http://127.0.0.1:\(await ports.first { _ in true } ?? 0)",
            configuration: SocketIOManagerConfiguration(headers: headers, reconnection: .none))
        let socket = manager.socket(forNamespace: "/", auth: .closure { token.map { ["token": .string($0)] } ?? [:] })
        try await socket.connect(timeout: .seconds(60))
        let handshake = await handshakes.first { _ in true }
        manager.disconnect()
        running.cancel()
        try await running.value
        return try #require(handshake)
    }

    private func code(_ body: () async throws -> Void) async -> ChatError.Code? {
        do { try await body() } catch { return (error as? ChatError)?.code }
        return nil
    }

    // MARK: Handshakes

    @Test func aTokenNamesItsUserAndDevice() async throws {
        let world = try World()
        let (alice, bob) = (try await world.register("alice"), try await world.register("bob"))
        let sessions = try world.sessions()
        var users: Set<Int64> = []
        for session in [alice, bob] {
            let requester = try await sessions.requester(of: try await self.handshake(session.access))
            #expect(requester.device.rawValue == session.device.number)
            users.insert(requester.user.rawValue)
        }
        #expect(users.count == 2)
    }

    @Test func onlyAValidAccessTokenIsASession() async throws {
        let world = try World()
        let session = try await world.register("alice")
        let sessions = try world.sessions()
        for token in ["", "wrong", session.refresh, session.access + "0", nil] {
            let handshake = try await self.handshake(token)
            #expect(await self.code { _ = try await sessions.requester(of: handshake) } == .unauthorized, "\(token ?? "none")")
        }
        let handshake = try await self.handshake(session.access)
        _ = try await sessions.requester(of: handshake)
        world.time.withLockedValue { $0 = session.accessExpiresAt }
        #expect(await self.code { _ = try await sessions.requester(of: handshake) } == .unauthorized, "expired")
    }

    /// The budgets are those of the address of the client. Only a trusted proxy may name it.
    @Test func theAddressIsTakenFromATrustedProxy() async throws {
        let world = try World()
        let session = try await world.register("alice")
        var headers = HTTPFields()
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        headers[name] = "198.51.100.7"
        let handshake = try await self.handshake(session.access, headers: headers)
        let trusting = try await world.sessions(proxies: ["127.0.0.1"]).requester(of: handshake)
        #expect(trusting.origin == ClientOrigin(IPAddress("198.51.100.7")).keys)
        let other = try await world.sessions().requester(of: handshake)
        #expect(other.origin == ClientOrigin(IPAddress("127.0.0.1")).keys)
    }

    // MARK: Devices

    @Test func onlyTheDevicesOfTheUserAreReturned() async throws {
        let world = try World()
        let (alice, bob) = (try await world.register("alice"), try await world.register("bob"))
        let sessions = try world.sessions()
        let requester = try await sessions.requester(of: try await self.handshake(alice.access))
        #expect(try await sessions.devices(of: requester).devices.map(\.device) == [alice.device])
        // The device of another user does not exist.
        let request = DeviceRemoveRequest(id: id("r"), device: bob.device)
        #expect(await self.code { _ = try await sessions.removeDevice(request, of: requester) } == .notFound)
        _ = try await sessions.requester(of: try await self.handshake(bob.access))
    }

    @Test func aRemovedDeviceHasNoSession() async throws {
        let world = try World()
        let alice = try await world.register("alice")
        let sessions = try world.sessions()
        let handshake = try await self.handshake(alice.access)
        let requester = try await sessions.requester(of: handshake)
        let answer = try await sessions.removeDevice(DeviceRemoveRequest(id: id("r"), device: alice.device), of: requester)
        #expect(answer.id == id("r") && answer.seq == nil)
        #expect(await self.code { _ = try await sessions.requester(of: handshake) } == .unauthorized)
    }

    // MARK: Faults

    /// An error of the disk is not `unauthorized`: the client keeps its session and tries again.
    @Test func aFailureOfTheStorageIsTemporary() async throws {
        let world = try World()
        let alice = try await world.register("alice")
        let sessions = try world.sessions()
        let handshake = try await self.handshake(alice.access)
        let requester = try await sessions.requester(of: handshake)
        world.database.isFailing.withLockedValue { $0 = true }
        for call in [
            { _ = try await sessions.devices(of: requester) },
            { _ = try await sessions.removeDevice(DeviceRemoveRequest(id: id("r"), isOthers: true), of: requester) },
            { try await sessions.setPush(PushSetRequest(id: id("p"), service: .none), of: requester) },
        ] as [() async throws -> Void] {
            #expect(await self.code(call) == .unavailable)
        }
        world.database.isFailing.withLockedValue { $0 = false }
        #expect(try await sessions.devices(of: requester).devices.count == 1)
        #expect(try await sessions.requester(of: handshake) == requester)
    }
}
