import ApusChatProtocol
import HTTPTypes
import Hummingbird

/// Keeps the session of the server's own page in cookies that scripts cannot read.
///
/// The page requests them with the field `Chat-Session: cookie`, which pages of other origins
/// cannot send. The names contain the port, because cookies do not distinguish ports. Over TLS they
/// have the prefix `__Host-` (RFC 6265bis section 4.1.3), so that no other host of the domain can
/// set them.
struct SessionCookies: Sendable {
    /// The text that replaces a token in an answer whose tokens are in cookies.
    static let placeholder = "cookie"

    private let port: String
    private let isSecure: Bool

    /// Creates the cookies for a request that changes data. Nil if the `Origin` field of the
    /// request is absent or is not the origin of the server.
    ///
    /// Browsers send `Origin` with each request that can change data.
    init?(changing request: Request) {
        guard let origin = request.headers[.origin], let authority = request.head.authority, let end = origin.firstRange(of: "://"),
            origin[end.upperBound...].lowercased() == authority.lowercased()
        else { return nil }
        switch origin[..<end.lowerBound] {
        case "https": self.init(authority: authority, isSecure: true)
        case "http": self.init(authority: authority, isSecure: false)
        default: return nil
        }
    }

    private init(authority: String, isSecure: Bool) {
        let port = authority.last == "]" ? nil : authority.split(separator: ":", omittingEmptySubsequences: false).dropFirst().last
        self.port = port.map(String.init) ?? (isSecure ? "443" : "80")
        self.isSecure = isSecure
    }

    /// Returns the access token of the cookie of a request without an `Authorization` field; nil if
    /// it has no such cookie.
    ///
    /// - Throws: `forbidden` if the request has the cookie and comes from another origin.
    static func access(of request: Request) throws(ChatError) -> String? {
        guard request.headers[values: .cookie].contains(where: { $0.contains("apus-access-") }) else { return nil }
        let refusal = ChatError(
            .forbidden, message: "A request with the session cookie must come from a page of this server (`Origin`, `Sec-Fetch-Site`).")
        guard request.method == .get || request.method == .head else {
            guard let cookies = Self(changing: request) else { throw refusal }
            return cookies.value("access", of: request)
        }
        if let site = request.headers[.fetchSite], site != "same-origin", site != "none" { throw refusal }
        guard let authority = request.head.authority else { return nil }
        return Self(authority: authority, isSecure: true).value("access", of: request)
            ?? Self(authority: authority, isSecure: false).value("access", of: request)
    }

    func value(_ name: String, of request: Request) -> String? {
        let name = self.name(name) + "="
        for field in request.headers[values: .cookie] {
            for pair in field.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                if pair.hasPrefix(name) { return String(pair.dropFirst(name.count)) }
            }
        }
        return nil
    }

    private func name(_ name: String) -> String { "\(self.isSecure ? "__Host-" : "")apus-\(name)-\(self.port)" }

    /// Returns a response in which the tokens of an answer are in cookies.
    func take(_ answer: SessionAnswer, lifetime: Int64) throws -> Response {
        var body = answer
        (body.access, body.refresh, body.known) = (Self.placeholder, Self.placeholder, nil)
        var response = try Response.json(body)
        self.set("access", answer.access, seconds: lifetime / 1_000, &response)
        self.set("refresh", answer.refresh, seconds: lifetime / 1_000, &response)
        if let known = answer.known { self.set("known", known, seconds: 31_536_000, &response) }
        return response
    }

    /// Removes the tokens. The cookie that marks a known device remains.
    func remove(from response: inout Response) {
        self.set("access", "", seconds: 0, &response)
        self.set("refresh", "", seconds: 0, &response)
    }

    private func set(_ name: String, _ value: String, seconds: Int64, _ response: inout Response) {
        let attributes = "; Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict" + (self.isSecure ? "; Secure" : "")
        response.headers.append(HTTPField(name: .setCookie, value: self.name(name) + "=" + value + attributes))
    }
}
