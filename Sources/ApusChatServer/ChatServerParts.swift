import ApusConnectivity
import ApusSocketIOServer
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import ServiceLifecycle

/// The parts of a running server and how they hang together.
final class ChatServerParts: Sendable {
    struct Listener: Sendable {
        var scheme: String
        var host: String
        var port: Int
        var tls: NIOSSLContext?
        /// Whether the server runs without it when its port is taken.
        var isOptional = false
    }

    private let lock: DataFolderLock
    let io: SocketIOServer
    let store: ChatStore
    let accounts: Accounts
    let blobs: BlobFolder
    let gateway: ChatGateway
    let demo: DemoEvents?
    private let responder: RouterResponder<ChatRequestContext>
    /// Time an upload may take to come whole, and any answer to be taken whole: 10 MiB at a slow mobile link.
    private static let transferTimeout = Duration.seconds(120)

    init(configuration: ChatServerConfiguration, logger: Logger) throws {
        let now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
        // Before any file of the folder is read.
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
        ChatAPI(
            accounts: self.accounts, store: self.store, blobs: self.blobs, gateway: self.gateway, now: now,
            blobQuota: configuration.blobQuota
        ).add(to: router)
        page.add(to: router)
        self.responder = router.buildResponder()
    }

    /// The application on one listener. Socket.IO stands in front of the router and takes what is under its path.
    func application(
        on listener: Listener, configuration: ChatServerConfiguration, logger: Logger,
        onListening: @escaping @Sendable (ChatServer.Address) -> Void
    ) -> some Service {
        let io = self.io
        let requestTimeout = io.configuration.engine.requestTimeout
        // No `idleTimeout` of hummingbird's: it does not see the requests that Socket.IO takes, and would cut a poll that waits.
        let http = HTTP1Channel.Configuration(
            additionalChannelHandlers: io.channelHandlers(
                requestTimeout: { ChatAPI.isUpload($0) ? Self.transferTimeout : requestTimeout }, answerTimeout: Self.transferTimeout))
        let builder = HTTPServerBuilder { responder in
            ChatChildChannel(
                base: HTTP1Channel(responder: responder, configuration: http), tls: listener.tls, admits: { io.admit($0) })
        }
        return Application(
            responder: self.responder, server: builder,
            configuration: .init(address: .hostname(listener.host, port: listener.port), serverName: nil),
            onServerRunning: { channel in
                // In front of hummingbird's own back-off, under which the loop spins while there are no descriptors.
                try? await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.addHandler(AcceptPauseHandler(), position: .first)
                }.get()
                onListening(.init(scheme: listener.scheme, host: listener.host, port: channel.localAddress?.port ?? listener.port))
            }, logger: logger)
    }

    /// The clock of presence and of the demo. Ends when the task is cancelled.
    func ticking() async throws {
        var seconds = 0
        while true {
            try await Task.sleep(for: .seconds(1))
            seconds += 1
            self.gateway.tick()
            if seconds % 10 == 0 { self.demo?.beat() }
        }
    }

    /// Tells everybody that the server stops, and ends their connections.
    func announceEnd() async {
        self.gateway.announceShutdown()
        await self.io.shutdown()
    }

    /// Commits what is queued and closes the files.
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
