import ApusEventLoop
import ApusFramedProtocol
import ApusJSON
import NIOCore

/// The state machine of the received, unread parts of messages, with at most one waiting reader.
///
/// It performs no I/O. The caller owns the reader's continuation.
struct FramedInboxStateMachine {
    /// A part of a message.
    enum Part: Hashable {
        case head(JSONObject, bodyLength: Int)
        case body(ByteBuffer)
        case end

        /// The estimated memory of the part, in bytes. The fixed overhead bounds empty messages as
        /// well.
        var cost: Int {
            switch self {
            case .head(let header, _): 256 + Self.weight(of: .object(header))
            case .body(let bytes): bytes.readableBytes + 64
            case .end: 16
            }
        }

        /// Estimates the memory of a value: 64 KiB of text can become 20,000 values.
        private static func weight(of value: JSONValue) -> Int {
            switch value {
            case .null, .bool, .integer, .double, .date: 32
            case .string(let text): 32 + text.utf8.count
            case .binary(let bytes): 32 + bytes.count
            case .array(let elements): elements.reduce(32) { $0 + Self.weight(of: $1) }
            case .object(let members): members.reduce(32) { $0 + 32 + $1.key.utf8.count + Self.weight(of: $1.value) }
            }
        }
    }

    /// The result for a reader.
    enum Delivery: Hashable {
        case message(number: Int, JSONObject, bodyLength: Int)
        case piece(ByteBuffer)
        case bodyEnded
        /// No more messages follow.
        case finished
        case failed(FramedError)
    }

    private enum Request {
        case message
        case piece
    }

    private enum State {
        /// Transitions to `ended`.
        case open
        /// Buffered parts are still delivered. Final.
        case ended(FramedError?)
    }

    private static let smallPieceBytes = 1 << 10
    private static let joinedBytes = 16 << 10

    private var state = State.open
    private var parts: BoundedQueue<Part>
    /// Whether reading from the transport is stopped.
    private(set) var isPaused = false
    /// The request of the waiting reader.
    private var request: Request?
    /// The number of the last delivered message.
    private var number = 0
    /// Whether the end of the last delivered message was delivered or skipped.
    private var isBetweenMessages = true

    /// Creates a state machine.
    ///
    /// - Parameter bound: The cost of the buffered parts at which reading stops, in bytes.
    init(bound: Int) {
        self.parts = BoundedQueue(maximumBytes: bound == .max ? bound : bound + 1)
    }

    struct Action: Hashable {
        /// The result for the waiting or calling reader.
        var delivery: Delivery?
        /// Whether to stop (`true`) or resume (`false`) reading from the transport; `nil` for no
        /// change.
        var pause: Bool?
    }

    // MARK: Transport

    mutating func receivedPart(_ part: Part) -> Action {
        guard case .open = self.state else { return Action() }  // closed locally
        self.append(part)
        return self.pump()
    }

    /// Joins small pieces of a body, because each retains the memory of the whole read that
    /// delivered it.
    private mutating func append(_ part: Part) {
        guard case .body(let bytes) = part, bytes.readableBytes < Self.smallPieceBytes, case .body(var last)? = self.parts.last,
            last.readableBytes < Self.joinedBytes
        else {
            return self.parts.append(part, bytes: part.cost)
        }
        _ = self.parts.popLast()  // makes `last` uniquely referenced, so it grows in place
        last.writeImmutableBuffer(bytes)
        let joined = Part.body(last)
        self.parts.append(joined, bytes: joined.cost)
    }

    /// Handles a bye frame, a failure, or the end of the transport. Buffered parts are still
    /// delivered.
    mutating func ended(_ error: FramedError?) -> Action {
        guard case .open = self.state else { return Action() }
        self.state = .ended(error)
        return self.pump()
    }

    /// Handles a local close of the connection. Discards the buffered parts.
    mutating func closed() -> Action {
        _ = self.parts.takeAll()
        self.state = .ended(nil)
        return self.pump()
    }

    // MARK: Readers

    /// Requests the next message. Skips the rest of the previous message.
    mutating func nextMessage() -> Action { self.wait(for: .message) }

    /// Requests the next piece of a message's body.
    mutating func nextPiece(of message: Int) -> Action {
        guard message == self.number else {
            return Action(
                delivery: .failed(
                    FramedError(.invalidUse, message: "the body of a message must be read before the next message is requested")))
        }
        guard !self.isBetweenMessages else { return Action(delivery: .bodyEnded) }
        return self.wait(for: .piece)
    }

    private mutating func wait(for request: Request) -> Action {
        guard self.request == nil else {
            return Action(
                delivery: .failed(FramedError(.invalidUse, message: "only one task at a time may read the messages of a connection")))
        }
        self.request = request
        return self.pump()
    }

    /// Cancels the waiting reader. Returns `false` when it was already served.
    mutating func cancelled() -> Bool {
        defer { self.request = nil }
        return self.request != nil
    }

    // MARK: Delivery

    private mutating func pump() -> Action {
        let delivery = self.serve()
        if delivery != nil { self.request = nil }
        guard self.parts.isPaused != self.isPaused else { return Action(delivery: delivery) }
        self.isPaused = self.parts.isPaused
        return Action(delivery: delivery, pause: self.isPaused)
    }

    private mutating func serve() -> Delivery? {
        guard let request = self.request else { return nil }
        while let part = self.parts.popFirst() {
            switch (part, request) {
            case (.head(let header, let bodyLength), _):
                self.number += 1
                self.isBetweenMessages = false
                return .message(number: self.number, header, bodyLength: bodyLength)
            case (.body(let bytes), .piece):
                return .piece(bytes)
            case (.end, .piece):
                self.isBetweenMessages = true
                return .bodyEnded
            case (.body, .message): break
            case (.end, .message): self.isBetweenMessages = true
            }
        }
        guard case .ended(let error) = self.state else { return nil }
        if let error { return .failed(error) }
        // Without an error, the reader would mistake the received part for the whole body.
        if case .piece = request {
            return .failed(FramedError(.closed, message: "the connection was closed before the end of the body"))
        }
        return .finished
    }
}
