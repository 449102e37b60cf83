import NIOCore
import NIOEmbedded
import Testing

@testable import ApusChatServer

struct UnhandledChannelTests {
    private func make() async throws -> (NIOAsyncTestingChannel, UnhandledChannel<ByteBuffer, ByteBuffer>) {
        let channel = NIOAsyncTestingChannel()
        let unhandled = try await channel.testingEventLoop.executeInContext {
            UnhandledChannel(try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel))
        }
        return (channel, unhandled)
    }

    /// Without `UnhandledChannel`, the release of an unused channel would stop the process.
    @Test func aChannelThatIsDroppedIsClosed() async throws {
        let channel = try await self.make().0
        try await channel.closeFuture.get()
    }

    @Test func aChannelIsTakenOnce() async throws {
        let (channel, unhandled) = try await self.make()
        let taken = try #require(unhandled.take())
        #expect(unhandled.take() == nil)
        try await taken.executeThenClose { _, outbound in outbound.finish() }
        try await channel.closeFuture.get()
    }
}
