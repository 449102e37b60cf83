/// Counts the bytes that the connections of a server hold, and selects the connections to close
/// when the sum exceeds the maximum. Performs no I/O.
package struct ByteQuota<Holder: Hashable & Sendable>: Sendable {
    /// The maximum number of bytes that all connections may hold together.
    package let maximum: Int
    /// The number of bytes that open connections hold.
    package private(set) var held = 0
    /// The number of bytes that closing connections have not released.
    package private(set) var closing = 0
    private var openHolders: [Holder: Int] = [:]
    private var closingHolders: [Holder: Int] = [:]

    /// - Parameter maximum: The maximum number of bytes that all connections may hold together.
    package init(maximum: Int) {
        self.maximum = maximum
    }

    /// Whether the server should refuse new connections: more than three quarters of the maximum is
    /// in use. The rest is reserved for existing connections.
    package var isNearlyFull: Bool { self.held + self.closing > self.maximum / 4 * 3 }

    /// The number of connections that hold bytes.
    package var holderCount: Int { self.openHolders.count + self.closingHolders.count }

    /// Sets the number of bytes that a connection holds; 0 removes the connection.
    ///
    /// - Returns: The connections to close, the largest first. They count as closing until they
    ///   hold no bytes. Selects connections until an eighth of the maximum is free, so that the
    ///   next bytes do not require another selection.
    package mutating func set(_ bytes: Int, for holder: Holder) -> [Holder] {
        if let former = self.closingHolders[holder] {
            self.closing += bytes - former
            self.closingHolders[holder] = bytes > 0 ? bytes : nil
            return []
        }
        self.held += bytes - (self.openHolders[holder] ?? 0)
        self.openHolders[holder] = bytes > 0 ? bytes : nil
        return self.held > self.maximum ? self.closeLargest() : []
    }

    private mutating func closeLargest() -> [Holder] {
        var closed: [Holder] = []
        for (holder, bytes) in self.openHolders.sorted(by: { $0.value > $1.value }) where self.held > self.maximum - self.maximum / 8 {
            self.openHolders[holder] = nil
            self.closingHolders[holder] = bytes
            self.held -= bytes
            self.closing += bytes
            closed.append(holder)
        }
        return closed
    }
}
