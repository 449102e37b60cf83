import ApusEventLoop
public import Dispatch

/// The context in which a manager calls its listeners, one at a time and in order.
public struct SocketIOClientCallbackContext: Sendable {
    let run: (@Sendable (@escaping @Sendable () -> Void) -> Void)?

    /// Calls listeners directly on the connection's event loop, which is fastest. The listeners
    /// must not block.
    public static let eventLoop = Self(run: nil)

    /// Calls listeners on the main queue, which is the executor of the main actor, as in
    /// socket.io-client-swift.
    public static let main = Self.queue(.main)

    /// Calls listeners on a dispatch queue, serial or concurrent.
    public static func queue(_ queue: DispatchQueue) -> Self { .executor { queue.async(execute: $0) } }

    /// Calls listeners on any executor. `run` must execute each closure once, immediately or later.
    /// It receives the next closure after the previous one has been executed.
    public static func executor(_ run: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void) -> Self { Self(run: run) }
}

/// The pending calls of the application's code.
typealias SocketIOClientCallbackQueue = Mailbox<@Sendable () -> Void>

extension SocketIOClientCallbackContext {
    /// Returns a queue that calls the executor; `nil` for the event loop.
    func makeQueue(maximumCount: Int, maximumBytes: Int) -> SocketIOClientCallbackQueue? {
        self.run.map { SocketIOClientCallbackQueue(maximumCount: maximumCount, maximumBytes: maximumBytes, run: $0) { call in call() } }
    }
}

extension SocketIOClientCallbackQueue {
    /// Appends a call to the queue.
    ///
    /// - Parameters:
    ///   - isBounded: Whether the limits apply. Results of calls of the
    ///     application, such as acks, need no limit: each call has one result.
    ///   - bytes: The size of the data that the call holds.
    ///   - call: The application's code.
    /// - Returns: `false` if the queue is full; the call is then dropped.
    @discardableResult
    func post(isBounded: Bool, bytes: Int = 0, _ call: @escaping @Sendable () -> Void) -> Bool {
        guard !isBounded else { return self.postWithinLimits(call, bytes: bytes) }
        self.post(call, bytes: bytes)
        return true
    }
}
