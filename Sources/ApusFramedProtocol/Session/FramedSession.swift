package import ApusJSON
package import NIOCore

/// What one side of a framed connection makes of the bytes that come: messages, frames of transfers, answers.
///
/// Pure: bytes in, actions out, in order. A peer that breaks a rule is told why (version 2) and the session has failed; it then reads nothing
/// more.
package struct FramedSession: Sendable {
    /// What to do, in the order given.
    package enum Action: Hashable, Sendable {
        /// Bytes for the peer.
        case write(ByteBuffer)
        /// The answer to a ping. Worth nothing when a later one is at hand, so that only the last waits while the peer does not read.
        case writePong(ByteBuffer)
        /// Messages can be sent from now on. `nil`: the peer speaks the fixed mode and says nothing of itself.
        case opened(FramedHello?)
        /// A message begins; `bodyLength` bytes follow as pieces, then the end.
        case messageBegan(header: JSONObject, bodyLength: Int)
        case messageBody(ByteBuffer)
        case messageEnded
        /// A part of a frame that belongs to a transfer.
        case transfer(FramePart<FrameHead>)
        /// The answer to a ping of ours.
        case pong(id: Int64?)
        /// The peer sends nothing more.
        case peerSaidBye
        /// The end. Nothing follows.
        case fail(FramedError)
    }

    private enum Dialect {
        /// A server that waits for the first byte. Leaves to one of the others.
        case undecided
        case fixedHeader(FixedHeaderDecoder, length: Int)
        /// `peer` is `nil` until the peer's hello has come.
        case version2(FrameDecoder, peer: FramedHello?)
    }

    /// What the frame is that is being read.
    private enum Frame {
        case none
        /// A piece of a message; more pieces follow when `isLast` is not set.
        case message(isLast: Bool)
        case transfer
        /// Nothing becomes of it.
        case skipped
    }

    /// So many frames of unknown types are answered before a peer is believed to mean harm.
    private static let maximumUnknownFrames = 16

    private let framing: Framing
    private let limits: FramedLimits
    private let own: FramedHello
    private let isClient: Bool
    private var dialect: Dialect
    /// Nothing is read and nothing can be sent any more. Final.
    private var hasEnded = false
    private var frame = Frame.none
    /// Bytes of the message that have not come; `nil` between messages.
    private var missingOfMessage: Int?
    private var unknownFrames = 0
    /// Counts the heads that have come whole, so that a deadline knows which one it is about.
    package private(set) var headCount = 0
    private var peerHasSaidBye = false

    /// A session before its first byte.
    ///
    /// - Throws: ``FramedError/Code/invalidUse`` when the framing cannot be spoken.
    package init(isClient: Bool, framing: Framing, limits: FramedLimits = .init(), capabilities: Set<String> = []) throws(FramedError) {
        try framing.validate(isClient: isClient)
        self.framing = framing
        self.limits = limits
        self.own = FramedHello(capabilities: capabilities, limits: limits)
        self.isClient = isClient
        switch framing.form {
        case .fixedHeader(let length):
            self.dialect = .fixedHeader(try FixedHeaderDecoder(headerLength: length, limits: limits), length: length)
        case .version2:
            // A server waits for the preface.
            self.dialect = isClient ? .version2(FrameDecoder(limits: limits), peer: nil) : .undecided
        case .either:
            self.dialect = .undecided
        }
    }

    // MARK: Questions

    /// Whether messages can be sent: the peer is known.
    package var isOpen: Bool {
        guard !self.hasEnded else { return false }
        switch self.dialect {
        case .fixedHeader, .version2(_, peer: .some): return true
        case .undecided, .version2(_, peer: nil): return false
        }
    }

    /// Whether the peer speaks version 2, and so understands pings and goodbyes.
    package var speaksVersion2: Bool { if case .version2 = self.dialect { true } else { false } }

    /// Whether the peer owes us the rest of a head. `pending`: what has come and was left over.
    package func isWithinHead(_ pending: ByteBuffer) -> Bool {
        guard !self.hasEnded else { return false }
        switch self.dialect {
        case .undecided: return pending.readableBytes > 0
        case .fixedHeader(let decoder, _): return decoder.isWithinHead(pending)
        case .version2(let decoder, _): return decoder.isWithinHead(pending)
        }
    }

    /// Whether the peer owes us the rest of a message.
    package var isWithinMessage: Bool { self.missingOfMessage != nil }

    /// A message to be sent.
    ///
    /// - Throws: What is wrong with it, by our rules and the peer's; ``FramedError/Code/closed`` before and after the session.
    package func message(header: JSONObject, bodyLength: Int) throws(FramedError) -> FramedOutgoingMessage {
        guard !self.hasEnded else { throw FramedError(.closed, message: "the session has ended") }
        switch self.dialect {
        case .fixedHeader(_, let length): return try FramedOutgoingMessage(header: header, bodyLength: bodyLength, headerLength: length)
        case .version2(_, let peer?): return try FramedOutgoingMessage(header: header, bodyLength: bodyLength, peer: peer)
        case .undecided, .version2(_, peer: nil): throw FramedError(.closed, message: "the peer has not said hello")
        }
    }

    // MARK: Events

    /// The transport stands.
    package mutating func connected() -> [Action] {
        switch self.dialect {
        case .fixedHeader: [.opened(nil)]
        case .version2 where self.isClient: [.write(ByteBuffer(bytes: FramePreface.bytes)), .write(Self.bytes(self.own.head))]
        case .version2, .undecided: []
        }
    }

    /// Bytes have come. Takes out of `buffer` what is whole.
    package mutating func received(_ buffer: inout ByteBuffer) -> [Action] {
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

    /// The transport has ended.
    package mutating func transportEnded(_ pending: ByteBuffer) -> [Action] {
        guard !self.hasEnded else { return [] }
        self.hasEnded = true
        let isWithin: Bool
        switch self.dialect {
        case .undecided: isWithin = true
        case .fixedHeader(let decoder, _): isWithin = decoder.isWithinFrame(pending)
        case .version2(let decoder, _): isWithin = decoder.isWithinFrame(pending) || self.missingOfMessage != nil
        }
        let says = isWithin ? "within a message" : "without a goodbye"
        let isGoodbye: Bool
        switch self.dialect {
        case .fixedHeader: isGoodbye = !isWithin  // the fixed mode has no other
        case .version2: isGoodbye = self.peerHasSaidBye
        case .undecided: isGoodbye = false
        }
        return isGoodbye ? [.peerSaidBye] : [.fail(FramedError(.connectionLost, message: "the connection ended \(says)"))]
    }

    /// The frame that says goodbye; empty in the fixed mode, which has none.
    package func bye() -> [ByteBuffer] {
        guard self.isOpen, self.speaksVersion2 else { return [] }
        return [Self.bytes(FrameHead(.bye))]
    }

    /// The frame of a ping; `nil` where nobody would answer it.
    package func ping(id: Int64) -> ByteBuffer? {
        guard self.isOpen, self.speaksVersion2 else { return nil }
        return Self.bytes(FrameHead(.ping, header: ["id": .integer(id)]))
    }

    /// We end the session because of an error: what to tell the peer.
    package mutating func failed(_ error: FramedError) -> [Action] {
        guard !self.hasEnded else { return [] }
        self.hasEnded = true
        guard case .version2 = self.dialect, error.code != .peerFailed else { return [.fail(error)] }
        return [.write(Self.errorFrame(code: "\(error.code)", message: error.message, stream: 0)), .fail(error)]
    }

    package static func errorFrame(code: String, message: String, stream: UInt16) -> ByteBuffer {
        Self.bytes(FrameHead(.error, stream: stream, header: ["code": .string(code), "message": .string(message)]))
    }

    /// Heads of our own making: small, and of nothing but text and numbers.
    private static func bytes(_ head: FrameHead) -> ByteBuffer {
        var buffer = ByteBuffer()
        try? head.write(into: &buffer)
        return buffer
    }

    // MARK: The first bytes

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

    /// `false`: more bytes are needed.
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
            guard !self.peerHasSaidBye else { throw FramedError(.protocolViolation, message: "\(head.type) after a goodbye") }
            guard head.type == .hello || head.type == .error || peer != nil else {
                throw FramedError(.protocolViolation, message: "\(head.type) before a hello")
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
        // Only a message comes in pieces.
        guard head.type == .message || !head.flags.contains(.more) || !head.type.isKnown else {
            throw FramedError(.protocolViolation, message: "\(head.type) in pieces")
        }
        switch head.type {
        case .hello: try self.receivedHello(head, peer: peer, &actions)
        case .message: try self.receivedMessageHead(head, &actions)
        case .ping: actions.append(.writePong(Self.bytes(FrameHead(.pong, header: head.header))))
        case .pong: actions.append(.pong(id: head.header["id"]?.intValue.map(Int64.init)))
        case .bye:
            guard self.missingOfMessage == nil else { throw FramedError(.protocolViolation, message: "a goodbye within a message") }
            self.peerHasSaidBye = true
            actions.append(.peerSaidBye)
        case .error where head.stream == 0:
            throw FramedError(.peerFailed, message: "the peer ended the session: \(Self.words(of: head.header))")
        case .error, .offer, .accept, .data, .ack, .cancel, .cancelled, .done, .complete:
            guard head.stream != 0 else { throw FramedError(.protocolViolation, message: "\(head.type) without a transfer") }
            // Judged now: whoever waits for the body of a head that was damaged takes the frames behind it for the body.
            let allowed = head.type == .offer ? WholeFile.maximumBodyBytes : TransferChunk.maximumBodyBytes
            guard head.bodyLength <= allowed else {
                throw FramedError(.frameTooLarge, message: "a chunk of \(head.bodyLength) bytes announced, \(allowed) allowed")
            }
            self.frame = .transfer
            actions.append(.transfer(.head(head)))
        default:
            self.frame = .skipped
            guard !head.flags.contains(.optional) else { return }
            self.unknownFrames += 1
            guard self.unknownFrames <= Self.maximumUnknownFrames else {
                throw FramedError(.protocolViolation, message: "more than \(Self.maximumUnknownFrames) frames of unknown types")
            }
            // Of a frame that belongs to nothing we have, the session itself could not go on; the answer is for that stream alone.
            actions.append(
                .write(Self.errorFrame(code: "unknown-type", message: "\(head.type) is not known here", stream: max(1, head.stream))))
        }
    }

    private mutating func receivedHello(_ head: FrameHead, peer: FramedHello?, _ actions: inout [Action]) throws(FramedError) {
        guard peer == nil else { throw FramedError(.protocolViolation, message: "a second hello") }
        let hello = try FramedHello(head.header)
        guard case .version2(let decoder, _) = self.dialect else { return }
        self.dialect = .version2(decoder, peer: hello)
        if !self.isClient { actions.append(.write(Self.bytes(self.own.head))) }
        actions.append(.opened(hello))
    }

    private static func words(of header: JSONObject) -> String {
        "\(PeerText.clean(header["code"]?.stringValue ?? "no code")), \(PeerText.clean(header["message"]?.stringValue ?? "no message"))"
    }

    // MARK: Messages

    private mutating func receivedMessageHead(_ head: FrameHead, _ actions: inout [Action]) throws(FramedError) {
        let isLast = !head.flags.contains(.more)
        self.frame = .message(isLast: isLast)
        if let missing = self.missingOfMessage {
            guard head.header.isEmpty else { throw FramedError(.protocolViolation, message: "a message within another") }
            guard head.bodyLength > 0 else { throw FramedError(.protocolViolation, message: "an empty piece") }
            // Judged now: otherwise the cuts of the network would decide how much of it is handed on.
            guard isLast ? head.bodyLength == missing : head.bodyLength < missing else {
                throw FramedError(.protocolViolation, message: "a message longer or shorter than announced")
            }
            return
        }
        guard !isLast else {
            self.missingOfMessage = head.bodyLength
            actions.append(.messageBegan(header: head.header, bodyLength: head.bodyLength))
            return
        }
        guard case .integer(let number)? = head.header["length"], number > head.bodyLength, let header = head.header["header"]?.objectValue
        else { throw FramedError(.malformedHeader, message: "the first piece of a message that does not tell its length") }
        guard let length = Int(exactly: number), length <= self.limits.maximumBodyBytes else {
            throw FramedError(.frameTooLarge, message: "a body of \(number) bytes announced, \(self.limits.maximumBodyBytes) allowed")
        }
        guard head.bodyLength > 0 else { throw FramedError(.protocolViolation, message: "an empty piece") }
        self.missingOfMessage = length
        actions.append(.messageBegan(header: header, bodyLength: length))
    }
}
