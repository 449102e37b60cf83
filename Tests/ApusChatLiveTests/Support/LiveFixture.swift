import ApusChatClient
import ApusChatProtocol
import ApusChatSQLite
import ApusEventLoop
import Foundation
import NIOConcurrencyHelpers
import Observation

/// A server behind a relay, and the devices of its users.
final class LiveFixture: Sendable {
    let relay: Relay
    let clock = LiveClock()
    private let path: String
    private let folder: ChatFolder
    private let current: NIOLockedValueBox<LiveServer>
    private let clients = NIOLockedValueBox<[ChatClient]>([])

    var server: LiveServer { self.current.withLockedValue { $0 } }

    init() async throws {
        self.path = FileManager.default.temporaryDirectory.appendingPathComponent("apus-live-" + UUID().uuidString).path
        self.folder = try ChatFolder(self.path + "/server")
        let server = try await LiveServer(self.folder, clock: self.clock)
        self.current = NIOLockedValueBox(server)
        self.relay = try await Relay(to: server.port)
    }

    /// Returns the accounts of a new device, which has a separate folder.
    func device(_ name: String, handlesCalls: Bool = false) throws -> ChatAccounts {
        var configuration = ChatClientConfiguration()
        configuration.deviceName = name
        configuration.handlesCalls = handlesCalls
        configuration.reconnection = .exponential(from: .milliseconds(10), to: .milliseconds(100))
        configuration.refusalDelay = .milliseconds(10)
        configuration.uploadPart = 64 * 1024
        return try ChatAccounts(folder: "\(self.path)/\(name)", configuration: configuration, logger: .silent)
    }

    /// Creates an account and waits until its client is online, for at most a minute.
    func signUp(_ name: String, handlesCalls: Bool = false) async throws -> ChatClient {
        let client = try await self.device(name, handlesCalls: handlesCalls).signUp(
            server: self.relay.url, name: name, password: "correct horse"
        ).client
        try await self.online(client)
        return client
    }

    /// Signs in with a further device and waits until its client is online, for at most a minute.
    func signIn(_ name: String, device: String) async throws -> ChatClient {
        let client = try await self.device(device).signIn(server: self.relay.url, name: name, password: "correct horse")
        try await self.online(client)
        return client
    }

    /// Waits until a client is online, for at most a minute, and closes it at the end of the test.
    func online(_ client: ChatClient) async throws {
        self.clients.withLockedValue { $0.append(client) }
        try await client.wait { await client.state == .online }
    }

    /// Stops the server. The relay refuses connections until ``startServer()``.
    func stopServer() async {
        // The system may give the port to a server of another test.
        self.relay.refuse()
        await self.server.close()
    }

    func startServer() async throws {
        let server = try await LiveServer(self.folder, clock: self.clock)
        self.current.withLockedValue { $0 = server }
        self.relay.lead(to: server.port)
    }

    /// Copies the data of a stopped server.
    func backUp() throws { try FileManager.default.copyItem(atPath: self.path + "/server", toPath: self.path + "/backup") }

    /// Replaces the data of a stopped server with the copy of ``backUp()``.
    func restoreBackup() throws {
        try FileManager.default.removeItem(atPath: self.path + "/server")
        try FileManager.default.copyItem(atPath: self.path + "/backup", toPath: self.path + "/server")
    }

    /// The path of the store of the only account of a device.
    func store(of device: String) throws -> String {
        let folder = "\(self.path)/\(device)"
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".sqlite") }
        return "\(folder)/\(files.first ?? "")"
    }

    func write(_ bytes: [UInt8], to name: String) throws -> String {
        let path = "\(self.path)/\(name)"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return path
    }

    func close() async {
        for client in self.clients.withLockedValue({ $0 }) { await client.close() }
        await self.relay.close()
        await self.server.close()
        try? FileManager.default.removeItem(atPath: self.path)
    }
}

/// Runs a server while `body` runs, in the isolation of the caller.
func withLiveServer(isolation: isolated (any Actor)? = #isolation, _ body: (LiveFixture) async throws -> Void) async throws {
    let fixture = try await LiveFixture()
    do { try await body(fixture) } catch {
        await fixture.close()
        throw error
    }
    await fixture.close()
}

/// The error of a condition that is not true after a minute, or when the client ends.
struct NeverTrue: Error {}

/// Checks a condition now and after each change until it is true, for at most a minute. Throws
/// ``NeverTrue`` afterwards.
///
/// - Parameter observe: Called with the continuation of the changes. The task that it returns is
///   cancelled at the end.
private func wait(
    isolation: isolated (any Actor)? = #isolation, until condition: (AsyncStream<Void>.Continuation) async throws -> Bool,
    observe: (AsyncStream<Void>.Continuation) -> Task<Void, Never>? = { _ in nil }
) async throws {
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
    let observing = observe(continuation)
    let deadline = Task {
        try await Task.sleep(for: .seconds(60))
        continuation.finish()
    }
    defer {
        observing?.cancel()
        deadline.cancel()
    }
    if try await condition(continuation) { return }
    for await _ in changes where try await condition(continuation) { return }
    throw NeverTrue()
}

extension ChatClient {
    /// Waits until a condition is true, for at most a minute. Checks it after each update.
    func wait(until condition: () async throws -> Bool) async throws {
        let updates = self.updates(bufferingPolicy: .unbounded)
        try await ApusChatLiveTests.wait(until: { _ in try await condition() }) { continuation in
            Task {
                for await _ in updates { continuation.yield() }
                continuation.finish()
            }
        }
    }
}

extension CallController {
    /// Waits until a condition on the calls is true, for at most a minute.
    func wait(until condition: () -> Bool) async throws {
        try await ApusChatLiveTests.wait(until: { continuation in
            withObservationTracking(condition) { continuation.yield() }
        })
    }
}

extension ChatConversation {
    /// The texts of the stored messages, followed by those of the unsent ones.
    var texts: [String] {
        get async throws { try await (self.storedMessages(limit: 1_000).messages + self.unsent).compactMap(\.text) }
    }
}
