package import NIOCore
import NIOPosix

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Calls a closure after an event loop has polled its sockets.
///
/// A task or a timer cannot do this: SwiftNIO runs all due tasks before it polls its sockets. The
/// wakeup writes a byte to a pipe that the event loop polls together with its sockets.
///
/// Confined to its event loop.
package final class EventLoopWakeup {
    private enum State {
        /// The pipe is being registered. Transitions to `open` or `unavailable`.
        case opening(isRung: Bool)
        /// The pipe is registered. Transitions to `unavailable` if a write fails.
        case open
        /// No descriptor is free, or the event loop does not support pipes: a timer replaces the
        /// pipe.
        case unavailable
    }

    /// The delay of the timer that replaces the pipe.
    private static let delay = TimeAmount.microseconds(50)

    private let eventLoop: any EventLoop
    private let callback: () -> Void
    private var state = State.unavailable
    /// The write end of the pipe. The event loop owns the read end.
    private var descriptor: CInt = -1

    /// - Parameter callback: Called on the event loop, once for one or more calls of ``ring()``.
    package init(on eventLoop: any EventLoop, answer callback: @escaping () -> Void) {
        self.eventLoop = eventLoop
        self.callback = callback
        self.open()
    }

    deinit {
        // The event loop reads end of file from the pipe and closes the read end.
        if self.descriptor >= 0 { _ = close(self.descriptor) }
    }

    private func open() {
        guard let bootstrap = NIOPipeBootstrap(validatingGroup: self.eventLoop) else { return }
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // A write to a full pipe fails without an effect, which is harmless: the bytes in the pipe
        // cause the call.
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
                if case .success = result { weak.value.wakeup?.opened(.open) } else { weak.value.wakeup?.opened(.unavailable) }
            }
    }

    private func opened(_ state: State) {
        let former = self.state
        self.state = state
        if case .opening(isRung: true) = former { self.ring() }
    }

    /// Schedules a call of the closure after the event loop has polled its sockets.
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
            self.eventLoop.assumeIsolated().scheduleTask(in: Self.delay) { weak.wakeup?.callback() }
        }
    }

    private final class Weak {
        weak var wakeup: EventLoopWakeup?

        init(_ wakeup: EventLoopWakeup) {
            self.wakeup = wakeup
        }
    }

    private final class Listener: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let weak: Weak

        init(_ weak: Weak) {
            self.weak = weak
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { self.weak.wakeup?.callback() }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

@available(*, unavailable)
extension EventLoopWakeup: Sendable {}
