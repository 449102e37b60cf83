#if os(Linux) && compiler(>=6.2)
    @testable import ApusWebSocket
    import Glibc
    import NIOCore
    import Testing

    /// Hazard 15: a flood up to the limit of descriptors.
    @Suite struct WebSocketServerFloodTests {
        /// In a process of its own, because the limit is the process's.
        @Test(.timeLimit(.minutes(2))) func theAcceptLoopSurvivesAndRecovers() async {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                var configuration = WebSocketServerConfiguration()
                configuration.handshakeTimeout = .seconds(60)
                let server = WebSocketServer(configuration: configuration, onOpen: { _ in })
                try await withServer(server) { port in
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
                    var probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                    while probe >= 0 {
                        Glibc.close(probe)
                        try await Task.sleep(for: .milliseconds(10))
                        probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                    }
                    try #require(errno == EMFILE)
                    #expect(server.transportCount < 60, "\(server.transportCount) accepted")
                    // It waits rather than tries as fast as it can.
                    var before = rusage()
                    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &before)
                    try await Task.sleep(for: .seconds(1))
                    var after = rusage()
                    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &after)
                    func seconds(_ usage: rusage) -> Double {
                        Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
                            / 1e6
                    }
                    #expect(seconds(after) - seconds(before) < 0.3, "\(seconds(after) - seconds(before)) s of CPU")
                    for client in clients { Glibc.close(client) }
                    // It recovers, when it may on a busy machine; the test's time limit bounds this.
                    var isIn = false
                    while !isIn {
                        guard let connection = try? await WebSocketClient.connect(to: "ws://127.0.0.1:\(port)/") else { continue }
                        isIn = await connection.close().wasClean
                    }
                }
            }
            if let result, result.exitStatus != .exitCode(EXIT_SUCCESS) {
                Issue.record("\(String(decoding: result.standardErrorContent.suffix(2000), as: UTF8.self))")
            }
        }
    }
#endif
