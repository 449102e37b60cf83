import ApusWebSocketProtocol
import DequeModule
import NIOCore

/// The queue of received messages for the tasks that read ``WebSocketConnection/messages``.
///
/// Pure: readers are numbers here, and ``WebSocketInbox`` owns their continuations.
struct WebSocketInboxStateMachine {
    private enum State {
        /// The connection is open. Leaves to `ended`.
        case open
        /// No further message is accepted; queued ones can still be read. Every reader gets the
        /// error after them.
        indirect case ended(WebSocketError?)
    }

    private let flow: WebSocketFlowControl
    private var state = State.open
    private var messages = Deque<WebSocketMessage>()
    private var bytes = 0
    private var readers = Deque<Int>()
    /// Whether reading from the peer is to be paused.
    private(set) var isPaused = false

    init(flow: WebSocketFlowControl) {
        self.flow = flow
    }

    // MARK: The connection

    enum ReceivedAction: Equatable {
        case resume(reader: Int)
        case pauseReading
        case doNothing
    }

    /// Accepts a received message.
    mutating func received(_ message: WebSocketMessage) -> ReceivedAction {
        guard case .open = self.state else { return .doNothing }
        if let reader = self.readers.popFirst() {
            return .resume(reader: reader)  // a waiting reader means that the queue is empty
        }
        self.messages.append(message)
        self.bytes += message.payload.readableBytes
        guard !self.isPaused, self.messages.count >= self.flow.receivedMessages || self.bytes >= self.flow.receivedBytes else {
            return .doNothing
        }
        self.isPaused = true
        return .pauseReading
    }

    /// Ends the queue. Returns the waiting readers.
    mutating func ended(_ error: WebSocketError?) -> [Int] {
        guard case .open = self.state else { return [] }
        self.state = .ended(error)
        self.isPaused = false  // no further message is kept, and the peer's Close frame must be read
        defer { self.readers.removeAll() }
        return self.readers.map { $0 }  // see `handlerTakesOver`
    }

    /// Passes all messages, present and future, to a handler. Ends the readers.
    mutating func handlerTakesOver() -> (messages: [WebSocketMessage], readers: [Int], resumeReading: Bool) {
        defer {
            self.messages.removeAll()
            self.bytes = 0
            self.readers.removeAll()
            self.isPaused = false
        }
        // Not `Array(…)`: for an empty deque it writes to the standard library's shared empty
        // array, which ThreadSanitizer reports as a race.
        return (self.messages.map { $0 }, self.readers.map { $0 }, self.isPaused)
    }

    // MARK: Readers

    enum NextAction: Equatable {
        case deliver(WebSocketMessage, resumeReading: Bool)
        case wait
        case finish(WebSocketError?)
    }

    /// Requests a message for a reader.
    mutating func next(reader: Int) -> NextAction {
        if let message = self.messages.popFirst() {
            self.bytes -= message.payload.readableBytes
            // At half the limit rather than at the limit, so that reading is not switched for every
            // message.
            let isLow = self.messages.count <= self.flow.receivedMessages / 2 && self.bytes <= self.flow.receivedBytes / 2
            let resume = self.isPaused && isLow
            if resume { self.isPaused = false }
            return .deliver(message, resumeReading: resume)
        }
        switch self.state {
        case .open:
            self.readers.append(reader)
            return .wait
        case .ended(let error):
            return .finish(error)
        }
    }

    /// Cancels a reader. Returns whether it was waiting.
    mutating func cancelled(reader: Int) -> Bool {
        guard let index = self.readers.firstIndex(of: reader) else { return false }
        self.readers.remove(at: index)
        return true
    }
}
