import ApusBytes
import ApusConnectivity
import ApusEngineIOProtocol

/// The request targets of a server's transports.
struct EngineIOClientAddress: Sendable {
    /// The origin of the server.
    let origin: HTTPOrigin
    private let target: String
    /// The version that `EIO` in the query requests.
    var version: EngineIOVersion

    /// Parses an `http`, `https`, `ws` or `wss` URL. Combines the query of the URL with the query
    /// of the attempt. Ignores the path of the URL, which is the namespace in Socket.IO.
    init(
        _ url: String, attempt: EngineIOClientConfiguration.Attempt, version: EngineIOClientConfiguration.ProtocolVersion
    ) throws(EngineIOError) {
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else {
            throw EngineIOError(
                .badRequest, message: "\"\(url)\" is not a URL; use http://host:port, and percent-encode non-ASCII characters")
        }
        let isSecure: Bool
        switch url[..<colon].asciiLowercased {
        case "http", "ws": isSecure = false
        case "https", "wss": isSecure = true
        case let scheme: throw EngineIOError(.badRequest, message: "the scheme of the URL must be http, https, ws or wss, not \(scheme)")
        }
        let rest = url[colon...].dropFirst(3)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        do throws(ConnectivityError) { self.origin = try HTTPOrigin(isSecure: isSecure, authority: authority) } catch {
            throw EngineIOError(.badRequest, message: error.message, cause: error)
        }
        let path = attempt.path
        guard !path.isEmpty else { throw EngineIOError(.badRequest, message: "`path` must not be empty; the default is `/socket.io/`") }
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), !path.contains("?"), !path.contains("#") else {
            throw EngineIOError(.badRequest, message: "`path` \"\(path)\" contains characters that must be percent-encoded")
        }
        var target = (path.hasPrefix("/") ? "" : "/") + path + "?"
        if let question = rest.firstIndex(of: "?") {
            let query = rest[question...].dropFirst().prefix { $0 != "#" }
            if !query.isEmpty { target += query + "&" }
        }
        for (name, value) in attempt.query.sorted(by: { $0.key < $1.key }) {
            target += QueryString.percentEncoded(name) + "=" + QueryString.percentEncoded(value) + "&"
        }
        self.target = target
        self.version = version == .v3 ? .v3 : .v4
    }

    /// Returns the target of polling requests.
    func polling(sid: String?) -> String {
        "\(self.target)EIO=\(self.version.number)&transport=polling\(Self.session(sid))"
    }

    /// Returns the URL of the WebSocket.
    func webSocket(sid: String?) -> String {
        "\(self.origin.isSecure ? "wss" : "ws")://\(self.origin.authority)\(self.target)EIO=\(self.version.number)&transport=websocket"
            + Self.session(sid)
    }

    /// Percent-encodes the sid, which the server chose, so that it cannot alter the request.
    private static func session(_ sid: String?) -> String {
        guard let sid else { return "" }
        return "&sid=" + QueryString.percentEncoded(sid)
    }
}
