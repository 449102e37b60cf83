import ApusFramedProtocol
@testable import ApusFramedSocket
import ApusJSON
import NIOCore
import NIOEmbedded
import NIOTLS
import Testing

/// Tests of the handler in virtual time. A deadline is detected at the next tick.
@Suite struct FramedHandlerTests {
    // MARK: Deadlines

    /// docs/hazards.md, 14: one byte per second extends no deadline.
    @Test(arguments: [Framing.version2, .either(headerLength: 40)])
    func aHandshakeHasOneDeadline(framing: Framing) throws {
        let side = try EmbeddedFramed(isClient: false, .init(framing: framing))
        for byte in FramePreface.bytes {
            try side.receive(ByteBuffer(bytes: [byte]))
            side.advance(by: .seconds(1))
            #expect(side.closure == nil)
        }
        side.advance(by: .milliseconds(4500))
        #expect(try side.sent().map(\.type) == [.error])
        side.advance(by: .seconds(5))  // the time that a peer of version 2 gets to read the error
        #expect(side.closure?.error?.code == .timeout)
        #expect(!side.channel.isActive)
    }

    @Test func aClientDoesNotWaitForAHelloForever() throws {
        let side = try EmbeddedFramed()
        #expect(try side.sent().map(\.type) == [.hello])
        #expect(!side.isOpen)
        side.advance(by: .seconds(13))
        #expect(try side.sent().map(\.type) == [.error])
        side.advance(by: .seconds(5))
        #expect(side.closure?.initiator == .failure)
        #expect(side.closure?.error?.code == .timeout)
    }

    /// docs/hazards.md, 14, at every place where a peer can be slow: each deadline covers all bytes
    /// together.
    @Test(arguments: ["preface", "hello", "head", "header"]) func hazard14_aDripHasOneDeadline(place: String) throws {
        var bytes = ByteBuffer()
        let side: EmbeddedFramed
        switch place {
        case "preface", "hello":
            side = try EmbeddedFramed(isClient: false)
            bytes = ByteBuffer(bytes: FramePreface.bytes)
            try FramedHello().head.write(into: &bytes)
            if place == "hello" { try side.receive(bytes.readSlice(length: 8 + 16) ?? ByteBuffer()) }
        default:
            side = try EmbeddedFramed.open(isClient: false)
            try FrameHead(.message, header: ["a": .string(String(repeating: "x", count: 100))]).write(into: &bytes)
            if place == "header" { try side.receive(bytes.readSlice(length: 16) ?? ByteBuffer()) }
        }
        var seconds = 0
        while side.channel.isActive, seconds < 60, let byte = bytes.readSlice(length: 1) {
            try side.receive(byte)
            side.advance(by: .seconds(1))
            seconds += 1
        }
        // Ten seconds, one tick, and the time to read the error frame.
        #expect(side.closure?.error?.code == .timeout)
        #expect(seconds >= 10 && seconds <= 18)
    }

    @Test func tlsIsPartOfTheHandshakeOfTheFixedMode() throws {
        let side = try EmbeddedFramed(isClient: false, waitsForTLS: true, .init(framing: .fixedHeader(length: 40)))
        side.advance(by: .seconds(9))
        #expect(side.closure == nil)
        side.advance(by: .seconds(4))
        #expect(side.closure?.error?.code == .timeout)
        let quick = try EmbeddedFramed(isClient: false, waitsForTLS: true, .init(framing: .fixedHeader(length: 40)))
        quick.channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
        #expect(quick.isOpen)
        quick.advance(by: .minutes(10))
        #expect(quick.closure == nil)
    }

    @Test func aHeadHasOneDeadline() throws {
        let side = try EmbeddedFramed(isClient: false, .init(framing: .fixedHeader(length: 40)))
        side.advance(by: .minutes(1))
        for _ in 0..<10 {
            try side.receive(ByteBuffer(bytes: [0x20]))
            side.advance(by: .seconds(1))
        }
        side.advance(by: .milliseconds(2600))
        #expect(side.closure?.error?.code == .timeout)
    }

    @Test func aSlowBodyIsNotASlowHead() throws {
        let side = try EmbeddedFramed(isClient: false, .init(framing: .fixedHeader(length: 40)))
        try side.receive(FixedHeader(bodyLength: 100).encoded(headerLength: 40))
        for _ in 0..<99 {
            try side.receive(ByteBuffer(bytes: [0]))
            side.advance(by: .seconds(10))
        }
        #expect(side.closure == nil)
    }

