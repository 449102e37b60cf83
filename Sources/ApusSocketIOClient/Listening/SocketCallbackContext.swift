import DequeModule
public import Dispatch
import NIOConcurrencyHelpers

/// The context in which a manager calls its listeners, one at a time and in order.
public struct SocketCallbackContext: Sendable {
    let run: (@Sendable (@escaping @Sendable () -> Void) -> Void)?

    /// Calls listeners directly on the connection's event loop, which is fastest. They must not
    /// block.
    public static let eventLoop = Self(run: nil)

    /// Calls listeners on the main queue, which is the main actor's, as in socket.io-client-swift.
    public static let main = Self.queue(.main)

    /// Calls listeners on a dispatch queue, serial or concurrent.
    public static func queue(_ queue: DispatchQueue) -> Self { .executor { queue.async(execute: $0) } }

    /// Calls listeners on any executor. `run` must run each piece of work once, immediately or
    /// later. It receives the next piece after the previous one.
    public static func executor(_ run: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void) -> Self { Self(run: run) }
}

/// The pending calls for the user's executor. At most one drain is scheduled, so that any executor
/// preserves the order.
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

    /// Returns nil if the context needs no queue.
    init?(_ context: SocketCallbackContext, maximumWaiting: Int, maximumBytes: Int) {
        guard let run = context.run else { return nil }
        self.run = run
        self.maximumWaiting = maximumWaiting
        self.maximumBytes = maximumBytes
    }

    /// Appends a call to the queue.
    ///
    /// - Parameters:
    ///   - isBounded: Whether the limits apply. Answers to the user's requests are limited by those
    ///     requests.
    ///   - bytes: The size of the data that the call holds.
    ///   - call: The user's code.
    /// - Returns: `false` if the queue is full; the call is then dropped.
    @discardableResult
    func post(isBounded: Bool, bytes: Int = 0, _ call: @escaping @Sendable () -> Void) -> Bool {
        let (isAccepted, schedule) = self.state.withLockedValue { state -> (Bool, Bool) in
            let hasRoom = state.calls.count < self.maximumWaiting && bytes <= self.maximumBytes - state.bytes
            guard !isBounded || hasRoom else { return (false, false) }
            state.calls.append((call, bytes))
            state.bytes += bytes
            defer { state.isScheduled = true }
            return (true, !state.isScheduled)
        }
        if schedule { self.run { self.drain() } }
        return isAccepted
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
