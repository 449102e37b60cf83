import ApusChatServer
import Foundation
import Logging
import Testing

@Suite struct ChatServerTests {
    @Test func theAddressWithTLSHasTheFingerprintOfItsCertificate() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let server = ChatServer(
            configuration: ChatServerConfiguration(dataDirectory: folder, port: 0, tls: .selfSigned(port: 0)),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let (reports, continuation) = AsyncStream.makeStream(of: [ChatServer.Address].self)
        let running = Task {
            defer { continuation.finish() }
            try await server.run { continuation.yield($0) }
        }
        let addresses = await reports.first { _ in true }
        running.cancel()
        _ = await running.result
        #expect(addresses?.map(\.scheme) == ["http", "https"])
        #expect(addresses?.map { $0.certificate != nil } == [false, true])
    }
}
