import ApusWebSocket
import ApusWebSocketProtocol
import NIOCore
import NIOEmbedded
import Testing

@Suite struct WebSocketHandlerTests {
    private struct Server {
        let delegate = RecordingDelegate()
        let channel: EmbeddedChannel
        let handler: WebSocketHandler
        let isServer: Bool

        init(
            role: WebSocketRole = .server, limits: WebSocketLimits = .init(), deflate: WebSocketDeflateAgreement? = nil,
            buffers: WebSocketBuffers = WebSocketBuffers(), loop: EmbeddedEventLoop = EmbeddedEventLoop()
        ) throws {
            self.isServer = role == .server
            self.handler = WebSocketHandler(role: role, limits: limits, deflate: deflate, delegate: self.delegate, buffers: buffers)
            self.channel = EmbeddedChannel(handler: self.handler, loop: loop)
            try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        func receive(_ frames: WebSocketFrame...) throws { try self.channel.writeInbound(self.encoded(frames)) }

        /// Reads frames without ending the turn of the loop.
        func receiveWithinTurn(_ frames: WebSocketFrame...) {
            self.channel.pipeline.fireChannelRead(self.encoded(frames))
            self.channel.pipeline.fireChannelReadComplete()
        }

        private func encoded(_ frames: [WebSocketFrame]) -> ByteBuffer {
            var buffer = ByteBuffer()
            let key = self.isServer ? WebSocketMaskingKey(word: 0x1234_5678) : nil
            for frame in frames { WebSocketFrameEncoder.write(frame, maskingKey: key, into: &buffer) }
            return buffer
        }

        func setWritable(_ isWritable: Bool) {
            self.channel.isWritable = isWritable
            self.channel.pipeline.fireChannelWritabilityChanged()
        }

        func written() throws -> ByteBuffer? { try self.channel.readOutbound(as: ByteBuffer.self) }
    }

    private func text(_ text: String) -> WebSocketFrame { WebSocketFrame(opcode: .text, payload: ByteBuffer(string: text)) }

    @Test func allAnswersOfOneReadAreWrittenTogether() throws {
        let server = try Server()
        server.delegate.echoes = true
        try server.receive(self.text("a"), WebSocketFrame(opcode: .ping), self.text("b"))
        #expect(server.delegate.messages == [.text("a"), .text("b")])
        #expect(server.delegate.readCompletes == 1)
        #expect(try server.written() == ByteBuffer(bytes: [0x81, 1, 0x61, 0x8A, 0, 0x81, 1, 0x62]))
        #expect(try server.written() == nil)
    }

