import ApusCommandSupport
import ApusWebSocket
import ApusWebSocketProtocol
import ArgumentParser

/// Runs the Apus client against the Autobahn test suite in its mode `fuzzingserver`. Executes every
/// case that the server offers, and then requests the report. `Conformance/autobahn/run` starts it.
struct AutobahnClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "autobahn", abstract: "Run the echo client of Autobahn's fuzzing server.")

    @Argument(help: "The fuzzing server, for example ws://127.0.0.1:9001") var url: String
    @Option(help: "The client's name in the report.") var agent = "Apus"
    @Option(help: "The timeout of a case, in seconds.") var timeout = 300

    func run() async throws {
        let count = try await self.caseCount()
        print("running \(count) cases")
        flushStandardOutput()
        for number in stride(from: 1, through: count, by: 1) { try await self.runCase(number) }
        let report = try await WebSocketClient.connect(
            to: "\(self.url)/updateReports?agent=\(self.agent)", configuration: self.configuration)
        _ = await report.waitUntilClosed()
        print("done")
    }

    private var configuration: WebSocketClientConfiguration {
        var configuration = WebSocketClientConfiguration()
        configuration.compression = WebSocketDeflateConfiguration()
        configuration.limits = WebSocketLimits(maximumMessageBytes: 32 << 20)
        configuration.flow.postedBytes = 128 << 20
        return configuration
    }

    private func caseCount() async throws -> Int {
        let connection = try await WebSocketClient.connect(to: "\(self.url)/getCaseCount", configuration: self.configuration)
        for try await message in connection.messages {
            if let count = message.text.flatMap({ Int($0) }) { return count }
        }
        throw ValidationError("\(self.url) is not an Autobahn fuzzing server")
    }

    /// Runs a case until the connection closes. The server evaluates the result.
    private func runCase(_ number: Int) async throws {
        let connection = try await WebSocketClient.connect(
            to: "\(self.url)/runCase?case=\(number)&agent=\(self.agent)", configuration: self.configuration,
            onOpen: { $0.onMessage { connection, message in connection.post(message) } })
        let watchdog = Task {
            try await Task.sleep(for: .seconds(self.timeout))
            connection.abort()
        }
        _ = await connection.waitUntilClosed()
        watchdog.cancel()
    }
}
