import ApusFramedProtocol
import ApusFramedSocket
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import Testing

/// Two folders that are deleted at the end of the test.
final class Folders {
    let path: String
    var source: String { self.path + "/source" }
    var target: String { self.path + "/target" }

    init() throws {
        self.path = NSTemporaryDirectory() + "apus-files-\(UUID().uuidString)"
        for folder in [self.source, self.target] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }

    func write(_ name: String, _ bytes: ByteBuffer) throws -> String {
        let path = self.source + "/" + name
        try Data(bytes.readableBytesView).write(to: URL(fileURLWithPath: path))
        return path
    }

    func received(_ name: String) -> [UInt8]? { FileManager.default.contents(atPath: self.target + "/" + name).map(Array.init) }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: self.target)) ?? []).sorted() }

    var part: String? { self.names.first { $0.hasSuffix(".part") } }
}

typealias ReceivedEvents = NIOLockedValueBox<[ReceivedFileEvent]>

/// A server that receives files and echoes messages, and a connection to it.
func withReceiver(
    _ folders: Folders, limits: TransferLimits = .init(), keepsAttributes: Bool = false, recognizesFinished: Bool = false,
    refuses: @escaping @Sendable (FramedConnection, SafeFileName, Int) -> TransferError? = { _, _, _ in nil },
    events: ReceivedEvents = ReceivedEvents([]),
    _ body: (_ port: Int, _ connection: FramedConnection) async throws -> Void
) async throws {
    let folder = try ReceivingFolder(path: folders.target, limits: limits)
    var configuration = FramedServerConfiguration()
    var receiving = FileReceiving(into: folder, keepsAttributes: keepsAttributes) { event in events.withLockedValue { $0.append(event) } }
    receiving.recognizesFinished = recognizesFinished
    receiving.refuses = refuses
    configuration.connection.receiving = receiving
    try await withServer(echoServer(configuration)) { port in
        let connection = try await FramedClient.connect(host: "127.0.0.1", port: port)
        try await body(port, connection)
        await connection.close()
    }
}

func transferCode(_ body: () async throws -> Void) async -> TransferError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? TransferError)?.code
    }
}
