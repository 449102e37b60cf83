import ApusChatHTTP
import ApusChatProtocol
import ApusChatSQLite
import ApusChatStorage
import ApusConnectivity
import ApusEngineIOServer
import ApusSocketIOServer
import ApusWebPush
import ApusWebSocket
import Dispatch
import Hummingbird
import HummingbirdCore
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import ServiceLifecycle

/// The components of a running server.
final class ServerParts: Sendable {
    let io: SocketIOServer
    let chat: any HostedChat
    let accounts: Accounts
    let maintenance: HTTPMaintenance
    let clock: ServerClock
    private let configuration: ChatServerConfiguration
    private let logger: Logger
    private let folder: ChatFolder
    private let files: BlobFiles
    private let uploads: Uploads
    private let demo: DemoEvents?
    private let pushes: WebPushSender
    private let previews: LinkPreviewer?
    private let metrics = ServerMetrics()
    private let responder: MeasuringResponder<RouterResponder<HTTPContext>>
    /// The listener for apps of the legacy protocol, and its routes; nil if it is disabled.
    private let legacy: (server: LegacyServer, responder: MeasuringResponder<RouterResponder<HTTPContext>>)?
    private let start = ContinuousClock.now
    /// The maximum duration of an upload. A minimum data rate also applies.
    private static let uploadTimeout = Duration.seconds(3_600)
    /// The maximum duration of writing a response, including the largest download over a slow link.
    /// Clients can resume an interrupted download with a range request.
    private static let answerTimeout = Duration.seconds(1_200)

    /// - Parameter configuration: A configuration that `validate()` has checked.
    init(_ configuration: ChatServerConfiguration, logger: Logger, makeChat: ChatServer.MakeChat) throws {
        self.configuration = configuration
        self.logger = logger
        let page = try configuration.pageFolder.map { try PageRoutes.folder($0) } ?? .embedded()
        let proxies = try configuration.trustedProxies
        // Locks the folder before any of its files is read.
        self.folder = try ChatFolder(configuration.dataFolder)
        let path = self.folder.path
        self.chat = try makeChat(self.folder, configuration, logger)
        self.clock = ServerClock(configuration.environment.clock, folder: path)
        let accounts = try Accounts(
            database: self.chat.database, folder: path, configuration: configuration.accounts, clock: self.clock.forAccounts)
        self.accounts = accounts
        self.files = try BlobFiles(folder: path, tools: .found(logger: logger)) { threads in
            try configuration.blobs.store(folder: path, threads: threads, now: configuration.environment.clock.wall, logger: logger)
        }
        let uploads = try Uploads(folder: path, accounts: accounts, files: self.files, configuration: configuration.uploads)
        self.uploads = uploads
        self.maintenance = HTTPMaintenance(accounts: accounts, uploads: uploads, logger: logger)
        self.io = SocketIOServer(configuration: .chat(configuration, proxies: proxies), logger: logger)
        self.chat.attach(to: self.io, accounts: accounts, proxies: proxies)
        let chat = self.chat
        accounts.onEnd { chat.end($0) }
        accounts.onChange { chat.note($0) }
        let vapid = VAPID(key: try PushKey.load(from: path), contact: configuration.pushContact)
        self.pushes = WebPushSender(vapid, configuration: configuration, logger: logger) { device, subscription in
            try? await accounts.forgetPush(of: device, subscription)
        }
        let pushes = self.pushes
        chat.notify { pushes.send($0) }
        self.previews = configuration.previewsLinks ? LinkPreviewer(configuration, logger: logger) { chat.add($0) } : nil
        if let previews = self.previews { chat.tellTexts { previews.add($0) } }
        self.demo = configuration.demo ? DemoEvents(namespace: self.io.namespace("/")) : nil
        self.demo?.mount()
        let router = ChatRoutes(
            accounts: accounts, chat: self.chat.requests, files: self.files, uploads: uploads,
            server: configuration.answer(pushKey: vapid.publicKey),
            proxies: proxies
        ).router()
        page.add(to: router)
        self.responder = MeasuringResponder(base: router.buildResponder(), metrics: self.metrics)
        if configuration.legacyPort != nil {
            let server = LegacyServer(
                configuration, chat: chat, accounts: accounts, uploads: uploads, files: self.files, proxies: proxies, logger: logger,
                now: self.clock.forAccounts.now)
            self.legacy = (server, MeasuringResponder(base: server.router().buildResponder(), metrics: self.metrics))
        } else {
            self.legacy = nil
        }
    }

