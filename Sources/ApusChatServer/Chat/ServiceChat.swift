import ApusChatCore
package import ApusChatHTTP
import ApusChatProtocol
package import ApusChatSQLite
package import ApusChatService
package import ApusChatStorage
import ApusJSON
package import ApusSocketIOServer
package import ApusWebSocket
package import Logging
import NIOConcurrencyHelpers

/// The chat service over the database of a data folder.
package final class ServiceChat: HostedChat {
    package let database: any AccountDatabase
    package let requests: any ChatRequests
    private let service: ChatService
    private let gateway = NIOLockedValueBox<ChatGateway?>(nil)

    /// - Parameter configuration: A checked configuration.
    package init(_ folder: ChatFolder, _ configuration: ChatServerConfiguration, _ logger: Logger) throws {
        var settings = ChatService.Configuration(
            environment: ChatLog.Environment(
                wall: configuration.clock.wall, monotonic: configuration.clock.monotonic, mark: ServerClock.mark(in: folder.path)))
        settings.verbs.directory = configuration.directory == .open ? .open : .exactNames
        settings.verbs.limits = configuration.limits
        if !configuration.hasLimits { settings.rates = .off }
        let writer = try SQLiteStorage(folder)
        self.service = try ChatService(
            storage: .init(writer: writer) { try SQLiteReads(folder) }, index: try SearchIndex(folder), configuration: settings,
            logger: logger)
        self.database = LogDatabase(self.service.log, reads: try SQLiteReads(folder))
        self.requests = ServiceRequests(service: self.service)
    }

    package func attach(to server: SocketIOServer, accounts: Accounts, proxies: TrustedProxies) {
        let gateway = ChatGateway(self.service, sessions: AccountSessions(accounts: accounts, proxies: proxies), on: server)
        self.gateway.withLockedValue { $0 = gateway }
    }

    package func notify(_ deliver: @escaping @Sendable ([PushNotice]) -> Void) { self.service.notifier.start(deliver) }

    package func run() async { await self.service.run() }

    package func end(_ devices: [DeviceKey]) { self.attached?.end(Set(devices.map(\.rawValue))) }

    package func note(_ changes: [SessionChange]) {
        for change in changes {
            let device = DeviceChange(
                device: change.device.key, name: change.device.name, platform: change.device.platform, isAdded: change.isAdded)
            let command = Command(actor: change.device.user, device: change.device.key, request: nil, action: .noteDevice(device))
            // Without it other devices get no notice, and their list of devices is true.
            self.service.log.submit(command) { _ in }
        }
    }

    package func announceShutdown() { self.attached?.announceShutdown() }

    package func close() async { await self.service.close() }

    private var attached: ChatGateway? { self.gateway.withLockedValue { $0 } }
}

/// Answers the mirror of the verbs, and tells whether messages can be written.
private struct ServiceRequests: ChatRequests {
    let service: ChatService

    func answer(_ verb: String, _ request: JSONValue, of session: AccountSession, from client: ClientOrigin) async throws(ChatError)
        -> JSONValue
    { try await self.service.answer(verb, request, of: Requester(user: session.user, device: session.device, origin: client.keys)) }

    func read(_ verb: String, _ request: JSONValue, of session: AccountSession) async throws(ChatError) -> JSONValue {
        try await self.service.read(verb, request, of: session.user)
    }

    func writeFailure() async -> String? {
        switch self.service.log.health {
        case .writable: nil
        case .readOnly(let code): "The server cannot write (\(code)). It tries again."
        case .failed(let code): "The server cannot write (\(code)). Restart it after the disk is repaired."
        }
    }
}

extension ChatServerConfiguration {
    /// The limits that clients are told.
    var limits: HelloLimits {
        let rules = ChatRules()
        return HelloLimits(
            blobBytes: self.uploadBytes, editSeconds: rules.editMilliseconds / 1_000, recallSeconds: rules.recallMilliseconds / 1_000)
    }
}
