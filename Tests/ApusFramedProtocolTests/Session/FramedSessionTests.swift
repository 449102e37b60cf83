import ApusFramedProtocol
import ApusJSON
import NIOCore
import Testing

@Suite struct FramedSessionTests {
    // MARK: The handshake

    @Test func clientSendsPrefaceAndHello() throws {
        var limits = FramedLimits(maximumBodyBytes: 9)
        limits.maximumHeaderBytes = 1000
        var client = try FramedSession(isClient: true, framing: .version2, limits: limits, capabilities: ["transfer"])
        let hello = FramedHello(capabilities: ["transfer"], limits: limits)
        #expect(client.connected() == [.write(ByteBuffer(bytes: FramePreface.bytes)), .write(try frame(.hello, hello.head.header))])
        #expect(!client.isOpen)
        var answer = try frame(.hello, FramedHello().head.header)
        #expect(client.receivedBytes(&answer) == [.opened(FramedHello())])
        #expect(client.isOpen && client.speaksVersion2)
    }

    @Test(arguments: [1, 5, Int.max])
    func serverAnswersWithItsHello(step: Int) throws {
        var server = try FramedSession(isClient: false, framing: .version2)
        #expect(server.connected().isEmpty)
        var bytes = ByteBuffer(bytes: FramePreface.bytes)
        bytes.writeImmutableBuffer(try frame(.hello, FramedHello(capabilities: ["x"]).head.header))
        bytes.writeImmutableBuffer(try frame(.message, ["a": 1]))
        #expect(
            server.receive(bytes, step: step) == [
                .write(try frame(.hello, FramedHello().head.header)), .opened(FramedHello(capabilities: ["x"])),
                .messageBegan(header: ["a": 1], bodyLength: 0), .messageEnded,
            ])
    }

    @Test func serverDetectsAnotherProtocolByItsFirstByte() throws {
        var server = try FramedSession(isClient: false, framing: .version2)
        #expect(server.receive(ByteBuffer(string: "GET / HTTP/1.1\r\n")).map(\.failure) == [.unsupportedVersion])
        #expect(server.receive(ByteBuffer(bytes: FramePreface.bytes)).isEmpty)
    }

    @Test func aServerMaySpeakBoth() throws {
        var old = try FramedSession(isClient: false, framing: .either(headerLength: 40))
        #expect(!old.isOpen)
        var bytes = try FixedHeader(fields: ["a": 1], bodyLength: 2).encoded(headerLength: 40)
        bytes.writeBytes([1, 2])
        #expect(
            old.receive(bytes, step: 7) == [
                .opened(nil), .messageBegan(header: ["a": 1], bodyLength: 2), .messageBody(ByteBuffer(bytes: [1, 2])), .messageEnded,
            ])
        #expect(old.isOpen && !old.speaksVersion2)
        var new = try FramedSession(isClient: false, framing: .either(headerLength: 40))
        var hello = ByteBuffer(bytes: FramePreface.bytes)
        hello.writeImmutableBuffer(try frame(.hello, FramedHello().head.header))
        #expect(new.receive(hello).count == 2)
        #expect(new.speaksVersion2)
    }

    @Test func theFixedModeIsOpenAtOnce() throws {
        var client = try FramedSession(isClient: true, framing: .fixedHeader(length: 40))
        #expect(client.connected() == [.opened(nil)])
        #expect(client.isOpen)
        #expect(client.bye().isEmpty)
        #expect(client.ping(id: 1) == nil)
    }

    @Test func impossibleFramingsAreRefused() {
        #expect(code { _ = try FramedSession(isClient: true, framing: .either()) } == .invalidConfiguration)
        #expect(code { _ = try FramedSession(isClient: false, framing: .either(headerLength: 1)) } == .invalidConfiguration)
        #expect(code { _ = try FramedSession(isClient: true, framing: .fixedHeader(length: 1 << 20)) } == .invalidConfiguration)
    }

    @Test func framesBeforeAHelloAndASecondHelloAreRefused() throws {
        var client = try FramedSession(isClient: true, framing: .version2)
        _ = client.connected()
        let actions = client.receive(try frame(.ping))
        #expect(actions.count == 2 && actions.last?.failure == .protocolViolation)
        var open = try FramedSession.open()
        #expect(open.receive(try frame(.hello, FramedHello().head.header)).last?.failure == .protocolViolation)
    }

    @Test func anotherVersionFails() throws {
        var client = try FramedSession(isClient: true, framing: .version2)
        _ = client.connected()
        #expect(client.receive(try frame(.hello, ["version": 3])).last?.failure == .unsupportedVersion)
    }

    /// The example of the DocC page Wire-format.
    @Test func theExampleOfTheArticle() throws {
        var client = try FramedSession(isClient: true, framing: .version2)
        var bytes = ByteBuffer()
        for case .write(let buffer) in client.connected() { bytes.writeImmutableBuffer(buffer) }
        var hello = try frame(.hello, FramedHello().head.header)
        _ = client.receivedBytes(&hello)
        var message = try client.message(header: ["a": 1], bodyLength: 2)
        for buffer in try message.next(ByteBuffer(string: "hi")) + client.bye() { bytes.writeImmutableBuffer(buffer) }
        let zeros = [UInt8](repeating: 0, count: 8)
        #expect(
            Array(bytes.readableBytesView) == [0x41, 0x50, 0x55, 0x53, 0x02, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 0x4A] + zeros
                + Array(#"{"version":2,"capabilities":[],"limits":{"header":65536,"body":268435456}}"#.utf8)
                + [1, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 2] + Array(#"{"a":1}hi"#.utf8) + [0x0D, 0, 0, 0, 0, 0, 0, 0] + zeros)
    }

    // MARK: Messages

    @Test(arguments: [1, 3, Int.max])
    func fragmentedMessagesAreJoined(step: Int) throws {
        var session = try FramedSession.open()
        var bytes = ByteBuffer()
        bytes.writeImmutableBuffer(try frame(.message, flags: .more, ["header": ["a": 1], "length": 5], body: [1, 2]))
        bytes.writeImmutableBuffer(try frame(.ping, ["id": 7]))
        bytes.writeImmutableBuffer(try frame(.message, flags: .more, body: [3, 4]))
        bytes.writeImmutableBuffer(try frame(.message, body: [5]))
        bytes.writeImmutableBuffer(try frame(.message, ["b": 2], body: [6]))
        #expect(
            session.receive(bytes, step: step) == [
                .messageBegan(header: ["a": 1], bodyLength: 5), .messageBody(ByteBuffer(bytes: [1, 2])),
                .writePong(try frame(.pong, ["id": 7])), .messageBody(ByteBuffer(bytes: [3, 4, 5])), .messageEnded,
                .messageBegan(header: ["b": 2], bodyLength: 1), .messageBody(ByteBuffer(bytes: [6])), .messageEnded,
            ])
    }

    @Test func eachSideReadsTheMessagesOfTheOther() throws {
        var receiver = try FramedSession.open()
        let sender = try FramedSession.open(isClient: false)
        let body = ByteBuffer(bytes: (0..<600_000).map { UInt8(truncatingIfNeeded: $0) })
        var message = try sender.message(header: ["name": "x"], bodyLength: body.readableBytes)
        var bytes = ByteBuffer()
        for buffer in try message.next(body) { bytes.writeImmutableBuffer(buffer) }
        #expect(
            receiver.receive(bytes) == [
                .messageBegan(header: ["name": "x"], bodyLength: 600_000), .messageBody(body), .messageEnded,
            ])
    }

    @Test func piecesHaveTheAnnouncedLength() throws {
        func failure(_ frames: [ByteBuffer], limits: FramedLimits = .init()) throws -> FramedError.Code? {
            var session = try FramedSession.open(limits: limits)
            var bytes = ByteBuffer()
            for frame in frames { bytes.writeImmutableBuffer(frame) }
            return session.receive(bytes).last?.failure
        }
        let first = try frame(.message, flags: .more, ["header": [:], "length": 3], body: [1])
        #expect(try failure([first, frame(.message, body: [2, 3])]) == nil)
        #expect(try failure([first, frame(.message, body: [2])]) == .protocolViolation)  // shorter
        #expect(try failure([first, frame(.message, body: [2, 3, 4])]) == .protocolViolation)  // longer
        #expect(try failure([first, frame(.message, ["a": 1], body: [2, 3])]) == .protocolViolation)  // another message
        #expect(try failure([first, frame(.message, flags: .more)]) == .protocolViolation)  // docs/hazards.md, 3: empty pieces
        #expect(try failure([first, frame(.bye)]) == .protocolViolation)
        #expect(try failure([frame(.message, flags: .more, ["header": [:], "length": 3])]) == .protocolViolation)
        for header in [
            ["length": 3], ["header": [:]], ["header": [:], "length": 1], ["header": [:], "length": -1], ["header": [:], "length": 3.5],
            ["header": 1, "length": 3],
        ] as [JSONObject] {
            #expect(try failure([frame(.message, flags: .more, header, body: [1])]) == .malformedHeader)
        }
        let limits = FramedLimits(maximumBodyBytes: 2)
        #expect(try failure([first], limits: limits) == .frameTooLarge)
        #expect(try failure([frame(.ping, flags: .more)]) == .protocolViolation)
    }

    // MARK: Other frames

    @Test func framesOfTransfersAreForwarded() throws {
        var session = try FramedSession.open()
        let data = FrameHead(.data, stream: 3, bodyLength: 2)
        var bytes = try frame(.data, stream: 3, body: [1, 2])
        bytes.writeImmutableBuffer(try frame(.error, stream: 3, ["code": "x"]))
        #expect(
            session.receive(bytes) == [
                .transfer(.head(data)), .transfer(.body(ByteBuffer(bytes: [1, 2]))), .transfer(.end),
                .transfer(.head(FrameHead(.error, stream: 3, header: ["code": "x"]))), .transfer(.end),
            ])
        for type in [FrameType.offer, .accept, .data, .ack, .cancel, .cancelled, .done, .complete] {
            var session = try FramedSession.open()
            #expect(session.receive(try frame(type)).last?.failure == .protocolViolation)
        }
    }

    @Test func unknownTypesAreSkippedOrAnswered() throws {
        var session = try FramedSession.open()
        let unknown = FrameType(rawValue: 200)
        var bytes = try frame(unknown, flags: .optional, stream: 5, body: [1, 2, 3])
        bytes.writeImmutableBuffer(try frame(unknown, flags: .more, stream: 5, body: [1, 2, 3]))
        bytes.writeImmutableBuffer(try frame(.message))
        let actions = session.receive(bytes, step: 1)
        guard case .write(var answer)? = actions.first else {
            Issue.record("no answer")
            return
        }
        var decoder = FrameDecoder()
        guard case .head(let head)? = try decoder.decode(buffer: &answer) else {
            Issue.record("no frame")
            return
        }
        #expect(head.type == .error && head.stream == 5 && head.header["code"] == "unknown-type")
        #expect(Array(actions.dropFirst()) == [.messageBegan(header: [:], bodyLength: 0), .messageEnded])
    }

    @Test func unknownTypesAreNotAnsweredForever() throws {
        var session = try FramedSession.open()
        for _ in 0..<16 { #expect(session.receive(try frame(FrameType(rawValue: 99))).count == 1) }
        #expect(session.receive(try frame(FrameType(rawValue: 99))).last?.failure == .protocolViolation)
    }

    @Test func pingsAndPongsCarryAnID() throws {
        var session = try FramedSession.open()
        #expect(session.ping(id: 5) == (try frame(.ping, ["id": 5])))
        #expect(session.receive(try frame(.pong, ["id": 5])) == [.pong(id: 5)])
        #expect(session.receive(try frame(.pong)) == [.pong(id: nil)])
        #expect(session.receive(try frame(.pong, ["id": "x"])) == [.pong(id: nil)])
    }

    @Test func aByeIsTheLastFrame() throws {
        var session = try FramedSession.open()
        #expect(session.bye() == [try frame(.bye)])
        #expect(session.receive(try frame(.bye)) == [.receivedBye])
        #expect(session.receive(try frame(.ping)).last?.failure == .protocolViolation)
    }

    @Test func thePeersErrorEndsTheSession() throws {
        var session = try FramedSession.open()
        let actions = session.receive(try frame(.error, ["code": "full", "message": "no\nroom"]))
        #expect(
            actions == [.fail(FramedError(.peerFailed, message: "the peer ended the session: full, no room"))])
        #expect(session.receive(try frame(.ping)).isEmpty)
        var early = try FramedSession(isClient: true, framing: .version2)
        #expect(early.receive(try frame(.error, [:])).map(\.failure) == [.peerFailed])
    }

    // MARK: Closing

    @Test func thePeerReceivesTheError() throws {
        var session = try FramedSession.open()
        var bytes = ByteBuffer()
        bytes.writeMultipleIntegers(UInt8(1), UInt8(0x80), UInt16(0), UInt32(0), UInt64(0))
        let actions = session.receivedBytes(&bytes)
        #expect(actions.last?.failure == .protocolViolation)
        guard case .write(var answer)? = actions.first else {
            Issue.record("no answer")
            return
        }
        var decoder = FrameDecoder()
        guard case .head(let head)? = try decoder.decode(buffer: &answer) else {
            Issue.record("no frame")
            return
        }
        #expect(head.type == .error && head.stream == 0 && head.header["code"] == "protocolViolation")
        #expect(!session.isOpen)
        #expect(code { _ = try session.message(header: [:], bodyLength: 0) } == .closed)
        // The fixed mode has no error frame.
        var old = try FramedSession(isClient: true, framing: .fixedHeader(length: 40))
        #expect(old.receive(ByteBuffer(repeating: 1, count: 40)).map(\.failure) == [.malformedHeader])
    }

    @Test func theEndIsACleanCloseOrALoss() throws {
        var lost = try FramedSession.open()
        #expect(lost.transportEnded(ByteBuffer()).map(\.failure) == [.connectionLost])
        #expect(lost.transportEnded(ByteBuffer()).isEmpty)
        var left = try FramedSession.open()
        _ = left.receive(try frame(.bye))
        #expect(left.transportEnded(ByteBuffer()) == [.receivedBye])
        var within = try FramedSession.open()
        _ = within.receive(try frame(.message, flags: .more, ["header": [:], "length": 3], body: [1]))
        #expect(within.isWithinMessage)
        #expect(within.transportEnded(ByteBuffer()).map(\.failure) == [.connectionLost])
        var old = try FramedSession(isClient: true, framing: .fixedHeader(length: 40))
        #expect(old.transportEnded(ByteBuffer()) == [.receivedBye])
        var oldWithin = try FramedSession(isClient: true, framing: .fixedHeader(length: 40))
        #expect(oldWithin.transportEnded(ByteBuffer(bytes: [0x7B])).map(\.failure) == [.connectionLost])
        var undecided = try FramedSession(isClient: false, framing: .either())
        #expect(undecided.transportEnded(ByteBuffer()).map(\.failure) == [.connectionLost])
    }

    @Test func anIncompleteHeadIsDetected() throws {
        var session = try FramedSession.open()
        #expect(!session.isWithinHead(ByteBuffer()))
        #expect(session.isWithinHead(ByteBuffer(bytes: [1])))
        let whole = try frame(.message, ["a": 1], body: [1])
        var bytes = whole.getSlice(at: 0, length: 18) ?? ByteBuffer()
        #expect(session.receivedBytes(&bytes).isEmpty)
        #expect(session.isWithinHead(bytes))
        let old = try FramedSession(isClient: true, framing: .fixedHeader(length: 40))
        #expect(!old.isWithinHead(ByteBuffer()))
        #expect(old.isWithinHead(ByteBuffer(bytes: [1])))
    }
}
