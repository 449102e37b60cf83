public import ApusEngineIOProtocol
public import HTTPTypes

/// A refused request, as in `connection_error` of Node's engine.io.
public struct EngineIOConnectionError: Error, Sendable, CustomStringConvertible {
    /// The request. It may contain a secret of the client: do not log it as a whole.
    public let request: HTTPRequest
    /// The code in the response: 0 unknown transport, 1 unknown session, 2 bad handshake method, 3
    /// bad request, 4 forbidden, 5 unsupported version.
    public let number: Int
    /// The error, with its cause.
    public let error: EngineIOError

    /// The code and the error, without the request.
    public var description: String { "\(self.number): \(self.error)" }
}
