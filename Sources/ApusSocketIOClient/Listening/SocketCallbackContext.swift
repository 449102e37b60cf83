import DequeModule
public import Dispatch
import NIOConcurrencyHelpers

/// Where a manager's listeners are called: one at a time, in the order of what happened.
public struct SocketCallbackContext: Sendable {
    let run: (@Sendable (@escaping @Sendable () -> Void) -> Void)?

    /// On the connection's event loop, at once: the fast path. Listeners must not block.
    public static let eventLoop = Self(run: nil)

    /// On the main queue, where the main actor is: the habit of socket.io-client-swift.
    public static let main = Self.queue(.main)

    /// On a queue, serial or not.
    public static func queue(_ queue: DispatchQueue) -> Self { .executor { queue.async(execute: $0) } }

    /// On any executor: `run` is given work and runs it once, later or at once. One piece at a time is given.
    public static func executor(_ run: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void) -> Self { Self(run: run) }
}

/// The calls that wait for the user's executor. One drain at a time is on its way there, so that any executor keeps the order.
final class SocketCallbackQueue: Sendable {
    private struct State: Sendable {
        var calls = Deque<(call: @Sendable () -> Void, bytes: Int)>()
        var bytes = 0
        var isScheduled = false
    }

    private let run: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let maximumWaiting: Int
    private let maximumBytes: Int
    private let state = NIOLockedValueBox(State())

    /// Nil where no queue is needed.
    init?(_ context: SocketCallbackContext, maximumWaiting: Int, maximumBytes: Int) {
        guard let run = context.run else { return nil }
        self.run = run
        self.maximumWaiting = maximumWaiting
        self.maximumBytes = maximumBytes
    }

    /// Calls `call` in its turn.
    ///
    /// - Parameters:
    ///   - isBounded: Whether the bounds apply. Answers to what the user asked are bounded by what he asked.
    ///   - bytes: What the call holds.
    ///   - call: The user's code.
    /// - Returns: `false` when too many wait; then it is never called.
    @discardableResult
    func post(isBounded: Bool, bytes: Int = 0, _ call: @escaping @Sendable () -> Void) -> Bool {
        let (isTaken, schedule) = self.state.withLockedValue { state -> (Bool, Bool) in
            let hasRoom = state.calls.count < self.maximumWaiting && bytes <= self.maximumBytes - state.bytes
            guard !isBounded || hasRoom else { return (false, false) }
            state.calls.append((call, bytes))
            state.bytes += bytes
            defer { state.isScheduled = true }
            return (true, !state.isScheduled)
        }
        if schedule { self.run { self.drain() } }
        return isTaken
    }

    private func drain() {
        while true {
            let call = self.state.withLockedValue { state in
                let next = state.calls.popFirst()
                if let next { state.bytes -= next.bytes } else { state.isScheduled = false }
                return next?.call
            }
            guard let call else { return }
            call()
        }
    }
}
