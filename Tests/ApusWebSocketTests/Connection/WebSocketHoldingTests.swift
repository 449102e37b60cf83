import ApusConnectivity
import ApusWebSocketProtocol
import NIOCore
import NIOEmbedded
import Testing

@testable import ApusWebSocket

/// Messages that were read and must wait.
@Suite struct WebSocketHoldingTests {
    private let loop = EmbeddedEventLoop()
    private static let pause = TimeAmount.microseconds(50)

    /// Returns whether the channel reads automatically.
    private func isRead(_ peer: EmbeddedPeer) -> Bool {
        let value = peer.channel.options.last { $0.option is ChannelOptions.Types.AutoReadOption }?.value
        return value as? Bool ?? true
    }

    // MARK: Turns

    @Test func aFullTurnMakesTheRestOfAReadWait() throws {
        let buffers = WebSocketBuffers(isShared: true)
        let peer = try EmbeddedPeer(buffers, on: self.loop)
        peer.delegate.onMessage = { _, message in if message == "b" { buffers.fillTurn() } }
        peer.receive("a", "b", "c", "d")
        #expect(peer.texts == ["a", "b"])
        #expect(!self.isRead(peer))
        // Further bytes are queued behind the waiting messages.
        peer.receive("e")
        self.loop.run()
        #expect(peer.texts == ["a", "b"])
        self.loop.advanceTime(by: Self.pause)
        #expect(peer.texts == ["a", "b", "c", "d", "e"])
        #expect(self.isRead(peer))
        peer.receive("f")
        #expect(peer.texts.last == "f")
    }

    @Test func inAFullTurnNothingIsHandledAndAnotherPeerIsServedFirst() throws {
        let buffers = WebSocketBuffers(isShared: true)
        let (burst, neighbour) = (try EmbeddedPeer(buffers, on: self.loop), try EmbeddedPeer(buffers, on: self.loop))
        var order: [String] = []
        burst.delegate.onMessage = { _, message in
            order.append("burst")
            buffers.fillTurn()
        }
        neighbour.delegate.onMessage = { _, _ in order.append("neighbour") }
        burst.receive("1", "2", "3")
        neighbour.receive("mine")
        #expect(order == ["burst"])
        self.loop.advanceTime(by: Self.pause)
        #expect(order == ["burst", "neighbour", "burst"])
        self.loop.advanceTime(by: Self.pause)
        #expect(order == ["burst", "neighbour", "burst", "burst"])
    }

    /// As many frames as one read can contain; they are decoded in batches.
    @Test func aReadOfManyFramesIsWhole() throws {
        let peer = try EmbeddedPeer(on: self.loop)
        peer.receive((0..<1000).map { WebSocketFrame(opcode: .text, payload: ByteBuffer(string: "\($0)")) })
        #expect(peer.texts == (0..<1000).map { "\($0)" })
        #expect(peer.delegate.readCompletes == 1)
    }

