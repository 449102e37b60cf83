import ApusEngineIOProtocol

/// The addresses of a server's transports.
struct EngineIOClientAddress: Sendable {
    let isSecure: Bool
    private let authority: String
    private let target: String
    /// The `EIO` of the query.
    var version: EngineIOVersion

    /// Takes `http`, `https`, `ws` or `wss`; a query in the URL joins that of the configuration, a path in it is no part of the address
    /// (Socket.IO users give the namespace there).
    init(_ url: String, configuration: EngineIOClientConfiguration) throws(EngineIOError) {
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else {
            throw EngineIOError(.badRequest, message: "\"\(url)\" is not a URL: http://host:port is expected, non-ASCII percent-encoded")
        }
        switch url[..<colon].lowercased() {
        case "http", "ws": self.isSecure = false
        case "https", "wss": self.isSecure = true
        case let scheme: throw EngineIOError(.badRequest, message: "the scheme is \(scheme), not http, https, ws or wss")
        }
        let rest = url[colon...].dropFirst(3)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.isEmpty, !authority.contains("@") else {
            throw EngineIOError(.badRequest, message: "\"\(url)\" has no host, or a user name, which belongs in an Authorization header")
        }
        self.authority = String(authority)
        let path = configuration.path
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), !path.contains("?"), !path.contains("#") else {
            throw EngineIOError(.badRequest, message: "the path \"\(path)\" holds what must be percent-encoded")
        }
        var target = (path.hasPrefix("/") ? "" : "/") + path + "?"
        if let question = rest.firstIndex(of: "?") {
            let query = rest[question...].dropFirst().prefix { $0 != "#" }
            if !query.isEmpty { target += query + "&" }
        }
        for (name, value) in configuration.query.sorted(by: { $0.key < $1.key }) {
            target += QueryString.percentEncoded(name) + "=" + QueryString.percentEncoded(value) + "&"
        }
        self.target = target
        self.version = configuration.version == .v3 ? .v3 : .v4
    }

    func polling(sid: String?) -> String {
        "\(self.isSecure ? "https" : "http")://\(self.authority)\(self.target)EIO=\(self.version.number)&transport=polling\(Self.session(sid))"
    }

    func webSocket(sid: String?) -> String {
        "\(self.isSecure ? "wss" : "ws")://\(self.authority)\(self.target)EIO=\(self.version.number)&transport=websocket\(Self.session(sid))"
    }

    /// The sid is the server's: encoded, so that it cannot add to the request.
    private static func session(_ sid: String?) -> String {
        guard let sid else { return "" }
        return "&sid=" + QueryString.percentEncoded(sid)
    }
}
