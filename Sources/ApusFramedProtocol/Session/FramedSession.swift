import ApusBytes
public import ApusJSON
public import NIOCore

/// The state machine of one side of a framed connection. It turns received bytes into messages,
/// frames of transfers, and answers.
///
/// It performs no I/O: the caller passes bytes in and performs the returned actions in order, so
/// the session runs on any event loop. A peer of version 2 that violates the protocol receives an
/// error frame. The session then fails and reads nothing more.
public struct FramedSession: Sendable {
    /// An effect for the caller to perform, in the returned order.
    public enum Action: Hashable, Sendable {
        /// Writes bytes to the peer.
        case write(ByteBuffer)
        /// Writes the answer to a ping. A later answer replaces it, so at most one is queued while
        /// the peer does not read.
        case writePong(ByteBuffer)
        /// The session is open and messages can be sent. The hello is `nil` in the fixed mode,
        /// which has none.
        case opened(FramedHello?)
        /// A message begins. Pieces with `bodyLength` bytes in total follow, then ``messageEnded``.
        case messageBegan(header: JSONObject, bodyLength: Int)
        /// The next bytes of the body.
        case messageBody(ByteBuffer)
        /// The message is complete.
        case messageEnded
        /// A part of a frame that belongs to a transfer.
        case transfer(FramePart<FrameHead>)
        /// The peer answered a ping.
        case pong(id: Int64?)
        /// The peer announced that it sends nothing more or, in the fixed mode, closed the
        /// transport between two messages.
        case receivedBye
        /// The session failed. No action follows.
        case fail(FramedError)
    }

    private enum Dialect {
        /// A server before the first byte. Transitions to `version2` or `fixedHeader`.
        case undecided
        case fixedHeader(FixedHeaderDecoder, length: Int)
        /// Version 2. `peer` is `nil` until the peer's hello arrives.
        case version2(FrameDecoder, peer: FramedHello?)
    }

    /// The frame whose body is being read.
    private enum Frame {
        case none
        /// A piece of a message. More pieces follow unless `isLast` is set.
        case message(isLast: Bool)
        case transfer
        /// A frame that is ignored.
        case skipped
    }

    /// The number of frames of unknown types that are answered before the session fails.
    private static let maximumUnknownFrames = 16

    private let framing: Framing
    private let limits: FramedLimits
    private let own: FramedHello
    private let isClient: Bool
    private var dialect: Dialect
    /// Whether the session has ended: nothing more is read or sent. Final.
    private var hasEnded = false
    private var frame = Frame.none
    /// The number of body bytes of the message that have not arrived; `nil` between messages.
    private var missingOfMessage: Int?
    private var unknownFrames = 0
    /// The number of complete heads, so that a deadline can detect a new head.
    package private(set) var headCount = 0
    private var hasReceivedBye = false

    /// Creates a session before its first byte.
    ///
    /// - Parameters:
    ///   - isClient: Whether this side is the client.
    ///   - framing: The wire format.
    ///   - limits: The limits on what the peer may announce.
    ///   - capabilities: The names of the features to announce.
    /// - Throws: ``FramedError/Code/invalidConfiguration`` when this side cannot use the framing.
    public init(isClient: Bool, framing: Framing, limits: FramedLimits = .init(), capabilities: Set<String> = []) throws(FramedError) {
        try framing.validate(isClient: isClient)
        self.framing = framing
        self.limits = limits
        self.own = FramedHello(capabilities: capabilities, limits: limits)
        self.isClient = isClient
        switch framing.form {
        case .fixedHeader(let length):
            self.dialect = .fixedHeader(try FixedHeaderDecoder(headerLength: length, limits: limits), length: length)
        case .version2:
            self.dialect = isClient ? .version2(FrameDecoder(limits: limits), peer: nil) : .undecided
        case .either:
            self.dialect = .undecided
        }
    }

    // MARK: State

    /// Whether messages can be sent.
    public var isOpen: Bool {
        guard !self.hasEnded else { return false }
        switch self.dialect {
        case .fixedHeader, .version2(_, peer: .some): return true
        case .undecided, .version2(_, peer: nil): return false
        }
    }

    /// Whether the peer uses version 2, which has ping and bye frames.
    public var speaksVersion2: Bool { if case .version2 = self.dialect { true } else { false } }

