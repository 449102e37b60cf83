import ApusCommandSupport
import ApusSocketIOClient
import ArgumentParser
import Foundation
import Logging
import NIOConcurrencyHelpers

/// `apus bench receive`: how many events our own client takes a second.
struct BenchReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive", abstract: "Events to our own Socket.IO client: how many it takes a second, on one connection.",
        discussion: """
            The server has to answer the event `flood` with as many events as its first argument says; `apus bench server` does. The other loads speak \
            to the server without our client, so that they cost little; this one measures the client.
            """)

    @Argument(help: "The server: http://host:port.") var url: String

    @Option(help: "Bytes of payload in an event.") var size = 64

    @Option(help: "Events asked for at a time.") var batch = 20_000

    @Option(help: "Seconds to measure.") var duration = 5.0

    @Flag(help: "Only the result, as JSON.") var json = false

    func validate() throws {
        guard (0...1_000_000).contains(self.size), (1...100_000).contains(self.batch), self.duration > 0, self.duration <= 3600 else {
            throw ValidationError("--size must be from 0 to 1000000, --batch from 1 to 100000, --duration up to 3600")
        }
        guard self.size * self.batch <= 8 << 20 else {
            throw ValidationError("--size times --batch must not be above 8 MiB: the server bounds what waits")
        }
    }

    func run() async throws {
        var logger = Logger(label: "apus.bench") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        let manager = SocketManager(url: self.url, configuration: .init(transports: [.websocket]), logger: logger)
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
        guard events > 0 else { throw BenchError("no event came") }
        let text = self.json ? String(decoding: try JSONEncoder().encode(result), as: UTF8.self) : result.text
        writeStandardOutput(Data((text + "\n").utf8))
    }

    private struct Result: Encodable {
        var seconds: Double
        var events: Int
        /// Of this process, the client.
        var cpuSeconds: Double

        var text: String {
            let perCPU = Double(self.events) / max(self.cpuSeconds, 1e-9)
            return
                "\(BenchText.number(Double(self.events) / self.seconds)) events a second, \(BenchText.number(perCPU)) a CPU-second of the client"
        }
    }
}
