#if os(Linux) && compiler(>=6.2)
    @testable import ApusWebSocket
    import Glibc
    import NIOConcurrencyHelpers
    import NIOCore
    import NIOPosix
    import Testing

    /// Counts how often an event loop wakes.
    private final class WakeUps: NIOEventLoopMetricsDelegate {
        /// A pause of a listener that cannot accept is 200 ms.
        private static let pause = TimeAmount.milliseconds(150)

        let count = NIOLockedValueBox((afterPause: 0, others: 0))
        /// One after the last wake-up, also for who was not waiting then.
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

    /// Hazard 15: a flood up to the limit of descriptors.
    @Suite struct WebSocketServerFloodTests {
        /// In a process of its own, because the limit is the process's.
        @Test(.timeLimit(.minutes(2))) func theAcceptLoopSurvivesAndRecovers() async {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                var configuration = WebSocketServerConfiguration()
                configuration.handshakeTimeout = .seconds(60)
                let server = WebSocketServer(configuration: configuration, onOpen: { _ in })
                let wakeUps = WakeUps()
                let group = MultiThreadedEventLoopGroup(numberOfThreads: 1, metricsDelegate: wakeUps)
                try await withServer(server, on: group) { port in
                    let clients = (0..<60).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
                    let highest = try #require(clients.max())
                    // Dispatch takes the descriptor of its timers at the first wait, and traps where there is none left.
                    try await Task.sleep(for: .milliseconds(1))
                    // Room for a few connections, not for sixty.
                    var limit = rlimit(rlim_cur: rlim_t(highest) + 6, rlim_max: rlim_t(highest) + 6)
                    try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
                    let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
                    for client in clients {
                        let result = address.withSockAddr { connect(client, $0, socklen_t($1)) }
                        try #require(result == 0)  // the kernel accepts; whether the server can is another matter
                    }
                    // The server takes what it can get, until there is nothing left for anybody.
                    var ticks = wakeUps.ticks.makeAsyncIterator()
                    var failure: CInt = 0
                    while failure == 0, await ticks.next() != nil {
                        let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                        if probe >= 0 { Glibc.close(probe) } else { failure = errno }
                    }
                    try #require(failure == EMFILE)
                    #expect(server.transportCount < 60, "\(server.transportCount) accepted")
                    // It waits rather than tries as fast as it can.
                    let before = wakeUps.count.withLockedValue { $0 }
                    var (pauses, others) = (0, 0)
                    while pauses < 3, others < 1000, await ticks.next() != nil {
                        let now = wakeUps.count.withLockedValue { $0 }
                        (pauses, others) = (now.afterPause - before.afterPause, now.others - before.others)
                    }
                    #expect(others < 100, "\(others) wake-ups in \(pauses) pauses")
                    for client in clients { Glibc.close(client) }
                    // It recovers, when it may on a busy machine; the test's time limit bounds this.
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