    /// Returns the application for one listener. Socket.IO precedes the router and handles the
    /// requests under its path.
    func application(on listener: ServerListener, onListening: @escaping @Sendable (ChatServer.Address) -> Void) -> some Service {
        let legacy = listener.isLegacy ? self.legacy : nil
        let io = legacy?.server.io ?? self.io
        let requestTimeout = io.configuration.engine.requestTimeout
        // Hummingbird's `idleTimeout` is not used, because it does not count requests that
        // Socket.IO handles, and would interrupt a pending poll.
        let timeouts = PassThroughTimeouts(
            requestTimeout: { Self.isUpload($0) ? Self.uploadTimeout : requestTimeout }, answerTimeout: Self.answerTimeout)
        let proxies = self.configuration.proxies
        let peers = proxies.source == .proxyProtocol ? ProxyPeers(proxies.networks) : nil
        let builder = HTTPServerBuilder { responder in
            ConnectionChannel(responder: responder, io: io, timeouts: timeouts, tls: listener.tls, proxies: peers)
        }
        return Application(
            responder: SecureTransportResponder(base: legacy?.responder ?? self.responder, transport: listener.transport), server: builder,
            // After a restart, all clients connect within seconds. The system may impose a lower
            // limit.
            configuration: .init(address: .hostname(listener.host, port: listener.port), serverName: nil, backlog: 4_096),
            onServerRunning: { channel in
                // Precedes Hummingbird's own back-off, during which the event loop is busy while no
                // descriptors are available.
                try? await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.addHandler(AcceptPauseHandler(), position: .first)
                }.get()
                let port = channel.localAddress?.port ?? listener.port
                listener.boundPort?.withLockedValue { $0 = port }
                var address = ChatServer.Address(
                    scheme: listener.scheme, host: listener.host, port: port, certificate: listener.certificate)
                address.isLegacy = listener.isLegacy
                onListening(address)
            }, logger: self.logger)
    }

    private static func isUpload(_ head: HTTPRequestHead) -> Bool { head.uri.hasPrefix("/api/uploads") }

    /// Returns the application with the health checks and the metrics, which only programs on this
    /// machine can access.
    func metricsApplication(port: Int, onListening: @escaping @Sendable (ChatServer.Address) -> Void) -> some Service {
        let router = Router()
        router.get("/health") { _, _ in try await ChatRoutes.state(of: self.chat.requests, .ok) }
        router.get("/ready") { _, _ in try await ChatRoutes.state(of: self.chat.requests, .serviceUnavailable) }
        router.get("/metrics") { _, _ in
            let gauges = ServerMetrics.Gauges(
                clients: self.io.clientCount + (self.legacy?.server.io.clientCount ?? 0),
                isWritable: await self.chat.requests.writeFailure() == nil,
                uptimeSeconds: Int64((ContinuousClock.now - self.start) / .seconds(1)))
            return Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: .init(byteBuffer: ByteBuffer(string: self.metrics.text(gauges))))
        }
        return Application(
            router: router, server: HTTPServerBuilder { PlainChannel(responder: $0) },
            configuration: .init(address: .hostname(ChatServer.metricsHost, port: port), serverName: nil),
            onServerRunning: { channel in
                var address = ChatServer.Address(scheme: "http", host: ChatServer.metricsHost, port: channel.localAddress?.port ?? port)
                address.isForMetrics = true
                onListening(address)
            }, logger: self.logger)
    }

    /// Creates the accounts of the demo, if it is enabled. Called before the server listens.
    func prepareDemo() async throws {
        if self.demo != nil { try await DemoAccounts(accounts: self.accounts, requests: self.chat.requests).make() }
    }

    /// Sends the heartbeat of the demo until the task is cancelled.
    func runDemo() async {
        guard let demo = self.demo else { return }
        while (try? await Task.sleep(for: .seconds(10))) != nil { demo.beat() }
    }

    /// Performs the commands of operators until the task is cancelled.
    func administrate() async {
        do {
            let administration = try Administration(accounts: self.accounts, folder: self.folder)
            await AdministrationSocket.serve(administration, in: self.folder.path, logger: self.logger)
        } catch {
            self.logger.warning("The server accepts no commands of apus admin while it runs", metadata: ["error": "\(error)"])
        }
    }

    /// Sends `bye` to all clients and closes their connections.
    func drain() async {
        self.chat.announceShutdown()
        await self.shutDownConnections()
    }

    private func shutDownConnections() async {
        async let legacy: Void? = self.legacy?.server.io.shutdown()
        await self.io.shutdown()
        await legacy
    }

    /// Commits queued writes and closes the files. Call this method after the last request.
    func close() async {
        await self.shutDownConnections()
        self.previews?.close()
        await self.chat.close()
        await self.pushes.close()
        await self.uploads.close()
        await self.files.endWork()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            // Closing the accounts and the files waits for threads, so it must not run on an event
            // loop.
            DispatchQueue.global().async {
                self.accounts.close()
                self.files.close()
                self.folder.unlock()
                continuation.resume()
            }
        }
    }
}

extension ChatServerConfiguration {
    fileprivate var accounts: AccountsConfiguration {
        var accounts = AccountsConfiguration()
        accounts.registration =
            switch self.registration {
            case .open: .open
            case .invitation: .invitation
            case .closed: .closed
            }
        accounts.serverName = self.name
        accounts.sessionLifetime = Int64(self.sessionLifetime / .milliseconds(1))
        accounts.hasLimits = self.hasLimits
        accounts.passwordCost = self.environment.passwordCost ?? accounts.passwordCost
        return accounts
    }

    fileprivate var uploads: UploadsConfiguration {
        var uploads = UploadsConfiguration()
        uploads.maximumBytes = self.uploadBytes
        uploads.quota = self.uploadQuota
        return uploads
    }

    /// Returns the answer of `GET /api/server`.
    fileprivate func answer(pushKey: String) -> ServerAnswer {
        ServerAnswer(
            name: self.name, version: ChatServer.version, registration: self.accounts.registration, features: ChatFeature.all,
            limits: self.limits,
            pushKey: pushKey)
    }
}
