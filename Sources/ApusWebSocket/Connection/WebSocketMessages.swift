import ApusEventLoop
public import ApusWebSocketProtocol
import NIOCore

/// The received messages of a connection, in order.
///
/// The sequence ends after an orderly close by either side. If the connection failed, it throws a
/// `WebSocketError` after the last message. Reading from the peer stops while the queue is full
/// (``WebSocketFlowControl``), so that a slow reader slows the peer down. Several loops, concurrent
/// or consecutive, share the messages: each message is delivered to one of them.
public struct WebSocketMessages: AsyncSequence, Sendable {
    /// The type of the received messages.
    public typealias Element = WebSocketMessage

    let inbox: WebSocketInbox

    /// Creates an iterator that continues after the messages already read.
    public func makeAsyncIterator() -> Iterator { Iterator(inbox: self.inbox) }

    /// The iterator of ``WebSocketMessages``.
    public struct Iterator: AsyncIteratorProtocol {
        let inbox: WebSocketInbox

        /// Returns the next message; `nil` after the last one, and when the task is cancelled.
        ///
        /// - Throws: The `WebSocketError` that ended the connection, after the last message.
        public mutating func next() async throws(WebSocketError) -> WebSocketMessage? { try await self.inbox.next() }
    }
}

typealias WebSocketInbox = Inbox<WebSocketMessage, WebSocketError>

extension WebSocketInbox {
    convenience init(flow: WebSocketFlowControl, resumeReading: @escaping @Sendable () -> Void) {
        self.init(maximumCount: flow.receivedMessages, maximumBytes: flow.receivedBytes, resumeSource: resumeReading)
    }

    func received(_ message: WebSocketMessage) -> Bool { self.received(message, bytes: message.payload.readableBytes) }
}
