import ApusCommandSupport
import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusSocketIOClient
import ArgumentParser
import Foundation
import Logging
import NIOConcurrencyHelpers

/// `apus bench receive`: measures the events per second that this project's client receives.
struct BenchReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive", abstract: "Measure the events per second that the Apus client receives on one connection.",
        discussion: """
            The server must answer the event `flood` with the number of events in its first argument, as `apus bench server` does. \
            The loads of `ws` and `socketio` use a minimal client to keep their own cost low; this command measures the Apus client.
            """)

    @Argument(help: "The server: http://host:port.") var url: String

    @Option(help: "The size of the payload of an event, in bytes.") var size = 64

    @Option(help: "The number of events in each request.") var batch = 20_000

    @Option(help: "The time to measure, in seconds.") var duration = 5.0

    @Flag(help: "Write only the result, as JSON.") var json = false

    func validate() throws {
        try ValidationError.check("--size", self.size, in: 0...1_000_000)
        try ValidationError.check("--batch", self.batch, in: 1...100_000)
        try ValidationError.check("--duration", self.duration, in: 0.001...3600)
        guard self.size * self.batch <= 8 << 20 else {
            throw ValidationError("--size times --batch must not exceed 8 MiB, because the server limits queued bytes")
        }
    }

    func run() async throws {
        var logger = Logger(label: "apus.bench") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        let manager = SocketIOManager(url: self.url, configuration: .init(transports: [.webSocket]), logger: logger)
        let socket = manager.defaultSocket
        let count = NIOLockedValueBox(0)
        let (batch, payload) = (self.batch, String(repeating: "x", count: self.size))
        socket.on("flood") { (_: String) in
            let isLast = count.withLockedValue { count in
                count += 1
                return count % batch == 0
            }
            if isLast { socket.emit("flood", batch, payload) }
        }
        try await socket.connect(timeout: .seconds(10))
        socket.emit("flood", batch, payload)
        try await Task.sleep(for: .seconds(1))
        let (begin, before, cpu) = (ContinuousClock.now, count.withLockedValue { $0 }, BenchProcess.ownCPUSeconds)
        try await Task.sleep(for: .milliseconds(Int64(self.duration * 1000)))
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        let events = count.withLockedValue { $0 } - before
        let result = Result(seconds: seconds, events: events, cpuSeconds: BenchProcess.ownCPUSeconds - cpu)
        socket.disconnect()
        guard events > 0 else { throw BenchError("no event arrived; the server must answer the event `flood`") }
        let text = self.json ? String(decoding: try JSONEncoder().encode(result), as: UTF8.self) : result.text
        writeStandardOutput(Data((text + "\n").utf8))
    }

    private struct Result: Encodable {
        var seconds: Double
        var events: Int
        /// The CPU time of this process, which runs the client only, in seconds.
        var cpuSeconds: Double

        var text: String {
            let perCPU = Double(self.events) / max(self.cpuSeconds, 1e-9)
            return
                "\(BenchText.number(Double(self.events) / self.seconds)) events per second, "
                + "\(BenchText.number(perCPU)) per CPU-second of the client"
        }
    }
}