    /// Returns whether the peer has sent an incomplete head. `pending` contains the bytes that are
    /// not decoded yet.
    public func isWithinHead(_ pending: ByteBuffer) -> Bool {
        guard !self.hasEnded else { return false }
        switch self.dialect {
        case .undecided: return pending.readableBytes > 0
        case .fixedHeader(let decoder, _): return decoder.isWithinHead(pending)
        case .version2(let decoder, _): return decoder.isWithinHead(pending)
        }
    }

    /// Whether the peer has sent an incomplete message.
    public var isWithinMessage: Bool { self.missingOfMessage != nil }

    /// Creates a message to be sent.
    ///
    /// - Parameters:
    ///   - header: The fields of the header.
    ///   - bodyLength: The length of the body in bytes.
    /// - Throws: ``FramedError/Code/headerTooLarge`` or ``FramedError/Code/frameTooLarge`` when the
    ///   message exceeds a limit that the peer announced, or the header does not fit the agreed
    ///   length; ``FramedError/Code/invalidUse`` for a header without a JSON form or a negative
    ///   length; ``FramedError/Code/closed`` before the session is open and after it has ended.
    public func message(header: JSONObject, bodyLength: Int) throws(FramedError) -> FramedOutgoingMessage {
        guard !self.hasEnded else { throw FramedError(.closed, message: "the session has ended; nothing can be sent") }
        switch self.dialect {
        case .fixedHeader(_, let length): return try FramedOutgoingMessage(header: header, bodyLength: bodyLength, headerLength: length)
        case .version2(_, let peer?): return try FramedOutgoingMessage(header: header, bodyLength: bodyLength, peer: peer)
        case .undecided, .version2(_, peer: nil): throw FramedError(.closed, message: "the session is not open yet")
        }
    }

    // MARK: Events

    /// Handles the event that the transport has connected.
    public mutating func connected() -> [Action] {
        switch self.dialect {
        case .fixedHeader: [.opened(nil)]
        case .version2 where self.isClient: [.write(ByteBuffer(bytes: FramePreface.bytes)), .write(Self.bytes(self.own.head))]
        case .version2, .undecided: []
        }
    }

    /// Handles received bytes. Consumes the complete parts of `buffer`.
    public mutating func receivedBytes(_ buffer: inout ByteBuffer) -> [Action] {
        var actions: [Action] = []
        guard !self.hasEnded else {
            buffer.clear()
            return []
        }
        do throws(FramedError) {
            if case .undecided = self.dialect { try self.decide(&buffer, &actions) }
            while try self.step(&buffer, &actions) {}
        } catch {
            actions += self.failed(error)
            buffer.clear()
        }
        return actions
    }

    /// Handles the close of the transport.
    public mutating func transportEnded(_ pending: ByteBuffer) -> [Action] {
        guard !self.hasEnded else { return [] }
        self.hasEnded = true
        let isWithin: Bool
        switch self.dialect {
        case .undecided: isWithin = true
        case .fixedHeader(let decoder, _): isWithin = decoder.isWithinFrame(pending)
        case .version2(let decoder, _): isWithin = decoder.isWithinFrame(pending) || self.missingOfMessage != nil
        }
        let detail = isWithin ? "within a message or the handshake" : "without a bye frame"
        let isClean: Bool
        switch self.dialect {
        case .fixedHeader: isClean = !isWithin  // the fixed mode has no bye frame
        case .version2: isClean = self.hasReceivedBye
        case .undecided: isClean = false
        }
        return isClean ? [.receivedBye] : [.fail(FramedError(.connectionLost, message: "the connection ended \(detail)"))]
    }

    /// Returns the bye frame; empty in the fixed mode, which has none, and while the session is not
    /// open.
    public func bye() -> [ByteBuffer] {
        guard self.isOpen, self.speaksVersion2 else { return [] }
        return [Self.bytes(FrameHead(.bye))]
    }

    /// Returns a ping frame, or `nil` when the peer would not answer it.
    public func ping(id: Int64) -> ByteBuffer? {
        guard self.isOpen, self.speaksVersion2 else { return nil }
        return Self.bytes(FrameHead(.ping, header: ["id": .integer(id)]))
    }

    /// Ends the session because of an error. Returns the error frame for a peer of version 2, and
    /// the failure.
    public mutating func failed(_ error: FramedError) -> [Action] {
        guard !self.hasEnded else { return [] }
        self.hasEnded = true
        guard case .version2 = self.dialect, error.code != .peerFailed else { return [.fail(error)] }
        return [.write(Self.errorFrame(code: "\(error.code)", message: error.message, stream: 0)), .fail(error)]
    }

