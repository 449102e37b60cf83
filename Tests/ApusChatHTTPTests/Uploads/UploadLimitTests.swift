import ApusChatProtocol
import ApusChatStorage
import ApusConnectivity
import ApusJSON
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ApusChatHTTP

/// The limits of uploads at their edges, and their times.
@Suite("Limits of uploads")
struct UploadLimitTests {
    private static let tus: HTTPFields = [.tusResumable: "1.0.0"]
    private static let day: Int64 = 86_400_000

    private static func configuration(_ configure: (inout UploadsConfiguration) -> Void) -> UploadsConfiguration {
        var configuration = UploadsConfiguration.patient
        configure(&configuration)
        return configuration
    }

    private static func create(_ client: TestRequests, _ length: Int64, _ token: String) async throws -> TestResponse {
        try await client.send(
            .post, "/api/uploads", token: token, headers: [.tusResumable: "1.0.0", .uploadLength: String(length)])
    }

    private func session(_ server: TestServer, _ name: String = "alice") async throws -> AccountSession {
        try await server.test.accounts.session(access: server.test.register(name).access)
    }

    // MARK: Sizes

    @Test(arguments: [(9, 201), (10, 201), (11, 413)] as [(Int64, Int)])
    func theSizeOfAnUploadHasALimit(length: Int64, status: Int) async throws {
        let server = try TestServer(uploads: Self.configuration { $0.maximumBytes = 10 })
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let response = try await Self.create(client, length, token)
            #expect(response.status.code == status)
            if status == 413 { #expect(try response.error().code == .tooLarge) }
            #expect(try await client.send(.options, "/api/uploads").headers[.tusMaxSize] == "10")
        }
    }

