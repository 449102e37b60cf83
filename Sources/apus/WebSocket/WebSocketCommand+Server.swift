import ApusCertificates
import ApusCommandSupport
import ApusConnectivity
import ApusWebSocket
import ApusWebSocketProtocol
import ArgumentParser
import Foundation
import Logging
import NIOCore

extension WebSocketCommand {
    /// Runs the echo server until a signal arrives, and then closes all connections with the code
    /// 1001.
    func runServer(at address: ListenAddress) async throws {
        FreedMemory.keep()
        var lines: [String] = []
        var settings: TLSServerSettings?
        if self.hasTLS, case .tcp(let host, _) = address {
            let identity = try self.identity(host: host)
            settings = TLSServerSettings(identity: identity)
            if let fingerprint = identity.fingerprint { lines.append("certificate sha256 \(fingerprint)") }
        }
        let scheme = settings == nil ? "ws" : "wss"
        let announce: @Sendable (SocketAddress) -> Void = { [lines] bound in
            // Written without buffering, because a parent process may wait for the last of these
            // lines.
            let all = lines + ["listening on \(Self.description(of: bound, scheme: scheme))"]
            writeStandardOutput(Data((all.joined(separator: "\n") + "\n").utf8))
        }
        let server = self.echoServer()
        try await TerminationSignals.run { [settings] in
            switch address {
            case .tcp(let host, let port): try await server.run(host: host, port: port, tls: settings, onListening: announce)
            case .unix(let path): try await server.run(unixDomainSocketPath: path, onListening: announce)
            }
        }
    }

    /// Returns a server that echoes every message on the event loop that received it. It stops
    /// reading from a client that does not read its echoes (see `flow`).
    private func echoServer() -> WebSocketServer {
        var configuration = WebSocketServerConfiguration()
        configuration.path = nil
        configuration.origins = .any  // an echo server has no secrets and no sessions to protect
        configuration.subprotocols = .custom { [spoken = self.subprotocol] offered, _ in spoken.first { offered.contains($0) } }
        configuration.maximumConnectionsPerAddress = configuration.maximumConnections  // a load generator has one address
        configuration.limits = WebSocketLimits(maximumMessageBytes: self.maxMessage)
        configuration.flow.queueLowMark = 256 << 10
        // Above the low mark, no message is read, so that at most one more message is queued.
        configuration.flow.postedBytes = 2 * configuration.flow.queueLowMark + 2 * self.maxMessage
        configuration.maximumUnfinishedBytes = max(configuration.maximumUnfinishedBytes, 4 * self.maxMessage)
        configuration.maximumTotalQueuedBytes = max(configuration.maximumTotalQueuedBytes, 8 * self.maxMessage)
        configuration.compression = self.compress ? .init() : nil
        configuration.drainTimeout = .seconds(5)
        var logger = Logger(label: "apus.ws") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        let output = self.verbose ? WebSocketOutput(isVerbose: true) : nil
        return WebSocketServer(
            configuration: configuration, logger: logger,
            onOpen: { connection in
                connection.onMessage { connection, message in connection.post(message) }
                guard let output else { return }
                let peer = connection.remoteAddress.map { Self.description(of: $0, scheme: "tcp") } ?? "client"
                output.note("\(peer) connected\(connection.subprotocol.map { ", subprotocol \($0)" } ?? "")")
                connection.onClose { output.note("\(peer) \($0)") }
            })
    }

    private func identity(host: String) throws -> TLSIdentity {
        do {
            guard let certificate = self.certificate, let key = self.key else {
                return try SelfSignedCertificate.makeIdentity(host: host, now: Date())
            }
            let identity = try TLSIdentity(certificateChainFile: certificate, privateKeyFile: key)
            _ = try TLSServerSettings(identity: identity).makeContext()  // throws for the reasons of the message below
            return identity
        } catch {
            throw ValidationError("cannot use the certificate or its key: \(ConnectivityError.reason(of: error))")
        }
    }

    var hasTLS: Bool { self.tls || self.certificate != nil }

    static func description(of address: SocketAddress, scheme: String) -> String {
        guard let ip = address.ipAddress, let port = address.port else { return "unix:\(address.pathname ?? "")" }
        return "\(scheme)://\(ip.contains(":") ? "[\(ip)]" : ip):\(port)"
    }
}
