import ApusConnectivity
import ApusEngineIOServer
import ApusSocketIOServer
import ApusWebSocket
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOSSL
import ServiceLifecycle

/// The components of a running server.
final class ChatServerParts: Sendable {
    struct Listener: Sendable {
        var scheme: String
        var host: String
        var port: Int
        var tls: NIOSSLContext?
        var certificate: CertificateFingerprint?
        /// Whether the server runs without this listener if its port is in use.
        var isOptional = false
        var transport = SecureTransport.unchanged
        /// Set to the port when the server listens.
        var boundPort: NIOLockedValueBox<Int?>?
    }

    private let lock: DataFolderLock
    let io: SocketIOServer
    let store: ChatStore
    let accounts: Accounts
    let blobs: BlobFolder
    let gateway: ChatGateway
    let demo: DemoEvents?
    private let responder: RouterResponder<ChatRequestContext>
    /// The maximum time of an upload, and of writing an answer: enough for 10 MiB over a slow
    /// mobile link.
    private static let transferTimeout = Duration.seconds(120)

    init(configuration: ChatServerConfiguration, logger: Logger) throws {
        let now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
        // Locks the folder before any of its files is read.
        self.lock = try DataFolderLock(directory: configuration.dataDirectory)
        let page = try configuration.pageFolder.map { folder in try StaticFiles.folder(folder) } ?? StaticFiles.embedded()
        self.store = try ChatStore(directory: configuration.dataDirectory, logger: logger, now: now)
        self.accounts = try Accounts(store: self.store, configuration: configuration, now: now)
        self.blobs = try BlobFolder(directory: configuration.dataDirectory)
        self.io = SocketIOServer(configuration: .chat(configuration), logger: logger)
        self.gateway = ChatGateway(
            namespace: self.io.namespace("/chat"), store: self.store, accounts: self.accounts, configuration: configuration, logger: logger,
            now: now)
        self.gateway.mount()
        self.demo = configuration.demo ? DemoEvents(namespace: self.io.namespace("/")) : nil
        self.demo?.mount()
        let router = Router(context: ChatRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ChatErrorMiddleware())
        if configuration.trustedProxies != .none { router.add(middleware: ClientAddressMiddleware(proxies: configuration.trustedProxies)) }
        ChatAPI(
            accounts: self.accounts, store: self.store, blobs: self.blobs, gateway: self.gateway, now: now,
            blobQuota: configuration.blobQuota
        ).add(to: router)
        page.add(to: router)
        self.responder = router.buildResponder()
    }

    /// Returns the application for one listener. Socket.IO precedes the router and handles the
    /// requests under its path.
    func application(
        on listener: Listener, configuration: ChatServerConfiguration, logger: Logger,
        onListening: @escaping @Sendable (ChatServer.Address) -> Void
    ) -> some Service {
        let io = self.io
        let requestTimeout = io.configuration.engine.requestTimeout
        // Does not use Hummingbird's `idleTimeout`: it does not count requests handled by Socket.IO
        // and would interrupt a pending poll.
        let http = HTTP1Channel.Configuration(
            additionalChannelHandlers: io.channelHandlers(
                requestTimeout: { ChatAPI.isUpload($0) ? Self.transferTimeout : requestTimeout }, answerTimeout: Self.transferTimeout))
        let builder = HTTPServerBuilder { responder in
            ChatChildChannel(
                base: HTTP1Channel(responder: responder, configuration: http), tls: listener.tls, admits: { io.admit($0) })
        }
        return Application(
            responder: SecureTransportResponder(base: self.responder, transport: listener.transport), server: builder,
            configuration: .init(address: .hostname(listener.host, port: listener.port), serverName: nil),
            onServerRunning: { channel in
                // Precedes Hummingbird's own back-off, under which the loop spins while no
                // descriptors are available.
                try? await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.addHandler(AcceptPauseHandler(), position: .first)
                }.get()
                let port = channel.localAddress?.port ?? listener.port
                listener.boundPort?.withLockedValue { $0 = port }
                onListening(.init(scheme: listener.scheme, host: listener.host, port: port, certificate: listener.certificate))
            }, logger: logger)
    }

    /// Runs the timers of presence and of the demo until the task is cancelled.
    func ticking() async throws {
        var seconds = 0
        while true {
            try await Task.sleep(for: .seconds(1))
            seconds += 1
            self.gateway.tick()
            if seconds % 10 == 0 { self.demo?.beat() }
        }
    }

    /// Sends `bye` to all clients and closes their connections.
    func announceEnd() async {
        self.gateway.announceShutdown()
        await self.io.shutdown()
    }

    /// Commits queued writes and closes the files.
    func close() async {
        await self.io.shutdown()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            DispatchQueue.global().async {
                self.store.close()
                self.accounts.close()
                self.blobs.close()
                self.lock.release()
                continuation.resume()
            }
        }
    }
}
