package import NIOCore

/// Pauses a listener that cannot accept because the process (EMFILE) or the system (ENFILE,
/// ENOBUFS) is out of descriptors or buffers.
///
/// Clients wait in the kernel's backlog during the pause. Without the pause, the listener retries
/// and fails in a loop. NIO's `AcceptBackoffHandler` delays the next read but leaves the channel
/// registered for reading: with swift-nio 2.101 the loop still spins (0.9 s of CPU per second).
/// Disabling `autoRead` removes the registration.
package final class AcceptPauseHandler: ChannelInboundHandler {
    package typealias InboundIn = any Channel

    private static let pause = TimeAmount.milliseconds(200)
    private var timer: Scheduled<Void>?

    package init() {}

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Other errors end the listener. NIO also closes the listener for an IOError that is fatal
        // for accept(2).
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