    package static func errorFrame(code: String, message: String, stream: UInt16) -> ByteBuffer {
        Self.bytes(FrameHead(.error, stream: stream, header: ["code": .string(code), "message": .string(message)]))
    }

    /// Encodes a head created by this side. It is small and contains only text and numbers, so that
    /// encoding never fails.
    private static func bytes(_ head: FrameHead) -> ByteBuffer {
        var buffer = ByteBuffer()
        try? head.write(into: &buffer)
        return buffer
    }

    // MARK: Preface

    private mutating func decide(_ buffer: inout ByteBuffer, _ actions: inout [Action]) throws(FramedError) {
        var headerLength: Int?
        if case .either(let length) = self.framing.form { headerLength = length }
        switch try FramePreface.read(&buffer, allowsFixedHeader: headerLength != nil) {
        case .needsMore: break
        case .version2:
            self.dialect = .version2(FrameDecoder(limits: self.limits), peer: nil)
        case .fixedHeader:
            let length = headerLength ?? 0
            self.dialect = .fixedHeader(try FixedHeaderDecoder(headerLength: length, limits: self.limits), length: length)
            actions.append(.opened(nil))
        }
    }

    // MARK: Frames

    /// Decodes one part. Returns `false` when more bytes are needed.
    private mutating func step(_ buffer: inout ByteBuffer, _ actions: inout [Action]) throws(FramedError) -> Bool {
        switch self.dialect {
        case .undecided: return false
        case .fixedHeader(var decoder, let length):
            defer { self.dialect = .fixedHeader(decoder, length: length) }
            guard let part = try decoder.decode(buffer: &buffer) else { return false }
            switch part {
            case .head(let head):
                self.headCount &+= 1
                self.missingOfMessage = head.bodyLength
                actions.append(.messageBegan(header: head.fields, bodyLength: head.bodyLength))
            case .body(let bytes): actions.append(.messageBody(bytes))
            case .end:
                self.missingOfMessage = nil
                actions.append(.messageEnded)
            }
            return true
        case .version2(var decoder, let peer):
            let part: FramePart<FrameHead>?
            do throws(FramedError) {
                part = try decoder.decode(buffer: &buffer)
                self.dialect = .version2(decoder, peer: peer)
            } catch {
                self.dialect = .version2(decoder, peer: peer)
                throw error
            }
            guard let part else { return false }
            try self.receivedPart(part, peer: peer, &actions)
            return true
        }
    }

    private mutating func receivedPart(
        _ part: FramePart<FrameHead>, peer: FramedHello?, _ actions: inout [Action]
    ) throws(FramedError) {
        switch part {
        case .head(let head):
            self.headCount &+= 1
            guard !self.hasReceivedBye else {
                throw FramedError(.protocolViolation, message: "the peer sent the frame \(head.type) after its bye frame")
            }
            guard head.type == .hello || head.type == .error || peer != nil else {
                throw FramedError(.protocolViolation, message: "the peer sent the frame \(head.type) before its hello frame")
            }
            try self.receivedHead(head, peer: peer, &actions)
        case .body(let bytes):
            switch self.frame {
            case .message:
                self.missingOfMessage = self.missingOfMessage.map { $0 - bytes.readableBytes }
                actions.append(.messageBody(bytes))
            case .transfer: actions.append(.transfer(part))
            case .none, .skipped: break
            }
        case .end:
            switch self.frame {
            case .message(isLast: true):
                self.missingOfMessage = nil
                actions.append(.messageEnded)
            case .message(isLast: false): break
            case .transfer: actions.append(.transfer(part))
            case .none, .skipped: break
            }
            self.frame = .none
        }
    }

