#if os(Linux) && compiler(>=6.2)
    @testable import ApusWebSocket
    import Glibc
    import NIOConcurrencyHelpers
    import NIOCore
    import NIOPosix
    import Testing

    /// Counts the wake-ups of an event loop.
    private final class WakeUps: NIOEventLoopMetricsDelegate {
        /// A listener that cannot accept pauses for 200 ms.
        private static let pause = TimeAmount.milliseconds(150)

        let count = NIOLockedValueBox((afterPause: 0, others: 0))
        /// Yields after each wake-up; the newest one is buffered.
        let ticks: AsyncStream<Void>
        private let ticked: AsyncStream<Void>.Continuation

        init() {
            (self.ticks, self.ticked) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        }

        func processedTick(info: NIOEventLoopTickInfo) {
            self.count.withLockedValue { if info.sleepTime >= Self.pause { $0.afterPause += 1 } else { $0.others += 1 } }
            self.ticked.yield()
        }
    }

    /// docs/hazards.md, 15: connections up to the limit of descriptors.
    @Suite struct WebSocketServerFloodTests {
        /// In a process of its own, because the limit applies to the whole process.
        @Test(.timeLimit(.minutes(5))) func theAcceptLoopSurvivesAndRecovers() async {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                var configuration = WebSocketServerConfiguration()
                configuration.handshakeTimeout = .seconds(60)
                let server = WebSocketServer(configuration: configuration, onOpen: { _ in })
                let wakeUps = WakeUps()
                let group = MultiThreadedEventLoopGroup(numberOfThreads: 1, metricsDelegate: wakeUps)
                try await withServer(server, on: group) { port in
                    let clients = (0..<60).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
                    let highest = try #require(clients.max())
                    // Dispatch opens a descriptor for its timers at the first wait, and traps if it
                    // fails.
                    try await Task.sleep(for: .milliseconds(1))
                    // Room for a few connections, not for sixty.
                    var limit = rlimit(rlim_cur: rlim_t(highest) + 6, rlim_max: rlim_t(highest) + 6)
                    try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
                    let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
                    for client in clients {
                        let result = address.withSockAddr { connect(client, $0, socklen_t($1)) }
                        try #require(result == 0)  // accepted by the kernel, not necessarily by the server
                    }
                    // The server accepts connections until no descriptor is left.
                    var ticks = wakeUps.ticks.makeAsyncIterator()
                    var failure: CInt = 0
                    while failure == 0, await ticks.next() != nil {
                        let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                        if probe >= 0 { Glibc.close(probe) } else { failure = errno }
                    }
                    try #require(failure == EMFILE)
                    #expect(server.channelCount < 60, "\(server.channelCount) accepted")
                    // The server waits between attempts to accept.
                    let before = wakeUps.count.withLockedValue { $0 }
                    var (pauses, others) = (0, 0)
                    while pauses < 3, others < 1000, await ticks.next() != nil {
                        let now = wakeUps.count.withLockedValue { $0 }
                        (pauses, others) = (now.afterPause - before.afterPause, now.others - before.others)
                    }
                    #expect(others < 100, "\(others) wake-ups in \(pauses) pauses")
                    for client in clients { Glibc.close(client) }
                    // The server recovers, which may take long on a busy machine; the time limit of
                    // the test applies.
                    var isIn = false
                    while !isIn {
                        guard let connection = try? await WebSocketClient.connect(to: "ws://127.0.0.1:\(port)/", on: group.next()) else {
                            continue
                        }
                        isIn = await connection.close().wasClean
                    }
                }
                try await group.shutdownGracefully()
            }
            if let result, result.exitStatus != .exitCode(EXIT_SUCCESS) {
                Issue.record("\(String(decoding: result.standardErrorContent.suffix(2000), as: UTF8.self))")
            }
        }
    }
#endif
