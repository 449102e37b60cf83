import ApusFramedProtocol
import ApusFramedSocket
import ApusJSON
import Foundation
import NIOCore
import Testing

/// Tests of the fixed mode against an independent Python peer that was written from the description
/// of SocketDemo's format.
@Suite struct SeedPeerTests {
    private static let script = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Conformance/peers/framed_seed_peer.py").path
    private static let python =
        ["/usr/bin/python3", "/usr/local/bin/python3"].first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Starts a peer. The stream reports its end, because `waitUntilExit` would block one of the
    /// few threads that all tests share.
    private static func start(
        _ arguments: [String]
    ) throws -> (process: Process, input: Pipe, output: FileHandle, end: AsyncStream<Int32>) {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: try #require(self.python))
        process.arguments = [self.script] + arguments
        process.standardInput = input
        process.standardOutput = output
        let end = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { process in
            end.continuation.yield(process.terminationStatus)
            end.continuation.finish()
        }
        try process.run()
        return (process, input, output.fileHandleForReading, end.stream)
    }

    /// Waits for a line, on a separate thread.
    private static func line(of output: FileHandle) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var line = Data()
                while !line.contains(0x0A) {
                    let more = output.availableData
                    guard !more.isEmpty else { break }
                    line += more
                }
                continuation.resume(returning: String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
            }
        }
    }

    @Test(.enabled(if: python != nil), .timeLimit(.minutes(5)), arguments: [Framing.fixedHeader(length: 100), .either(headerLength: 100)])
    func ourServerAndItsClient(framing: Framing) async throws {
        try await withServer(echoServer(.init(framing: framing))) { port in
            let peer = try Self.start(["client", "\(port)", "100", "40"])
            #expect(await Self.line(of: peer.output) == "ok 40")
            for await status in peer.end { #expect(status == 0) }
        }
    }

    @Test(.enabled(if: python != nil), .timeLimit(.minutes(5))) func ourClientAndItsServer() async throws {
        let peer = try Self.start(["server", "100"])
        let port = try #require(await Int(Self.line(of: peer.output).split(separator: ":").last ?? ""))
        let configuration = FramedClientConfiguration(framing: .fixedHeader(length: 100))
        try await FramedClient.withConnection(host: "127.0.0.1", port: port, configuration: configuration) { connection in
            var messages = connection.messages.makeAsyncIterator()
            for count in [0, 1, 99, 100, 5000, 1 << 20] {
                try await connection.send(pattern(count), header: ["name": "图.png", "count": .integer(Int64(count))])
                let message = try #require(try await messages.next())
                #expect(message.header == ["name": "图.png", "count": .integer(Int64(count))])
                #expect(try await message.body.collect() == pattern(count))
            }
        }
        kill(peer.process.processIdentifier, SIGKILL)  // SIGTERM may be blocked in a child of a pool thread
        for await _ in peer.end {}
    }
}
