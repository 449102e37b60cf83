import ApusEventLoop
public import ApusWebSocketProtocol
import NIOConcurrencyHelpers
import NIOCore

extension WebSocketSession {
    /// The messages of all connections, in order, from now on. Reading the first one connects.
    ///
    /// Every sequence gets every message. The first one of a session also gets the messages
    /// received before it. Ends after a close by the user or the peer; throws if the session
    /// failed. A sequence that is kept but not read stops the session's reading.
    public var messages: WebSocketSessionMessages {
        WebSocketSessionMessages(subscription: WebSocketSessionSubscription(lifetime: self.lifetime))
    }
}

/// The messages of a ``WebSocketSession``. Keeps the session alive.
public struct WebSocketSessionMessages: AsyncSequence, Sendable {
    /// The type of the received messages.
    public typealias Element = WebSocketMessage

    let subscription: WebSocketSessionSubscription

    /// Creates an iterator that continues after the messages already read from this sequence.
    public func makeAsyncIterator() -> Iterator { Iterator(subscription: self.subscription) }

    /// The iterator of ``WebSocketSessionMessages``.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: WebSocketSessionSubscription

        /// Returns the next message; `nil` after the end, and when the task is cancelled.
        public mutating func next() async throws -> WebSocketMessage? { try await self.subscription.next() }
    }
}

/// The subscription of one sequence, removed when it is released.
final class WebSocketSessionSubscription: Sendable {
    private let lifetime: WebSocketSessionLifetime
    private let inbox: WebSocketInbox
    /// The number of the subscription.
    private let place: NIOLoopBoundBox<Int?>

    init(lifetime: WebSocketSessionLifetime) {
        self.lifetime = lifetime
        let core = lifetime.core
        let place = NIOLoopBoundBox.makeEmptyBox(valueType: Int.self, eventLoop: core.eventLoop)
        let inbox = WebSocketInbox(flow: lifetime.flow) { [weak core] in
            guard let core else { return }
            core.eventLoop.execute {
                if let id = place.value { core.value.subscriberHasRoom(id) }
            }
        }
        self.place = place
        self.inbox = inbox
        core.onLoop { core in
            place.value = core.subscribers.add(Subscriber(inbox: inbox))
            core.subscribersChanged()
            if core.state.isEnded { inbox.ended(core.failure) }
        }
    }

    deinit {
        let place = self.place
        self.lifetime.core.onLoop { core in
            if let id = place.value { core.removeSubscriber(id) }
        }
    }

    func next() async throws -> WebSocketMessage? {
        if self.lifetime.snapshot.withLockedValue({ $0.state == .idle }) {
            self.lifetime.core.onLoop { $0.connect(again: false) }
        }
        return try await self.inbox.next()
    }

    private final class Subscriber: WebSocketSubscriber {
        let inbox: WebSocketInbox

        init(inbox: WebSocketInbox) {
            self.inbox = inbox
        }

        func receive(_ event: WebSocketSession.Event) -> Bool {
            guard case .message(let message) = event else { return false }
            return self.inbox.received(message)
        }

        var isFull: Bool { self.inbox.isPaused }

        func sessionEnded(_ error: WebSocketError?) -> Bool {
            self.inbox.ended(error)
            return true
        }
    }
}