    private mutating func receivedHead(_ head: FrameHead, peer: FramedHello?, _ actions: inout [Action]) throws(FramedError) {
        self.frame = .none
        // Only a message can be split into pieces.
        guard head.type == .message || !head.flags.contains(.more) || !head.type.isKnown else {
            throw FramedError(.protocolViolation, message: "the frame \(head.type) must not have the flag `more`")
        }
        switch head.type {
        case .hello: try self.receivedHello(head, peer: peer, &actions)
        case .message: try self.receivedMessageHead(head, &actions)
        case .ping: actions.append(.writePong(Self.bytes(FrameHead(.pong, header: head.header))))
        case .pong: actions.append(.pong(id: head.header["id"]?.intValue.map(Int64.init)))
        case .bye:
            guard self.missingOfMessage == nil else {
                throw FramedError(.protocolViolation, message: "the peer sent a bye frame within a message")
            }
            self.hasReceivedBye = true
            actions.append(.receivedBye)
        case .error where head.stream == 0:
            throw FramedError(.peerFailed, message: "the peer ended the session: \(Self.errorText(of: head.header))")
        case .error, .offer, .accept, .data, .ack, .cancel, .cancelled, .done, .complete:
            guard head.stream != 0 else {
                throw FramedError(.protocolViolation, message: "the frame \(head.type) must belong to a transfer, but has stream 0")
            }
            // Check the length before waiting for the body. A damaged length would make the decoder
            // consume the following frames as the body.
            let allowed = head.type == .offer ? WholeFile.maximumBodyBytes : TransferChunk.maximumBodyBytes
            guard head.bodyLength <= allowed else {
                throw FramedError(
                    .frameTooLarge, message: "the body of the frame \(head.type) has \(head.bodyLength) bytes; the maximum is \(allowed)")
            }
            self.frame = .transfer
            actions.append(.transfer(.head(head)))
        default:
            self.frame = .skipped
            guard !head.flags.contains(.optional) else { return }
            self.unknownFrames += 1
            guard self.unknownFrames <= Self.maximumUnknownFrames else {
                throw FramedError(
                    .protocolViolation, message: "the peer sent more than \(Self.maximumUnknownFrames) frames of unknown types")
            }
            // An error on stream 0 would end the session, so the answer uses another stream.
            actions.append(
                .write(
                    Self.errorFrame(code: "unknown-type", message: "the frame type is unknown: \(head.type)", stream: max(1, head.stream))))
        }
    }

    private mutating func receivedHello(_ head: FrameHead, peer: FramedHello?, _ actions: inout [Action]) throws(FramedError) {
        guard peer == nil else { throw FramedError(.protocolViolation, message: "the peer sent a second hello frame") }
        let hello = try FramedHello(head.header)
        guard case .version2(let decoder, _) = self.dialect else { return }
        self.dialect = .version2(decoder, peer: hello)
        if !self.isClient { actions.append(.write(Self.bytes(self.own.head))) }
        actions.append(.opened(hello))
    }

    private static func errorText(of header: JSONObject) -> String {
        "\(PeerText.clean(header["code"]?.stringValue ?? "no code")), \(PeerText.clean(header["message"]?.stringValue ?? "no message"))"
    }

    // MARK: Messages

    private mutating func receivedMessageHead(_ head: FrameHead, _ actions: inout [Action]) throws(FramedError) {
        let isLast = !head.flags.contains(.more)
        self.frame = .message(isLast: isLast)
        if let missing = self.missingOfMessage {
            guard head.header.isEmpty else { throw FramedError(.protocolViolation, message: "the peer began a message within another one") }
            guard head.bodyLength > 0 else { throw FramedError(.protocolViolation, message: "the peer sent an empty piece of a message") }
            // Check the length before waiting for the piece, so that the network's segmentation
            // does not decide how much of an invalid piece is delivered.
            guard isLast ? head.bodyLength == missing : head.bodyLength < missing else {
                throw FramedError(.protocolViolation, message: "the pieces of a message do not add up to its announced length")
            }
            return
        }
        guard !isLast else {
            self.missingOfMessage = head.bodyLength
            actions.append(.messageBegan(header: head.header, bodyLength: head.bodyLength))
            return
        }
        guard case .integer(let number)? = head.header["length"], number > head.bodyLength, let header = head.header["header"]?.objectValue
        else {
            throw FramedError(
                .malformedHeader,
                message: "the first piece of a message must have a `header`, and a `length` of the body that exceeds the piece")
        }
        guard let length = Int(exactly: number), length <= self.limits.maximumBodyBytes else {
            throw FramedError(
                .frameTooLarge, message: "the body has \(number) bytes; the maximum is \(self.limits.maximumBodyBytes) (`maximumBodyBytes`)"
            )
        }
        guard head.bodyLength > 0 else { throw FramedError(.protocolViolation, message: "the peer sent an empty piece of a message") }
        self.missingOfMessage = length
        actions.append(.messageBegan(header: header, bodyLength: length))
    }
}