    /// Connections with shared buffers that are read in one turn are flushed together: the first 32
    /// at once, the others at its end.
    @Test func theAnswersOfOneTurnLeaveTogether() throws {
        let (buffers, loop) = (WebSocketBuffers(isShared: true), EmbeddedEventLoop())
        let servers = try (0..<40).map { _ in try Server(buffers: buffers, loop: loop) }
        for (index, server) in servers.enumerated() {
            server.handler.shareReceiveBuffer()
            server.delegate.echoes = true
            server.receiveWithinTurn(self.text("\(index)"))
            if index == 30 { #expect(try server.written() == nil) }
        }
        let early = try servers.map { try $0.written().map { String(buffer: $0).dropFirst(2) } }
        loop.run()
        let late = try servers.map { try $0.written().map { String(buffer: $0).dropFirst(2) } }
        #expect(early == (0..<40).map { $0 < 32 ? "\($0)" : nil })
        #expect(late == (0..<40).map { $0 < 32 ? nil : "\($0)" })
    }

    /// The end of the peer's data is an empty read, or an event if the channel allows half-closure.
    @Test(arguments: [false, true]) func aPeerThatSendsAndClosesInOneTurnIsAnswered(isHalfClosed: Bool) throws {
        let server = try Server(buffers: WebSocketBuffers(isShared: true))
        server.handler.shareReceiveBuffer()
        server.delegate.echoes = true
        server.receiveWithinTurn(self.text("a"))
        #expect(try server.written() == nil)
        if isHalfClosed {
            server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        } else {
            server.channel.pipeline.fireChannelReadComplete()
        }
        #expect(try server.written() == ByteBuffer(bytes: [0x81, 1, 0x61]))
    }

    /// With TLS the peer's end may be in the read of its last message.
    @Test func withoutTheSharedReceiveBufferResponsesAreFlushedAtOnce() throws {
        let server = try Server(buffers: WebSocketBuffers(isShared: true))
        server.delegate.echoes = true
        server.receiveWithinTurn(self.text("a"))
        #expect(try server.written() == ByteBuffer(bytes: [0x81, 1, 0x61]))
    }

    @Test func oneBufferGathersUnwrittenBytes() throws {
        let server = try Server()
        server.setWritable(false)
        for text in ["a", "b", "c"] {
            server.handler.send(.text(text))
            server.channel.embeddedEventLoop.run()
        }
        #expect(try server.written() == nil)
        #expect(server.handler.queuedBytes == 9)
        server.setWritable(true)
        server.channel.embeddedEventLoop.run()
        #expect(try server.written() == ByteBuffer(bytes: [0x81, 1, 0x61, 0x81, 1, 0x62, 0x81, 1, 0x63]))
        #expect(try server.written() == nil)
    }

    /// Responses to a read are gathered too, even with TLS, which takes 16 KiB for each buffer
    /// passed to it.
    @Test(arguments: [false, true]) func answersToReadsAreGathered(sharesReceiveBuffer: Bool) throws {
        let server = try Server(buffers: WebSocketBuffers(isShared: true))
        if sharesReceiveBuffer { server.handler.shareReceiveBuffer() }
        server.delegate.echoes = true
        server.setWritable(false)
        for text in ["a", "b", "c"] { try server.receive(self.text(text)) }
        #expect(try server.written() == nil)
        server.setWritable(true)
        server.channel.embeddedEventLoop.run()
        #expect(try server.written() == ByteBuffer(bytes: [0x81, 1, 0x61, 0x81, 1, 0x62, 0x81, 1, 0x63]))
    }

    @Test func gatheredBytesPrecedeUncopiedPayloads() throws {
        let server = try Server()
        server.setWritable(false)
        server.handler.send(.text("a"))
        server.channel.embeddedEventLoop.run()
        server.handler.send(.binary(ByteBuffer(repeating: 7, count: 100_000)))
        server.handler.send(.shared(WebSocketSharedFrame(.text("c"))))
        server.channel.embeddedEventLoop.run()
        var written = ByteBuffer()
        while let next = try server.written() { written.writeImmutableBuffer(next) }
        #expect(written.readSlice(length: 3) == ByteBuffer(bytes: [0x81, 1, 0x61]))
        #expect(written.readSlice(length: 10) == ByteBuffer(bytes: [0x82, 127, 0, 0, 0, 0, 0, 1, 0x86, 0xA0]))
        #expect(written.readSlice(length: 100_000) == ByteBuffer(repeating: 7, count: 100_000))
        #expect(written == ByteBuffer(bytes: [0x81, 1, 0x63]))
    }

    @Test func bytesAboveTheGatherLimitReachATransportThatTakesNothing() throws {
        let server = try Server()
        server.setWritable(false)
        for _ in 0..<5 {
            server.handler.send(.text(String(repeating: "a", count: 16_000)))
            server.channel.embeddedEventLoop.run()
        }
        #expect(try server.written()?.readableBytes == 5 * 16_004)
    }

    @Test func messagesOfOneTurnAreWrittenTogether() throws {
        let server = try Server()
        server.handler.send(.text("a"))
        server.handler.send(.shared(WebSocketSharedFrame(.binary(ByteBuffer(bytes: [7])))))
        #expect(try server.written() == nil)
        server.channel.embeddedEventLoop.run()
        #expect(try server.written() == ByteBuffer(bytes: [0x81, 1, 0x61, 0x82, 1, 7]))
    }

    /// Frames for several connections of a loop are joined once per turn; a frame for one
    /// connection is not shared.
    @Test func broadcastsOfATurnAreJoinedOnceAndInOrder() throws {
        let (buffers, loop) = (WebSocketBuffers(), EmbeddedEventLoop())
        let servers = try (0..<3).map { _ in try Server(buffers: buffers, loop: loop) }
        let frames = ["a", "b", "c"].map { WebSocketSharedFrame(.text($0)) }
        for turn in 0..<2 {
            if turn == 1 { servers[0].handler.send(.text("own")) }
            for frame in frames {
                for server in servers { server.handler.send(.shared(frame)) }
                if frame === frames[1] { servers[1].handler.send(.text("own")) }
            }
            loop.run()
            let written = try servers.map { try $0.written().map { String(buffer: $0).filter(\.isLetter) } }
            #expect(written == [turn == 1 ? "ownabc" : "abc", "abownc", "abc"])
        }
    }

    @Test func aLargePayloadIsNotCopied() throws {
        let server = try Server()
        server.handler.send(.binary(ByteBuffer(repeating: 1, count: 20_000)))
        server.channel.embeddedEventLoop.run()
        #expect(try server.written() == ByteBuffer(bytes: [0x82, 126, 0x4E, 0x20]))
        #expect(try server.written()?.readableBytes == 20_000)
    }

    @Test(arguments: [WebSocketRole.server, .client]) func aTextAroundALargePartIsOneMessage(role: WebSocketRole) throws {
        let server = try Server(role: role)
        server.handler.send(.text("before"))
        server.handler.send(.text(Array("[x]".utf8), around: ByteBuffer(repeating: UInt8(ascii: "y"), count: 20_000)))
        server.handler.send(.text("behind"))
        server.channel.embeddedEventLoop.run()
        var decoder = WebSocketFrameDecoder(role: role == .server ? .client : .server, limits: .init())
        var written = ByteBuffer()
        while let bytes = try server.written() { written.writeImmutableBuffer(bytes) }
        var frames: [WebSocketFrame] = []
        #expect(decoder.decode(&written, into: &frames) == nil)
        #expect(frames == [self.text("before"), self.text("[x" + String(repeating: "y", count: 20_000) + "]"), self.text("behind")])
    }

    @Test func aFrameInPiecesIsOneMessage() throws {
        let server = try Server()
        var bytes = ByteBuffer()
        WebSocketFrameEncoder.write(self.text("pieces"), maskingKey: WebSocketMaskingKey(word: 99), into: &bytes)
        WebSocketFrameEncoder.write(self.text("more"), maskingKey: WebSocketMaskingKey(word: 98), into: &bytes)
        while let piece = bytes.readSlice(length: 1) { try server.channel.writeInbound(piece) }
        #expect(server.delegate.messages == [.text("pieces"), .text("more")])
    }

    @Test func thePeerCloses() throws {
        let server = try Server()
        try server.receive(WebSocketFrame(opcode: .close, payload: ByteBuffer(bytes: [0x03, 0xE9])))
        #expect(try server.written() == ByteBuffer(bytes: [0x88, 2, 0x03, 0xE9]))
        #expect(server.delegate.closed.map(\.code) == [.goingAway])
        #expect(server.delegate.closed.first?.error == nil)
        #expect(!server.channel.isActive)
    }

    @Test(arguments: [
        (WebSocketFrame(opcode: .text, payload: ByteBuffer(bytes: [0xFF])), WebSocketCloseCode.invalidPayload),
        (WebSocketFrame(reserved: .rsv1, opcode: .text), .protocolError),
        (WebSocketFrame(opcode: .continuation), .protocolError),
        (WebSocketFrame(opcode: .binary, payload: ByteBuffer(repeating: 0, count: 101)), .messageTooBig),
    ])
    func aBrokenRuleIsAnsweredWithItsCode(frame: WebSocketFrame, code: WebSocketCloseCode) throws {
        let server = try Server(limits: WebSocketLimits(maximumMessageBytes: 100))
        try server.receive(self.text("good"), frame, self.text("never seen"))
        #expect(server.delegate.messages.count == 1)
        #expect(try server.written()?.getInteger(at: 2, as: UInt16.self) == code.rawValue)
        #expect(server.delegate.closed.map(\.code) == [code])
        #expect(server.delegate.closed.first?.error != nil)
        #expect(!server.handler.isOpen)
    }

    @Test func weCloseAndThePeerIsSilent() throws {
        let server = try Server()
        server.handler.close(code: .normalClosure, reason: "bye")
        server.handler.send(.text("after the Close"))
        server.channel.embeddedEventLoop.run()
        #expect(try server.written() == ByteBuffer(bytes: [0x88, 5, 0x03, 0xE8, 0x62, 0x79, 0x65]))
        server.channel.embeddedEventLoop.advanceTime(by: .milliseconds(9_999))
        #expect(server.delegate.closed.isEmpty)
        server.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(server.delegate.closed.map(\.error?.code) == [.timeout])
        #expect(!server.channel.isActive)
        #expect(try server.written() == nil)
    }

    @Test func aClientWaitsForTheServerToEndTheTransport() throws {
        let client = try Server(role: .client)
        client.handler.close(code: .normalClosure, reason: "")
        try client.receive(WebSocketFrame(opcode: .close, payload: ByteBuffer(bytes: [0x03, 0xE8])))
        #expect(client.delegate.closed.map(\.code) == [.normalClosure])
        #expect(client.channel.isActive)
        client.channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(!client.channel.isActive)
        #expect(client.delegate.closed.count == 1)
    }

    @Test func halfOpenIsTheEnd() throws {
        let server = try Server()
        server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(server.delegate.closed.map(\.error?.code) == [.connectionLost])
        #expect(!server.channel.isActive)
    }

    @Test func theTransportFails() throws {
        let server = try Server()
        server.channel.pipeline.fireErrorCaught(ChannelError.ioOnClosedChannel)
        #expect(server.delegate.closed.map(\.error?.code) == [.transport])
        server.handler.abort()
        #expect(server.delegate.closed.count == 1)
    }

    /// Compressed text in both directions, with RSV1 on the wire.
    @Test func compressedMessagesRoundTrip() throws {
        var configuration = WebSocketDeflateConfiguration()
        configuration.threshold = 10
        let parameters = WebSocketDeflateParameters()
        let server = try Server(
            deflate: WebSocketDeflateAgreement(role: .server, parameters: parameters, configuration: configuration))
        let client = try Server(
            role: .client, deflate: WebSocketDeflateAgreement(role: .client, parameters: parameters, configuration: configuration))
        server.delegate.echoes = true
        let long = WebSocketMessage.text(String(repeating: "swift ", count: 1000))
        for (message, compression, isCompressed) in [
            (long, WebSocketCompression.automatic, true), ("short", .automatic, false), ("short", .always, true), (long, .never, false),
            (.binary([]), .always, true), (long, .automatic, true),
        ] {
            client.handler.send(message.compressed(compression))
            client.channel.embeddedEventLoop.run()
            let sent = try #require(try client.written())
            #expect((sent.getInteger(at: sent.readerIndex, as: UInt8.self) ?? 0) & 0x40 == (isCompressed ? 0x40 : 0))
            try server.channel.writeInbound(sent)
            while let answer = try server.written() { try client.channel.writeInbound(answer) }
            #expect(server.delegate.messages.last == message)
            #expect(client.delegate.messages.last == message)
        }
        #expect(client.delegate.messages.count == 6)
    }

    /// Without context takeover, equal messages give equal frames, and the peer's small window
    /// suffices.
    @Test func withoutContextTakeoverEachMessageStandsAlone() throws {
        var parameters = WebSocketDeflateParameters()
        parameters.serverNoContextTakeover = true
        let agreement = WebSocketDeflateAgreement(role: .server, parameters: parameters, configuration: .init())
        let server = try Server(deflate: agreement)
        let message = WebSocketMessage.text(String(repeating: "swift ", count: 1000))
        server.handler.send(message)
        server.handler.send(message)
        server.channel.embeddedEventLoop.run()
        var both = try #require(try server.written())
        let first = both.readSlice(length: both.readableBytes / 2)
        #expect(first == both)
        try server.handler.send(piece: message.payload, of: .text, isLast: false)
        server.channel.embeddedEventLoop.run()
        try server.handler.send(piece: ByteBuffer(), of: .text, isLast: true)
        server.handler.send(message)
        server.channel.embeddedEventLoop.run()
        let pieces = try #require(try server.written())
        let last = try #require(try server.written())
        #expect(pieces.getInteger(at: 0, as: UInt8.self) == 0x41)
        #expect(last.getSlice(at: 0, length: 3) == ByteBuffer(bytes: [0x80, 1, 0]))
        #expect(last.getSlice(at: 3, length: last.readableBytes - 3) == both)
    }

    @Test func aMessageInPiecesIsNotInterrupted() throws {
        let server = try Server()
        try server.handler.send(piece: ByteBuffer(string: "a"), of: .text, isLast: false)
        server.handler.send(.text("waits"))
        server.handler.send(.shared(WebSocketSharedFrame(.text("b"))))
        server.handler.sendPing(ByteBuffer(string: "p"))
        try server.handler.send(piece: ByteBuffer(string: "z"), of: .text, isLast: true)
        server.channel.embeddedEventLoop.run()
        #expect(
            try server.written()
                == ByteBuffer(
                    bytes: [0x01, 1, 0x61, 0x89, 1, 0x70, 0x80, 1, 0x7A, 0x81, 5] + Array("waits".utf8) + [0x81, 1, 0x62]))
    }