    @Test func aSilentPeerIsPingedAndThenClosed() throws {
        let side = try EmbeddedFramed.open()
        side.advance(by: .seconds(23))
        #expect(try side.sent() == [FrameHead(.ping, header: ["id": 1])])
        try side.receive(FrameHead(.pong, header: ["id": 1]))
        side.advance(by: .seconds(23))
        #expect(try side.sent() == [FrameHead(.ping, header: ["id": 2])])
        side.advance(by: .seconds(23))
        #expect(try side.sent().map(\.type) == [.error])
        side.advance(by: .seconds(5))
        #expect(side.closure?.error?.code == .timeout)
    }

    @Test func aPeerThatReadsNothingIsClosed() throws {
        let side = try EmbeddedFramed.open()
        let blocker = WriteBlocker()
        try side.channel.pipeline.syncOperations.addHandler(blocker, position: .first)
        side.handler.write([ByteBuffer(string: "x")])
        for _ in 0..<9 {
            side.advance(by: .seconds(4))
            _ = try? side.receive(FrameHead(.pong))  // the peer sends, but does not read
        }
        side.advance(by: .seconds(5))
        #expect(side.closure?.error?.code == .timeout)
        blocker.release()
    }

    // MARK: Answers

    @Test func pingsAreAnswered() throws {
        let side = try EmbeddedFramed.open()
        try side.receive(FrameHead(.ping, header: ["id": 9]))
        #expect(try side.sent() == [FrameHead(.pong, header: ["id": 9])])
    }

    @Test func onlyTheLastAnswerWaitsForAPeerThatDoesNotRead() throws {
        let side = try EmbeddedFramed.open()
        side.channel.isWritable = false
        for id in 0..<1000 { try side.receive(FrameHead(.ping, header: ["id": .integer(Int64(id))])) }
        #expect(try side.sent().isEmpty)
        side.channel.isWritable = true
        side.channel.pipeline.fireChannelWritabilityChanged()
        #expect(try side.sent() == [FrameHead(.pong, header: ["id": 999])])
    }

    @Test func thePeerReceivesTheError() throws {
        let side = try EmbeddedFramed.open()
        try side.receive(FrameHead(.hello))
        let sent = try side.sent()
        #expect(sent.map(\.type) == [.error])
        #expect(sent.first?.header["code"] == "protocolViolation")
        #expect(side.channel.isActive)  // closing immediately could discard the error frame
        side.advance(by: .seconds(5))
        #expect(!side.channel.isActive)
        #expect(side.closure?.error?.code == .protocolViolation)
    }

    @Test func transfersAreRefusedWithoutAFolder() throws {
        let side = try EmbeddedFramed.open()
        try side.receive(FrameHead(.offer, stream: 7, header: ["name": "x"]))
        let sent = try side.sent()
        #expect(sent.map(\.type) == [.error])
        #expect(sent.first?.stream == 7)
        #expect(side.closure == nil)
    }

    /// docs/hazards.md, 3: a head that arrives byte by byte is not copied for each byte.
    @Test func aHeadCanArriveByteByByte() throws {
        let side = try EmbeddedFramed.open()
        var bytes = ByteBuffer()
        try FrameHead(.ping, header: ["id": .string(String(repeating: "x", count: 60_000))]).write(into: &bytes)
        for byte in bytes.readableBytesView { try side.channel.writeInbound(ByteBuffer(bytes: [byte])) }
        try side.receive(FrameHead(.ping, header: ["id": 2]))
        #expect(try side.sent().map(\.type) == [.pong, .pong])
    }

    /// Reading stops for a peer that sends requests and does not read the answers, which would
    /// accumulate.
    @Test func unreadAnswersPauseReading() throws {
        let side = try EmbeddedFramed.open()
        let blocker = WriteBlocker()
        try side.channel.pipeline.syncOperations.addHandler(blocker, position: .first)
        for number in UInt16(0)..<256 { try side.receive(FrameHead(.offer, stream: 2 * number + 1, header: ["name": "x"])) }
        #expect(!side.handler.isReadingPaused)
        try side.receive(FrameHead(.offer, stream: 999, header: ["name": "x"]))
        #expect(side.handler.isReadingPaused)
        side.advance(by: .seconds(20))
        #expect(side.closure == nil)
        side.advance(by: .seconds(20))
        #expect(side.closure?.error?.code == .timeout)
        blocker.release()
    }

