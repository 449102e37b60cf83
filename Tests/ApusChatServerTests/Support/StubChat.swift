import ApusChatCore
import ApusChatHTTP
import ApusChatProtocol
import ApusChatSQLite
import ApusChatServer
import ApusChatService
import ApusChatStorage
import ApusJSON
import ApusSocketIOServer
import ApusWebSocket
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A chat without messages over a SQLite log, which records the calls of the server in `events`.
final class StubChat: HostedChat, ChatRequests {
    let log: ChatLog
    let database: any AccountDatabase
    let failure = NIOLockedValueBox<String?>(nil)
    let events = NIOLockedValueBox<[String]>([])
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    init(_ folder: ChatFolder) throws {
        self.log = ChatLog(
            storage: try SQLiteStorage(folder), on: self.group.any(),
            environment: ChatLog.Environment(wall: { 1_700_000_000_000 }, monotonic: { 0 }), onBatch: { _, _ in })
        self.database = LogDatabase(self.log, reads: try SQLiteReads(folder))
    }

    var requests: any ChatRequests { self }

    func attach(to server: SocketIOServer, accounts: Accounts, proxies: TrustedProxies) {
        server.namespace("/chat").onConnection { _ in }
        self.note("attach")
    }

    func translate(
        _ socket: SocketIOServerSocket, of requester: Requester, watchesPresence: Bool,
        receive: @escaping @Sendable (_ push: String, _ value: JSONValue) -> Void
    ) throws(ChatError) -> TranslatedConnection {
        throw ChatError(.unsupported, message: "The chat has no connections.")
    }

    func isOnline(_ user: UserKey) -> Bool { false }

    func notify(_ deliver: @escaping @Sendable ([PushNotice]) -> Void) {}

    func tellTexts(_ deliver: @escaping @Sendable ([CommittedText]) -> Void) {}

    func add(_ preview: PreviewCommand) {}

    func run() async {}

    func end(_ devices: [DeviceKey]) { self.note("end \(devices.count)") }

    func note(_ changes: [SessionChange]) { self.note("change \(changes.count)") }

    func announceShutdown() { self.note("announce") }

    func close() async {
        await self.log.close()
        try? await self.group.shutdownGracefully()
        self.note("close")
    }

    func answer(_ verb: String, _ request: JSONValue, of session: AccountSession, from client: ClientOrigin) async throws(ChatError)
        -> JSONValue
    { .object(["verb": .string(verb), "address": .string(client.text)]) }

    func read(_ verb: String, _ request: JSONValue, of session: AccountSession) async throws(ChatError) -> JSONValue {
        .object(["verb": .string(verb)])
    }

    func writeFailure() async -> String? { self.failure.withLockedValue { $0 } }

    private func note(_ event: String) { self.events.withLockedValue { $0.append(event) } }
}
