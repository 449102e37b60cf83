import ApusEventLoop
import NIOConcurrencyHelpers

/// Delivers each update to all streams and callbacks, in order.
final class ChatBroadcaster: Sendable {
    private struct Reader {
        let continuation: EventStream<ChatUpdate>.Continuation
        /// Whether updates were dropped, and the `missed` update that reports the loss was dropped,
        /// too.
        var owesMissed = false
    }

    private struct Listeners {
        var next = 0
        var streams: [Int: Reader] = [:]
        var callbacks: [Int: @Sendable (ChatUpdate) -> Void] = [:]
        /// The closures that receive the signals and the changed states of calls.
        var calls: [Int: @Sendable (CallFeed.Input) -> Void] = [:]
        var isFinished = false
    }

    private let listeners = NIOLockedValueBox(Listeners())
    /// The number of streams and callbacks.
    var count: Int { self.listeners.withLockedValue { $0.streams.count + $0.callbacks.count } }

    /// Returns a stream of the future updates. If the policy drops updates, the stream delivers a
    /// `missed` update.
    func subscribe(bufferingPolicy policy: BufferingPolicy) -> EventStream<ChatUpdate> {
        let (stream, continuation) = EventStream.make(of: ChatUpdate.self, bufferingPolicy: policy)
        let id: Int? = self.listeners.withLockedValue { listeners in
            guard !listeners.isFinished else { return nil }
            listeners.next += 1
            listeners.streams[listeners.next] = Reader(continuation: continuation)
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

    /// Registers a closure that is called on the engine's queue for each update.
    ///
    /// - Returns: The number to pass to ``remove(_:)``.
    func observe(_ body: @escaping @Sendable (ChatUpdate) -> Void) -> Int {
        self.listeners.withLockedValue { listeners in
            listeners.next += 1
            listeners.callbacks[listeners.next] = body
            return listeners.next
        }
    }

    func remove(_ id: Int) { self.listeners.withLockedValue { _ = $0.callbacks.removeValue(forKey: id) } }

    /// Registers a closure that is called on the engine's queue for each signal and each changed
    /// state of a call, in the order of the updates.
    ///
    /// - Returns: The number to pass to ``removeCalls(_:)``.
    func observeCalls(_ body: @escaping @Sendable (CallFeed.Input) -> Void) -> Int {
        self.listeners.withLockedValue { listeners in
            listeners.next += 1
            listeners.calls[listeners.next] = body
            return listeners.next
        }
    }

    func removeCalls(_ id: Int) { self.listeners.withLockedValue { _ = $0.calls.removeValue(forKey: id) } }

    func yield(call input: CallFeed.Input) {
        for (_, body) in self.listeners.withLockedValue({ $0.calls }) { body(input) }
    }

    func yield(_ update: ChatUpdate) {
        let (streams, callbacks) = self.listeners.withLockedValue { ($0.streams, $0.callbacks.sorted { $0.key < $1.key }) }
        for (id, reader) in streams { self.yield(update, to: reader, id) }
        for (_, callback) in callbacks { callback(update) }
    }

    private func yield(_ update: ChatUpdate, to reader: Reader, _ id: Int) {
        var owesMissed = reader.owesMissed
        switch reader.continuation.yield(update) {
        case .dropped: owesMissed = true
        case .terminated: return
        case .enqueued where !owesMissed: return
        case .enqueued: break
        @unknown default: return
        }
        // With `bufferingNewest`, the `missed` update replaces the oldest update. With
        // `bufferingOldest`, the `missed` update is also dropped, and is sent again after the next
        // update that is not dropped.
        switch reader.continuation.yield(.missed) {
        case .enqueued: owesMissed = false
        case .dropped(.missed): owesMissed = true
        case .dropped, .terminated: owesMissed = false
        @unknown default: return
        }
        self.listeners.withLockedValue { $0.streams[id]?.owesMissed = owesMissed }
    }

    func finish() {
        let streams = self.listeners.withLockedValue { listeners in
            listeners.isFinished = true
            listeners.callbacks = [:]
            listeners.calls = [:]
            defer { listeners.streams = [:] }
            return Array(listeners.streams.values)
        }
        for reader in streams { reader.continuation.finish() }
    }
}
