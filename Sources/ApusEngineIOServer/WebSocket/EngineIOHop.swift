import Atomics

/// What is on its way from a WebSocket to a session on another event loop. Counted up on the first, down on the second.
///
/// Without a bound a client could fill the memory while the session's event loop is busy: nothing else slows the one that reads.
final class EngineIOHop: Sendable {
    /// Above this the WebSocket stops reading; at half of it, it goes on.
    static let highWatermark = 1 << 20
    /// What a message takes beside its bytes, so that empty ones count too.
    private static let overhead = 256

    private let bytes = ManagedAtomic(0)

    /// A message leaves for the session. Answers whether there is too much under way.
    func departed(_ count: Int) -> Bool {
        self.bytes.wrappingIncrementThenLoad(by: count + Self.overhead, ordering: .relaxed) > Self.highWatermark
    }

    /// A message arrived. Answers whether there is room again, at the one that makes it.
    func arrived(_ count: Int) -> Bool {
        let now = self.bytes.wrappingDecrementThenLoad(by: count + Self.overhead, ordering: .relaxed)
        return now <= Self.highWatermark / 2 && now + count + Self.overhead > Self.highWatermark / 2
    }

    /// Whether a WebSocket that stopped reading may go on.
    var hasRoom: Bool { self.bytes.load(ordering: .relaxed) <= Self.highWatermark / 2 }
}
