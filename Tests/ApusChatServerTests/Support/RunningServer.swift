import ApusPasswords
import Foundation
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle
import Testing

@testable import ApusChatServer

/// A chat server on free ports that runs for the duration of a test.
struct RunningServer: Sendable {
    let addresses: [ChatServer.Address]
    let chat: StubChat?
    let folder: String
    /// Starts a graceful shutdown and waits for its end. Throws the error of the server.
    let stop: @Sendable () async throws -> Void

    /// The listener without TLS.
    var http: RawHTTP { RawHTTP(port: self.addresses.first { !$0.isForMetrics && !$0.isLegacy && $0.scheme == "http" }?.port ?? 0) }

    /// The listener of the legacy protocol.
    var legacy: RawHTTP { RawHTTP(port: self.addresses.first(where: \.isLegacy)?.port ?? 0) }

    var metrics: RawHTTP { RawHTTP(port: self.addresses.first { $0.isForMetrics }?.port ?? 0) }

    static let registration =
        #"{"name":"alice","password":"correct horse battery","device":{"name":"Test","platform":"linux"}}"#

    /// The server ended without an error before it listened.
    private struct EndedBeforeListening: Error {}

    /// Runs a server with a temporary folder and a ``StubChat`` while `body` runs.
    ///
    /// - Parameters:
    ///   - page: The files of the page by path; the page of the program if it is empty.
    ///   - makeChat: Creates another chat than the stub.
    static func with(
        _ configure: (inout ChatServerConfiguration) -> Void = { _ in }, page: [String: String] = [:],
        logger: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), makeChat: ChatServer.MakeChat? = nil,
        _ body: (RunningServer) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-host-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var configuration = ChatServerConfiguration(dataFolder: folder + "/data", port: 0, tls: .off)
        configuration.environment.passwordCost = ScryptHash.Cost(logRounds: 1)
        for (path, text) in page {
            let file = URL(fileURLWithPath: folder + "/page/" + path)
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
            configuration.pageFolder = folder + "/page"
        }
        configure(&configuration)
        let made = NIOLockedValueBox<StubChat?>(nil)
        let server = ChatServer(configuration: configuration, logger: logger) { folder, configuration, logger in
            if let makeChat { return try makeChat(folder, configuration, logger) }
            let chat = try StubChat(folder)
            made.withLockedValue { $0 = chat }
            return chat
        }
        let (reports, continuation) = AsyncStream.makeStream(of: [ChatServer.Address].self)
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(
                        service: Started(server: server, onListening: { continuation.yield($0) }),
                        successTerminationBehavior: .gracefullyShutdownGroup)
                ], logger: logger))
        let running = Task {
            defer { continuation.finish() }
            try await group.run()
        }
        guard let addresses = await reports.first(where: { _ in true }) else {
            try await running.value
            throw EndedBeforeListening()
        }
        let chat = made.withLockedValue { $0 }
        let stop: @Sendable () async throws -> Void = {
            await group.triggerGracefulShutdown()
            try await running.value
        }
        do {
            try await body(RunningServer(addresses: addresses, chat: chat, folder: folder + "/data", stop: stop))
        } catch {
            try? await stop()
            throw error
        }
        try await stop()
    }

    private struct Started: Service {
        let server: ChatServer
        let onListening: @Sendable ([ChatServer.Address]) -> Void

        func run() async throws { try await self.server.run(onListening: self.onListening) }
    }
}
