import NIOConcurrencyHelpers
import NIOCore

/// What came from the server and waits for the engine.
///
/// Pushes are bounded: of those beyond it one ``ChatTransportEvent/pushesLost`` remains, which costs the engine a sync and nobody a message.
/// The steps of the connection's life are kept; the reconnection policy bounds how often they come.
final class ChatMailbox: Sendable {
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

    /// - Parameter capacity: How many pushes may wait.
    init(capacity: Int) {
        self.capacity = capacity
        (self.signals, self.signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Everything in order. One reader. Ends after ``finish()``, when the rest is read.
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
        case .connected, .disconnected, .refused: break
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
