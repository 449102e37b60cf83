import ApusConnectivity
import Foundation
import NIOCore

/// Formats a receiver's address as `apus receive` prints it and `apus send` accepts it.
enum TransferAddress {
    /// The default port: the digits of the letters APUS on a telephone keypad.
    static let standardPort = 2787

    /// Returns the address that a sender can use. If the receiver listens on all addresses, this is
    /// one of the machine's addresses.
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
    /// Whether other machines cannot use the address: loopback, link-local, or in the range of
    /// Docker's default bridge.
    fileprivate var isLocal: Bool {
        guard let ip = self.ipAddress else { return true }
        return ip.hasPrefix("127.") || ip == "::1" || ip.hasPrefix("169.254.") || ip.lowercased().hasPrefix("fe80:")
            || ip.hasPrefix("172.17.")
    }
}

extension ListenAddress {
    /// The address as the target of a connection.
    var target: Dialer.Target {
        switch self {
        case .tcp(let host, let port): .host(host, port: port)
        case .unix(let path): .unixSocket(path: path)
        }
    }
}
