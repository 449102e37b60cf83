import ApusEventLoop
import ApusWebSocketProtocol
import NIOCore

/// The continuations that wait for a session to open or to end, and those that observe its state.
///
/// Each is removed exactly once. A class, because finishing a stream calls its termination handler
/// synchronously, which calls back into this object. Confined to the session's event loop.
final class WebSocketSessionWaiters {
    private var opening = LoopOperations<Void>()
    private var closing: [EventLoopPromise<Void>] = []
    private var watchers: [Int: EventStream<WebSocketSession.State>.Continuation] = [:]
    private var lastID = 0

    func waitForOpen(_ operation: LoopOperation<Void>) {
        self.opening.append(operation)
    }

    func waitForEnd(_ promise: EventLoopPromise<Void>) {
        self.closing.append(promise)
    }

    func watch(_ state: WebSocketSession.State, _ continuation: EventStream<WebSocketSession.State>.Continuation) -> Int {
        self.lastID += 1
        self.watchers[self.lastID] = continuation
        continuation.yield(state)
        return self.lastID
    }

    func unwatch(_ id: Int) {
        self.watchers.removeValue(forKey: id)
    }

    func stateChanged(_ state: WebSocketSession.State) {
        for (id, watcher) in self.watchers {
            if case .terminated = watcher.yield(state) { self.watchers.removeValue(forKey: id) }
        }
        guard state == .open else { return }
        for operation in self.opening.takeAll() { operation.succeed() }
    }

    /// Resumes the waits for the end of the session.
    func resumeClosing() {
        let closing = self.closing
        self.closing = []
        for promise in closing { promise.succeed() }
    }

    /// Fails the waits for an open connection when the session has ended.
    func failOpening(_ error: WebSocketError) {
        for operation in self.opening.takeAll() { operation.fail(error) }
    }

    /// Ends the state streams when the session is released.
    func finishWatchers() {
        let watchers = self.watchers
        self.watchers = [:]
        for watcher in watchers.values { watcher.finish() }
    }
}

@available(*, unavailable)
extension WebSocketSessionWaiters: Sendable {}
