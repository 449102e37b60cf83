public import ApusEngineIOProtocol
public import HTTPTypes

/// A request that was refused. The reference server's `connection_error`.
public struct EngineIOConnectionError: Error, Sendable, CustomStringConvertible {
    /// The request. It may hold a secret of the client's: do not log it whole.
    public let request: HTTPRequest
    /// The number in the answer: 0 unknown transport, 1 unknown session, 2 bad method, 3 bad request, 4 forbidden, 5 unsupported version.
    public let number: Int
    /// What was wrong; its cause says more.
    public let error: EngineIOError

    /// The same in words, without the request.
    public var description: String { "\(self.number): \(self.error)" }
}
