package import ApusChatCore
package import ApusChatHTTP
package import ApusChatProtocol
package import ApusChatSQLite
package import ApusChatService
package import ApusChatStorage
import ApusConnectivity
package import ApusJSON
package import ApusSocketIOServer
package import ApusWebSocket
package import Logging
import NIOConcurrencyHelpers

/// The chat service over the database of a data folder.
package final class ServiceChat: HostedChat {
    package let database: any AccountDatabase
    package let requests: any ChatRequests
    let service: ChatService
    private let gateway = NIOLockedValueBox<ChatGateway?>(nil)

    /// - Parameter configuration: A configuration that `validate()` has checked.
    package init(_ folder: ChatFolder, _ configuration: ChatServerConfiguration, _ logger: Logger) throws {
        var settings = ChatService.Configuration(
            environment: ChatLog.Environment(
                wall: configuration.environment.clock.wall, monotonic: configuration.environment.clock.monotonic,
                mark: ServerClock.mark(in: folder.path)))
        settings.verbs.directory = configuration.directory == .open ? .open : .exactNames
        let (relay, wall) = (CallRelay(configuration.calls), configuration.environment.clock.wall)
        settings.verbs.callServers = { relay.servers(for: $0, at: wall()) }
        settings.verbs.callBackend = try configuration.calls.liveKit.map {
            try LiveKitBackend(
                $0, tls: configuration.environment.outgoingAuthorities.map { .trusting(authoritiesPEM: $0) } ?? .system, wall: wall)
        }
        settings.noticeDelay = configuration.environment.noticeDelay
        settings.rules = configuration.rules
        settings.verbs.limits = configuration.limits
        if !configuration.hasLimits { settings.rates = .off }
        let writer = try SQLiteStorage(folder)
        let index = try SearchIndex(folder)
        for path in index.moved {
            logger.warning("An unusable file had the name of the search index; it was renamed", metadata: ["path": "\(path)"])
        }
        self.service = try ChatService(
            storage: .init(writer: writer) { try SQLiteReads(folder) }, index: index, configuration: settings, logger: logger)
        self.database = LogDatabase(self.service.log, reads: try SQLiteReads(folder))
        self.requests = ServiceRequests(service: self.service)
    }

    package func attach(to server: SocketIOServer, accounts: Accounts, proxies: TrustedProxies) {
        let gateway = ChatGateway(self.service, sessions: AccountSessions(accounts: accounts, proxies: proxies), on: server)
        self.gateway.withLockedValue { $0 = gateway }
    }

    package func translate(
        _ socket: SocketIOServerSocket, of requester: Requester, watchesPresence: Bool,
        receive: @escaping @Sendable (_ push: String, _ value: JSONValue) -> Void
    ) throws(ChatError) -> TranslatedConnection {
        guard let gateway = self.attached else {
            throw ChatError(.unavailable, message: "The server is starting and does not accept connections yet.", retryAfter: 1_000)
        }
        return try gateway.translate(socket, of: requester, watchesPresence: watchesPresence, receive: receive)
    }

    package func isOnline(_ user: UserKey) -> Bool { self.service.presence.isOnline(user) }

    package func notify(_ deliver: @escaping @Sendable ([PushNotice]) -> Void) { self.service.notifier.start(deliver) }

    package func tellTexts(_ deliver: @escaping @Sendable ([CommittedText]) -> Void) { self.service.texts.start(deliver) }

    package func add(_ preview: PreviewCommand) {
        // If the command fails, the message remains without a preview.
        self.service.log.submit(Command(actor: UserKey(0), device: DeviceKey(0), request: nil, action: .setPreview(preview))) { _ in }
    }

    package func run() async { await self.service.run() }

    package func end(_ devices: [DeviceKey]) { self.attached?.end(Set(devices.map(\.rawValue))) }

    package func note(_ changes: [SessionChange]) {
        for change in changes {
            let device = DeviceChange(
                device: change.device.key, name: change.device.name, platform: change.device.platform, isAdded: change.isAdded)
            let command = Command(actor: change.device.user, device: change.device.key, request: nil, action: .noteDevice(device))
            // If the command fails, the other devices receive no event, but the next list of
            // devices that they request is correct.
            self.service.log.submit(command) { _ in }
        }
    }

    package func announceShutdown() { self.attached?.announceShutdown() }

    package func close() async { await self.service.close() }

    private var attached: ChatGateway? { self.gateway.withLockedValue { $0 } }
}

/// Answers the verbs over HTTP, and reports whether the storage is writable.
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
        case .readOnly(let code): "The server cannot write (\(code)). It retries automatically."
        case .failed(let code): "The server cannot write (\(code)). Restart it after the disk is repaired."
        }
    }
}

extension ChatServerConfiguration {
    var rules: ChatRules {
        var rules = ChatRules()
        rules.editMilliseconds = self.editTime.components.seconds * 1_000
        rules.recallMilliseconds = self.recallTime.components.seconds * 1_000
        return rules
    }

    /// The limits that are sent to clients.
    var limits: HelloLimits {
        let rules = self.rules
        return HelloLimits(
            blobBytes: self.uploadBytes, editSeconds: rules.editMilliseconds / 1_000, recallSeconds: rules.recallMilliseconds / 1_000)
    }
}
