import Foundation
import Logging
import Testing

@testable import ApusChatServer

@Suite("The lock of a data folder", .timeLimit(.minutes(1)))
struct DataFolderLockTests {
    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    private func refusal(_ folder: String) -> ChatStoreError? {
        do {
            _ = try DataFolderLock(directory: folder)
            return nil
        } catch { return error }
    }

    @Test func oneHasItAtATime() async throws {
        try await self.withFolder { folder in
            var first: DataFolderLock? = try DataFolderLock(directory: folder)
            #expect(try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int == 0o700)
            let refused = try #require(self.refusal(folder))
            #expect(refused.code == .inUse)
            #expect(refused.message.contains(folder) && refused.message.contains("process \(getpid())"))
            first?.release()
            let second = try DataFolderLock(directory: folder)
            #expect(self.refusal(folder)?.code == .inUse)
            first = nil  // already released, so the second lock remains
            #expect(self.refusal(folder)?.code == .inUse)
            second.release()
            // Released by deinitialization, as after an error at the start of a server.
            do { _ = try DataFolderLock(directory: folder) }
            #expect(self.refusal(folder) == nil)
        }
    }

    @Test func aFolderThatCannotBeUsedIsSaid() async throws {
        try await self.withFolder { folder in
            try Data().write(to: URL(fileURLWithPath: folder))  // a file, where the folder should be
            #expect(self.refusal(folder)?.code == .cannotOpen)
            try FileManager.default.removeItem(atPath: folder)
            try FileManager.default.createDirectory(atPath: folder + "/chat.lock", withIntermediateDirectories: true)
            let refused = self.refusal(folder)
            #expect(refused?.code == .cannotOpen && refused?.message.contains("chat.lock") == true)
        }
    }

    @Test func twoServersOfAProcessDoNotShareAFolder() async throws {
        try await self.withFolder { folder in
            let configuration = ChatServerConfiguration(dataDirectory: folder, port: 0, tls: .off)
            let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
            let (listening, continuation) = AsyncStream.makeStream(of: Void.self)
            let first = Task {
                try await ChatServer(configuration: configuration, logger: logger).run { _ in continuation.yield() }
            }
            var iterator = listening.makeAsyncIterator()
            _ = await iterator.next()
            await #expect {
                try await ChatServer(configuration: configuration, logger: logger).run()
            } throws: { error in
                (error as? ChatStoreError)?.code == .inUse
            }
            first.cancel()
            try? await first.value
            // The lock is released, also by a server that fails to start.
            var broken = configuration
            broken.pageFolder = folder
            await #expect(throws: ChatServerError.self) { try await ChatServer(configuration: broken, logger: logger).run() }
            #expect(self.refusal(folder) == nil)
        }
    }
}