    @Test func theQuotaIsUsedToItsLastByte() async throws {
        let server = try TestServer(uploads: Self.configuration { $0.quota = 10 })
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            #expect(try await client.upload(Array("123456".utf8), token: token).status == .noContent)
            #expect(try await Self.create(client, 5, token).status == .unprocessableContent)
            #expect(try await Self.create(client, 4, token).status == .created)
            #expect(try await Self.create(client, 1, token).status == .unprocessableContent)
        }
    }

    /// Bytes that a user uploads again are stored once and count once.
    @Test func theSameBytesCountOnce() async throws {
        let server = try TestServer(uploads: Self.configuration { $0.quota = 13 })
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let first = try await client.upload(Array("123456".utf8), token: token).headers[.chatBlob]
            #expect(try await client.upload(Array("123456".utf8), token: token).headers[.chatBlob] == first)
            #expect(try await Self.create(client, 7, token).status == .created)
        }
    }

    @Test func theQuotaOfAUserLeavesThatOfOthers() async throws {
        let server = try TestServer(uploads: Self.configuration { $0.quota = 10 })
        try await server.run { (client: TestRequests) async throws in
            let (alice, bobby) = (try await client.token("alice"), try await client.token("bobby"))
            #expect(try await Self.create(client, 10, alice).status == .created)
            #expect(try await Self.create(client, 10, bobby).status == .created)
        }
    }

    /// Requests at the same time use no more than the quota together.
    @Test func manyCreationsAtTheSameTimeKeepTheQuota() async throws {
        let server = try TestServer(
            uploads: Self.configuration {
                $0.quota = 50
                $0.unfinishedOfUser = 100
            }, { $0.hasLimits = false })
        let session = try await self.session(server)
        let created = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    try await server.test.code { _ = try await server.uploads.create(length: 10, for: session, from: server.test.client) }
                        == nil
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(created == 5)
    }

    @Test func manyCreationsAtTheSameTimeKeepTheNumberOfUploads() async throws {
        let server = try TestServer(uploads: Self.configuration { $0.unfinishedOfUser = 3 }, { $0.hasLimits = false })
        let session = try await self.session(server)
        let refusals = try await withThrowingTaskGroup(of: ChatError?.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    try await server.test.code { _ = try await server.uploads.create(length: 1, for: session, from: server.test.client) }
                }
            }
            return try await group.reduce(into: [ChatError]()) { if let error = $1 { $0.append(error) } }
        }
        #expect(refusals.count == 37 && refusals.allSatisfy { $0.code == .limit })
    }

    /// A creation that fails gives its place and its bytes back.
    @Test func aFailedCreationReservesNothing() async throws {
        let server = try TestServer(
            uploads: Self.configuration {
                $0.unfinishedOfUser = 1
                $0.quota = 10
            })
        let session = try await self.session(server)
        let folder = server.test.folder + "/uploads"
        try FileManager.default.removeItem(atPath: folder)
        for _ in 0..<3 {
            await #expect(throws: StorageError.self) { try await server.uploads.create(length: 10, for: session, from: server.test.client) }
        }
        try DurableFile.makeFolder(folder)
        _ = try await server.uploads.create(length: 10, for: session, from: server.test.client)
    }

    // MARK: Numbers

    @Test func completeUploadsDoNotCountAsUnfinished() async throws {
        let server = try TestServer(uploads: Self.configuration { $0.unfinishedOfUser = 1 })
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            for text in ["one", "two", "three"] { #expect(try await client.upload(Array(text.utf8), token: token).status == .noContent) }
            #expect(try await Self.create(client, 3, token).status == .created)
            let refused = try await Self.create(client, 3, token)
            #expect(refused.status == .unprocessableContent)
            #expect(try refused.error().message.contains("at most 1 unfinished"))
        }
    }

    @Test func unfinishedUploadsCountAfterARestart() async throws {
        let configuration = Self.configuration {
            $0.unfinishedOfUser = 2
            $0.quota = 10
        }
        let server = try TestServer(uploads: configuration)
        let session = try await self.session(server)
        for length in [4, 5] as [Int64] { _ = try await server.uploads.create(length: length, for: session, from: server.test.client) }
        let restarted = try Uploads(
            folder: server.test.folder, accounts: server.test.accounts, files: server.files, configuration: configuration)
        let refused = try await server.test.code { _ = try await restarted.create(length: 1, for: session, from: server.test.client) }
        #expect(refused?.code == .limit)
    }

    /// The transfers are counted for the user, the address and all, and a refusal of one gives the
    /// places of the others back.
    @Test func aTransferNeedsAPlaceOfItsUserAndItsAddress() async throws {
        let server = try TestServer(uploads: Self.configuration { $0.transfers = (ofUser: 2, ofAddress: 3, all: 100) })
        let (alice, bobby) = (try await self.session(server), try await self.session(server, "bobby"))
        let (one, two) = (ClientOrigin(IPAddress("198.51.100.7")), ClientOrigin(IPAddress("198.51.100.8")))
        func refusal(_ session: AccountSession, _ client: ClientOrigin) -> ChatError? {
            do throws(ChatError) {
                try server.uploads.beginTransfer(session, client)
                return nil
            } catch { return error }
        }
        #expect(refusal(alice, one) == nil && refusal(alice, two) == nil)
        #expect(refusal(alice, two)?.code == .tooMany && refusal(alice, two)?.retryAfter == 2_000)
        #expect(refusal(bobby, one) == nil && refusal(bobby, one) == nil)
        // The address has three transfers. The refusals leave the places of the user.
        server.uploads.endTransfer(bobby, one)
        #expect(refusal(bobby, one) == nil)
        server.uploads.endTransfer(alice, two)
        for _ in 0..<5 { #expect(refusal(alice, one)?.code == .tooMany) }
        #expect(refusal(alice, two) == nil)
    }

    // MARK: Times

    @Test(arguments: [(-1, true), (0, false)] as [(Int64, Bool)])
    func anUnfinishedUploadIsKeptForItsLifetime(offset: Int64, isKept: Bool) async throws {
        let server = try TestServer(uploads: Self.configuration { $0.lifetime = 3 * Self.day })
        let session = try await self.session(server)
        let part = try await server.uploads.create(length: 10, for: session, from: server.test.client)
        #expect(part.expiresAt == server.test.time.withLockedValue { $0 } + 3 * Self.day)
        server.test.wait(3 * Self.day + offset)
        try await server.uploads.sweep()
        #expect(((try? server.uploads.part(part.id, of: session)) != nil) == isKept)
    }

    @Test func eachAnswerStatesTheEndOfTheUpload() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let created = try await Self.create(client, 3, token)
            let path = try #require(created.headers[.location])
            let end = HTTPDate.text(server.test.time.withLockedValue { $0 } + Self.day)
            let head = try await client.send(.head, path, token: token, headers: Self.tus)
            let part = try await client.patch(path, at: 0, [1], token: token)
            for response in [created, head, part] { #expect(response.headers[.uploadExpires] == end) }
            #expect(head.headers[.uploadLength] == "3" && head.headers[.cacheControl] == "no-store")
            #expect(created.headers[.uploadOffset] == "0" && part.headers[.uploadOffset] == "1")
        }
    }

    /// After a jump of the clock, no age is evaluated.
    @Test func nothingIsRemovedWhileTheClockIsNotTrusted() async throws {
        let server = try TestServer()
        let session = try await self.session(server)
        let part = try await server.uploads.create(length: 10, for: session, from: server.test.client)
        let blob = try await server.uploads.store(ByteBuffer(string: "unused"), for: session, from: server.test.client)
        server.test.isClockTrusted.withLockedValue { $0 = false }
        server.test.wait(400 * Self.day)
        try await server.uploads.sweep()
        #expect(try server.uploads.part(part.id, of: session) === part)
        #expect(DurableFile.exists(server.path(of: blob.id)))
        server.test.isClockTrusted.withLockedValue { $0 = true }
        try await server.uploads.sweep()
        #expect(throws: ChatError.self) { try server.uploads.part(part.id, of: session) }
        #expect(!DurableFile.exists(server.path(of: blob.id)))
    }

    @Test func aBlobOfAProfileIsNotCollected() async throws {
        let server = try TestServer()
        let session = try await self.session(server)
        let blob = try await server.uploads.store(ByteBuffer(string: "picture"), for: session, from: server.test.client)
        try await server.test.database.write { storage in
            guard var account = try storage.accounts([session.user]).first else { return }
            account.avatar = blob.id
            let changed = account
            try storage.commit { changes, _ in changes.accounts = [changed] }
        }
        server.test.wait(30 * Self.day)
        try await server.uploads.sweep()
        #expect(DurableFile.exists(server.path(of: blob.id)))
        #expect(try await server.test.database.read { try $0.blob(blob.id) } != nil)
    }

    /// A blob that a later upload of the same bytes renews is not collected with the first one.
    @Test func aRepeatedUploadIsServedAfterACollection() async throws {
        let server = try TestServer()
        let session = try await self.session(server)
        func store() async throws -> BlobRow {
            try await server.uploads.store(ByteBuffer(string: "again"), for: session, from: server.test.client)
        }
        let first = try await store()
        server.test.wait(8 * Self.day)
        try await server.uploads.sweep()
        let second = try await store()
        #expect(second.id == first.id && DurableFile.exists(server.path(of: second.id)))
        try await server.uploads.sweep()
        #expect(DurableFile.exists(server.path(of: second.id)))
    }
}
