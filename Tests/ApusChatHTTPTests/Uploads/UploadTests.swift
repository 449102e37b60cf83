import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ApusChatHTTP

@Suite struct UploadTests {
    private static let tus: HTTPFields = [.tusResumable: "1.0.0"]

    @Test func anUploadInTwoTransfersBecomesABlob() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            var headers = Self.tus
            headers[.uploadLength] = "10"
            headers[.uploadMetadata] = "name YQ=="
            let created = try await client.send(.post, "/api/uploads", token: token, headers: headers)
            #expect(created.status == .created)
            #expect(created.headers[.tusResumable] == "1.0.0")
            #expect(created.headers[.uploadExpires] == "Wed, 15 Nov 2023 22:13:20 GMT")
            let path = try #require(created.headers[.location])
            let first = try await client.patch(path, at: 0, Array("hello".utf8), token: token)
            #expect(first.status == .noContent)
            #expect(first.headers[.uploadOffset] == "5")
            #expect(first.headers[.chatBlob] == nil)
            let offset = try await client.send(.head, path, token: token, headers: Self.tus)
            #expect(offset.headers[.uploadOffset] == "5")
            #expect(offset.headers[.uploadLength] == "10")
            #expect(try await client.patch(path, at: 4, [1], token: token).status == .conflict)
            #expect(try await client.patch(path, at: 5, Array("too long".utf8), token: token).status == .contentTooLarge)
            let last = try await client.patch(path, at: 5, Array("world".utf8), token: token)
            #expect(last.status == .noContent)
            let blob = try #require(last.headers[.chatBlob])
            #expect(blob == "936a185caaa266bb9cbe981e9e05cb78cd732b0b3280eb944412bb6f8f8f07af")
            #expect(last.headers[.chatType] == "application/octet-stream")
            #expect(last.headers[.chatSize] == "10")
            // A client that lost the answer can request it again.
            #expect(try await client.send(.head, path, token: token, headers: Self.tus).headers[.chatBlob] == blob)
            #expect(try await client.patch(path, at: 10, [], token: token).headers[.chatBlob] == blob)
            let bytes = try await client.send(.get, "/api/blobs/" + blob, token: token)
            #expect(bytes.body == ByteBuffer(string: "helloworld"))
        }
    }

    @Test func theVersionIsRequired() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let refused = try await client.send(.post, "/api/uploads", token: token, headers: [.uploadLength: "1"])
            #expect(refused.status == .preconditionFailed)
            #expect(refused.headers[.tusVersion] == "1.0.0")
            let options = try await client.send(.options, "/api/uploads")
            #expect(options.status == .noContent)
            #expect(options.headers[.tusExtension] == "creation,termination,expiration")
            #expect(options.headers[.tusMaxSize] == String(ChatLimits.blobBytes))
        }
    }

    @Test(
        arguments: [("0", 400), ("-1", 400), ("+5", 400), ("x", 400), ("104857601", 413), ("9223372036854775808", 400)] as [(String, Int)])
    func aLengthIsChecked(_ length: String, _ status: Int) async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            var headers = Self.tus
            headers[.uploadLength] = length
            let answer = try await client.send(.post, "/api/uploads", token: token, headers: headers)
            #expect(answer.status.code == status)
            #expect(answer.headers[.tusResumable] == "1.0.0")
        }
    }

    @Test func anUploadBelongsToItsUser() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let (alice, bob) = (try await client.token("alice"), try await client.token("bobby"))
            let path = try await client.beginUpload(of: 5, token: alice)
            #expect(try await client.patch(path, at: 0, [1], token: bob).status == .notFound)
            #expect(try await client.send(.head, path, token: bob, headers: Self.tus).status == .notFound)
            #expect(try await client.send(.delete, path, token: bob, headers: Self.tus).status == .notFound)
            #expect(try await client.send(.delete, path, token: alice, headers: Self.tus).status == .noContent)
            #expect(try await client.send(.head, path, token: alice, headers: Self.tus).status == .notFound)
        }
    }

    @Test func theQuotaCountsUnfinishedUploadsAndIsGivenBack() async throws {
        var configuration = UploadsConfiguration()
        configuration.quota = 10
        let server = try TestServer(uploads: configuration)
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            @Sendable func create(_ length: Int) async throws -> TestResponse {
                var headers = Self.tus
                headers[.uploadLength] = String(length)
                return try await client.send(.post, "/api/uploads", token: token, headers: headers)
            }
            let path = try #require(try await create(6).headers[.location])
            let refused = try await create(5)
            #expect(refused.status == .unprocessableContent)
            #expect(try refused.error().code == .limit)
            _ = try await client.send(.delete, path, token: token, headers: Self.tus)
            let uploaded = try await client.upload(Array("12345678".utf8), token: token)
            #expect(uploaded.status == .noContent)
            let blob = try #require(uploaded.headers[.chatBlob].flatMap { BlobID($0) })
            #expect(try await create(3).status == .unprocessableContent)
            // No message refers to the blob, so it is removed after a week, together with its file.
            server.test.wait(7 * 86_400_000 - 60_000)
            try await server.uploads.sweep()
            #expect(DurableFile.exists(server.path(of: blob)))
            server.test.wait(60_001)
            try await server.uploads.sweep()
            #expect(!DurableFile.exists(server.path(of: blob)))
            let again = try await client.post(
                "/api/login", .object(["name": "alice", "password": "correct horse", "device": TestRequests.device])
            ).session().access
            #expect(try await client.upload(Array("1234567890".utf8), token: again).status == .noContent)
        }
    }

    /// The process ends between the file of the blob and its row, and the user removes the upload.
    @Test func aFileWithoutARowIsRemoved() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let path = try await server.uploadWithoutRow([1, 2, 3], client, token: token)
            let blob = try #require(try await server.files.store.unsettled().first)
            #expect(DurableFile.exists(server.path(of: blob)))
            #expect(try await client.send(.delete, path, token: token, headers: Self.tus).status == .noContent)
            try await server.uploads.resume()
            #expect(!DurableFile.exists(server.path(of: blob)))
            #expect(try await server.files.store.unsettled() == [])
        }
    }

    /// The process ends between the removal of the row and that of the file.
    @Test func aFileWhoseRowWasRemovedIsRemovedAtTheNextStart() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let blob = try #require(try await client.upload([1, 2, 3], token: token).headers[.chatBlob].flatMap { BlobID($0) })
            let other = try #require(try await client.upload([4, 5, 6], token: token).headers[.chatBlob].flatMap { BlobID($0) })
            #expect(try await server.files.store.unsettled() == [])
            for blob in [blob, other] { try await server.files.store.willRemove(blob) }
            try await server.test.database.write { storage in
                try storage.commit { changes, _ in changes.credentials.collectedBlobs = [blob] }
            }
            #expect(DurableFile.exists(server.path(of: blob)))
            let files = try BlobFiles(folder: server.test.folder)
            defer { files.close() }
            let restarted = try Uploads(folder: server.test.folder, accounts: server.test.accounts, files: files)
            try await restarted.resume()
            #expect(!DurableFile.exists(server.path(of: blob)))
            #expect(DurableFile.exists(server.path(of: other)), "its row was not removed")
            #expect(try await files.store.unsettled() == [])
        }
    }

    @Test func transfersOfAUserAreLimited() async throws {
        var configuration = UploadsConfiguration()
        configuration.transfers = (ofUser: 1, ofAddress: 1, all: 2)
        let server = try TestServer(uploads: configuration)
        try await server.run { (client: TestRequests) async throws in
            let answer = try await client.register("alice").session()
            let session = try await server.test.accounts.session(access: answer.access)
            try server.uploads.beginTransfer(session, ClientOrigin(nil))
            let refused = try await client.upload([1], token: answer.access)
            #expect(refused.status == .tooManyRequests)
            server.uploads.endTransfer(session, ClientOrigin(nil))
            #expect(try await client.upload([1], token: answer.access).status == .noContent)
        }
    }

    @Test func partsSurviveARestart() async throws {
        let server = try TestServer()
        let answer = try await server.test.register("alice")
        let session = try await server.test.accounts.session(access: answer.access)
        let part = try await server.uploads.create(length: 10, for: session, from: server.test.client)
        let (transfer, _) = try part.begin()
        #expect(try part.append(ByteBuffer(string: "hello"), transfer, syncBytes: 1) == .done)
        // After a restart, bytes that were not synced do not count.
        #expect(try part.append(ByteBuffer(string: "wor"), transfer, syncBytes: 100) == .done)
        let restarted = try Uploads(folder: server.test.folder, accounts: server.test.accounts, files: server.files)
        let found = try restarted.part(part.id, of: session)
        #expect(found.offset == 5)
        let (next, offset) = try found.begin()
        #expect(offset == 5)
        #expect(try found.append(ByteBuffer(string: "world"), next, syncBytes: 100) == .done)
        #expect(try found.end(next) == 10)
        let blob = try await restarted.finish(found)
        #expect(blob.size == 10)
        // A further restart retains the finished upload.
        let again = try Uploads(folder: server.test.folder, accounts: server.test.accounts, files: server.files)
        #expect(try again.part(part.id, of: session).blob?.id == blob.id)
    }

    @Test func aLaterTransferEndsAnEarlierOne() async throws {
        let server = try TestServer()
        let answer = try await server.test.register("alice")
        let session = try await server.test.accounts.session(access: answer.access)
        let part = try await server.uploads.create(length: 10, for: session, from: server.test.client)
        let (first, _) = try part.begin()
        #expect(try part.append(ByteBuffer(string: "abc"), first, syncBytes: 100) == .done)
        let (second, offset) = try part.begin()
        #expect(offset == 3)
        #expect(try part.append(ByteBuffer(string: "xyz"), first, syncBytes: 100) == .ended)
        #expect(try part.end(first) == nil)
        #expect(try part.append(ByteBuffer(string: "def"), second, syncBytes: 100) == .done)
        #expect(try part.append(ByteBuffer(string: "too long"), second, syncBytes: 100) == .tooLong)
        #expect(try part.end(second) == 6)
        #expect(DurableFile.bytes(of: part.path, upTo: 100) == Array("abcdef".utf8))
    }

    @Test func expiredUploadsAndFilesOfNoneAreRemoved() async throws {
        let server = try TestServer()
        let answer = try await server.test.register("alice")
        let session = try await server.test.accounts.session(access: answer.access)
        let part = try await server.uploads.create(length: 10, for: session, from: server.test.client)
        let folder = server.test.folder + "/uploads"
        #expect(FileManager.default.createFile(atPath: folder + "/stray.part", contents: Data([1])))
        _ = try Uploads(folder: server.test.folder, accounts: server.test.accounts, files: server.files)
        #expect(!DurableFile.exists(folder + "/stray.part"))
        #expect(DurableFile.exists(folder + "/\(part.id).info"))
        server.test.wait(86_400_000)
        try await server.uploads.sweep()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }

    @Test func bytesOfAFailedSyncAreSentAgain() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-part-" + UUID().uuidString).path
        try DurableFile.makeFolder(folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let fails = NIOLockedValueBox(true)
        let part = try UploadPart(id: "a", user: UserKey(1), length: 6, expiresAt: 1, in: folder) { (_) throws(StorageError) in
            if fails.withLockedValue({ $0 }) { throw StorageError(.io, message: "the sync failed") }
        }
        let (first, _) = try part.begin()
        #expect(try part.append(ByteBuffer(string: "abc"), first, syncBytes: 100) == .done)
        #expect(throws: StorageError.self) { try part.end(first) }
        fails.withLockedValue { $0 = false }
        #expect(try part.end(first) == nil)
        let (second, offset) = try part.begin()
        #expect(offset == 0)
        #expect(try part.append(ByteBuffer(string: "abcdef"), second, syncBytes: 100) == .done)
        #expect(try part.end(second) == 6)
    }

    @Test func aFullDiskKeepsTheCompletePart() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let path = try await server.uploadWithoutRow([1, 2, 3], client, token: token)
            #expect(try await client.send(.head, path, token: token, headers: Self.tus).headers[.uploadOffset] == "3")
            #expect(try await client.patch(path, at: 3, [], token: token).headers[.chatBlob] != nil)
        }
    }
}
