import ApusBytes

/// Which pages of a browser may talk to a server: the one policy of WebSocket, Engine.IO and Socket.IO.
///
/// A browser tells with `Origin` which page opened a connection, and sends its cookies along whatever page that is: without this check any
/// page can act in its visitor's name (cross-site WebSocket hijacking, CVE-2020-28481).
///
/// Source: RFC 6455 10.2, RFC 6454 7.
public enum OriginPolicy: Sendable, Hashable {
    /// Only pages that came from the same host and port. The default.
    case sameOrigin
    /// These origins, compared whole (`https://app.example.com`), and the same origin. They get CORS headers, credentials allowed.
    case list(Set<String>)
    /// Every page. CORS answers `*`, without credentials.
    case any

    package enum Verdict: Equatable, Sendable {
        case allowed(cors: String?, credentials: Bool)
        case refused
    }

    /// Judges a request.
    ///
    /// - Parameters:
    ///   - origin: The `Origin` field, if any.
    ///   - authority: The `Host` the request was sent to.
    ///   - carriesCookie: Whether a request without an origin shall be refused because it carries a cookie. Every browser names the origin
    ///     of a WebSocket, so a cookie without one was sent by something else. (It does not name it in a plain GET of the same origin:
    ///     HTTP polling passes `false`.)
    package func judge(origin: String?, authority: String?, carriesCookie: Bool = false) -> Verdict {
        guard let origin else {
            guard !carriesCookie || self == .any else { return .refused }
            return .allowed(cors: self == .any ? "*" : nil, credentials: false)
        }
        // Whole comparison: `example.com.evil.org` is not `example.com`, and the opaque origin `null` is nobody.
        let isSame =
            authority.map { origin.equalsIgnoringASCIICase("http://\($0)") || origin.equalsIgnoringASCIICase("https://\($0)") } ?? false
        switch self {
        case .any: return .allowed(cors: "*", credentials: false)
        case .sameOrigin: return isSame ? .allowed(cors: nil, credentials: false) : .refused
        case .list(let origins):
            // The set finds canonically equivalent texts; the bytes decide.
            let isListed = origins.firstIndex(of: origin).map { origins[$0].hasSameBytes(as: origin) } ?? false
            if isListed, origin != "null" { return .allowed(cors: origin, credentials: true) }
            return isSame ? .allowed(cors: nil, credentials: false) : .refused
        }
    }
}