    @Test func aChunkIsCheckedByItsHead() throws {
        let side = try EmbeddedFramed.open()
        try side.receive(FrameHead(.data, stream: 1, bodyLength: TransferChunk.maximumBodyBytes))
        #expect(try side.sent().isEmpty)
        let other = try EmbeddedFramed.open()
        try other.receive(FrameHead(.data, stream: 1, bodyLength: TransferChunk.maximumBodyBytes + 1))
        #expect(try other.sent().map(\.type) == [.error])
    }

    // MARK: Closing

    @Test func weLeaveInOrder() throws {
        let side = try EmbeddedFramed.open()
        side.connection.startClosing()
        side.channel.embeddedEventLoop.run()
        #expect(try side.sent().map(\.type) == [.bye])
        #expect(side.closure == nil)
        try side.receive(FrameHead(.bye))
        #expect(try side.sent().isEmpty)
        #expect(side.closure == FramedClosure(initiator: .ourselves, error: nil))
        #expect(!side.channel.isActive)
    }

    @Test func aPeerThatDoesNotAnswerAByeIsAborted() throws {
        let side = try EmbeddedFramed.open()
        side.connection.startClosing()
        side.advance(by: .seconds(4))
        #expect(side.channel.isActive)
        side.advance(by: .seconds(1))
        #expect(!side.channel.isActive)
        #expect(side.closure == FramedClosure(initiator: .ourselves, error: nil))
    }

    @Test func thePeerClosesGracefully() throws {
        let side = try EmbeddedFramed.open()
        try side.receive(FrameHead(.bye))
        #expect(try side.sent().map(\.type) == [.bye])
        #expect(side.closure == FramedClosure(initiator: .peer, error: nil))
        #expect(side.closure?.isDrop == true)
    }

    @Test func theTransportEndsWithoutABye() throws {
        let side = try EmbeddedFramed.open()
        side.channel.pipeline.fireChannelInactive()
        #expect(side.closure?.error?.code == .connectionLost)
        #expect(side.closure?.initiator == .failure)
        let old = try EmbeddedFramed(.init(framing: .fixedHeader(length: 40)))
        old.channel.pipeline.fireChannelInactive()
        #expect(old.closure == FramedClosure(initiator: .peer, error: nil))
    }

    @Test func theFixedModeClosesTheTransport() throws {
        let side = try EmbeddedFramed(.init(framing: .fixedHeader(length: 40)))
        #expect(side.isOpen)
        side.connection.startClosing()
        side.channel.embeddedEventLoop.run()
        #expect(side.closure == FramedClosure(initiator: .ourselves, error: nil))
        #expect(!side.channel.isActive)
    }

    @Test func abortSendsNoBye() throws {
        let side = try EmbeddedFramed.open()
        side.connection.abort()
        #expect(try side.sent().isEmpty)
        #expect(side.closure == FramedClosure(initiator: .ourselves, error: nil))
    }

    // MARK: Back-pressure

    @Test func unreadMessagesPauseReading() throws {
        var configuration = FramedConnectionConfiguration()
        configuration.receivedBytes = 1000
        let side = try EmbeddedFramed.open(isClient: false, configuration)
        try side.receive(FrameHead(.message, bodyLength: 500), body: [UInt8](repeating: 0, count: 500))
        #expect(!side.handler.isReadingPaused)
        try side.receive(FrameHead(.message, bodyLength: 500), body: [UInt8](repeating: 0, count: 500))
        #expect(side.handler.isReadingPaused)
        // The peer is not expected to send while reading is paused.
        side.advance(by: .minutes(10))
        #expect(side.closure == nil)
        side.connection.startClosing()
        side.channel.embeddedEventLoop.run()
        #expect(!side.handler.isReadingPaused)
        try side.receive(FrameHead(.bye))
        #expect(side.closure?.initiator == .ourselves)
    }
}

/// A transport that completes no writes.
private final class WriteBlocker: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    private var promises: [EventLoopPromise<Void>] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if let promise { self.promises.append(promise) }
    }

    func release() {
        for promise in self.promises { promise.fail(ChannelError.ioOnClosedChannel) }
        self.promises = []
    }
}
