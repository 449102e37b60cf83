import ApusChatProtocol
import ApusJSON
import HTTPTypes
import HummingbirdTesting
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatHTTP

/// The maintenance without real waits: a step of the test runs in place of each wait.
@Suite(.timeLimit(.minutes(3)))
struct HTTPMaintenanceTests {
    private struct End: Error {}

    /// Runs the maintenance with a step in place of each wait, and ends it after the step with the
    /// number `minutes + 1`.
    ///
    /// - Returns: The durations of the waits.
    private func run(_ server: TestServer, minutes: Int, _ step: @escaping @Sendable (Int) async throws -> Void) async -> [Duration] {
        let waits = NIOLockedValueBox<[Duration]>([])
        let maintenance = HTTPMaintenance(accounts: server.test.accounts, uploads: server.uploads, logger: .quiet) { time in
            let minute = waits.withLockedValue { waits in
                waits.append(time)
                return waits.count
            }
            try await step(minute)
            if minute > minutes { throw End() }
        }
        await maintenance.run()
        return waits.withLockedValue { $0 }
    }

    /// Registers a user with an uploaded file that no message refers to. Returns the path of the
    /// file.
    private func unusedFile(_ server: TestServer) async throws -> String {
        let path = NIOLockedValueBox("")
        let token = try await server.test.register("alice").access
        try await server.run { client in
            let uploaded = try await client.upload(Array("12345678".utf8), token: token)
            let blob = try #require(uploaded.headers[.chatBlob].flatMap { BlobID($0) })
            path.withLockedValue { $0 = server.path(of: blob) }
        }
        return path.withLockedValue { $0 }
    }

    @Test func itWaitsAMinuteBetweenRunsAndEndsWithItsWait() async throws {
        let waits = await self.run(try TestServer(), minutes: 3) { _ in }
        #expect(waits == Array(repeating: .seconds(60), count: 4))
    }

    /// Unused files are collected in the first minute and then once an hour.
    @Test func unusedFilesAreCollectedOnceAnHour() async throws {
        let server = try TestServer()
        let file = try await self.unusedFile(server)
        #expect(DurableFile.exists(file))
        let exists = NIOLockedValueBox<[Int: Bool]>([:])
        _ = await self.run(server, minutes: 61) { minute in
            // The clock advances by more than a week, so that the next collection removes the file.
            if minute == 2 { server.test.wait(8 * 86_400_000) }
            exists.withLockedValue { $0[minute] = DurableFile.exists(file) }
        }
        let found = exists.withLockedValue { $0 }
        #expect(found[2] == true && found[61] == true && found[62] == false)
    }

    /// A full disk fails one run, and the next one collects the file.
    @Test func aRunThatFailsIsFollowedByTheNext() async throws {
        let server = try TestServer()
        let file = try await self.unusedFile(server)
        server.test.wait(8 * 86_400_000)
        server.test.database.isFull.withLockedValue { $0 = true }
        let exists = NIOLockedValueBox<[Int: Bool]>([:])
        let waits = await self.run(server, minutes: 61) { minute in
            if minute == 2 { server.test.database.isFull.withLockedValue { $0 = false } }
            exists.withLockedValue { $0[minute] = DurableFile.exists(file) }
        }
        #expect(waits.count == 62)
        let found = exists.withLockedValue { $0 }
        #expect(found[2] == true && found[62] == false)
    }
}
