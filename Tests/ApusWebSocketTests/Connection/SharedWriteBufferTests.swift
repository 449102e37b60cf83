import ApusConnectivity
import ApusWebSocketProtocol
import NIOCore
import NIOEmbedded
import Testing

@testable import ApusWebSocket

/// Frames sent to many connections in one turn.
@Suite(.timeLimit(.minutes(5))) struct SharedWriteBufferTests {
    private let loop = EmbeddedEventLoop()
    private let buffers = WebSocketBuffers(isShared: true)

    private func peers(_ count: Int) throws -> [EmbeddedPeer] { try (0..<count).map { _ in try EmbeddedPeer(self.buffers, on: self.loop) } }

    private func frame(_ text: String) -> ByteBuffer { WebSocketHandler.encodeServerFrame(.text(text)) }

    private func joined(_ buffers: [ByteBuffer]) -> ByteBuffer {
        buffers.reduce(into: ByteBuffer()) { $0.writeImmutableBuffer($1) }
    }

    private func address(_ buffer: ByteBuffer?) -> UnsafeRawPointer? { buffer?.withUnsafeReadableBytes { $0.baseAddress } }

    @Test func theBroadcastsOfATurnAreJoinedOnceAndShared() throws {
        let peers = try self.peers(3)
        let frames = (0..<100).map { self.frame("message \($0)") }
        for frame in frames { for peer in peers { peer.handler.send(.shared(WebSocketSharedFrame(plain: frame, isText: true))) } }
        self.loop.run()
        let written = try peers.map { try $0.written() }
        for one in written { #expect(one == [self.joined(frames)]) }
        #expect(Set(written.map { self.address($0.first) }).count == 1)
    }

    @Test func aSingleFrameIsSharedUnchanged() throws {
        let peers = try self.peers(2)
        let frame = self.frame("a")
        for peer in peers { peer.handler.send(.shared(WebSocketSharedFrame(plain: frame, isText: true))) }
        self.loop.run()
        for peer in peers { #expect(try self.address(peer.written().first) == self.address(frame)) }
    }

    /// Each sender excludes itself, and sends frames of its own in between.
    @Test func everyConnectionGetsItsOwnInOrder() throws {
        let peers = try self.peers(5)
        var expected: [[ByteBuffer]] = Array(repeating: [], count: peers.count)
        for round in 0..<40 {
            let sender = round * 7 % peers.count
            let frame = self.frame("from \(sender) in \(round)")
            for (index, peer) in peers.enumerated() where index != sender {
                peer.handler.send(.shared(WebSocketSharedFrame(plain: frame, isText: true)))
                expected[index].append(frame)
            }
            if round % 3 == 0 {
                peers[sender].handler.send(.text(Array("mine".utf8)))
                expected[sender].append(self.frame("mine"))
            }
            if round % 11 == 5 { self.loop.run() }
        }
        self.loop.run()
        for (index, peer) in peers.enumerated() { #expect(try self.joined(peer.written()) == self.joined(expected[index])) }
    }

    @Test func largeFramesAreNotCopiedAndKeepTheirPlace() throws {
        let peers = try self.peers(2)
        let large = WebSocketHandler.encodeServerFrame(.binary(ByteBuffer(repeating: 7, count: 100_000)))
        let frames = [self.frame("a"), self.frame("b"), large, self.frame("c"), large, large, self.frame("d"), self.frame("e")]
        for frame in frames { for peer in peers { peer.handler.send(.shared(WebSocketSharedFrame(plain: frame, isText: true))) } }
        peers[0].handler.send(WebSocketMessage(.binary, ByteBuffer(repeating: 1, count: 50_000)))
        peers[1].handler.send(.text(Array("[]".utf8), around: ByteBuffer(string: "middle")))
        self.loop.run()
        let written = try peers.map { try $0.written() }
        let own = [
            WebSocketHandler.encodeServerFrame(.binary(ByteBuffer(repeating: 1, count: 50_000))), self.frame("[middle]"),
        ]
        for index in 0..<2 {
            #expect(self.joined(written[index]) == self.joined(frames + [own[index]]))
            #expect(written[index].filter { self.address($0) == self.address(large) }.count == 3)
        }
    }

    /// A shared buffer has a maximum size. When it is full, its connections share a further one.
    @Test func aLongBroadcastIsSharedInParts() throws {
        let peers = try self.peers(3)
        let frames = (0..<200).map { self.frame("\($0)" + String(repeating: "x", count: 1000)) }
        for frame in frames { for peer in peers { peer.handler.send(.shared(WebSocketSharedFrame(plain: frame, isText: true))) } }
        self.loop.run()
        let written = try peers.map { try $0.written() }
        #expect(written[0].count == 4)
        for one in written {
            #expect(self.joined(one) == self.joined(frames))
            #expect(one.map { self.address($0) } == written[0].map { self.address($0) })
            #expect(one.allSatisfy { $0.readableBytes <= SharedWriteBuffer.maximumBytes })
        }
    }

    /// Copying the whole buffer for each frame would take minutes.
    @Test func theCostOfABurstIsLinear() throws {
        let peers = try self.peers(4)
        let frame = self.frame(String(repeating: "x", count: 64))
        let count = 100_000
        for index in 0..<count {
            // The last connection has a frame of its own.
            if index == 2 { peers[3].handler.send(.text(Array("mine".utf8))) }
            for peer in peers { peer.handler.send(.shared(WebSocketSharedFrame(plain: frame, isText: true))) }
        }
        self.loop.run()
        for peer in peers { #expect(try peer.written().reduce(0) { $0 + $1.readableBytes } >= count * frame.readableBytes) }
    }
}
