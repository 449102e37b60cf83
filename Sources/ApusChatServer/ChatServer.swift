public import ApusConnectivity
import ApusSocketIOServer
import Foundation
import Hummingbird
public import Logging
import NIOConcurrencyHelpers
import NIOCore
public import ServiceLifecycle

/// A complete chat server: accounts, conversations, blobs, Socket.IO and the page, with one SQLite
/// file and a folder for its data.
///
/// `run` serves until its task is cancelled or its service group shuts down. On a graceful
/// shutdown, it stops accepting connections, sends `bye` to all clients, commits queued writes and
/// returns.
public final class ChatServer: Service {
    /// An address on which the server listens.
    public struct Address: Hashable, Sendable, CustomStringConvertible {
        /// `http` or `https`.
        public var scheme: String
        /// The configured host.
        public var host: String
        /// The port, chosen by the system when 0 was configured.
        public var port: Int
        /// The fingerprint of the server's certificate, for clients that pin it; `nil` without
        /// TLS.
        public var certificate: CertificateFingerprint?
        /// The URL for a browser or a client.
        public var url: String { "\(self.scheme)://\(self.host.contains(":") ? "[\(self.host)]" : self.host):\(self.port)" }
        /// The URL.
        public var description: String { self.url }
    }

    private let configuration: ChatServerConfiguration
    private let logger: Logger

    /// Creates a server, which does not start until `run`.
    public init(configuration: ChatServerConfiguration, logger: Logger = Logger(label: "apus.chat.server")) {
        self.configuration = configuration
        self.logger = logger
    }

    /// Runs the server.
    public func run() async throws { try await self.run(onListening: { _ in }) }

    /// Runs the server and reports its addresses once, when all listeners are ready.
    /// - Throws: `ChatServerError` or `ChatStoreError` if the server cannot start.
    public func run(onListening: @escaping @Sendable ([Address]) -> Void) async throws {
        let parts = try ChatServerParts(configuration: self.configuration, logger: self.logger)
        do {
            try await self.serve(parts, onListening)
        } catch {
            await parts.close()
            throw error
        }
        await parts.close()
    }

    private func serve(_ parts: ChatServerParts, _ onListening: @escaping @Sendable ([Address]) -> Void) async throws {
        if self.configuration.demo {
            try await DemoAccounts(store: parts.store, cost: self.configuration.passwordCost).make()
        }
        let listeners = try self.listeners()
        // `nil` for an optional listener that did not start.
        let (addresses, continuation) = AsyncStream.makeStream(of: Address?.self)
        try await withThrowingTaskGroup(of: Part.self) { group in
            for listener in listeners {
                let application = parts.application(on: listener, configuration: self.configuration, logger: self.logger) {
                    continuation.yield($0)
                }
                group.addTask {
                    do { try await application.run() } catch {
                        let error = Self.explain(error, listener)
                        guard listener.isOptional, (error as? ChatServerError)?.code == .addressInUse else { throw error }
                        self.logger.warning(
                            "TLS port in use; listening without TLS", metadata: ["chat.tls-port": "\(listener.port)"])
                        continuation.yield(nil)
                    }
                    return .listener
                }
            }
            group.addTask {
                var all: [Address?] = []
                for await address in addresses {
                    all.append(address)
                    if all.count == listeners.count { break }
                }
                if all.count == listeners.count { onListening(all.compactMap { $0 }.sorted { $0.scheme < $1.scheme }) }
                return .other
            }
            group.addTask {
                try? await parts.ticking()
                return .other
            }
            group.addTask {
                guard (try? await gracefulShutdown()) != nil else { return .other }
                await parts.announceEnd()
                return .other
            }
            var running = listeners.count
            while running > 0, let part = try await group.next() { if part == .listener { running -= 1 } }
            continuation.finish()
            group.cancelAll()
        }
    }

    private enum Part { case listener, other }

    private func listeners() throws -> [ChatServerParts.Listener] {
        let host = self.configuration.host
        var plain = ChatServerParts.Listener(scheme: "http", host: host, port: self.configuration.port, tls: nil)
        var secure: ChatServerParts.Listener?
        do {
            switch self.configuration.tls.value {
            case .off: break
            case .selfSigned(let port, let isOptional):
                let identity = try ServerIdentity.selfSigned(host: host, now: Date())
                // Without the other listener, it is not optional.
                secure = .init(
                    scheme: "https", host: host, port: port, tls: try identity.context(), certificate: identity.fingerprint,
                    isOptional: isOptional && self.configuration.listensWithoutTLS)
            case .files(let port, let certificates, let key):
                let identity = try ServerIdentity(certificates: certificates, key: key)
                let boundPort = NIOLockedValueBox<Int?>(nil)
                secure = .init(
                    scheme: "https", host: host, port: port, tls: try identity.context(), certificate: identity.fingerprint,
                    boundPort: boundPort)
                plain.transport = .redirects(port: boundPort)
                if self.configuration.isStrict(tlsPort: port) { secure?.transport = .strict }
            }
        } catch {
            throw ChatServerError(
                .certificate, message: "the certificate or its key cannot be used: \(ConnectivityError.reason(of: error))")
        }
        guard self.configuration.listensWithoutTLS else {
            guard let secure else {
                throw ChatServerError(.cannotListen, message: "`listensWithoutTLS` must be true if `tls` is off")
            }
            return [secure]
        }
        return [plain] + (secure.map { [$0] } ?? [])
    }

    private static func explain(_ error: any Error, _ listener: ChatServerParts.Listener) -> any Error {
        guard let error = error as? IOError else { return error }
        if error.errnoCode == EADDRINUSE {
            return ChatServerError(
                .addressInUse, message: "port \(listener.port) on \(listener.host) is taken by another program; choose another",
                port: listener.port)
        }
        return ChatServerError(
            .cannotListen, message: "cannot listen on \(listener.host) port \(listener.port): \(ConnectivityError.reason(of: error))")
    }
}
