/// An error of a file transfer. The connection remains usable.
public struct TransferError: Error, Hashable, CustomStringConvertible {
    /// The kind of an error. More kinds may be added; switch with a `default`.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The name on the wire.
        public let rawValue: String

        /// Creates a code from its name on the wire. Later versions may define other names.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The name of the file is not allowed below the receiver's folder.
        public static let nameRefused = Self(rawValue: "name-refused")
        /// The same upload is already in progress, for instance over another connection.
        public static let busy = Self(rawValue: "busy")
        /// A limit of the receiver is exceeded: per file, per connection, in total, or of
        /// concurrent transfers.
        public static let quota = Self(rawValue: "quota")
        /// The receiver's disk is full, or does not have enough space for the file.
        public static let diskFull = Self(rawValue: "disk-full")
        /// The receiver could not write, sync or rename the file.
        public static let storage = Self(rawValue: "storage")
        /// The sender could not read the file, or the file changed during the transfer.
        public static let source = Self(rawValue: "source")
        /// The received data differs from the sent data, and resending did not correct it.
        public static let corrupted = Self(rawValue: "corrupted")
        /// The other side did not make progress in time.
        public static let timeout = Self(rawValue: "timeout")
        /// The connection ended. Durable data is kept, and the transfer can resume after it over
        /// the next connection.
        public static let interrupted = Self(rawValue: "interrupted")
        /// Either side cancelled the transfer.
        public static let cancelled = Self(rawValue: "cancelled")
        /// The other side violated the transfer protocol.
        public static let protocolViolation = Self(rawValue: "protocol-violation")
        /// The receiver rejects this file, or all files of this sender.
        public static let refused = Self(rawValue: "refused")
        /// The other side does not support file transfers.
        public static let notSupported = Self(rawValue: "not-supported")

        /// The name on the wire.
        public var description: String { self.rawValue }
    }

    /// The kind of the error.
    public var code: Code
    /// A description with the values and limits. It never contains a local path. It contains text
    /// of the peer only if the other side reported the error, shortened and on one line.
    public var message: String

    /// Creates an error of the given kind.
    ///
    /// - Parameters:
    ///   - code: The kind of the error.
    ///   - message: A description with the values and limits.
    public init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message on one line.
    public var description: String { "\(self.code): \(self.message)" }
}
