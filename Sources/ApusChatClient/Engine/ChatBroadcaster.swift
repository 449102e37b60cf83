import NIOConcurrencyHelpers

/// Delivers every change to all subscribers in order, each with a bounded buffer.
final class ChatBroadcaster: Sendable {
    private struct Listeners {
        var next = 0
        var continuations: [Int: AsyncStream<ChatChange>.Continuation] = [:]
        var isFinished = false
    }

    private let listeners = NIOLockedValueBox(Listeners())
    private let buffer: Int

    init(buffer: Int) {
        self.buffer = max(1, buffer)
    }

    /// Returns a stream of the changes from now on.
    func subscribe() -> AsyncStream<ChatChange> {
        let (stream, continuation) = AsyncStream.makeStream(of: ChatChange.self, bufferingPolicy: .bufferingNewest(self.buffer))
        let id: Int? = self.listeners.withLockedValue { listeners in
            guard !listeners.isFinished else { return nil }
            listeners.next += 1
            listeners.continuations[listeners.next] = continuation
            return listeners.next
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLockedValue { _ = $0.continuations.removeValue(forKey: id) }
        }
        return stream
    }

    func yield(_ change: ChatChange) {
        let continuations = self.listeners.withLockedValue { Array($0.continuations.values) }
        for continuation in continuations { continuation.yield(change) }
    }

    func finish() {
        let continuations = self.listeners.withLockedValue { listeners in
            listeners.isFinished = true
            defer { listeners.continuations = [:] }
            return Array(listeners.continuations.values)
        }
        for continuation in continuations { continuation.finish() }
    }
}
