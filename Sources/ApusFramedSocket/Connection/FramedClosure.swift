public import ApusFramedProtocol

/// The reason why a connection closed.
public struct FramedClosure: Sendable, Hashable {
    /// The side that closed the connection.
    public enum Initiator: Sendable, Hashable {
        /// This side closed the connection: the application called `close`, `startClosing` or
        /// `abort`, the handler of the server ended, or the server was shut down.
        case ourselves
        /// The peer sent a bye frame or, in the fixed mode, closed the connection between two
        /// messages.
        case peer
        /// The connection failed.
        case failure
    }

    /// The side that closed the connection.
    public var initiator: Initiator
    /// The error, if the connection failed.
    public var error: FramedError?

    package init(initiator: Initiator, error: FramedError? = nil) {
        self.initiator = initiator
        self.error = error
    }

    /// Whether the connection ended without a request of the local application.
    public var isDrop: Bool { self.initiator != .ourselves }
}