    @Test func messagesThatWaitForTheLastPieceAreBounded() throws {
        var limits = WebSocketLimits()
        limits.maximumDeferredBytes = 10
        let server = try Server(limits: limits)
        try server.handler.send(piece: ByteBuffer(string: "a"), of: .text, isLast: false)
        server.handler.send(.text("0123456789"))
        #expect(server.handler.isOpen)
        server.handler.send(.text("x"))
        #expect(server.delegate.closed.map(\.error?.code) == [.invalidUse])
    }

    @Test func aPongIsReported() throws {
        let server = try Server()
        server.handler.sendPing(ByteBuffer(string: "p"))
        try server.receive(WebSocketFrame(opcode: .pong, payload: ByteBuffer(string: "p")))
        #expect(server.delegate.pongs == [ByteBuffer(string: "p")])
    }

    @Test func abortFromWithinAMessage() throws {
        let server = try Server()
        server.delegate.onMessage = { handler, _ in handler.abort() }
        try server.receive(self.text("a"), self.text("b"))
        #expect(server.delegate.messages.count == 1)
        #expect(server.delegate.closed.count == 1)
        #expect(server.delegate.closed.first?.error == nil)
    }

    @Test func aReaderThatStopsGetsTheLastPongOnly() throws {
        let server = try Server()
        server.channel.isWritable = false
        server.channel.pipeline.fireChannelWritabilityChanged()
        for number in 1...1000 {
            try server.receive(WebSocketFrame(opcode: .ping, payload: ByteBuffer(integer: UInt16(number))))
        }
        #expect(try server.written() == nil)
        server.channel.isWritable = true
        server.channel.pipeline.fireChannelWritabilityChanged()
        server.channel.embeddedEventLoop.run()
        #expect(try server.written() == ByteBuffer(bytes: [0x8A, 2, 0x03, 0xE8]))
        #expect(server.delegate.writability == [false, true])
    }

    @Test func aShutdownClosesWithGoingAway() throws {
        let server = try Server()
        server.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        server.channel.embeddedEventLoop.run()
        #expect(try server.written() == ByteBuffer(bytes: [0x88, 2, 0x03, 0xE9]))
    }
}
