import ApusWebSocket
import HTTPTypes

/// What pages of other origins may do, once `origins` lets them in. Source: the Fetch standard, "CORS protocol".
public struct EngineIOCORS: Sendable, Hashable {
    /// The methods a page may use. Default: GET and POST; nothing else is of use here.
    public var methods = ["GET", "POST"]
    /// The header fields a page may send. Default: `nil`, those it asks for.
    public var allowedHeaders: [String]?
    /// The header fields of an answer that a page may read, beside those every page may. Default: none.
    public var exposedHeaders: [String] = []
    /// Whether a page on the list may send cookies. Default: yes. With `origins = .any` it never may.
    public var allowsCredentials = true
    /// How long a browser may remember the answer to its preflight. Default: 10 minutes. `nil` leaves it to the browser (5 seconds).
    public var maximumAge: Duration? = .seconds(600)

    /// The defaults.
    public init() {}

    /// The fields for an answer; none when the page is of the same origin, or when no browser asks.
    func fields(for request: HTTPRequest, _ verdict: OriginPolicy.Verdict) -> HTTPFields {
        guard case .allowed(let origin?, let credentials) = verdict else { return [:] }
        var fields: HTTPFields = [.accessControlAllowOrigin: origin]
        if credentials, self.allowsCredentials { fields[.accessControlAllowCredentials] = "true" }
        if origin != "*" { fields[.vary] = "Origin" }
        if !self.exposedHeaders.isEmpty { fields[.accessControlExposeHeaders] = self.exposedHeaders.joined(separator: ", ") }
        guard request.method == .options else { return fields }
        fields[.accessControlAllowMethods] = self.methods.joined(separator: ", ")
        if let allowedHeaders {
            fields[.accessControlAllowHeaders] = allowedHeaders.joined(separator: ", ")
        } else if let asked = request.headerFields[.accessControlRequestHeaders] {
            fields[.accessControlAllowHeaders] = asked
            fields.append(HTTPField(name: .vary, value: "Access-Control-Request-Headers"))
        }
        if let maximumAge { fields[.accessControlMaxAge] = String(maximumAge.components.seconds) }
        return fields
    }
}
