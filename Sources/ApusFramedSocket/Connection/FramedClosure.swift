public import ApusFramedProtocol

/// How a connection ended.
public struct FramedClosure: Sendable, Hashable {
    /// Who ended it.
    public enum Initiator: Sendable, Hashable {
        /// Our own code called `close` or `abort`.
        case ourselves
        /// The peer said goodbye; in the fixed mode, it ended the connection between two messages.
        case peer
        /// Neither: the connection failed.
        case failure
    }

    /// Who ended it.
    public var initiator: Initiator
    /// What failed, when something did.
    public var error: FramedError?

    /// An end, for tests of your own.
    public init(initiator: Initiator, error: FramedError? = nil) {
        self.initiator = initiator
        self.error = error
    }

    /// Whether this is a drop in the sense of SocketDemo: an end our own code did not ask for.
    public var isDrop: Bool { self.initiator != .ourselves }
}
