import ApusWebSocket
import ApusWebSocketProtocol
import ArgumentParser
import NIOCore
import NIOPosix

/// Our client under the Autobahn test suite in its mode `fuzzingserver`: runs every case the server offers, then asks for the report.
/// `Conformance/autobahn/run` starts it.
struct AutobahnClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "autobahn-client", abstract: "Echo to Autobahn's fuzzing server.", shouldDisplay: false)

    @Argument(help: "The fuzzing server, for example ws://127.0.0.1:9001") var url: String
    @Option(help: "Our name in the report.") var agent = "Apus"
    @Option(help: "Seconds a case may take.") var timeout = 120
    @Option(help: "How many cases run at a time.") var parallel = 1

    func run() async throws {
        let count = try await self.caseCount()
        print("running \(count) cases")
        flushStandardOutput()
        try await withThrowingTaskGroup(of: Void.self) { group in
            var next = 1
            while next <= min(self.parallel, count) {
                group.addTask { [next] in try await self.runCase(next) }
                next += 1
            }
            while try await group.next() != nil {
                guard next <= count else { continue }
                group.addTask { [next] in try await self.runCase(next) }
                next += 1
            }
        }
        try await AutobahnCase(url: "\(self.url)/updateReports?agent=\(self.agent)", echoes: false).run(within: .seconds(60))
        print("done")
    }

    private func caseCount() async throws -> Int {
        let texts = try await AutobahnCase(url: "\(self.url)/getCaseCount", echoes: false).run(within: .seconds(20))
        guard let count = texts.first.flatMap({ Int($0) }) else { throw ValidationError("\(self.url) is no fuzzing server") }
        return count
    }

    private func runCase(_ number: Int) async throws {
        try await AutobahnCase(url: "\(self.url)/runCase?case=\(number)&agent=\(self.agent)", echoes: true).run(
            within: .seconds(self.timeout))
    }
}

/// One connection to the fuzzing server, from its handshake to its end.
private struct AutobahnCase {
    let url: String
    let echoes: Bool

    /// Answers the texts received, when they are not echoed. How the connection ends is the server's to judge.
    @discardableResult
    func run(within timeout: Duration) async throws -> [String] {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let limits = WebSocketLimits(maximumMessageBytes: 32 << 20)
        return try await eventLoop.flatSubmit {
            let promise = eventLoop.makePromise(of: [String].self)
            let delegate = AutobahnDelegate(echoes: self.echoes, promise: promise)
            let deadline = eventLoop.scheduleTask(in: TimeAmount(timeout)) {
                promise.fail(ValidationError("\(self.url): no end within \(timeout)"))
            }
            WebSocketClientConnector.connect(to: self.url, limits: limits, timeout: .seconds(20), on: eventLoop, delegate: delegate)
                .assumeIsolated().whenFailure { promise.fail($0) }
            promise.futureResult.whenComplete { _ in deadline.cancel() }
            return promise.futureResult
        }.get()
    }
}

private final class AutobahnDelegate: WebSocketHandlerDelegate {
    let promise: EventLoopPromise<[String]>
    private let echoes: Bool
    private var texts: [String] = []

    init(echoes: Bool, promise: EventLoopPromise<[String]>) {
        self.echoes = echoes
        self.promise = promise
    }

    func webSocket(_ handler: WebSocketHandler, received message: WebSocketMessage) {
        if self.echoes { handler.send(message) } else if let text = message.text { self.texts.append(text) }
    }
    func webSocketReadComplete(_ handler: WebSocketHandler) {}
    func webSocketWritabilityChanged(_ handler: WebSocketHandler, isWritable: Bool) {
        handler.channel?.setOption(.autoRead, value: isWritable).whenFailure { _ in }
    }
    func webSocketClosed(_ handler: WebSocketHandler, code: WebSocketCloseCode?, error: WebSocketError?) {
        // `updateReports` works until it closes; a case that ends in an error is a verdict like any other.
        self.promise.succeed(self.texts)
    }
}
