import ApusChatServer
import ApusWebSocket
import ArgumentParser
import Foundation
import NIOCore
import NIOSSL

extension WebSocketCommand {
    /// Echoes until a signal comes.
    func runServer(at address: WebSocketListenAddress) async throws {
        var lines: [String] = []
        var context: NIOSSLContext?
        if self.tls || self.certificate != nil {
            let identity = try self.identity(for: address)
            context = try identity.context()
            lines.append("certificate sha256 \(identity.fingerprint)")
        }
        let server = WebSocketEchoServer(address: address, tls: context, limits: WebSocketLimits(maximumMessageBytes: self.maxMessage))
        let scheme = context == nil ? "ws" : "wss"
        try await withThrowingTaskGroup(of: Void.self) { [lines] group in
            group.addTask {
                try await server.run { bound in
                    // At once, also into a pipe: whoever started the server waits for the last of these lines.
                    let all = lines + ["listening on \(Self.description(of: bound, scheme: scheme))"]
                    FileHandle.standardOutput.write(Data((all.joined(separator: "\n") + "\n").utf8))
                }
            }
            group.addTask { _ = await TerminationSignals.wait() }
            _ = try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func identity(for address: WebSocketListenAddress) throws -> ServerIdentity {
        if let certificate = self.certificate, let key = self.key { return try ServerIdentity(certificates: certificate, key: key) }
        switch address {
        case .tcp(let host, _): return try ServerIdentity.selfSigned(host: host, now: Date())
        case .unix: return try ServerIdentity.selfSigned(host: "localhost", now: Date())
        }
    }

    static func description(of address: SocketAddress, scheme: String) -> String {
        guard let ip = address.ipAddress, let port = address.port else { return "unix:\(address.pathname ?? "")" }
        return "\(scheme)://\(ip.contains(":") ? "[\(ip)]" : ip):\(port)"
    }
}
