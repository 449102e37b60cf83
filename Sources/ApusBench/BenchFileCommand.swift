import ApusCommandSupport
import ApusFramedSocket
import ArgumentParser
import Foundation
import NIOCore
import NIOPosix

/// `apus bench file`: measures file transfers over framed TCP.
struct BenchFileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file", abstract: "Measure file transfers over framed TCP, up to the receiver's disk.",
        discussion: """
            Without an address, both ends run in this process over the loopback interface, each on its own event loop, and the CPU \
            time includes both ends. With an address, the files are sent to that receiver (`apus receive`). A file is counted when the \
            receiver has synced it, verified its SHA-256 and renamed it to its final name.
            """)

    @Argument(help: "The HOST:PORT of a receiver. Default: a receiver in this process.") var address: String?

    @Option(help: "The size of each file, in bytes.") var size = 256 << 20

    @Option(help: "The number of files.") var count = 1

    @Option(help: "The maximum number of files in flight over the connection.") var inFlight = 4

    @Option(help: "A folder with room for the sent and the received files. Default: the system's folder for temporary files.")
    var folder: String?

    @Flag(help: "Write only the result, as JSON.") var json = false

    func validate() throws {
        try ValidationError.check("--size", self.size, in: 0...(1 << 40))
        try ValidationError.check("--count", self.count, in: 1...1_000_000)
        try ValidationError.check("--in-flight", self.inFlight, in: 1...16)
        _ = try self.target()
    }

    private func target() throws -> (host: String, port: Int)? {
        guard let address = self.address else { return nil }
        guard let colon = address.lastIndex(of: ":"), let port = Int(address[address.index(after: colon)...]), (1...65_535).contains(port)
        else {
            throw ValidationError("the address must be HOST:PORT with a port from 1 to 65535, not \(address)")
        }
        return (String(address[..<colon].drop { $0 == "[" }.prefix { $0 != "]" }), port)
    }

    func run() async throws {
        let root = URL(fileURLWithPath: self.folder ?? NSTemporaryDirectory()).appending(path: "apus-bench-\(UUID().uuidString)")
        let (sent, received) = (root.appending(path: "sent"), root.appending(path: "received"))
        for folder in [sent, received] { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
        defer { try? FileManager.default.removeItem(at: root) }
        let paths = try self.makeFiles(in: sent)
        let result: Result
        if let target = try self.target() {
            result = try await self.send(paths, to: target)
        } else {
            result = try await self.sendHere(paths, into: received.path)
        }
        let text = self.json ? String(decoding: try JSONEncoder().encode(result), as: UTF8.self) : result.text
        writeStandardOutput(Data((text + "\n").utf8))
    }

    /// Creates files whose contents differ and do not compress.
    private func makeFiles(in folder: URL) throws -> [String] {
        var generator = SystemRandomNumberGenerator()
        var block = Data(count: 1 << 20)
        block.withUnsafeMutableBytes { bytes in
            for offset in stride(from: 0, to: bytes.count, by: 8) {
                bytes.storeBytes(of: generator.next(), toByteOffset: offset, as: UInt64.self)
            }
        }
        return try (0..<self.count).map { number in
            let path = folder.appending(path: "\(number)").path
            guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path) else {
                throw BenchError("cannot write the file \(path)")
            }
            defer { try? file.close() }
            var rest = self.size
            while rest > 0 {
                withUnsafeBytes(of: number) { block.replaceSubrange(0..<8, with: $0) }
                try file.write(contentsOf: block.prefix(rest))
                rest -= min(rest, block.count)
            }
            return path
        }
    }

    private func sendHere(_ paths: [String], into folder: String) async throws -> Result {
        var configuration = FramedServerConfiguration()
        configuration.connection.receiving = FileReceiving(into: try ReceivingFolder(path: folder))
        configuration.drainTimeout = .seconds(1)
        let server = FramedServer(configuration: configuration) { connection in for try await _ in connection.messages {} }
        let (ports, found) = AsyncThrowingStream.makeStream(of: Int.self)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do { try await server.run(host: "127.0.0.1", port: 0, onListening: { found.yield($0.port ?? 0) }) } catch {
                    found.finish(throwing: error)
                }
            }
            defer { group.cancelAll() }
            for try await port in ports { return try await self.send(paths, to: ("127.0.0.1", port)) }
            throw BenchError("the receiver did not start")
        }
    }

    private func send(_ paths: [String], to target: (host: String, port: Int)) async throws -> Result {
        try await FramedClient.withConnection(host: target.host, port: target.port) { connection in
            let (begin, cpu) = (ContinuousClock.now, BenchProcess.ownCPUSeconds)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, path) in paths.enumerated() {
                    if number >= self.inFlight { try await group.next() }
                    group.addTask { try await connection.send(file: path, as: "bench-\(UUID().uuidString)") }
                }
                try await group.waitForAll()
            }
            return Result(
                files: paths.count, bytes: paths.count * self.size, seconds: (ContinuousClock.now - begin) / .seconds(1),
                cpuSeconds: BenchProcess.ownCPUSeconds - cpu, isBothEnds: self.address == nil)
        }
    }

    private struct Result: Encodable {
        var files: Int
        var bytes: Int
        var seconds: Double
        var cpuSeconds: Double
        /// Whether the CPU time includes both the sender and the receiver.
        var isBothEnds: Bool

        var text: String {
            let perCPU = Double(self.bytes) / max(self.cpuSeconds, 1e-9)
            return
                "\(BenchText.bytes(Double(self.bytes) / self.seconds))/s, "
                + "\(BenchText.number(Double(self.files) / self.seconds)) files per second "
                + "(\(BenchText.number(self.files)) files, \(BenchText.bytes(Double(self.bytes))), \(BenchText.number(self.seconds)) s); "
                + "\(BenchText.bytes(perCPU)) per CPU-second of \(self.isBothEnds ? "both ends together" : "the sender")"
        }
    }
}