    @Test func aPartialFrameBehindHeldOnesIsCompleted() throws {
        let buffers = WebSocketBuffers(isShared: true)
        let peer = try EmbeddedPeer(buffers, on: self.loop)
        var bytes = ByteBuffer()
        for text in ["a", "b", "whole"] {
            WebSocketFrameEncoder.write(
                WebSocketFrame(opcode: .text, payload: ByteBuffer(string: text)), maskingKey: WebSocketMaskingKey(word: 1), into: &bytes)
        }
        buffers.fillTurn()
        peer.receive(try #require(bytes.getSlice(at: 0, length: bytes.readableBytes - 3)))
        peer.receive(try #require(bytes.getSlice(at: bytes.readableBytes - 3, length: 3)))
        #expect(peer.texts == [])
        self.loop.advanceTime(by: Self.pause)
        #expect(peer.texts == ["a", "b", "whole"])
    }

    @Test func badBytesBehindHeldFramesEndTheConnectionAfterThem() throws {
        let buffers = WebSocketBuffers(isShared: true)
        let peer = try EmbeddedPeer(buffers, on: self.loop)
        var bytes = ByteBuffer()
        WebSocketFrameEncoder.write(
            WebSocketFrame(opcode: .text, payload: ByteBuffer(string: "a")), maskingKey: WebSocketMaskingKey(word: 1), into: &bytes)
        bytes.writeBytes([0xFF, 0xFF, 0xFF])
        buffers.fillTurn()
        peer.receive(bytes)
        #expect(peer.delegate.closed.isEmpty)
        self.loop.advanceTime(by: Self.pause)
        #expect(peer.texts == ["a"])
        #expect(peer.delegate.closed.first?.error?.code == .protocolViolation)
    }

    // MARK: A peer that does not take its answers

    private func echoing(mark: Int) throws -> EmbeddedPeer {
        let peer = try EmbeddedPeer(WebSocketBuffers(queueLowMark: mark), on: self.loop)
        peer.delegate.echoes = true
        peer.setWritable(false)
        return peer
    }

    private let text = String(repeating: "x", count: 600)

    @Test func nothingMoreIsHandledAboveTheMark() throws {
        let peer = try self.echoing(mark: 1000)
        peer.receive(self.text, self.text, self.text, self.text)
        #expect(peer.texts.count == 2)
        #expect(!self.isRead(peer))
        self.loop.advanceTime(by: .seconds(10))
        #expect(peer.texts.count == 2)
        peer.setWritable(true)
        self.loop.advanceTime(by: Self.pause)
        #expect(peer.texts.count == 4)
        #expect(self.isRead(peer))
        #expect(try peer.written().reduce(0) { $0 + $1.readableBytes } == 4 * 604)
    }

    /// If broadcasts filled the queue, not even the first frame of a read is handled.
    @Test func aPeerWhoseQueueOthersFilledIsNotHandledEither() throws {
        let peer = try self.echoing(mark: 1000)
        peer.handler.send(.text(Array(repeating: 0x78, count: 2000)))
        peer.receive("question")
        #expect(peer.texts == [])
        peer.setWritable(true)
        self.loop.advanceTime(by: Self.pause)
        #expect(peer.texts == ["question"])
    }

    @Test func belowTheMarkAPeerThatLagsIsHandled() throws {
        let peer = try self.echoing(mark: 10_000)
        peer.receive(self.text, self.text, self.text, self.text)
        #expect(peer.texts.count == 4)
    }

    /// Two sides that both stop reading because of their queues would deadlock.
    @Test func aClientIsNeverSlowedDownByItsOwnQueue() throws {
        let delegate = RecordingDelegate()
        let handler = WebSocketHandler(role: .client, limits: .init(), delegate: delegate)
        let channel = EmbeddedChannel(handler: handler, loop: self.loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        handler.send(.binary(ByteBuffer(repeating: 0, count: 4 << 20)))
        try channel.writeInbound(WebSocketHandler.encodeServerFrame("a"))
        #expect(delegate.messages == ["a"])
    }

    @Test func aPeerThatReadsIsDetectedAsDraining() throws {
        let peer = try self.echoing(mark: 1000)
        peer.receive(self.text, self.text, self.text)
        #expect(!peer.handler.isDraining)
        peer.handler.send(.text(Array("more".utf8)))
        #expect(!peer.handler.isDraining)
        _ = peer.handler.takeOutbound()  // as if the kernel had taken it
        #expect(peer.handler.isDraining)
        #expect(!peer.handler.isDraining)
    }

    // MARK: Ends

    /// Messages already read are handled even if the peer has closed meanwhile.
    @Test(arguments: [false, true]) func theEndOfThePeerComesAfterItsMessages(isFullTurn: Bool) throws {
        let buffers = WebSocketBuffers(queueLowMark: 1000)
        let peer = try EmbeddedPeer(buffers, on: self.loop)
        peer.delegate.echoes = true
        if isFullTurn { buffers.fillTurn() } else { peer.setWritable(false) }
        peer.receive(self.text, self.text, self.text)
        peer.channel.close(promise: nil)
        self.loop.run()
        #expect(peer.delegate.closed.isEmpty)
        self.loop.advanceTime(by: Self.pause)
        #expect(peer.texts.count == 3)
        #expect(peer.delegate.closed.count == 1)
        #expect(buffers.budgets?.unfinished.held == 0)
        #expect(buffers.budgets?.queued.held == 0)
    }

    @Test func anAbortDropsWaitingMessages() throws {
        let buffers = WebSocketBuffers(isShared: true)
        let peer = try EmbeddedPeer(buffers, on: self.loop)
        buffers.fillTurn()
        peer.receive("a")
        peer.handler.abort()
        self.loop.advanceTime(by: Self.pause)
        #expect(peer.texts == [])
        #expect(peer.delegate.closed.count == 1)
    }

    /// The peer's Close frame is behind frames that wait because the peer does not read.
    @Test func aLocalCloseReceivesThePeersAnswer() throws {
        let peer = try self.echoing(mark: 1000)
        peer.receive(
            [self.text, self.text, self.text].map { WebSocketFrame(opcode: .text, payload: ByteBuffer(string: $0)) }
                + [WebSocketFrame(opcode: .close, payload: WebSocketClosePayload.empty.encoded)])
        #expect(peer.delegate.closed.isEmpty)
        peer.handler.close(code: .goingAway, reason: "")
        self.loop.advanceTime(by: Self.pause)
        #expect(peer.texts.count == 2)
        #expect(peer.delegate.closed.count == 1)
        #expect(peer.delegate.closed.first?.error == nil)
    }

    // MARK: Budgets

    private func begin(_ bytes: Int, of announced: Int) -> ByteBuffer {
        var frame = ByteBuffer()
        WebSocketFrameEncoder.write(
            WebSocketFrame(opcode: .binary, payload: ByteBuffer(repeating: 0, count: announced)), maskingKey: WebSocketMaskingKey(word: 1),
            into: &frame)
        return frame.getSlice(at: 0, length: bytes) ?? ByteBuffer()
    }

    @Test func messagesThatHaveNotEndedCountUntilTheyEnd() throws {
        let buffers = WebSocketBuffers(queueLowMark: 1 << 20, unfinished: 1 << 20)
        let peer = try EmbeddedPeer(buffers, on: self.loop)
        let frame = self.begin(100_014, of: 100_000)
        peer.receive(try #require(frame.getSlice(at: 0, length: 50_000)))
        #expect(buffers.budgets?.unfinished.held == 49_986 / ByteAccount.grain * ByteAccount.grain)
        peer.receive(try #require(frame.getSlice(at: 50_000, length: frame.readableBytes - 50_000)))
        #expect(peer.delegate.messages.count == 1)
        #expect(buffers.budgets?.unfinished.held == 0)
        peer.receive(self.begin(60_000, of: 100_000))
        #expect(buffers.budgets?.unfinished.held ?? 0 > 50_000)
        _ = try? peer.channel.finish(acceptAlreadyClosed: true)
        #expect(buffers.budgets?.unfinished.held == 0)
    }

    @Test func theConnectionThatHoldsMostIsClosedFirst() throws {
        let buffers = WebSocketBuffers(queueLowMark: 1 << 20, unfinished: 100_000)
        let peers = try (0..<3).map { _ in try EmbeddedPeer(buffers, on: self.loop) }
        for (peer, bytes) in zip(peers, [20_000, 60_000, 30_000]) { peer.receive(self.begin(bytes, of: 90_000)) }
        self.loop.run()
        #expect(peers.map { $0.delegate.closed.first?.error?.code } == [nil, .queueFull, nil])
        #expect(buffers.budgets?.unfinished.held ?? .max < 60_000)
    }

    @Test func theTotalQueueForSlowPeersIsBounded() throws {
        let buffers = WebSocketBuffers(queueLowMark: 1 << 20, queued: 100_000)
        let peers = try (0..<3).map { _ in try EmbeddedPeer(buffers, on: self.loop) }
        for (peer, bytes) in zip(peers, [20_000, 50_000, 40_000]) {
            peer.setWritable(false)
            peer.handler.send(.text(Array(repeating: 0x78, count: bytes)))
            self.loop.run()
        }
        self.loop.run()
        #expect(peers.map { $0.delegate.closed.first?.error?.code } == [nil, .queueFull, nil])
        peers[0].setWritable(true)
        peers[2].setWritable(true)
        self.loop.run()
        #expect(buffers.budgets?.queued.held == 0)
    }
}
