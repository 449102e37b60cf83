import ApusEventLoop
public import ApusWebSocketProtocol
import DequeModule
public import Dispatch
import NIOConcurrencyHelpers
import NIOCore

extension WebSocketSession {
    /// The messages of all connections after this access, in order. Reading the first message
    /// connects the session.
    ///
    /// Every sequence receives every message. The first sequence of a session also receives the
    /// messages that arrived before it. A sequence ends after a close by the application or the
    /// peer, and throws if the session failed. A sequence that is retained but not read stops the
    /// session's reading.
    public var messages: WebSocketSessionMessages {
        WebSocketSessionMessages(subscription: WebSocketSessionSubscription(lifetime: self.lifetime))
    }
}

/// The messages of a ``WebSocketSession``. The sequence retains the session.
public struct WebSocketSessionMessages: AsyncSequence, Sendable {
    /// The type of the received messages.
    public typealias Element = WebSocketMessage

    let subscription: WebSocketSessionSubscription

    /// Creates an iterator that continues after the messages already read from this sequence.
    public func makeAsyncIterator() -> Iterator { Iterator(subscription: self.subscription) }

    /// The iterator of ``WebSocketSessionMessages``.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: WebSocketSessionSubscription

        /// Returns the next message; `nil` after the session has ended, and when the task is
        /// cancelled.
        ///
        /// - Throws: The `WebSocketError` for which the session failed.
        public mutating func next() async throws(WebSocketError) -> WebSocketMessage? { try await self.subscription.next() }
    }
}

