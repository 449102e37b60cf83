/// The delays after which clients reconnect when a server closes all connections.
///
/// All clients are notified at the same time. Therefore, each receives a random delay in ``range``.
package struct ReconnectionSpread: Sendable, Equatable {
    /// The range of the delays, in milliseconds.
    package let range: ClosedRange<Int64>

    private static let first: Int64 = 1_000
    /// The minimum and the maximum width of the range, in milliseconds.
    private static let width: ClosedRange<Int64> = 1_000...10_000
    /// The number of clients that reconnect in one millisecond, unless `width` limits the range.
    private static let rate: Int64 = 2

    /// - Parameter connections: The number of connections that close.
    package init(connections: Int) {
        let wanted = Int64(clamping: connections) / Self.rate
        self.range = Self.first...Self.first + min(max(wanted, Self.width.lowerBound), Self.width.upperBound)
    }
}
