import ApusWebSocketProtocol
import DequeModule
import NIOCore

/// A receiver of a session's events. Called on the session's event loop.
protocol WebSocketSubscriber: AnyObject {
    /// Receives an event. Returns whether the subscriber is now full; it must then report when it
    /// has room.
    func receive(_ event: WebSocketSession.Event) -> Bool
    /// Whether the subscriber is still full.
    var isFull: Bool { get }
    /// Handles the end of the session, which can be started again. Returns whether to remove the
    /// subscriber.
    func sessionEnded(_ error: WebSocketError?) -> Bool
}

/// The subscribers of a session. Each receives every event, and the slowest one sets the pace.
///
/// Without subscribers, messages are kept for the first one, up to the limits of the flow control.
/// A class, because a listener may add or remove subscribers during its call. Confined to the
/// session's event loop.
final class SessionSubscribers {
    private let flow: WebSocketFlowControl
    private var subscribers: [(id: Int, subscriber: any WebSocketSubscriber)] = []
    private var full: Set<Int> = []
    private var lastID = 0
    private var kept = Deque<WebSocketMessage>()
    private var keptBytes = 0

    init(flow: WebSocketFlowControl) {
        self.flow = flow
    }

    var isEmpty: Bool { self.subscribers.isEmpty }

    /// Whether reading must stop.
    var isFull: Bool {
        !self.full.isEmpty || self.kept.count >= self.flow.receivedMessages || self.keptBytes >= self.flow.receivedBytes
    }

    /// Adds a subscriber. The first one receives the kept messages.
    func add(_ subscriber: any WebSocketSubscriber) -> Int {
        self.lastID += 1
        let id = self.lastID
        self.subscribers.append((id, subscriber))
        let kept = self.kept
        self.kept.removeAll()
        self.keptBytes = 0
        for message in kept where subscriber.receive(.message(message)) { self.becameFull(id) }
        return id
    }

    func remove(_ id: Int) {
        guard let index = self.subscribers.firstIndex(where: { $0.id == id }) else { return }
        let removed = self.subscribers.remove(at: index)
        self.full.remove(id)
        // Released last: deinitializing the listener's captures may call back into this object.
        withExtendedLifetime(removed) {}
    }

    /// Handles the report of a subscriber that it has room. Checked again, since later events may
    /// have filled it.
    func hasRoom(_ id: Int) {
        if let (_, subscriber) = self.subscribers.first(where: { $0.id == id }), subscriber.isFull { return }
        self.full.remove(id)
    }

    private func becameFull(_ id: Int) {
        guard self.subscribers.contains(where: { $0.id == id }) else { return }  // it was removed during its call
        self.full.insert(id)
    }

    /// Delivers or keeps a message. Returns whether reading must stop.
    func received(_ message: WebSocketMessage) -> Bool {
        guard !self.subscribers.isEmpty else {
            self.kept.append(message)
            self.keptBytes += message.payload.readableBytes
            return self.isFull
        }
        self.tell(.message(message))
        return !self.full.isEmpty
    }

    func tell(_ event: WebSocketSession.Event) {
        for (id, subscriber) in self.subscribers where subscriber.receive(event) { self.becameFull(id) }
    }

    func sessionEnded(_ error: WebSocketError?) {
        for (id, subscriber) in self.subscribers where subscriber.sessionEnded(error) { self.remove(id) }
    }

    func removeAll() {
        let removed = self.subscribers
        self.subscribers = []
        self.full.removeAll()
        self.kept.removeAll()
        self.keptBytes = 0
        withExtendedLifetime(removed) {}  // as in `remove`
    }
}

@available(*, unavailable)
extension SessionSubscribers: Sendable {}
