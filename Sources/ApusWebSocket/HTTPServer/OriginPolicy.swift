import ApusBytes

/// The web page origins that may access a server by WebSocket, Engine.IO or Socket.IO.
///
/// A browser sends the page's origin in `Origin`, and sends cookies regardless of the page. Without
/// this check, any page can act on behalf of its visitor (cross-site WebSocket hijacking,
/// CVE-2020-28481).
///
/// Source: RFC 6455 section 10.2, RFC 6454 section 7.
public enum OriginPolicy: Sendable, Hashable {
    /// Only pages from the same host and port. The default.
    case sameOrigin
    /// The listed origins, such as `https://app.example.com`, and the same origin. Origins are compared
    /// exactly. Responses to listed origins contain CORS headers that allow credentials.
    case list(Set<String>)
    /// Every page. CORS headers contain `*` and allow no credentials.
    case any

    package enum Verdict: Equatable, Sendable {
        case allowed(cors: String?, credentials: Bool)
        case refused
    }

    /// Evaluates a request.
    ///
    /// - Parameters:
    ///   - origin: The `Origin` field, if any.
    ///   - authority: The `Host` of the request.
    ///   - carriesCookie: Whether the request contains a cookie. Such a request is refused without
    ///     an origin, except by ``any``, because every browser sends the origin of a WebSocket
    ///     request. A plain GET of the same origin has no `Origin`, so HTTP polling passes `false`.
    package func judge(origin: String?, authority: String?, carriesCookie: Bool = false) -> Verdict {
        guard let origin else {
            guard !carriesCookie || self == .any else { return .refused }
            return .allowed(cors: self == .any ? "*" : nil, credentials: false)
        }
        // Exact comparison: `example.com.evil.org` is not `example.com`, and the opaque origin
        // `null` never matches.
        let isSame =
            authority.map { origin.equalsIgnoringASCIICase("http://\($0)") || origin.equalsIgnoringASCIICase("https://\($0)") } ?? false
        switch self {
        case .any: return .allowed(cors: "*", credentials: false)
        case .sameOrigin: return isSame ? .allowed(cors: nil, credentials: false) : .refused
        case .list(let origins):
            // `Set` compares strings by canonical equivalence (Unicode); the origins must also be
            // equal byte by byte.
            let isListed = origins.firstIndex(of: origin).map { origins[$0].hasSameBytes(as: origin) } ?? false
            if isListed, origin != "null" { return .allowed(cors: origin, credentials: true) }
            return isSame ? .allowed(cors: nil, credentials: false) : .refused
        }
    }
}
