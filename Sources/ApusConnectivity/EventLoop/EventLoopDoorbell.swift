package import NIOCore
import NIOPosix

#if canImport(Musl)
    import Musl
#elseif canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Calls back when an event loop has looked at its sockets.
///
/// A task or a timer cannot tell: SwiftNIO runs what is due until nothing is, and looks at its sockets then. So a byte goes through a pipe that the loop
/// looks at like at its sockets.
///
/// Confined to its event loop.
package final class EventLoopDoorbell {
    private enum State {
        /// The pipe is being registered. Leaves to `open` or `unavailable`.
        case opening(isRung: Bool)
        case open
        /// There are no descriptors, or the event loop has no pipes: a timer takes their place. Final.
        case unavailable
    }

    /// Where there is no pipe.
    private static let delay = TimeAmount.microseconds(50)

    private let eventLoop: any EventLoop
    private let answer: () -> Void
    private var state = State.unavailable
    /// The writing end; the event loop owns the other.
    private var descriptor: CInt = -1

    /// - Parameter answer: Called on the event loop, once for one or several calls of ``ring()``.
    package init(on eventLoop: any EventLoop, answer: @escaping () -> Void) {
        self.eventLoop = eventLoop
        self.answer = answer
        self.open()
    }

    deinit {
        // The event loop sees the end of its pipe, and closes it.
        if self.descriptor >= 0 { _ = close(self.descriptor) }
    }

    private func open() {
        guard let bootstrap = NIOPipeBootstrap(validatingGroup: self.eventLoop) else { return }
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // A full pipe says the same as one byte.
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        #if canImport(Darwin)
            _ = fcntl(ends[1], F_SETNOSIGPIPE, 1)
        #endif
        self.descriptor = ends[1]
        self.state = .opening(isRung: false)
        let weak = NIOLoopBound(Weak(self), eventLoop: self.eventLoop)
        bootstrap
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 64))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Listener(weak.value))
                }
            }
            .takingOwnershipOfDescriptor(input: ends[0])
            .whenComplete { result in
                // The bootstrap closes the descriptor when it fails.
                if case .success = result { weak.value.doorbell?.opened(.open) } else { weak.value.doorbell?.opened(.unavailable) }
            }
    }

    private func opened(_ state: State) {
        let former = self.state
        self.state = state
        if case .opening(isRung: true) = former { self.ring() }
    }

    /// Has the answer called when the event loop has looked at its sockets.
    package func ring() {
        switch self.state {
        case .opening: self.state = .opening(isRung: true)
        case .open:
            var byte: UInt8 = 0
            if write(self.descriptor, &byte, 1) != 1, errno != EAGAIN {
                self.state = .unavailable
                self.ring()
            }
        case .unavailable:
            let weak = Weak(self)
            self.eventLoop.assumeIsolated().scheduleTask(in: Self.delay) { weak.doorbell?.answer() }
        }
    }

    private final class Weak {
        weak var doorbell: EventLoopDoorbell?

        init(_ doorbell: EventLoopDoorbell) {
            self.doorbell = doorbell
        }
    }

    private final class Listener: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let weak: Weak

        init(_ weak: Weak) {
            self.weak = weak
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { self.weak.doorbell?.answer() }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

@available(*, unavailable)
extension EventLoopDoorbell: Sendable {}
