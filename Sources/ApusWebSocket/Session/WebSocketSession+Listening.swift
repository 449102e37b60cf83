import ApusEventLoop
import ApusWebSocketProtocol
public import Dispatch
import NIOConcurrencyHelpers
import NIOCore

/// The executor on which a listener is called.
public struct WebSocketListenerContext: Sendable {
    enum Kind: Sendable {
        case eventLoop
        case executor(@Sendable (@escaping @Sendable () -> Void) -> Void)
    }

    let kind: Kind

    /// The session's event loop, called synchronously: the fastest way. The listener must not
    /// block.
    public static let eventLoop = Self(kind: .eventLoop)

    /// The main queue, on which the main actor runs.
    public static let main = Self.queue(.main)

    /// A dispatch queue, serial or concurrent. Calls are made one at a time, in order.
    public static func queue(_ queue: DispatchQueue) -> Self { .executor { queue.async(execute: $0) } }

    /// Any executor. `run` must run its argument once, immediately or later; it receives one piece
    /// of work at a time.
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

    /// Stops listening and releases the listener. A running call completes; no call begins after
    /// this returns.
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
    ///   - listener: Called with one event at a time.
    /// - Returns: The registration, with which to stop listening. If it is discarded, the listener
    ///   stays until the session is released.
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
    /// The listener was not added yet, or receives the kept messages.
    case pending
    case added(Int)
    /// The registration was cancelled.
    case left
}

private protocol ListenerSubscriber: WebSocketSubscriber, Sendable {
    /// Prevents further calls. From any thread.
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
        // Released outside the lock: deinitializing the listener's captures may call back into this
        // object.
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
