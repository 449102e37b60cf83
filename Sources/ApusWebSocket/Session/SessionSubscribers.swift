import ApusWebSocketProtocol
import DequeModule
import NIOCore

/// Hears a session. Called on its event loop.
protocol WebSocketSubscriber: AnyObject {
    /// Something happened. `true`: this subscriber is full, and will say when it is not.
    func receive(_ event: WebSocketSession.Event) -> Bool
    /// Whether it is still full.
    var isFull: Bool { get }
    /// Nothing happens any more unless somebody connects again. `true`: this subscriber has ended with it.
    func sessionEnded(_ error: WebSocketError?) -> Bool
}

/// Who hears a session: each hears everything, and the slowest reader sets the pace.
///
/// While there is nobody, messages are kept for the first to come, up to the bound. A class, as a listener may do from within a call what
/// changes the audience. Confined to the session's event loop.
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

    /// A new one; the first gets what was kept.
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
        // Not before: what a listener holds may come back here when it is let go of.
        withExtendedLifetime(removed) {}
    }

    /// A subscriber says that it has room. It is asked again: what came since it said so may have filled it.
    func hasRoom(_ id: Int) {
        if let (_, subscriber) = self.subscribers.first(where: { $0.id == id }), subscriber.isFull { return }
        self.full.remove(id)
    }

    private func becameFull(_ id: Int) {
        guard self.subscribers.contains(where: { $0.id == id }) else { return }  // it left in that very call
        self.full.insert(id)
    }

    /// A message came. `true`: reading must stop.
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
