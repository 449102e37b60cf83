/// Why a transfer failed. Its connection goes on.
public struct TransferError: Error, Hashable, CustomStringConvertible {
    /// The kind of an error. More may be added; switch with a `default`.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The name on the wire.
        public let rawValue: String

        /// A code by its name on the wire; a later version may have names of its own.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The name of the file cannot stand below the receiver's folder.
        public static let nameRefused = Self(rawValue: "name-refused")
        /// Another sender is at the same upload.
        public static let busy = Self(rawValue: "busy")
        /// More than the receiver takes: of one file, of a session, in all, or at a time.
        public static let quota = Self(rawValue: "quota")
        /// The receiver's disk is full, or would be.
        public static let diskFull = Self(rawValue: "disk-full")
        /// The receiver could not write, sync or rename.
        public static let storage = Self(rawValue: "storage")
        /// The sender could not read, or its file changed while it was sent.
        public static let source = Self(rawValue: "source")
        /// What arrived is not what was sent, and asking again did not help.
        public static let corrupted = Self(rawValue: "corrupted")
        /// The other side took too long.
        public static let timeout = Self(rawValue: "timeout")
        /// The connection ended. What is durable stays: the next one goes on from there.
        public static let interrupted = Self(rawValue: "interrupted")
        /// Either side gave the transfer up.
        public static let cancelled = Self(rawValue: "cancelled")
        /// The other side broke the rules of transfers.
        public static let protocolViolation = Self(rawValue: "protocol-violation")
        /// The receiver does not take this file, or none of this sender's.
        public static let refused = Self(rawValue: "refused")
        /// The other side takes no transfers.
        public static let notSupported = Self(rawValue: "not-supported")

        /// The name on the wire.
        public var description: String { self.rawValue }
    }

    /// The kind of the error.
    public var code: Code
    /// What happened, with the numbers. Never a path of ours or a name of the peer's.
    public var message: String

    /// An error of the given kind.
    public init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// Code and message on one line.
    public var description: String { "\(self.code): \(self.message)" }
}
