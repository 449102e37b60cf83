import ApusChatProtocol
import Foundation
import Logging
import NIOConcurrencyHelpers

@testable import ApusChatClient

/// A folder with accounts of a ``FakeServer``.
final class TestDevice: Sendable {
    let server: FakeServer
    let folder: String
    let accounts: ChatAccounts

    init(
        _ server: FakeServer, folder: String? = nil, environment: ChatEnvironment = .test, handlesCalls: Bool = false,
        changePatience: Duration = .seconds(600)
    ) throws {
        self.server = server
        let folder = folder ?? FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        self.folder = folder
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        var configuration = ChatClientConfiguration()
        configuration.changePatience = changePatience
        configuration.handlesCalls = handlesCalls
        self.accounts = try ChatAccounts(
            folder: folder, network: server.network, environment: environment, configuration: configuration, logger: logger)
    }

    func signIn(_ name: UserName = Value.alice) async throws -> ChatClient {
        try await self.accounts.signIn(server: "http://chat.test", name: name.rawValue, password: "password")
    }

    func remove() { try? FileManager.default.removeItem(atPath: self.folder) }
}

extension FakeServer {
    /// Creates the users alice and bob with a conversation of the two.
    ///
    /// - Returns: A device that is not signed in, and the conversation.
    func pair() throws -> (device: TestDevice, pair: ConversationID) {
        self.user(Value.alice)
        self.user(Value.bob)
        return (try TestDevice(self), self.conversation(.pair, [Value.alice, Value.bob]))
    }

    /// Runs a test with a connected client of alice and her conversation with bob.
    func withPair(
        isolation: isolated (any Actor)? = #isolation, _ body: (ChatClient, ConversationID) async throws -> Void
    ) async throws {
        let (device, pair) = try self.pair()
        let client = try await device.signIn()
        try await client.isOnline()
        let result: Result<Void, any Error>
        do { result = .success(try await body(client, pair)) } catch { result = .failure(error) }
        await client.close()
        device.remove()
        try result.get()
    }
}

extension ChatEnvironment {
    /// An environment with a fixed time. A delay of less than a minute is replaced with 20 turns of
    /// the other tasks; a longer delay is real, so that no deadline passes during a test.
    static let test = ChatEnvironment(
        now: { 1_700_000_000_000 },
        sleep: { delay in
            if delay >= .seconds(60) { return try await Task.sleep(for: delay) }
            for _ in 0..<20 { await Task.yield() }
        },
        makeID: { ClientID(UUID().uuidString) ?? Value.id("none") })
}

/// The error of a condition that did not become true, or of a value that is not the expected one.
struct NeverTrue: Error {}

/// Waits until a condition is true, for at most 60 seconds. Other tasks run between the checks.
///
/// - Throws: ``NeverTrue`` after that time, and the errors of `condition`.
func eventually(isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool) async throws {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(60)
    while try await !condition() {
        guard clock.now < end else { throw NeverTrue() }
        await Task.yield()
    }
}

extension ChatClient {
    /// Waits until the client is online, for at most 60 seconds.
    func isOnline() async throws { try await eventually { await self.state == .online } }
}

extension ChatConversation {
    /// The texts of the stored messages, followed by those of the unsent ones.
    var texts: [String] {
        get async throws {
            let page = try await self.storedMessages(limit: 10_000)
            return try await (page.messages + self.unsent).compactMap(\.text)
        }
    }
}
