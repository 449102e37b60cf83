import ApusChatStorage

/// Computes the id of the row of an event: the slot of the conversation in the upper bits and the
/// `seq` in the lower 32 bits.
enum EventPlace {
    static let largestSeq = Int64(UInt32.max)
    static let largestSlot = Int64(Int32.max)

    /// Returns the id of an event. A `seq` outside of the range, such as one from a client, is
    /// clamped.
    static func id(_ slot: Int64, _ seq: Int64) -> Int64 { slot << 32 | max(0, min(seq, self.largestSeq)) }

    static func seq(_ id: Int64) -> Int64 { id & self.largestSeq }

    static func slot(_ id: Int64) -> Int64 { id >> 32 }
}
