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
    private let place: Place

    /// The number of the subscription. Accessed on the event loop only.
    private final class Place: @unchecked Sendable {
        var id: Int?
    }

    init(lifetime: WebSocketSessionLifetime) {
        self.lifetime = lifetime
        let place = Place()
        let core = lifetime.core
        let inbox = WebSocketInbox(flow: core.configuration.client.flow) { [weak core] in
            guard let core else { return }
            core.eventLoop.execute {
                guard let id = place.id else { return }
                core.subscribers.hasRoom(id)
                core.subscribersChanged()
            }
        }
        self.place = place
        self.inbox = inbox
        core.onLoop { core in
            place.id = core.subscribers.add(Subscriber(inbox: inbox))
            core.subscribersChanged()
            if core.state.isEnded { inbox.ended(core.failure) }
        }
    }

    deinit {
        let place = self.place
        self.lifetime.core.onLoop { core in
            guard let id = place.id else { return }
            core.subscribers.remove(id)
            core.subscribersChanged()
        }
    }

    func next() async throws -> WebSocketMessage? {
        let core = self.lifetime.core
        if core.snapshot.withLockedValue({ $0.state == .idle }) {
            core.onLoop { $0.connect(again: false) }
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
