import NIOConcurrencyHelpers

/// Delivers every update to all subscribers in order.
final class ChatBroadcaster: Sendable {
    private struct Listeners {
        var next = 0
        var streams: [Int: AsyncStream<ChatUpdate>.Continuation] = [:]
        var callbacks: [Int: @Sendable (ChatUpdate) -> Void] = [:]
        var isFinished = false
    }

    private let listeners = NIOLockedValueBox(Listeners())
    private let buffer: Int

    init(buffer: Int) { self.buffer = max(1, buffer) }

    /// The number of streams and callbacks.
    var count: Int { self.listeners.withLockedValue { $0.streams.count + $0.callbacks.count } }

    /// Returns a stream of the updates from now on, which drops the oldest beyond the buffer.
    func subscribe() -> AsyncStream<ChatUpdate> {
        let (stream, continuation) = AsyncStream.makeStream(of: ChatUpdate.self, bufferingPolicy: .bufferingNewest(self.buffer))
        let id: Int? = self.listeners.withLockedValue { listeners in
            guard !listeners.isFinished else { return nil }
            listeners.next += 1
            listeners.streams[listeners.next] = continuation
            return listeners.next
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLockedValue { _ = $0.streams.removeValue(forKey: id) }
        }
        return stream
    }

    /// Calls a closure on the engine's queue for each update, until the returned number is removed.
    func observe(_ body: @escaping @Sendable (ChatUpdate) -> Void) -> Int {
        self.listeners.withLockedValue { listeners in
            listeners.next += 1
            listeners.callbacks[listeners.next] = body
            return listeners.next
        }
    }

    func remove(_ id: Int) { self.listeners.withLockedValue { _ = $0.callbacks.removeValue(forKey: id) } }

    func yield(_ update: ChatUpdate) {
        let (streams, callbacks) = self.listeners.withLockedValue { (Array($0.streams.values), $0.callbacks.sorted { $0.key < $1.key }) }
        for stream in streams { stream.yield(update) }
        for (_, callback) in callbacks { callback(update) }
    }

    func finish() {
        let streams = self.listeners.withLockedValue { listeners in
            listeners.isFinished = true
            listeners.callbacks = [:]
            defer { listeners.streams = [:] }
            return Array(listeners.streams.values)
        }
        for stream in streams { stream.finish() }
    }
}
