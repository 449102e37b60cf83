import ApusChatServer
import Foundation
import Logging
import Testing

/// Runs a chat server with a temporary folder while `body` runs.
func withChatServer(
    _ configure: (inout ChatServerConfiguration) -> Void = { _ in }, prepare: (_ folder: String) throws -> Void = { _ in },
    _ body: (_ url: String, _ folder: String) async throws -> Void
) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try prepare(folder)
    var configuration = ChatServerConfiguration(dataDirectory: folder + "/data", port: 0, tls: .off)
    configure(&configuration)
    let server = ChatServer(configuration: configuration, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    let (addresses, continuation) = AsyncStream.makeStream(of: ChatServer.Address.self)
    let running = Task { try await server.run { for address in $0 { continuation.yield(address) } } }
    var iterator = addresses.makeAsyncIterator()
    let address = try #require(await iterator.next())
    do { try await body(address.url, folder) } catch {
        running.cancel()
        _ = await running.result
        throw error
    }
    running.cancel()
    _ = await running.result
}
