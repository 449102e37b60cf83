import ApusWebSocketProtocol
import DequeModule
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
        let place = ListenerPlace()
        let core = self.core
        let subscriber: any ListenerSubscriber
        switch context.kind {
        case .eventLoop:
            subscriber = DirectSubscriber(listener)
        case .executor(let run):
            subscriber = QueuedSubscriber(flow: core.configuration.client.flow, run: run, listener: listener) { [weak core] in
                guard let core else { return }
                core.eventLoop.execute {
                    guard let id = place.id else { return }
                    core.subscribers.hasRoom(id)
                    core.subscribersChanged()
                }
            }
        }
        core.onLoop { core in
            let id = core.subscribers.add(subscriber)
            place.id = id
            if place.isLeft { core.subscribers.remove(id) }
            core.subscribersChanged()
            core.connect(again: true)
        }
        return WebSocketListening { [weak core, weak subscriber] in
            subscriber?.cancel()
            core?.onLoop { core in
                place.isLeft = true
                guard let id = place.id else { return }
                core.subscribers.remove(id)
                core.subscribersChanged()
            }
        }
    }
}

/// The number of a listener's subscription.
///
/// Unchecked: accessed on the event loop only. It needs no lock there, so that a listener may
/// cancel within a call.
private final class ListenerPlace: @unchecked Sendable {
    var id: Int?
    var isLeft = false
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

/// Queues events for a listener's executor. At most one drain is scheduled at a time.
private final class QueuedSubscriber: ListenerSubscriber {
    private struct State: Sendable {
        var events = Deque<WebSocketSession.Event>()
        var bytes = 0
        var isScheduled = false
        var isFull = false
        var listener: (@Sendable (WebSocketSession.Event) -> Void)?
    }

    private let flow: WebSocketFlowControl
    private let run: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let hasRoom: @Sendable () -> Void
    private let state: NIOLockedValueBox<State>

    init(
        flow: WebSocketFlowControl, run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        listener: @escaping @Sendable (WebSocketSession.Event) -> Void, hasRoom: @escaping @Sendable () -> Void
    ) {
        self.flow = flow
        self.run = run
        self.hasRoom = hasRoom
        self.state = NIOLockedValueBox(State(listener: listener))
    }

    private static func size(_ event: WebSocketSession.Event) -> Int {
        if case .message(let message) = event { message.payload.readableBytes } else { 0 }
    }

    func receive(_ event: WebSocketSession.Event) -> Bool {
        let (schedule, isFull) = self.state.withLockedValue { state -> (Bool, Bool) in
            guard state.listener != nil else { return (false, false) }
            state.events.append(event)
            state.bytes += Self.size(event)
            state.isFull = state.isFull || state.events.count >= self.flow.receivedMessages || state.bytes >= self.flow.receivedBytes
            defer { state.isScheduled = true }
            return (!state.isScheduled, state.isFull)
        }
        if schedule { self.run { self.drain() } }
        return isFull
    }

    var isFull: Bool { self.state.withLockedValue { $0.isFull } }

    func sessionEnded(_ error: WebSocketError?) -> Bool { false }

    func cancel() {
        let listener = self.state.withLockedValue { state in
            state.events.removeAll()
            state.bytes = 0
            state.isFull = false
            return state.listener.take()
        }
        withExtendedLifetime(listener) {}  // as in `DirectSubscriber`
    }

    private func drain() {
        while true {
            let (next, hasRoom) = self.state.withLockedValue {
                state -> ((listener: @Sendable (WebSocketSession.Event) -> Void, event: WebSocketSession.Event)?, Bool) in
                guard let listener = state.listener, let event = state.events.popFirst() else {
                    state.isScheduled = false
                    return (nil, false)
                }
                state.bytes -= Self.size(event)
                let isLow = state.events.count <= self.flow.receivedMessages / 2 && state.bytes <= self.flow.receivedBytes / 2
                let hasRoom = state.isFull && isLow
                if hasRoom { state.isFull = false }
                return ((listener, event), hasRoom)
            }
            if hasRoom { self.hasRoom() }
            guard let next else { return }
            next.listener(next.event)
        }
    }
}
