/// A timer wheel for many deadlines, most of which are moved or cancelled before they pass.
///
/// Setting, moving and cancelling a deadline takes constant time. In an ordered list, such as an
/// event loop's list of tasks, cancelling searches all entries. The wheel reuses the memory of
/// removed deadlines.
///
/// Times are arguments, in nanoseconds since any fixed point. A slot covers 17 ms, and the wheel
/// covers 69 s. A later deadline stays in its slot for another round.
package struct TimerWheel<Owner> {
    /// Identifies a deadline. Has no effect after the deadline has passed or was cancelled.
    package struct Token: Hashable, Sendable {
        fileprivate let index: Int32
        fileprivate let generation: UInt32
    }

    private struct Entry {
        /// The owner; `nil` if the entry is free.
        var owner: Owner?
        /// The next entry in the slot, or the next free entry if this one is free.
        var next: Int32
        var previous: Int32 = -1
        var generation: UInt32 = 0
        var deadline: UInt64 = 0  // last: this order needs no padding between the fields
    }

    private static var tickShift: UInt64 { 24 }
    private static var slotCount: Int { 4096 }

    private var entries: [Entry] = []
    private var firstFree: Int32 = -1
    private var slots = [Int32](repeating: -1, count: Self.slotCount)
    /// A bit set for each slot that is not empty.
    private var occupied = [UInt64](repeating: 0, count: Self.slotCount / 64)
    /// A lower bound for the tick of every deadline.
    private var firstTick: UInt64 = 0
    /// The number of deadlines that are set.
    package private(set) var count = 0

    /// Creates an empty wheel.
    package init() {}

    // MARK: Setting

    /// Sets a deadline.
    package mutating func add(_ owner: Owner, at deadline: UInt64) -> Token {
        let index: Int32
        if self.firstFree >= 0 {
            index = self.firstFree
            self.firstFree = self.entries[Int(index)].next
        } else {
            index = Int32(clamping: self.entries.count)
            self.entries.append(Entry(owner: nil, next: -1))
        }
        self.entries[Int(index)].owner = owner
        self.entries[Int(index)].deadline = deadline
        self.link(index)
        self.firstTick = self.count == 0 ? deadline >> Self.tickShift : min(self.firstTick, deadline >> Self.tickShift)
        self.count += 1
        return Token(index: index, generation: self.entries[Int(index)].generation)
    }

    /// Moves a deadline. Returns `false` if it has passed or was cancelled.
    package mutating func move(_ token: Token, to deadline: UInt64) -> Bool {
        guard self.isSet(token) else { return false }
        self.unlink(token.index)
        self.entries[Int(token.index)].deadline = deadline
        self.link(token.index)
        self.firstTick = min(self.firstTick, deadline >> Self.tickShift)
        return true
    }

    /// Cancels a deadline, if it has not passed.
    package mutating func cancel(_ token: Token) {
        guard self.isSet(token) else { return }
        _ = self.remove(token.index)
    }

    private func isSet(_ token: Token) -> Bool {
        let index = Int(token.index)
        return self.entries.indices.contains(index) && self.entries[index].generation == token.generation
            && self.entries[index].owner != nil
    }

    // MARK: Passing

    /// Returns the earliest deadline; `nil` if none is set.
    package mutating func nextDeadline() -> UInt64? { self.earliest().map { self.entries[Int($0)].deadline } }

    /// Removes the earliest deadline and returns its owner; `nil` if the deadline has not passed.
    package mutating func popDue(at now: UInt64) -> Owner? {
        guard let index = self.earliest(), self.entries[Int(index)].deadline <= now else { return nil }
        return self.remove(index)
    }

    private mutating func earliest() -> Int32? {
        guard self.count > 0 else { return nil }
        for tick in self.firstTick..<self.firstTick + UInt64(Self.slotCount) {
            let slot = Self.slot(of: tick)
            guard self.occupied[slot / 64] & (1 << UInt64(slot % 64)) != 0, let index = self.earliest(inSlot: slot, ofTick: tick) else {
                continue
            }
            self.firstTick = tick
            return index
        }
        // All deadlines are more than a round away. This is rare, so a linear search is acceptable.
        let index = self.entries.indices.filter { self.entries[$0].owner != nil }.min {
            self.entries[$0].deadline < self.entries[$1].deadline
        }
        guard let index else { return nil }
        self.firstTick = self.entries[index].deadline >> Self.tickShift
        return Int32(clamping: index)
    }

    private func earliest(inSlot slot: Int, ofTick tick: UInt64) -> Int32? {
        var best: Int32?
        var bestDeadline = UInt64.max
        var index = self.slots[slot]
        while index >= 0 {
            let entry = Int(index)
            let deadline = self.entries[entry].deadline
            // Selects, of equal deadlines, the one that was set first, which is the last in the
            // list.
            if deadline >> Self.tickShift == tick, deadline <= bestDeadline {
                (best, bestDeadline) = (index, deadline)
            }
            index = self.entries[entry].next
        }
        return best
    }

    // MARK: Slots

    private static func slot(of tick: UInt64) -> Int { Int(truncatingIfNeeded: tick & UInt64(Self.slotCount - 1)) }

    private mutating func link(_ index: Int32) {
        let slot = Self.slot(of: self.entries[Int(index)].deadline >> Self.tickShift)
        let next = self.slots[slot]
        self.entries[Int(index)].next = next
        self.entries[Int(index)].previous = -1
        if next >= 0 { self.entries[Int(next)].previous = index }
        self.slots[slot] = index
        self.occupied[slot / 64] |= 1 << UInt64(slot % 64)
    }

    private mutating func unlink(_ index: Int32) {
        let (next, previous) = (self.entries[Int(index)].next, self.entries[Int(index)].previous)
        if next >= 0 { self.entries[Int(next)].previous = previous }
        if previous >= 0 {
            self.entries[Int(previous)].next = next
        } else {
            let slot = Self.slot(of: self.entries[Int(index)].deadline >> Self.tickShift)
            self.slots[slot] = next
            if next < 0 { self.occupied[slot / 64] &= ~(1 << UInt64(slot % 64)) }
        }
    }

    private mutating func remove(_ index: Int32) -> Owner? {
        self.unlink(index)
        let owner = self.entries[Int(index)].owner.take()
        self.entries[Int(index)].generation &+= 1
        self.entries[Int(index)].next = self.firstFree
        self.firstFree = index
        self.count -= 1
        return owner
    }
}
