import Atomics

/// What a WebSocket and a session on another event loop know of each other: what is on its way between them, counted up on the first and down on
/// the second.
///
/// Without a bound a client could fill the memory while the session's event loop is busy: nothing else slows the one that reads.
final class EngineIOHop: Sendable {
    /// Above this the WebSocket stops reading; at half of it, it goes on.
    static let highWatermark = 1 << 20
    /// What a message takes beside its bytes, so that empty ones count too.
    private static let overhead = 256

    private let bytes = ManagedAtomic(0)
    private let writable = ManagedAtomic(true)

    /// A message leaves for the session. Answers whether there is too much under way.
    func departed(_ count: Int) -> Bool {
        self.bytes.wrappingIncrementThenLoad(by: count + Self.overhead, ordering: .relaxed) > Self.highWatermark
    }

    /// A message arrived. Answers whether there is room again, at the one that makes it.
    func arrived(_ count: Int) -> Bool {
        let now = self.bytes.wrappingDecrementThenLoad(by: count + Self.overhead, ordering: .relaxed)
        return now <= Self.highWatermark / 2 && now + count + Self.overhead > Self.highWatermark / 2
    }

    /// Whether the WebSocket's transport takes more, said on its event loop and asked on the session's.
    var isWritable: Bool {
        get { self.writable.load(ordering: .relaxed) }
        set { self.writable.store(newValue, ordering: .relaxed) }
    }

    /// Whether a WebSocket that stopped reading may go on.
    var hasRoom: Bool { self.bytes.load(ordering: .relaxed) <= Self.highWatermark / 2 }
}
