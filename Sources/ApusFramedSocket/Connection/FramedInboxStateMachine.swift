import ApusFramedProtocol
import ApusJSON
import DequeModule
import NIOCore

/// What was received and not yet taken: parts of messages, in order, and at most one reader that waits for the next.
///
/// Pure: the shell owns the reader's continuation.
struct FramedInboxStateMachine {
    /// A part of a message.
    enum Part: Hashable {
        case head(JSONObject, bodyLength: Int)
        case body(ByteBuffer)
        case end

        /// What it counts: nothing is free, so that a million empty messages have a bound as well.
        var cost: Int {
            switch self {
            case .head(let header, _): 256 + Self.weight(of: .object(header))
            case .body(let bytes): bytes.readableBytes + 64
            case .end: 16
            }
        }

        /// About what a value holds of memory: of 64 KiB of text become 20,000 values.
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

    /// What a reader gets.
    enum Delivery: Hashable {
        case message(number: Int, JSONObject, bodyLength: Int)
        case piece(ByteBuffer)
        case bodyEnded
        /// Nothing more comes.
        case finished
        case failed(FramedError)
    }

    private enum Want {
        case message
        case piece
    }

    private enum State {
        /// Leaves to `ended`.
        case open
        /// What is there is still given out. Final.
        case ended(FramedError?)
    }

    private static let smallPieceBytes = 1 << 10
    private static let joinedBytes = 16 << 10

    private let bound: Int
    private var state = State.open
    private var parts = Deque<Part>()
    private var cost = 0
    private(set) var isPaused = false
    /// The reader that waits.
    private var want: Want?
    /// The number of the last message that was given out.
    private var number = 0
    /// Whether its end was given out or passed over.
    private var isBetweenMessages = true

    /// - Parameter bound: What may wait before reading stops.
    init(bound: Int) {
        self.bound = bound
    }

    struct Action: Hashable {
        /// For the reader that waits, or that asks.
        var delivery: Delivery?
        /// Stop reading from the transport (`true`) or go on (`false`).
        var pause: Bool?
    }

    // MARK: The transport

    mutating func received(_ part: Part) -> Action {
        guard case .open = self.state else { return Action() }  // whoever ended it does not want more
        self.append(part)
        return self.pump()
    }

    /// Small pieces of a body are joined: each holds the memory of the whole read it came with.
    private mutating func append(_ part: Part) {
        guard case .body(let bytes) = part, bytes.readableBytes < Self.smallPieceBytes, case .body(var last)? = self.parts.last,
            last.readableBytes < Self.joinedBytes
        else {
            self.cost += part.cost
            return self.parts.append(part)
        }
        self.parts.removeLast()  // `last` is the only one then, and grows in place
        last.writeImmutableBuffer(bytes)
        self.parts.append(.body(last))
        self.cost += bytes.readableBytes
    }

    /// Nothing more comes; what is there is still given out.
    mutating func ended(_ error: FramedError?) -> Action {
        guard case .open = self.state else { return Action() }
        self.state = .ended(error)
        return self.pump()
    }

    /// Nobody wants more. What is there is thrown away.
    mutating func closed() -> Action {
        self.parts.removeAll()
        self.cost = 0
        self.state = .ended(nil)
        return self.pump()
    }

    // MARK: Readers

    /// Somebody wants the next message. What is left of the one before is passed over.
    mutating func nextMessage() -> Action { self.wait(for: .message) }

    /// Somebody wants the next piece of a message's body.
    mutating func nextPiece(of message: Int) -> Action {
        guard message == self.number else {
            return Action(delivery: .failed(FramedError(.invalidUse, message: "the body of a message was left for the next message")))
        }
        guard !self.isBetweenMessages else { return Action(delivery: .bodyEnded) }
        return self.wait(for: .piece)
    }

    private mutating func wait(for want: Want) -> Action {
        guard self.want == nil else {
            return Action(delivery: .failed(FramedError(.invalidUse, message: "two tasks read the messages of one connection")))
        }
        self.want = want
        return self.pump()
    }

    /// The reader that waited does not want any more. `false`: it was served already.
    mutating func cancelled() -> Bool {
        defer { self.want = nil }
        return self.want != nil
    }

    // MARK: Between

    private mutating func pump() -> Action {
        let delivery = self.serve()
        if delivery != nil { self.want = nil }
        // Half full before reading goes on, so that it does not stop and go for every piece.
        let pause = self.isPaused ? self.cost > self.bound / 2 : self.cost > self.bound
        guard pause != self.isPaused else { return Action(delivery: delivery) }
        self.isPaused = pause
        return Action(delivery: delivery, pause: pause)
    }

    private mutating func serve() -> Delivery? {
        guard let want = self.want else { return nil }
        while let part = self.parts.popFirst() {
            self.cost -= part.cost
            switch (part, want) {
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
        return .finished
    }
}
