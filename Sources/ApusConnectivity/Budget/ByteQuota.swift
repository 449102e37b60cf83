/// Counts the bytes that the connections of a server hold, and decides which of them close when all together hold too many. Pure.
package struct ByteQuota<Holder: Hashable & Sendable>: Sendable {
    /// The most bytes that all connections may hold together.
    package let maximum: Int
    /// The bytes of the connections that are to stay.
    package private(set) var held = 0
    /// The bytes of the connections that were told to close and have not released them.
    package private(set) var closing = 0
    private var staying: [Holder: Int] = [:]
    private var leaving: [Holder: Int] = [:]

    /// - Parameter maximum: The most bytes that all connections may hold together.
    package init(maximum: Int) {
        self.maximum = maximum
    }

    /// Whether new connections are refused: from three quarters of the maximum on, so that those that exist have room.
    package var isScarce: Bool { self.held + self.closing > self.maximum / 4 * 3 }

    /// The connections that hold something.
    package var holderCount: Int { self.staying.count + self.leaving.count }

    /// Sets what a connection holds; 0 forgets it.
    ///
    /// - Returns: The connections to close, the largest first. They are counted as closing until they hold nothing. More than needed are closed, so
    ///   that an eighth of the maximum is free: otherwise each further byte would have all of them compared again.
    package mutating func set(_ bytes: Int, for holder: Holder) -> [Holder] {
        if let former = self.leaving[holder] {
            self.closing += bytes - former
            self.leaving[holder] = bytes > 0 ? bytes : nil
            return []
        }
        self.held += bytes - (self.staying[holder] ?? 0)
        self.staying[holder] = bytes > 0 ? bytes : nil
        return self.held > self.maximum ? self.closeLargest() : []
    }

    private mutating func closeLargest() -> [Holder] {
        var closed: [Holder] = []
        for (holder, bytes) in self.staying.sorted(by: { $0.value > $1.value }) where self.held > self.maximum - self.maximum / 8 {
            self.staying[holder] = nil
            self.leaving[holder] = bytes
            self.held -= bytes
            self.closing += bytes
            closed.append(holder)
        }
        return closed
    }
}
