import ArgumentParser

/// Where a command listens: `HOST:PORT`, `PORT`, `[IPV6]:PORT` or `unix:PATH`.
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
            return nil  // an IPv6 address without brackets: which colon is the port's?
        }
        // Only this machine unless an address says otherwise.
        self = .tcp(host: host.isEmpty ? "127.0.0.1" : String(host), port: Int(port))
    }

    var defaultValueDescription: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}
