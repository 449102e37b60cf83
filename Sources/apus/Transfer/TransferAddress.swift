import ApusFramedSocket
import Foundation
import NIOCore

/// A receiver's address, as `apus receive` prints it and `apus send` takes it.
enum TransferAddress {
    /// A PHS on the keys of a telephone.
    static let standardPort = 2787

    /// The address to tell others: that of this machine when it listens on all of them.
    static func shareable(_ address: SocketAddress) -> String {
        guard let ip = address.ipAddress, let port = address.port else { return "unix:\(address.pathname ?? "")" }
        let isWildcard = ip == "0.0.0.0" || ip == "::"
        return self.text(isWildcard ? self.ownAddress ?? ip : ip, port)
    }

    static func text(_ address: SocketAddress) -> String {
        guard let ip = address.ipAddress, let port = address.port else { return "unix:\(address.pathname ?? "")" }
        return self.text(ip, port)
    }

    private static func text(_ host: String, _ port: Int) -> String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    private static var ownAddress: String? {
        let devices = (try? System.enumerateDevices()) ?? []
        let addresses = devices.compactMap { $0.address }.filter { !$0.isLocal }
        return (addresses.first { $0.protocol == .inet } ?? addresses.first)?.ipAddress
    }
}

extension SocketAddress {
    /// An address that nobody on another machine can use; Docker's bridge is one.
    fileprivate var isLocal: Bool {
        guard let ip = self.ipAddress else { return true }
        return ip.hasPrefix("127.") || ip == "::1" || ip.hasPrefix("169.254.") || ip.lowercased().hasPrefix("fe80:")
            || ip.hasPrefix("172.17.")
    }
}

extension FramedClient {
    /// Opens a connection to where a receiver listens.
    static func connect(to address: ListenAddress, configuration: FramedClientConfiguration) async throws -> FramedConnection {
        switch address {
        case .tcp(let host, let port): try await self.connect(host: host, port: port, configuration: configuration)
        case .unix(let path): try await self.connect(unixDomainSocketPath: path, configuration: configuration)
        }
    }
}
