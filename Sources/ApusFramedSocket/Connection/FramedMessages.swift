public import ApusFramedProtocol
public import ApusJSON
import NIOConcurrencyHelpers
public import NIOCore

/// The received messages of a connection, in order.
///
/// The sequence ends when either side closes the connection. After a failure it throws a
/// `FramedError` after the last message. The connection stops reading while too many bytes are
/// unread (``FramedConnectionConfiguration/receivedBytes``), so a slow reader slows the peer down.
/// Only one task may read at a time. Requesting the next message skips the rest of the current
/// body.
public struct FramedMessages: AsyncSequence, Sendable {
    /// A received message.
    public typealias Element = FramedMessage

    let inbox: FramedInbox

    /// Returns an iterator that continues where the last reader stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(inbox: self.inbox) }

    /// Returns one message at a time.
    public struct Iterator: AsyncIteratorProtocol {
        let inbox: FramedInbox

        /// Returns the next message, or `nil` after the last one or when the task is cancelled.
        ///
        /// - Throws: The `FramedError` that ended the connection, after the last message;
        ///   `FramedError.Code.invalidUse` if another task reads at the same time.
        public mutating func next() async throws(FramedError) -> FramedMessage? {
            switch await self.inbox.nextMessage() {
            case .message(let number, let header, let bodyLength)?:
                return FramedMessage(
                    header: header, bodyLength: bodyLength, body: FramedBody(inbox: self.inbox, number: number, bodyLength: bodyLength))
            case .failed(let error)?: throw error
            case .piece, .bodyEnded, .finished, nil: return nil
            }
        }
    }
}

/// A received message: its header, and a body that may still arrive.
public struct FramedMessage: Sendable {
    /// The fields of the header.
    public let header: JSONObject
    /// The length of the body in bytes.
    public let bodyLength: Int
    /// The body. It can be read once, before the next message is requested.
    public let body: FramedBody
}

/// The body of a message, in the pieces in which it arrives. Pieces are never empty. Their total
/// length is the announced length.
public struct FramedBody: AsyncSequence, Sendable {
    /// A piece of the body.
    public typealias Element = ByteBuffer

    let inbox: FramedInbox
    let number: Int
    let bodyLength: Int

    /// Returns an iterator that continues where the last reader stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(inbox: self.inbox, number: self.number) }

    /// Returns one piece at a time.
    public struct Iterator: AsyncIteratorProtocol {
        let inbox: FramedInbox
        let number: Int

        /// Returns the next piece, or `nil` after the last one.
        ///
        /// - Throws: The error that ended the connection, `FramedError.Code.closed` if this side
        ///   closed it before the end of the body, `FramedError.Code.invalidUse` after the next
        ///   message was requested, or `CancellationError` when the task is cancelled.
        public mutating func next() async throws -> ByteBuffer? {
            switch await self.inbox.nextPiece(of: self.number) {
            case .piece(let bytes)?: return bytes
            case .failed(let error)?: throw error
            case .message, .bodyEnded, .finished: return nil
            case nil: throw CancellationError()
            }
        }
    }

    /// Returns the whole body in memory.
    ///
    /// - Parameter maximumBytes: The maximum length of the body. Default: 1 MiB.
    /// - Throws: `FramedError.Code.frameTooLarge` when the body is longer, before any of it is
    ///   read, and the errors of the iterator.
    public func collect(upTo maximumBytes: Int = 1 << 20) async throws -> ByteBuffer {
        guard self.bodyLength <= maximumBytes else {
            throw FramedError(
                .frameTooLarge, message: "the body has \(self.bodyLength) bytes; the maximum is \(maximumBytes) (`maximumBytes`)")
        }
        var whole = ByteBuffer()
        for try await piece in self { whole.writeImmutableBuffer(piece) }
        return whole
    }
}

/// Protects a ``FramedInboxStateMachine`` with a lock, and stores the continuation of its reader.
final class FramedInbox: Sendable {
    private struct Storage: Sendable {
        var machine: FramedInboxStateMachine
        /// Resumed with `nil` when the task of the reader is cancelled.
        var continuation: CheckedContinuation<FramedInboxStateMachine.Delivery?, Never>?
        /// The owner of the continuation: a cancelled task must not resume the continuation of
        /// another task.
        var reader = 0
        var lastReader = 0
    }

    private let storage: NIOLockedValueBox<Storage>
    /// Called from any thread when ``isPaused`` may have changed.
    private let pauseChanged: @Sendable () -> Void

    init(bound: Int, pauseChanged: @escaping @Sendable () -> Void) {
        self.storage = NIOLockedValueBox(Storage(machine: FramedInboxStateMachine(bound: bound)))
        self.pauseChanged = pauseChanged
    }

    /// Whether the inbox is full.
    var isPaused: Bool { self.storage.withLockedValue { $0.machine.isPaused } }

    func receivedPart(_ part: FramedInboxStateMachine.Part) { self.event { $0.receivedPart(part) } }
    func ended(_ error: FramedError?) { self.event { $0.ended(error) } }
    func closed() { self.event { $0.closed() } }

    private func event(_ body: (inout FramedInboxStateMachine) -> FramedInboxStateMachine.Action) {
        let (action, continuation) = self.storage.withLockedValue { storage in
            let action = body(&storage.machine)
            return (action, action.delivery == nil ? nil : storage.continuation.take())
        }
        if let delivery = action.delivery { continuation?.resume(returning: delivery) }
        if action.pause != nil { self.pauseChanged() }
    }

    /// Returns `nil` when the task is cancelled.
    func nextMessage() async -> FramedInboxStateMachine.Delivery? { await self.read { $0.nextMessage() } }

    /// Returns `nil` when the task is cancelled.
    func nextPiece(of number: Int) async -> FramedInboxStateMachine.Delivery? { await self.read { $0.nextPiece(of: number) } }

    private func read(
        _ request: @Sendable (inout FramedInboxStateMachine) -> FramedInboxStateMachine.Action
    ) async -> FramedInboxStateMachine.Delivery? {
        let reader = self.storage.withLockedValue { storage in
            storage.lastReader &+= 1
            return storage.lastReader
        }
        // Not `withLoopOperation`: a queued part is taken on the reader's thread, without a hop.
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Check inside the lock: an earlier cancellation found no continuation to resume.
                let action: FramedInboxStateMachine.Action? = self.storage.withLockedValue { storage in
                    if Task.isCancelled { return nil }
                    let action = request(&storage.machine)
                    if action.delivery == nil {
                        storage.continuation = continuation
                        storage.reader = reader
                    }
                    return action
                }
                guard let action else { return continuation.resume(returning: nil) }
                if action.pause != nil { self.pauseChanged() }
                if let delivery = action.delivery { continuation.resume(returning: delivery) }
            }
        } onCancel: {
            let continuation = self.storage.withLockedValue { storage in
                storage.reader == reader && storage.machine.cancelled() ? storage.continuation.take() : nil
            }
            continuation?.resume(returning: nil)
        }
    }
}
