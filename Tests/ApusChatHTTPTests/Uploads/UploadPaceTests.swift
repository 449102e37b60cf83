import NIOCore
import NIOEmbedded
import Testing

@testable import ApusChatHTTP

@Suite struct UploadPaceTests {
    @Test func aSlowTransferIsClosed() throws {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/")).wait()
        let pace = UploadPace(minimumRate: 10, channel: channel)
        pace.receivedBytes(10 * UploadPace.seconds)
        channel.embeddedEventLoop.advanceTime(by: .seconds(Int64(UploadPace.seconds)))
        #expect(channel.isActive)
        // A single byte in an interval does not keep the connection open.
        pace.receivedBytes(1)
        channel.embeddedEventLoop.advanceTime(by: .seconds(Int64(UploadPace.seconds)))
        #expect(!channel.isActive)
    }

    @Test func anEndedTransferIsNotCut() throws {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/")).wait()
        UploadPace(minimumRate: 10, channel: channel).stop()
        channel.embeddedEventLoop.advanceTime(by: .seconds(100))
        #expect(channel.isActive)
    }
}
