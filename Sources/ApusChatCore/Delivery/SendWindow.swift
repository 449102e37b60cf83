/// Decides when a connection does not read: counts the bytes that were sent to it and that it is
/// not known to have taken.
package struct SendWindow: Sendable {
    package enum Action: Sendable, Equatable {
        case doNothing
        /// Call `drained` when the connection has taken what was sent so far.
        case ask
        /// The connection does not read. Send nothing more before `drained`.
        case stall
    }

    /// The number of bytes after which the transport is asked whether they were taken.
    package static let askBytes = 64 << 10
    /// The number of bytes, not taken, from which a connection is stalled. The largest push added
    /// to them is below the bound at which the transport closes the connection.
    package static let stallBytes = 256 << 10

    private var bytes = 0
    /// The bytes that were sent before the pending question; nil without one.
    private var asked: Int?

    package init() {}

    package mutating func sent(_ count: Int) -> Action {
        let before = self.bytes
        self.bytes += count
        if self.asked == nil {
            guard self.bytes >= Self.askBytes else { return .doNothing }
            self.asked = self.bytes
            return .ask
        }
        return before < Self.stallBytes && self.bytes >= Self.stallBytes ? .stall : .doNothing
    }

    /// The connection has taken what was sent before the question.
    package mutating func drained() {
        self.bytes -= self.asked ?? 0
        self.asked = nil
    }
}