/// The subscription of one sequence. It is removed when the object is deallocated.
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

    func next() async throws(WebSocketError) -> WebSocketMessage? {
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

// MARK: - Listeners

/// The executor on which a listener is called.
public struct WebSocketListenerContext: Sendable {
    enum Kind: Sendable {
        case eventLoop
        case executor(@Sendable (@escaping @Sendable () -> Void) -> Void)
    }

    let kind: Kind

    /// The session's event loop. Listeners are called synchronously, which is fastest, and must not
    /// block.
    public static let eventLoop = Self(kind: .eventLoop)

    /// The main queue, on which the main actor runs.
    public static let main = Self.queue(.main)

    /// A dispatch queue, serial or concurrent. Calls are made one at a time, in order.
    public static func queue(_ queue: DispatchQueue) -> Self { .executor { queue.async(execute: $0) } }

    /// Any executor. `run` must execute its argument once, immediately or later. It receives the
    /// next closure after the previous one has been executed.
    public static func executor(_ run: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void) -> Self {
        Self(kind: .executor(run))
    }
}

/// The registration of a listener with a session.
public final class WebSocketListening: Sendable {
    private let leave: @Sendable () -> Void

    init(leave: @escaping @Sendable () -> Void) {
        self.leave = leave
    }

    /// Stops listening and releases the listener. A call that another thread is making completes;
    /// no other call follows.
    public func cancel() { self.leave() }
}

extension WebSocketSession {
    /// Opens the session and calls `listener` with every event.
    ///
    /// Any number of listeners can be added; each receives every event, in order. A listener with
    /// more pending events than the limits of ``WebSocketClientConfiguration/flow`` stops the
    /// session's reading until it has caught up. The session retains the listener, so the listener
    /// must capture the session weakly.
    ///
    /// - Parameters:
    ///   - context: The executor of the listener. Default: the main queue.
    ///   - listener: The closure to call with each event, one at a time.
    /// - Returns: The registration, which can stop listening. If it is discarded, the listener is
    ///   called until the session is released.
    @discardableResult
    public func listen(
        on context: WebSocketListenerContext = .main, _ listener: @escaping @Sendable (Event) -> Void
    ) -> WebSocketListening {
        let core = self.core
        let place = NIOLoopBoundBox<ListenerPlace>.sending(.pending, to: core.eventLoop)
        let subscriber: any ListenerSubscriber
        switch context.kind {
        case .eventLoop:
            subscriber = DirectSubscriber(listener)
        case .executor(let run):
            subscriber = QueuedSubscriber(flow: self.lifetime.flow, run: run, listener: listener) { [weak core] in
                guard let core else { return }
                core.eventLoop.execute {
                    if case .added(let id) = place.value { core.value.subscriberHasRoom(id) }
                }
            }
        }
        core.onLoop { core in
            let id = core.subscribers.add(subscriber)
            if case .left = place.value { core.subscribers.remove(id) } else { place.value = .added(id) }
            core.subscribersChanged()
            core.connect(again: true)
        }
        return WebSocketListening { [weak core, weak subscriber] in
            subscriber?.cancel()
            core?.onLoop { core in
                if case .added(let id) = place.value { core.removeSubscriber(id) }
                place.value = .left
            }
        }
    }
}

/// The subscription of a listener.
private enum ListenerPlace {
    /// The listener was not added yet, or is receiving the stored messages.
    case pending
    case added(Int)
    /// The registration was cancelled.
    case left
}

private protocol ListenerSubscriber: WebSocketSubscriber, Sendable {
    /// Prevents further calls. May be called on any thread.
    func cancel()
}

/// Calls the listener on the event loop.
private final class DirectSubscriber: ListenerSubscriber {
    private let listener: NIOLockedValueBox<(@Sendable (WebSocketSession.Event) -> Void)?>

    init(_ listener: @escaping @Sendable (WebSocketSession.Event) -> Void) {
        self.listener = NIOLockedValueBox(listener)
    }

    func receive(_ event: WebSocketSession.Event) -> Bool {
        let listener = self.listener.withLockedValue { $0 }
        listener?(event)
        return false
    }

    var isFull: Bool { false }

    func cancel() {
        // Release outside the lock: the captures of the listener may call this object when they
        // are deinitialized.
        let listener = self.listener.withLockedValue { $0.take() }
        withExtendedLifetime(listener) {}
    }

    func sessionEnded(_ error: WebSocketError?) -> Bool { false }
}

/// Queues events for a listener's executor.
private final class QueuedSubscriber: ListenerSubscriber {
    private let mailbox: Mailbox<WebSocketSession.Event>

    init(
        flow: WebSocketFlowControl, run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        listener: @escaping @Sendable (WebSocketSession.Event) -> Void, hasRoom: @escaping @Sendable () -> Void
    ) {
        self.mailbox = Mailbox(
            maximumCount: flow.receivedMessages, maximumBytes: flow.receivedBytes, run: run, resumeSource: hasRoom, receive: listener)
    }

    func receive(_ event: WebSocketSession.Event) -> Bool {
        if case .message(let message) = event { return self.mailbox.post(event, bytes: message.payload.readableBytes) }
        return self.mailbox.post(event)
    }

    var isFull: Bool { self.mailbox.isPaused }

    func sessionEnded(_ error: WebSocketError?) -> Bool { false }

    func cancel() { self.mailbox.cancel() }
}

// MARK: - Subscribers

/// A receiver of a session's events. Called on the session's event loop.
protocol WebSocketSubscriber: AnyObject {
    /// Receives an event. Returns whether the subscriber is now full. A full subscriber must report
    /// when it can receive further events.
    func receive(_ event: WebSocketSession.Event) -> Bool
    /// Whether the subscriber is still full.
    var isFull: Bool { get }
    /// Handles the end of the session. Returns whether to remove the subscriber; the session can be
    /// started again.
    func sessionEnded(_ error: WebSocketError?) -> Bool
}

/// The subscribers of a session. Each receives every event, and reading stops while one of them is
/// full.
///
/// Without subscribers, messages are stored for the first one, up to the limits of the flow
/// control. This is a class, because a listener may add or remove subscribers while it is called.
/// Confined to the session's event loop.
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

    /// Adds a subscriber. The first subscriber receives the stored messages.
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
        // Release last: the captures of the listener may call this object when they are
        // deinitialized.
        withExtendedLifetime(removed) {}
    }

    /// Handles the report of a subscriber that it can receive further events. Has no effect if
    /// later events have filled the subscriber again.
    func hasRoom(_ id: Int) {
        if let (_, subscriber) = self.subscribers.first(where: { $0.id == id }), subscriber.isFull { return }
        self.full.remove(id)
    }

    private func becameFull(_ id: Int) {
        guard self.subscribers.contains(where: { $0.id == id }) else { return }  // it was removed during its call
        self.full.insert(id)
    }

    /// Delivers a message or, without subscribers, stores it. Returns whether reading must stop.
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
        withExtendedLifetime(removed) {}  // the captures of a listener may call this object
    }
}

@available(*, unavailable)
extension SessionSubscribers: Sendable {}
