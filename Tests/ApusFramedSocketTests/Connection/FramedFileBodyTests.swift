import ApusFramedProtocol
import ApusFramedSocket
import Foundation
import NIOCore
import Testing

@Suite struct FramedFileBodyTests {
    /// Files of no piece, of one, and of more pieces than there are buffers.
    @Test(.timeLimit(.minutes(5)), arguments: [0, 1, 524_288, 3_000_001])
    func aFileIsTheBodyOfAMessage(count: Int) async throws {
        let path = NSTemporaryDirectory() + "apus-body-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(pattern(count).readableBytesView).write(to: URL(fileURLWithPath: path))
        try await withServer(echoServer()) { port in
            let connection = try await FramedClient.connect(host: "127.0.0.1", port: port)
            let body = try FramedFileBody(path: path)
            #expect(body.length == count)
            async let answer = Self.first(of: connection)
            try await connection.send(body, bodyLength: body.length)
            let received = try await answer
            #expect(received == pattern(count))
            await connection.close()
        }
    }

    private static func first(of connection: FramedConnection) async throws -> ByteBuffer? {
        var messages = connection.messages.makeAsyncIterator()
        return try await messages.next()?.body.collect(upTo: 1 << 24)
    }

    @Test func otherPathsThanFilesAreRefused() {
        #expect(throws: TransferError.self) { try FramedFileBody(path: NSTemporaryDirectory()) }
        #expect(throws: TransferError.self) { try FramedFileBody(path: NSTemporaryDirectory() + "nothing-\(UUID().uuidString)") }
    }
}
