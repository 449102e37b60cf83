/// Detects a connection that does not read, from the number of bytes that the transport has not
/// written yet.
package struct SendWindow: Sendable {
    package enum Action: Sendable, Equatable {
        case doNothing
        /// Ask the transport, and call `drained` when it has written all bytes sent so far.
        case ask
        /// The connection does not read. Send no further data before `drained`.
        case stall
    }

    /// The number of sent bytes after which the transport is asked.
    package static let askBytes = 64 << 10
    /// The number of unwritten bytes at which a connection counts as stalled. Together with the
    /// largest push, it is below the bound at which the transport closes the connection.
    package static let stallBytes = 256 << 10

    private var bytes = 0
    /// The number of bytes that were sent before the pending request to the transport; nil if no
    /// request is pending.
    private var asked: Int?
    /// Whether `stall` was returned since the last `drained`.
    private var isStalled = false

    package init() {}

    package mutating func sent(_ count: Int) -> Action {
        self.bytes += count
        if self.asked == nil {
            guard self.bytes >= Self.askBytes else { return .doNothing }
            self.asked = self.bytes
            return .ask
        }
        guard !self.isStalled, self.bytes >= Self.stallBytes else { return .doNothing }
        self.isStalled = true
        return .stall
    }

    /// Handles the answer of the transport: it has written all bytes that were sent before the
    /// request.
    package mutating func drained() {
        self.bytes -= self.asked ?? 0
        self.asked = nil
        self.isStalled = false
    }
}
