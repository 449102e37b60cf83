import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import ApusChatHTTP

/// Uploads, downloads and the collection of unused files with a store in S3.
@Suite struct UploadsToS3Tests {
    private static let tus: HTTPFields = [.tusResumable: "1.0.0"]

    @Test func anUploadIsServedFromTheStore() async throws {
        let s3 = MemoryS3()
        let server = try TestServer(s3: s3)
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let blob = try await client.upload(Array("0123456789".utf8), token: token).headers[.chatBlob] ?? ""
            #expect(s3.objects.count == 1)
            let all = try await client.send(.get, "/api/blobs/" + blob, token: token)
            #expect(String(buffer: all.body) == "0123456789")
            let part = try await client.send(.get, "/api/blobs/" + blob, token: token, headers: [.range: "bytes=2-4"])
            #expect(part.status == .partialContent && String(buffer: part.body) == "234")
            #expect(part.headers[.contentRange] == "bytes 2-4/10")
        }
        // Neither bytes nor a record of the object remain in the local folder.
        #expect(!FileManager.default.fileExists(atPath: server.test.folder + "/blobs"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: server.test.folder + "/objects").isEmpty)
        let rest = try FileManager.default.contentsOfDirectory(atPath: server.test.folder + "/uploads")
        #expect(rest.allSatisfy { $0.hasSuffix(".info") })
    }

    @Test func anUnavailableStoreRefusesTheCompletionAndKeepsTheBytes() async throws {
        let s3 = MemoryS3()
        let server = try TestServer(s3: s3)
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            s3.fail { _, _ in .unreachable }
            let path = try await client.beginUpload(of: 3, token: token)
            let refused = try await client.patch(path, at: 0, [1, 2, 3], token: token)
            #expect(refused.status == .serviceUnavailable && refused.headers[.retryAfter] == "5")
            #expect(try refused.error().code == .unavailable)
            #expect(try await client.send(.head, path, token: token, headers: Self.tus).headers[.uploadOffset] == "3")
            s3.fail { _, _ in nil }
            let blob = try await client.patch(path, at: 3, [], token: token).headers[.chatBlob] ?? ""
            #expect(try await client.send(.get, "/api/blobs/" + blob, token: token).body.readableBytes == 3)
        }
    }

    /// The process ends between the last byte of an upload and its copy to S3.
    @Test func aCompleteUploadIsStoredAfterARestart() async throws {
        let s3 = MemoryS3()
        let server = try TestServer(s3: s3)
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            s3.fail { _, _ in .unreachable }
            let path = try await client.beginUpload(of: 3, token: token)
            #expect(try await client.patch(path, at: 0, [1, 2, 3], token: token).status == .serviceUnavailable)
            await #expect(throws: ChatError.self) { try await server.uploads.resume() }
            s3.fail { _, _ in nil }
            let restarted = try Uploads(folder: server.test.folder, accounts: server.test.accounts, files: server.files)
            try await restarted.resume()
            let session = try await server.test.accounts.session(access: token)
            let part = try restarted.part(String(path.dropFirst("/api/uploads/".count)), of: session)
            let blob = try #require(part.blob)
            #expect(try await client.send(.get, "/api/blobs/\(blob.id)", token: token).body.readableBytes == 3)
        }
    }

    /// The process ends between the copy to S3 and the row, and the user removes the upload.
    @Test func anObjectWithoutARowIsRemoved() async throws {
        let s3 = MemoryS3()
        let server = try TestServer(s3: s3)
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let path = try await server.uploadWithoutRow([1, 2, 3], client, token: token)
            #expect(s3.objects.count == 1)
            #expect(try await client.send(.delete, path, token: token, headers: Self.tus).status == .noContent)
            try await server.uploads.resume()
            #expect(s3.objects.isEmpty)
            #expect(try await server.files.store.unsettled() == [])
        }
    }

    @Test func aCollectionRemovesObjectsAfterAnOutageOfTheStore() async throws {
        let s3 = MemoryS3()
        var configuration = UploadsConfiguration.patient
        configuration.quota = 10
        let server = try TestServer(uploads: configuration, s3: s3)
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let first = try #require(try await client.upload([1, 2, 3], token: token).headers[.chatBlob].flatMap { BlobID($0) })
            _ = try await client.upload([4, 5, 6], token: token)
            server.test.wait(7 * 86_400_000 + 1)
            s3.fail { request, earlier in request == "DELETE" && earlier < 4 ? .unreachable : nil }
            await #expect(throws: ChatError.self) { try await server.uploads.sweep() }
            #expect(!s3.objects.isEmpty)
            // The rows are removed, and the quota is released.
            #expect(try await server.test.database.read { try $0.blob(first) } == nil)
            try await server.uploads.resume()
            #expect(s3.objects.isEmpty)
            let again = try await client.post(
                "/api/login", .object(["name": "alice", "password": "correct horse", "device": TestRequests.device])
            ).session().access
            #expect(try await client.upload(Array("1234567890".utf8), token: again).status == .noContent)
        }
    }

    @Test func twoEndsOfOneUploadCopyItOnce() async throws {
        let s3 = MemoryS3()
        let server = try TestServer(s3: s3)
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            s3.fail { _, _ in .unreachable }
            let path = try await client.beginUpload(of: 3, token: token)
            _ = try await client.patch(path, at: 0, [1, 2, 3], token: token)
            s3.fail { _, _ in nil }
            let session = try await server.test.accounts.session(access: token)
            let part = try server.uploads.part(String(path.dropFirst("/api/uploads/".count)), of: session)
            let earlier = s3.requests.count
            async let first = server.uploads.finish(part)
            async let second = server.uploads.finish(part)
            #expect(try await first.id == second.id)
            #expect(s3.requests.dropFirst(earlier) == ["HEAD", "PUT"])
        }
    }

    @Test func anEndThatTakesLongIsRepeated() async throws {
        let s3 = MemoryS3()
        var configuration = UploadsConfiguration.patient
        configuration.storeWait = .zero
        let server = try TestServer(uploads: configuration, s3: s3)
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let path = try await client.beginUpload(of: 3, token: token)
            var response = try await client.patch(path, at: 0, [1, 2, 3], token: token)
            let end = ContinuousClock.now + .seconds(60)
            while response.status == .serviceUnavailable, ContinuousClock.now < end {
                #expect(try response.error().code == .unavailable)
                await Task.yield()
                response = try await client.patch(path, at: 3, [], token: token)
            }
            #expect(response.headers[.chatBlob] != nil)
        }
    }
}
