import ApusConnectivity
import ApusEventLoop
import ApusFramedProtocol
@testable import ApusFramedSocket
import ApusJSON
import ApusTesting
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

@Suite struct FramedClientTests {
    @Test(.timeLimit(.minutes(5))) func anUnreachableServerIsAnError() async throws {
        let unused = try UnusedPort()
        do {
            _ = try await FramedClient.connect(host: "127.0.0.1", port: unused.number)
            Issue.record("connected")
        } catch let error as FramedError {
            #expect(error.code == .transport)
            #expect((error.cause as? ConnectivityError)?.code == .connectFailed)
        }
    }

    @Test(.timeLimit(.minutes(5))) func aSilentServerTimesOut() async throws {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        var configuration = FramedClientConfiguration()
        configuration.connection.handshakeTimeout = .milliseconds(200)
        configuration.connection.closeTimeout = .milliseconds(200)
        #expect(await code { _ = try await FramedClient.connect(host: "127.0.0.1", port: port, configuration: configuration) } == .timeout)
        let connecting = Task { try await FramedClient.connect(host: "127.0.0.1", port: port) }
        connecting.cancel()
        await #expect(throws: CancellationError.self) { try await connecting.value }
        try await listener.close()
    }

    @Test(.timeLimit(.minutes(5))) func settingsThatContradictThemselvesAreRefused() async {
        var noTime = FramedClientConfiguration()
        noTime.connectTimeout = .zero
        var nothing = FramedClientConfiguration()
        nothing.connection.receivedBytes = 0
        var noPing = FramedClientConfiguration()
        noPing.connection.pingInterval = .zero
        for configuration in [noTime, nothing, noPing, .init(framing: .either()), .init(framing: .fixedHeader(length: 3))] {
            #expect(
                await code { _ = try await FramedClient.connect(host: "127.0.0.1", port: 9, configuration: configuration) }
                    == .invalidConfiguration)
        }
    }

    // MARK: TLS (docs/hazards.md, 19)

    @Test(.timeLimit(.minutes(5)), arguments: [Framing.version2, .fixedHeader(length: 100)])
    func messagesThroughTLS(framing: Framing) async throws {
        let (settings, pem) = try makeCertificate()
        try await withServer(echoServer(.init(framing: framing)), tls: settings) { port in
            let configuration = FramedClientConfiguration(framing: framing, tls: .init(verification: .onlyAuthorities(pem: pem)))
            try await FramedClient.withConnection(host: "127.0.0.1", port: port, configuration: configuration) { connection in
                try await connection.send(pattern(700_000))
                var messages = connection.messages.makeAsyncIterator()
                #expect(try await messages.next()?.body.collect() == pattern(700_000))
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func anUntrustedCertificateIsRefused() async throws {
        let (settings, _) = try makeCertificate()
        let seen = NIOLockedValueBox(0)
        let server = FramedServer { _ in seen.withLockedValue { $0 += 1 } }
        try await withServer(server, tls: settings) { port in
            let configuration = FramedClientConfiguration(tls: .init(verification: .system))
            #expect(
                await code { _ = try await FramedClient.connect(host: "127.0.0.1", port: port, configuration: configuration) } == .transport
            )
        }
        #expect(seen.withLockedValue { $0 } == 0)
    }

    // MARK: Reconnection

    @Test(.timeLimit(.minutes(5))) func onlyADropIsFollowedByAnotherConnection() async throws {
        let count = NIOLockedValueBox(0)
        let server = FramedServer { connection in
            let number = count.withLockedValue { count in
                count += 1
                return count
            }
            guard number > 2 else { return connection.abort() }  // the first two connections drop
            for try await _ in connection.messages { try await connection.send(header: ["number": .integer(Int64(number))]) }
        }
        try await withServer(server) { port in
            let events = NIOLockedValueBox<[String]>([])
            let number = try await FramedClient.withReconnection(
                host: "127.0.0.1", port: port, policy: .fixed(.milliseconds(1), stableTime: .zero),
                onEvent: { event in
                    events.withLockedValue { events in
                        switch event {
                        case .connected: events.append("connected")
                        case .retrying, .waitingForNetwork: events.append("retrying")
                        }
                    }
                }
            ) { connection -> Int? in
                try await connection.send()
                for try await message in connection.messages { return message.header["number"]?.intValue }
                throw FramedError(.connectionLost, message: "no answer")
            }
            #expect(number == 3)
            #expect(events.withLockedValue { $0 } == ["connected", "retrying", "connected", "retrying", "connected"])
        }
        #expect(count.withLockedValue { $0 } == 3)
    }

    private final class Source: NetworkPathMonitor.Source {
        func stop() {}
    }

    /// Connecting to 0.0.0.0 reaches 127.0.0.1, but the client treats it as another machine.
    @Test(.timeLimit(.minutes(5))) func withoutANetworkTheNextAttemptWaits() async throws {
        let reports = NIOLockedValueBox<(@Sendable (NetworkPath) -> Void)?>(nil)
        var configuration = FramedClientConfiguration()
        configuration.networkMonitor = NetworkPathMonitor { report in
            reports.withLockedValue { $0 = report }
            return Source()
        }
        @Sendable func report(_ isSatisfied: Bool) {
            let report = reports.withLockedValue { $0 }
            report?(NetworkPath(isSatisfied: isSatisfied, hasDefaultRoute: isSatisfied, fingerprint: "\(isSatisfied)"))
        }
        let count = NIOLockedValueBox(0)
        let server = FramedServer { connection in
            let number = count.withLockedValue { count in
                count += 1
                return count
            }
            for try await _ in connection.messages {
                if number == 1 { return connection.abort() }
                try await connection.send()
            }
        }
        try await withServer(server) { port in
            let events = NIOLockedValueBox<[String]>([])
            try await FramedClient.withReconnection(
                host: "0.0.0.0", port: port, configuration: configuration, policy: .fixed(.seconds(3600), stableTime: .zero),
                onEvent: { event in
                    switch event {
                    case .connected(let attempts): events.withLockedValue { $0.append("connected \(attempts)") }
                    case .retrying: events.withLockedValue { $0.append("retrying") }
                    case .waitingForNetwork:
                        events.withLockedValue { $0.append("waiting") }
                        report(true)
                    }
                }
            ) { connection in
                if events.withLockedValue({ $0 }) == ["connected 0"] {
                    report(false)
                    try await connection.eventLoop.submit {}.get()  // after the report, which is on this event loop
                }
                try await connection.send()
                for try await _ in connection.messages { return }
                throw FramedError(.connectionLost, message: "no answer")
            }
            #expect(events.withLockedValue { $0 } == ["connected 0", "waiting", "connected 1"])
        }
    }

    @Test(.timeLimit(.minutes(5))) func errorsOfTheUserAndUselessAttemptsEndIt() async throws {
        struct Own: Error {}
        try await withServer(echoServer()) { port in
            await #expect(throws: Own.self) {
                try await FramedClient.withReconnection(host: "127.0.0.1", port: port) { (_) -> Void in throw Own() }
            }
        }
        let attempts = NIOLockedValueBox(0)
        let unused = try UnusedPort()
        let error = await code {
            try await FramedClient.withReconnection(
                host: "127.0.0.1", port: unused.number, policy: .fixed(.milliseconds(1), maximumAttempts: 2),
                onEvent: { _ in attempts.withLockedValue { $0 += 1 } }
            ) { (_) -> Void in }
        }
        #expect(error == .transport)
        #expect(attempts.withLockedValue { $0 } == 2)
        let (settings, _) = try makeCertificate()
        try await withServer(echoServer(), tls: settings) { port in
            let error = await code {
                try await FramedClient.withReconnection(host: "127.0.0.1", port: port, configuration: .init(tls: .init())) { (_) -> Void in
                }
            }
            #expect(error == .transport)  // fails without another attempt, which could not succeed
        }
    }

    // MARK: Reconnection that the caller decides

    @Test(.timeLimit(.minutes(5))) func theFirstAttemptNeedNotBeRepeated() async throws {
        let unused = try UnusedPort()
        var failures = 0
        let error = await code {
            try await FramedClient.withReconnection(
                to: .host("127.0.0.1", port: unused.number), configuration: .init(), policy: .fixed(.milliseconds(1)),
                decide: { failure in
                    failures += 1
                    #expect(!failure.wasOpen && failure.drop == nil)
                    #expect(failure.decision == .retry)
                    return .giveUp
                }
            ) { (_) -> Void in Issue.record("connected") }
        }
        #expect(error == .transport)
        #expect(failures == 1)
    }

    @Test(.timeLimit(.minutes(5))) func anOrderlyCloseNeedNotBeRetriedAndADropIs() async throws {
        struct Refused: Error {}
        let count = NIOLockedValueBox(0)
        let server = FramedServer { connection in
            let isFirst = count.withLockedValue { count in
                count += 1
                return count == 1
            }
            for try await _ in connection.messages { break }
            if isFirst { connection.abort() } else { await connection.close() }
        }
        let path = "/tmp/apus-\(RandomID.random()).sock"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (listening, isListening) = AsyncStream.makeStream(of: Void.self)
        let running = Task { try await server.run(unixDomainSocketPath: path) { _ in isListening.yield() } }
        for await _ in listening { break }
        var drops: [Bool] = []
        await #expect(throws: Refused.self) {
            try await FramedClient.withReconnection(
                to: .unixSocket(path: path), configuration: .init(), policy: .fixed(.milliseconds(1)),
                decide: { failure in
                    drops.append(failure.drop?.initiator == .peer)
                    return failure.drop?.initiator == .peer ? .giveUp : .retry
                }
            ) { (connection) -> Void in
                try await connection.send()
                _ = await connection.waitUntilClosed()
                throw Refused()
            }
        }
        #expect(drops == [false, true])
        running.cancel()
        try await running.value
    }

    @Test(.timeLimit(.minutes(5))) func theWaitForANetworkHasALimit() async throws {
        let reports = NIOLockedValueBox<(@Sendable (NetworkPath) -> Void)?>(nil)
        var configuration = FramedClientConfiguration()
        configuration.networkMonitor = NetworkPathMonitor { report in
            reports.withLockedValue { $0 = report }
            return Source()
        }
        let server = FramedServer { connection in
            for try await _ in connection.messages { return connection.abort() }
        }
        try await withServer(server) { port in
            var waits = 0
            let error = await code {
                try await FramedClient.withReconnection(
                    to: .host("0.0.0.0", port: port), configuration: configuration, policy: .fixed(.seconds(3600), stableTime: .zero),
                    maximumNetworkWait: .milliseconds(1), onEvent: { if case .waitingForNetwork = $0 { waits += 1 } }
                ) { connection in
                    let report = reports.withLockedValue { $0 }
                    report?(NetworkPath(isSatisfied: false, hasDefaultRoute: false, fingerprint: "none"))
                    try await connection.eventLoop.submit {}.get()  // after the report, which is on this event loop
                    try await connection.send()
                    for try await _ in connection.messages { return }
                    throw FramedError(.connectionLost, message: "no answer")
                }
            }
            #expect(error == .connectionLost)
            #expect(waits == 1)
        }
    }
}
