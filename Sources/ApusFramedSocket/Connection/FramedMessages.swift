import ApusFramedProtocol
public import ApusJSON
import NIOConcurrencyHelpers
public import NIOCore

/// The messages of a connection, in order.
///
/// Ends when either side said goodbye, and throws a ``FramedError`` after the last message when the connection failed. What nobody takes makes
/// the connection stop reading (``FramedConnectionConfiguration/receivedBytes``), so that a slow reader slows the peer down. One task reads at a
/// time; what is left of a body is passed over when the next message is asked for.
public struct FramedMessages: AsyncSequence, Sendable {
    /// What is received.
    public typealias Element = FramedMessage

    let inbox: FramedInbox

    /// Starts where the last reader stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(inbox: self.inbox) }

    /// Takes one message at a time.
    public struct Iterator: AsyncIteratorProtocol {
        let inbox: FramedInbox

        /// The next message; `nil` after the last one, and when the task is cancelled.
        public mutating func next() async throws -> FramedMessage? {
            do {
                guard case .message(let number, let header, let bodyLength) = try await self.inbox.nextMessage() else { return nil }
                return FramedMessage(
                    header: header, bodyLength: bodyLength, body: FramedBody(inbox: self.inbox, number: number, bodyLength: bodyLength))
            } catch is CancellationError {
                return nil
            }
        }
    }
}

/// A message that was received: its header is there, its body comes.
public struct FramedMessage: Sendable {
    /// The sender's fields.
    public let header: JSONObject
    /// The bytes of the body.
    public let bodyLength: Int
    /// The body, to be read once, before the next message is asked for.
    public let body: FramedBody
}

/// The body of a message, in the pieces in which it comes. None is empty, and together they have the length that was announced.
public struct FramedBody: AsyncSequence, Sendable {
    /// A piece.
    public typealias Element = ByteBuffer

    let inbox: FramedInbox
    let number: Int
    let bodyLength: Int

    /// Starts where the last reader stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(inbox: self.inbox, number: self.number) }

    /// Takes one piece at a time.
    public struct Iterator: AsyncIteratorProtocol {
        let inbox: FramedInbox
        let number: Int

        /// The next piece; `nil` after the last one.
        ///
        /// - Throws: The error that ended the connection, ``FramedError/Code/invalidUse`` once the next message was asked for,
        ///   `CancellationError`.
        public mutating func next() async throws -> ByteBuffer? {
            switch try await self.inbox.nextPiece(of: self.number) {
            case .piece(let bytes): bytes
            case .message, .bodyEnded, .finished, .failed: nil
            }
        }
    }

    /// The whole body in memory.
    ///
    /// - Parameter maximumBytes: The most you are ready to hold. Default: 1 MiB.
    /// - Throws: ``FramedError/Code/frameTooLarge`` before a byte is held when the body is larger, and what reading throws.
    public func collect(upTo maximumBytes: Int = 1 << 20) async throws -> ByteBuffer {
        guard self.bodyLength <= maximumBytes else {
            throw FramedError(.frameTooLarge, message: "a body of \(self.bodyLength) bytes, \(maximumBytes) were to be held")
        }
        var whole = ByteBuffer()
        for try await piece in self { whole.writeImmutableBuffer(piece) }
        return whole
    }
}

/// The lock around ``FramedInboxStateMachine``, and its reader's continuation.
final class FramedInbox: Sendable {
    private typealias Delivery = FramedInboxStateMachine.Delivery

    private struct Storage: Sendable {
        var machine: FramedInboxStateMachine
        var continuation: CheckedContinuation<FramedInboxStateMachine.Delivery, any Error>?
        /// Whose it is: a task that is cancelled must not take that of another.
        var reader = 0
        var lastReader = 0
    }

    private let storage: NIOLockedValueBox<Storage>
    /// Called from any thread when the answer of ``isPaused`` may have changed.
    private let pauseChanged: @Sendable () -> Void

    init(bound: Int, pauseChanged: @escaping @Sendable () -> Void) {
        self.storage = NIOLockedValueBox(Storage(machine: FramedInboxStateMachine(bound: bound)))
        self.pauseChanged = pauseChanged
    }

    /// Whether there is no room.
    var isPaused: Bool { self.storage.withLockedValue { $0.machine.isPaused } }

    func received(_ part: FramedInboxStateMachine.Part) { self.event { $0.received(part) } }
    func ended(_ error: FramedError?) { self.event { $0.ended(error) } }
    func closed() { self.event { $0.closed() } }

    private func event(_ body: (inout FramedInboxStateMachine) -> FramedInboxStateMachine.Action) {
        let (action, continuation) = self.storage.withLockedValue { storage in
            let action = body(&storage.machine)
            return (action, action.delivery == nil ? nil : storage.continuation.take())
        }
        if let delivery = action.delivery, let continuation { Self.resume(continuation, delivery) }
        if action.pause != nil { self.pauseChanged() }
    }

    func nextMessage() async throws -> FramedInboxStateMachine.Delivery { try await self.read { $0.nextMessage() } }

    func nextPiece(of number: Int) async throws -> FramedInboxStateMachine.Delivery { try await self.read { $0.nextPiece(of: number) } }

    private func read(
        _ ask: @Sendable (inout FramedInboxStateMachine) -> FramedInboxStateMachine.Action
    ) async throws -> FramedInboxStateMachine.Delivery {
        let reader = self.storage.withLockedValue { storage in
            storage.lastReader &+= 1
            return storage.lastReader
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // Looked at inside the lock: a cancellation before this point found nobody to cancel.
                let action: FramedInboxStateMachine.Action? = self.storage.withLockedValue { storage in
                    if Task.isCancelled { return nil }
                    let action = ask(&storage.machine)
                    if action.delivery == nil {
                        storage.continuation = continuation
                        storage.reader = reader
                    }
                    return action
                }
                guard let action else { return continuation.resume(throwing: CancellationError()) }
                if action.pause != nil { self.pauseChanged() }
                if let delivery = action.delivery { Self.resume(continuation, delivery) }
            }
        } onCancel: {
            let continuation = self.storage.withLockedValue { storage in
                storage.reader == reader && storage.machine.cancelled() ? storage.continuation.take() : nil
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    private static func resume(_ continuation: CheckedContinuation<Delivery, any Error>, _ delivery: Delivery) {
        if case .failed(let error) = delivery { continuation.resume(throwing: error) } else { continuation.resume(returning: delivery) }
    }
}
