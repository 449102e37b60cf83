public import HTTPTypes
import NIOCore

/// What a client is answered instead of 101. Thrown by ``WebSocketServerConfiguration/shouldUpgrade``, and by the server's own checks.
public struct WebSocketUpgradeRefusal: Error, Hashable, CustomStringConvertible {
    /// The status: 400 to 599.
    public var status: HTTPResponse.Status
    /// Fields beside `Content-Type`, `Content-Length` and `Connection`, which are the server's own.
    public var headerFields: HTTPFields
    /// The body, a text for whoever debugs the client.
    public var message: String

    /// A refusal.
    ///
    /// - Parameters:
    ///   - status: 401 and 403 are the usual ones. Another than 400 to 599 is sent as 403: the request does not become something else.
    ///   - message: The body.
    ///   - headerFields: For example `WWW-Authenticate`.
    public init(_ status: HTTPResponse.Status, message: String, headerFields: HTTPFields = [:]) {
        self.status = status
        self.message = message
        self.headerFields = headerFields
    }

    /// 401.
    public static func unauthorized(_ message: String = "Unauthorized") -> Self { Self(.unauthorized, message: message) }

    /// 403.
    public static func forbidden(_ message: String = "Forbidden") -> Self { Self(.forbidden, message: message) }

    /// 503, with the time after which the client may try again.
    ///
    /// - Parameters:
    ///   - message: For whoever reads the answer.
    ///   - retryAfter: Whole seconds are sent, rounded up (RFC 9110 10.2.3).
    public static func unavailable(_ message: String, retryAfter: Duration) -> Self {
        Self(.serviceUnavailable, message: message, headerFields: Self.retryFields(retryAfter))
    }

    /// 429, with the time after which the client may try again.
    public static func tooManyConnections(_ message: String, retryAfter: Duration) -> Self {
        Self(.tooManyRequests, message: message, headerFields: Self.retryFields(retryAfter))
    }

    private static func retryFields(_ duration: Duration) -> HTTPFields {
        let (seconds, attoseconds) = duration.components
        return [.retryAfter: String(max(0, attoseconds > 0 ? seconds + 1 : seconds))]
    }

    /// Status and message on one line.
    public var description: String { "\(self.status.code): \(self.message)" }

    /// The response to write. It ends the connection: nothing is known about what the client would send next.
    package var response: HTTPResponse {
        let isRefusal = (400...599).contains(self.status.code)
        var response = HTTPResponse(status: isRefusal ? self.status : .forbidden, headerFields: self.headerFields)
        response.headerFields[.contentType] = "text/plain; charset=UTF-8"
        response.headerFields[.contentLength] = String(self.message.utf8.count)
        response.headerFields[.connection] = "close"
        return response
    }
}
