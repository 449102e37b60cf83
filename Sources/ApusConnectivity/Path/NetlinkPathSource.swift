#if os(Linux)
    import ApusEventLoop
    import NIOCore
    import NIOPosix

    /// Runs a ``NetlinkPathStateMachine`` on an event loop of NIO's singleton group. Opens another
    /// socket when one fails.
    package final class NetlinkPathSource: NetworkPathMonitor.Source {
        /// The time for which notifications are collected before the next dump. Plugging in a cable
        /// causes a dozen notifications within a few milliseconds.
        private static let pause = TimeAmount.milliseconds(50)
        /// The delay before another socket is opened.
        private static let retryDelay = TimeAmount.seconds(5)

        private let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        private let openSocket: @Sendable () throws -> CInt
        private let report: @Sendable (NetworkPath) -> Void
        private let state: NIOLoopBoundBox<State>

        private struct State {
            var channel: (any Channel)?
            var isStopped = false
        }

        /// Starts to monitor the network.
        ///
        /// - Parameters:
        ///   - openSocket: Opens the netlink socket. Tests open one in another network namespace.
        ///   - report: Called on an event loop.
        package init(
            openSocket: @escaping @Sendable () throws -> CInt = NetlinkSocket.open, report: @escaping @Sendable (NetworkPath) -> Void
        ) {
            self.openSocket = openSocket
            self.report = report
            self.state = .sending(State(), to: self.eventLoop)
            self.eventLoop.execute { self.open() }
        }

        package func stop() {
            self.eventLoop.execute {
                self.state.value.isStopped = true
                self.state.value.channel.take()?.close(promise: nil)
            }
        }

        private func open() {
            guard !self.state.value.isStopped else { return }
            do {
                let input = try self.openSocket()
                let output: CInt
                do {
                    output = try NetlinkSocket.duplicate(input)
                } catch {
                    NetlinkSocket.close(input)
                    throw error
                }
                // NIO treats the socket as a pipe: it reads and writes without addresses. One read
                // is one datagram, which must fit into the buffer.
                NIOPipeBootstrap(group: self.eventLoop)
                    .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 64 << 10))
                    .channelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Handler(source: self)) }
                    }
                    .takingOwnershipOfDescriptors(input: input, output: output)
                    .assumeIsolated().whenComplete { result in
                        switch result {
                        case .success(let channel):
                            self.state.value.channel = channel
                            if self.state.value.isStopped { self.stop() }
                        case .failure:
                            // The failed channel has closed its descriptors. Closing the same
                            // numbers again could close descriptors of another socket.
                            self.openLater()
                        }
                    }
            } catch {
                // For example, no descriptor is free, or a sandbox forbids netlink. The path is
                // unknown until an attempt succeeds.
                self.openLater()
            }
        }

        private func openLater() {
            self.state.value.channel = nil
            guard !self.state.value.isStopped else { return }
            self.eventLoop.scheduleTask(in: Self.retryDelay) { self.open() }
        }

        private final class Handler: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            typealias OutboundOut = ByteBuffer

            private let source: NetlinkPathSource
            private var machine = NetlinkPathStateMachine()
            private var timer: Scheduled<Void>?

            init(source: NetlinkPathSource) {
                self.source = source
            }

            func channelActive(context: ChannelHandlerContext) {
                self.perform(self.machine.opened(), context: context)
            }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                var datagram = self.unwrapInboundIn(data)
                do throws(NetlinkMessage.Malformed) {
                    while let message = try NetlinkMessage.next(from: &datagram) {
                        self.perform(self.machine.receivedMessage(message), context: context)
                    }
                } catch {
                    self.perform(self.machine.lost(), context: context)
                }
            }

            func errorCaught(context: ChannelHandlerContext, error: any Error) {
                context.close(promise: nil)  // for example ENOBUFS: notifications were lost, so another socket is opened
            }

            func channelInactive(context: ChannelHandlerContext) {
                self.timer?.cancel()
                self.source.openLater()
            }

            private func perform(_ action: NetlinkPathStateMachine.Action, context: ChannelHandlerContext) {
                switch action {
                case .request(let bytes): context.writeAndFlush(self.wrapOutboundOut(bytes), promise: nil)
                case .report(let path): self.publish(path)
                case .reportAndStartTimer(let path):
                    self.publish(path)
                    self.startTimer(context: context)
                case .startTimer: self.startTimer(context: context)
                case .reopen: context.close(promise: nil)
                case .doNothing: break
                }
            }

            private func publish(_ path: NetworkPath) {
                guard !self.source.state.value.isStopped else { return }
                self.source.report(path)
            }

            private func startTimer(context: ChannelHandlerContext) {
                self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: NetlinkPathSource.pause) {
                    self.perform(self.machine.timerFired(), context: context)
                }
            }
        }
    }
#endif
