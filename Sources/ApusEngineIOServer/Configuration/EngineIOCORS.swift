import ApusWebSocket
import HTTPTypes

/// The CORS permissions for pages of the other origins that ``EngineIOServerConfiguration/origins``
/// allows. Source: the Fetch standard, "CORS protocol".
public struct EngineIOCORS: Sendable, Hashable {
    /// The methods that a page may use. Default: GET and POST, the only ones Engine.IO uses.
    public var methods = ["GET", "POST"]
    /// The header fields that a page may send. Default: `nil`, those that the preflight requests.
    public var allowedHeaders: [String]?
    /// The response header fields that a page may read, in addition to the safelisted ones.
    /// Default: none.
    public var exposedHeaders: [String] = []
    /// Whether a page of a listed origin may send cookies. Default: `true`. Ignored with `origins =
    /// .any`, which never allows cookies.
    public var allowsCredentials = true
    /// The time for which a browser may cache the preflight response. Default: 10 minutes. `nil`
    /// omits the field; browsers then use 5 seconds.
    public var maximumAge: Duration? = .seconds(600)

    /// Creates a configuration with default values.
    public init() {}

    /// Returns the CORS fields of a response; empty for a same-origin request and for one without
    /// `Origin`.
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
