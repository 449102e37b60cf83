/// A cookie with the session's id, set by the answer a session begins with.
///
/// It is for load balancers that keep a client at one server; the server itself never reads it.
public struct EngineIOCookie: Sendable, Hashable {
    /// Whether requests that another site causes carry the cookie.
    public enum SameSite: String, Sendable, Hashable {
        /// Never.
        case strict = "Strict"
        /// Only when the visitor follows a link.
        case lax = "Lax"
        /// Always. Browsers want ``EngineIOCookie/isSecure`` with it.
        case none = "None"
    }

    /// The name. Default: `io`, as the reference server's.
    public var name = "io"
    /// The path it is sent to. Default: `/`.
    public var path: String? = "/"
    /// The domain it is sent to. Default: the host alone that set it.
    public var domain: String?
    /// How long it lives, in whole seconds. Default: as long as the browser runs.
    public var maximumAge: Duration?
    /// Whether scripts of the page cannot read it. Default: yes.
    public var isHTTPOnly = true
    /// Whether it is sent over TLS only. Default: no.
    public var isSecure = false
    /// Whether requests that another site causes carry it. Default: `lax`.
    public var sameSite: SameSite? = .lax

    /// The defaults.
    public init() {}

    /// The value of `Set-Cookie`.
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

    /// Whether the parts can stand in a `Set-Cookie`. Source: RFC 6265 4.1.1.
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
