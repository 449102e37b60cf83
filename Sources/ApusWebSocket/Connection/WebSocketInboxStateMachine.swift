import ApusWebSocketProtocol
import DequeModule
import NIOCore

/// Received messages on their way to the tasks that read ``WebSocketConnection/messages``.
///
/// Pure. Readers are numbers here; the shell owns their continuations.
struct WebSocketInboxStateMachine {
    private enum State {
        /// The connection stands. Leaves to `ended`.
        case open
        /// No message comes any more; those that are here can still be taken. The error is given out after them, to every reader.
        indirect case ended(WebSocketError?)
    }

    private let flow: WebSocketFlowControl
    private var state = State.open
    private var messages = Deque<WebSocketMessage>()
    private var bytes = 0
    private var readers = Deque<Int>()
    /// Whether reading is to stop.
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

    /// A message came.
    mutating func received(_ message: WebSocketMessage) -> ReceivedAction {
        guard case .open = self.state else { return .doNothing }
        if let reader = self.readers.popFirst() {
            return .resume(reader: reader)  // the messages are empty, else nobody would wait
        }
        self.messages.append(message)
        self.bytes += message.payload.readableBytes
        guard !self.isPaused, self.messages.count >= self.flow.receivedMessages || self.bytes >= self.flow.receivedBytes else {
            return .doNothing
        }
        self.isPaused = true
        return .pauseReading
    }

    /// The connection is over. Answers the readers that wait for what will not come.
    mutating func ended(_ error: WebSocketError?) -> [Int] {
        guard case .open = self.state else { return [] }
        self.state = .ended(error)
        self.isPaused = false  // nothing more is kept, and the peer's Close frame must come through
        defer { self.readers.removeAll() }
        return self.readers.map { $0 }  // see `handlerTakesOver`
    }

    /// Messages go to a handler from now on: what is here is its as well. Readers end.
    mutating func handlerTakesOver() -> (messages: [WebSocketMessage], readers: [Int], resumeReading: Bool) {
        defer {
            self.messages.removeAll()
            self.bytes = 0
            self.readers.removeAll()
            self.isPaused = false
        }
        // Not `Array(…)`: of an empty deque it writes to the standard library's one empty array, which ThreadSanitizer calls a race.
        return (self.messages.map { $0 }, self.readers.map { $0 }, self.isPaused)
    }

    // MARK: Readers

    enum NextAction: Equatable {
        case deliver(WebSocketMessage, resumeReading: Bool)
        case wait
        case finish(WebSocketError?)
    }

    /// A reader wants a message.
    mutating func next(reader: Int) -> NextAction {
        if let message = self.messages.popFirst() {
            self.bytes -= message.payload.readableBytes
            // Half way down, not at the bound: reading is not switched for every message.
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

    /// A reader's task was cancelled. `true`: it waited, and does no longer.
    mutating func cancelled(reader: Int) -> Bool {
        guard let index = self.readers.firstIndex(of: reader) else { return false }
        self.readers.remove(at: index)
        return true
    }
}
