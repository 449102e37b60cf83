public import HTTPTypes
import NIOCore

/// The response to a refused handshake. ``WebSocketServerConfiguration/shouldUpgrade`` and the
/// server's own checks throw it.
public struct WebSocketUpgradeRefusal: Error, Hashable, CustomStringConvertible {
    /// The status: 400 to 599.
    public var status: HTTPResponse.Status
    /// Additional fields. The server itself sets `Content-Type`, `Content-Length` and `Connection`.
    public var headerFields: HTTPFields
    /// The body: an explanation for the developer of the client.
    public var message: String

    /// Creates a refusal.
    ///
    /// - Parameters:
    ///   - status: The status, for example 401 or 403. A status outside 400 to 599 is sent as 403.
    ///   - message: The body.
    ///   - headerFields: Additional fields, for example `WWW-Authenticate`. Default: none.
    public init(_ status: HTTPResponse.Status, message: String, headerFields: HTTPFields = [:]) {
        self.status = status
        self.message = message
        self.headerFields = headerFields
    }

    /// Returns a refusal with 401. The default body is "Unauthorized".
    public static func unauthorized(_ message: String = "Unauthorized") -> Self { Self(.unauthorized, message: message) }

    /// Returns a refusal with 403. The default body is "Forbidden".
    public static func forbidden(_ message: String = "Forbidden") -> Self { Self(.forbidden, message: message) }

    /// Returns a refusal with 503 and the time after which the client may retry.
    ///
    /// - Parameters:
    ///   - message: The body.
    ///   - retryAfter: The time, sent in whole seconds and rounded up (RFC 9110 section 10.2.3).
    public static func unavailable(_ message: String, retryAfter: Duration) -> Self {
        Self(.serviceUnavailable, message: message, headerFields: Self.retryFields(retryAfter))
    }

    /// Returns a refusal with 429 and the time after which the client may retry.
    ///
    /// - Parameters:
    ///   - message: The body.
    ///   - retryAfter: The time, sent in whole seconds and rounded up (RFC 9110 section 10.2.3).
    public static func tooManyConnections(_ message: String, retryAfter: Duration) -> Self {
        Self(.tooManyRequests, message: message, headerFields: Self.retryFields(retryAfter))
    }

    private static func retryFields(_ duration: Duration) -> HTTPFields {
        let (seconds, attoseconds) = duration.components
        return [.retryAfter: String(max(0, attoseconds > 0 ? seconds + 1 : seconds))]
    }

    /// The status and the message, on one line.
    public var description: String { "\(self.status.code): \(self.message)" }

    /// The response to write. The connection must close after it, because the client may send
    /// frames next.
    package var response: HTTPResponse {
        let isRefusal = (400...599).contains(self.status.code)
        var response = HTTPResponse(status: isRefusal ? self.status : .forbidden, headerFields: self.headerFields)
        response.headerFields[.contentType] = "text/plain; charset=UTF-8"
        response.headerFields[.contentLength] = String(self.message.utf8.count)
        response.headerFields[.connection] = "close"
        return response
    }
}
