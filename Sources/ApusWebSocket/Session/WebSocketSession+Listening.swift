import ApusWebSocketProtocol
import DequeModule
public import Dispatch
import NIOConcurrencyHelpers
import NIOCore

/// Where a listener is called.
public struct WebSocketListenerContext: Sendable {
    enum Kind: Sendable {
        case eventLoop
        case executor(@Sendable (@escaping @Sendable () -> Void) -> Void)
    }

    let kind: Kind

    /// On the session's event loop, at once: the fast path. The listener must not block.
    public static let eventLoop = Self(kind: .eventLoop)

    /// On the main queue, where the main actor is.
    public static let main = Self.queue(.main)

    /// On a queue, serial or not: one call at a time, in order.
    public static func queue(_ queue: DispatchQueue) -> Self { .executor { queue.async(execute: $0) } }

    /// On any executor: `run` is given work and runs it once, later or at once. One piece at a time is given.
    public static func executor(_ run: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void) -> Self {
        Self(kind: .executor(run))
    }
}

/// A listener's place in a session.
public final class WebSocketListening: Sendable {
    private let leave: @Sendable () -> Void

    init(leave: @escaping @Sendable () -> Void) {
        self.leave = leave
    }

    /// Stops listening. A call that has begun ends; after it there is none. The listener is let go of.
    public func cancel() { self.leave() }
}

extension WebSocketSession {
    /// Opens the session, and calls `listener` with all that happens.
    ///
    /// Any number of listeners; each hears everything, in order. A listener that lags more than the bounds of
    /// ``WebSocketClientConfiguration/flow`` stops the session's reading until it has caught up. The session keeps the listener, so the
    /// listener must not keep the session: capture it weakly.
    ///
    /// - Parameters:
    ///   - context: Where it is called. Default: the main queue.
    ///   - listener: Called one event at a time.
    /// - Returns: To stop listening. May be dropped: the listener stays as long as the session does.
    @discardableResult
    public func listen(
        on context: WebSocketListenerContext = .main, _ listener: @escaping @Sendable (Event) -> Void
    ) -> WebSocketListening {
        let place = NIOLockedValueBox<Int?>(nil)
        let core = self.core
        let mailbox: WebSocketMailbox?
        let subscriber: any WebSocketSubscriber & Sendable
        switch context.kind {
        case .eventLoop:
            mailbox = nil
            subscriber = DirectSubscriber(listener)
        case .executor(let run):
            let made = WebSocketMailbox(flow: core.configuration.client.flow, run: run, listener: listener) { [weak core] in
                guard let core else { return }
                core.eventLoop.execute {
                    guard let id = place.withLockedValue({ $0 }) else { return }
                    core.audience.hasRoom(id)
                    core.audienceChanged()
                }
            }
            mailbox = made
            subscriber = made
        }
        core.onLoop { core in
            place.withLockedValue { $0 = core.audience.add(subscriber) }
            core.audienceChanged()
            core.connect(again: true)
        }
        return WebSocketListening { [weak core, weak mailbox] in
            mailbox?.cancel()
            core?.onLoop { core in
                guard let id = place.withLockedValue({ $0 }) else { return }
                core.audience.remove(id)
                core.audienceChanged()
            }
        }
    }
}

/// Calls the listener from the event loop.
private final class DirectSubscriber: WebSocketSubscriber, Sendable {
    private let listener: @Sendable (WebSocketSession.Event) -> Void

    init(_ listener: @escaping @Sendable (WebSocketSession.Event) -> Void) {
        self.listener = listener
    }

    func receive(_ event: WebSocketSession.Event) -> Bool {
        self.listener(event)
        return false
    }

    func sessionEnded(_ error: WebSocketError?) -> Bool { false }
}

/// The events that wait for a listener's executor. One drain at a time is on its way there.
final class WebSocketMailbox: WebSocketSubscriber, Sendable {
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

    func sessionEnded(_ error: WebSocketError?) -> Bool { false }

    func cancel() {
        self.state.withLockedValue { state in
            state.listener = nil
            state.events.removeAll()
        }
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
