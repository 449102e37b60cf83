import ApusChatHTTP
package import ApusChatSQLite
import ApusChatStorage
public import ApusConnectivity
public import Logging
import NIOConcurrencyHelpers
public import ServiceLifecycle

/// A complete chat server: accounts, conversations, uploads, Socket.IO and the page. The server
/// stores all its data in one folder.
///
/// `run` serves until its task is cancelled or its service group shuts down. On a graceful
/// shutdown, it stops accepting connections, sends `bye` to all clients, answers pending requests,
/// commits queued writes and returns.
public final class ChatServer: Service {
    /// An address at which the server listens.
    public struct Address: Hashable, Sendable, CustomStringConvertible {
        /// The scheme: `http` or `https`.
        public var scheme: String
        /// The configured host.
        public var host: String
        /// The port. If the configured port is 0, the one that the system chose.
        public var port: Int
        /// The fingerprint of the server's certificate, for clients that pin the certificate; nil
        /// without TLS.
        public var certificate: CertificateFingerprint?
        /// Whether the listener serves the metrics.
        public var isForMetrics = false
        /// Whether the listener serves the apps of ``ChatServerConfiguration/legacyPort``.
        public var isLegacy = false
        /// The URL for a browser or a client.
        public var url: String { "\(self.scheme)://\(self.host.contains(":") ? "[\(self.host)]" : self.host):\(self.port)" }
        /// The URL.
        public var description: String { self.url }

        init(scheme: String, host: String, port: Int, certificate: CertificateFingerprint? = nil) {
            self.scheme = scheme
            self.host = host
            self.port = port
            self.certificate = certificate
        }
    }

    /// Opens the chat of a data folder.
    package typealias MakeChat = @Sendable (ChatFolder, ChatServerConfiguration, Logger) throws -> any HostedChat

    static let version = "0.1.0"
    static let metricsHost = "127.0.0.1"

    private let configuration: ChatServerConfiguration
    private let logger: Logger
    private let makeChat: MakeChat

    /// Creates a server. The server starts when `run` is called.
    ///
    /// - Parameters:
    ///   - configuration: The configuration, which `run` validates.
    ///   - logger: The logger of the server.
    public convenience init(configuration: ChatServerConfiguration, logger: Logger = Logger(label: "apus.chat.server")) {
        self.init(configuration: configuration, logger: logger) { try ServiceChat($0, $1, $2) }
    }

    /// - Parameter makeChat: Opens the chat in the locked folder.
    package init(configuration: ChatServerConfiguration, logger: Logger = Logger(label: "apus.chat.server"), makeChat: @escaping MakeChat) {
        self.configuration = configuration
        self.logger = logger
        self.makeChat = makeChat
    }

    /// Runs the server. Returns when the task is cancelled, and after a graceful shutdown.
    ///
    /// - Throws: `invalidConfiguration`, `certificate`, `pageFolder`, `dataFolder`, `data`,
    ///   `addressInUse` or `cannotListen` if the server cannot start; `failed` if a part of it
    ///   fails later. Cancellation is not an error.
    public func run() async throws(ChatServerError) { try await self.run(onListening: { _ in }) }

    /// Runs the server, and reports its addresses when all listeners are ready. Returns when the
    /// task is cancelled, and after a graceful shutdown.
    ///
    /// - Parameter onListening: Called once, with the addresses of all listeners. An optional TLS
    ///   listener whose port is in use is omitted.
    /// - Throws: `invalidConfiguration`, `certificate`, `pageFolder`, `dataFolder`, `data`,
    ///   `addressInUse` or `cannotListen` if the server cannot start; `failed` if a part of it
    ///   fails later. Cancellation is not an error.
    public func run(onListening: @escaping @Sendable ([Address]) -> Void) async throws(ChatServerError) {
        do {
            try await self.runParts(onListening)
        } catch let error as ChatServerError {
            throw error
        } catch is CancellationError {
            return
        } catch {
            throw ChatServerError(.failed, message: "the server stopped because a part of it failed", cause: error)
        }
    }

    private func runParts(_ onListening: @escaping @Sendable ([Address]) -> Void) async throws {
        try self.configuration.validate()
        let listeners = try ServerListener.all(self.configuration)
        let parts: ServerParts
        do {
            parts = try ServerParts(self.configuration, logger: self.logger, makeChat: self.makeChat)
        } catch let error as StorageError {
            throw ChatServerError(error.code == .locked ? .dataFolder : .data, message: error.message)
        }
        let result: Result<Void, any Error>
        do {
            try await parts.prepareDemo()
            result = .success(try await self.serve(parts, listeners, onListening))
        } catch {
            result = .failure(error)
        }
        await parts.close()
        try result.get()
    }

    private enum Ended { case listener, other }

    private func serve(
        _ parts: ServerParts, _ listeners: [ServerListener], _ onListening: @escaping @Sendable ([Address]) -> Void
    ) async throws {
        // A nil element represents an optional listener that did not start.
        let (addresses, continuation) = AsyncStream.makeStream(of: Address?.self)
        let count = listeners.count + (self.configuration.metricsPort == nil ? 0 : 1)
        try await withThrowingTaskGroup(of: Ended.self) { group in
            for listener in listeners {
                let application = parts.application(on: listener) { continuation.yield($0) }
                group.addTask {
                    do { try await application.run() } catch {
                        let error = listener.explain(error)
                        guard listener.isOptional, (error as? ChatServerError)?.code == .addressInUse else { throw error }
                        self.logger.warning(
                            "The TLS port is in use; the server listens without TLS", metadata: ["chat.tls-port": "\(listener.port)"])
                        continuation.yield(nil)
                    }
                    return .listener
                }
            }
            if let port = self.configuration.metricsPort {
                let application = parts.metricsApplication(port: port) { continuation.yield($0) }
                group.addTask {
                    do { try await application.run() } catch {
                        throw ServerListener(scheme: "http", host: Self.metricsHost, port: port).explain(error)
                    }
                    return .listener
                }
            }
            group.addTask {
                var all: [Address?] = []
                for await address in addresses {
                    all.append(address)
                    if all.count == count { break }
                }
                if all.count == count { onListening(all.compactMap { $0 }.sorted { ($0.scheme, $0.port) < ($1.scheme, $1.port) }) }
                return .other
            }
            group.addTask {
                await parts.maintenance.run()
                return .other
            }
            group.addTask {
                await parts.chat.run()
                return .other
            }
            group.addTask {
                await parts.clock.run(self.logger)
                return .other
            }
            group.addTask {
                await parts.administrate()
                return .other
            }
            group.addTask {
                await parts.runDemo()
                return .other
            }
            group.addTask {
                // The listeners observe the graceful shutdown themselves, and end after their last
                // connection.
                guard (try? await gracefulShutdown()) != nil else { return .other }
                await parts.drain()
                return .other
            }
            var running = count
            while running > 0, let ended = try await group.next() { if ended == .listener { running -= 1 } }
            continuation.finish()
            group.cancelAll()
        }
    }
}
