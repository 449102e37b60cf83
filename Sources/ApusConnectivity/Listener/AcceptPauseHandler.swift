package import NIOCore

/// Makes a listener that cannot accept, because the process is out of descriptors (EMFILE) or the system is (ENFILE, ENOBUFS), wait a moment.
///
/// Clients wait in the kernel's backlog meanwhile. Without it the listener tries again, and fails, as fast as it can. NIO's own
/// `AcceptBackoffHandler` delays the next read, but the channel stays registered for reading, so that with swift-nio 2.101 the loop spins
/// all the same (0.9 s of CPU a second); switching `autoRead` off takes the registration back.
package final class AcceptPauseHandler: ChannelInboundHandler {
    package typealias InboundIn = any Channel

    private static let pause = TimeAmount.milliseconds(200)
    private var timer: Scheduled<Void>?

    package init() {}

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Everything that ends the listener is not an IOError of accept(2), or NIO closes it by itself.
        guard error is IOError else { return context.fireErrorCaught(error) }
        guard self.timer == nil else { return }
        let channel = context.channel
        try? channel.syncOptions?.setOption(.autoRead, value: false)
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
            self.timer = nil
            try? channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.timer = nil
        context.fireChannelInactive()
    }
}

@available(*, unavailable)
extension AcceptPauseHandler: Sendable {}
