/// A cookie with the session id, set by the first response of a session.
///
/// Load balancers use the cookie for session affinity. The server does not read it.
public struct EngineIOCookie: Sendable, Hashable {
    /// The `SameSite` attribute of a cookie.
    public enum SameSite: String, Sendable, Hashable {
        /// Cross-site requests never carry the cookie.
        case strict = "Strict"
        /// Cross-site requests carry the cookie only when the user follows a link.
        case lax = "Lax"
        /// All requests carry the cookie. Browsers also require ``EngineIOCookie/isSecure``.
        case none = "None"
    }

    /// The name. Default: `io`, as in Node's engine.io.
    public var name = "io"
    /// The `Path` attribute. Default: `/`. `nil` omits it.
    public var path: String? = "/"
    /// The `Domain` attribute. Default: `nil`, only the host that set the cookie.
    public var domain: String?
    /// The lifetime, in whole seconds. Default: `nil`, until the browser closes.
    public var maximumAge: Duration?
    /// Whether scripts cannot read the cookie. Default: `true`.
    public var isHTTPOnly = true
    /// Whether the cookie is sent over TLS only. Default: `false`.
    public var isSecure = false
    /// The `SameSite` attribute. Default: `lax`. `nil` omits it.
    public var sameSite: SameSite? = .lax

    /// Creates a configuration with default values.
    public init() {}

    /// Returns the value of `Set-Cookie`.
    func header(value: String) -> String {
        var text = "\(self.name)=\(value)"
        if let maximumAge { text += "; Max-Age=\(maximumAge.components.seconds)" }
        if let domain { text += "; Domain=\(domain)" }
        if let path { text += "; Path=\(path)" }
        if self.isHTTPOnly { text += "; HttpOnly" }
        if self.isSecure { text += "; Secure" }
        if let sameSite { text += "; SameSite=\(sameSite.rawValue)" }
        return text
    }

    /// Whether name, path and domain are valid in `Set-Cookie` (RFC 6265 section 4.1.1).
    var isValid: Bool {
        let nameIsToken =
            !self.name.isEmpty
            && self.name.utf8.allSatisfy { (0x21...0x7e).contains($0) && !#"()<>@,;:\"/[]?={}"#.utf8.contains($0) }
        return nameIsToken
            && [self.path, self.domain].allSatisfy { text in
                text?.utf8.allSatisfy { (0x20...0x7e).contains($0) && $0 != UInt8(ascii: ";") } ?? true
            }
    }
}
