import ArgumentParser
import NIOCore

/// The address on which a command listens: `HOST:PORT`, `PORT`, `[IPV6]:PORT` or `unix:PATH`.
enum ListenAddress: ExpressibleByArgument, Equatable {
    case tcp(host: String, port: Int)
    case unix(path: String)

    init?(argument: String) {
        if argument.hasPrefix("unix:") {
            let path = String(argument.dropFirst(5))
            guard !path.isEmpty else { return nil }
            self = .unix(path: path)
            return
        }
        let colon = argument.lastIndex(of: ":")
        var host = colon.map { argument[..<$0] } ?? ""
        let portText = colon.map { argument[argument.index(after: $0)...] } ?? argument[...]
        guard let port = UInt16(portText) else { return nil }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil  // an IPv6 address without brackets: the port is ambiguous
        }
        // Without a host, use the loopback address, to which only this machine can connect.
        self = .tcp(host: host.isEmpty ? "127.0.0.1" : String(host), port: Int(port))
    }

    var defaultValueDescription: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}

extension ListenAddress {
    /// Returns the address, and whether only this machine can connect to it.
    ///
    /// A host name of a loopback address is replaced by that address, so that the command listens
    /// on the address that was checked.
    func resolved() -> (address: ListenAddress, isLoopback: Bool) {
        switch self {
        case .unix: return (self, true)
        case .tcp(let host, let port):
            guard let address = try? SocketAddress.makeAddressResolvingHost(host, port: port), address.isLoopback,
                let ip = address.ipAddress
            else { return (self, false) }
            return (.tcp(host: ip, port: port), true)
        }
    }
}

extension SocketAddress {
    /// Whether the address is in 127.0.0.0/8 (RFC 1122 section 3.2.1.3), also as an IPv4-mapped
    /// address, or is ::1 (RFC 4291 section 2.5.3). `true` for a Unix socket.
    var isLoopback: Bool {
        // `ipAddress` is formatted by `inet_ntop`, which returns a unique text for each address.
        guard let ip = self.ipAddress else { return true }
        return ip == "::1" || (ip.hasPrefix("::ffff:") ? ip.dropFirst(7) : ip[...]).hasPrefix("127.")
    }
}
