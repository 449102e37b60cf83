import NIOConcurrencyHelpers
import NIOCore

/// A bounded queue of events from the server.
///
/// Pushes beyond the capacity are dropped and replaced by one ``ChatTransportEvent/pushesLost``,
/// after which the engine requests the missed changes. Other events are never dropped.
final class ChatEventQueue: Sendable {
    private struct State {
        var events = CircularBuffer<ChatTransportEvent>()
        var pushes = 0
        var hasLostPushes = false
        var isFinished = false
    }

    private let capacity: Int
    private let state = NIOLockedValueBox(State())
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// - Parameter capacity: The maximum number of queued pushes.
    init(capacity: Int) {
        self.capacity = capacity
        (self.signals, self.signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// The events in order, for one reader. The stream ends after ``finish()`` when the queue is
    /// empty.
    var events: AsyncStream<ChatTransportEvent> {
        AsyncStream {
            while true {
                let (event, isFinished) = self.state.withLockedValue { state in (Self.next(&state), state.isFinished) }
                if let event { return event }
                var signals = self.signals.makeAsyncIterator()
                guard !isFinished, await signals.next() != nil else { return nil }
            }
        }
    }

    private static func next(_ state: inout State) -> ChatTransportEvent? {
        guard let event = state.events.popFirst() else { return nil }
        switch event {
        case .push: state.pushes -= 1
        case .pushesLost: state.hasLostPushes = false
        case .connected, .disconnected, .refused, .answer: break
        }
        return event
    }

    func put(_ event: ChatTransportEvent) {
        self.state.withLockedValue { state in
            guard !state.isFinished else { return }
            guard case .push = event else { return state.events.append(event) }
            if state.pushes < self.capacity {
                state.pushes += 1
                state.events.append(event)
            } else if !state.hasLostPushes {
                state.hasLostPushes = true
                state.events.append(.pushesLost)
            }
        }
        self.signal.yield()
    }

    func finish() {
        self.state.withLockedValue { $0.isFinished = true }
        self.signal.yield()
    }
}
