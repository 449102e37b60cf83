import ApusChatProtocol
import ApusChatStorage
import ApusConnectivity
import ApusJSON
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import ApusChatHTTP

/// tus 1.0 with valid, unusual and malformed requests.
@Suite("Uploads by tus")
struct UploadProtocolTests {
    private static let tus: HTTPFields = [.tusResumable: "1.0.0"]

    private static func offset(_ path: String, _ client: TestRequests, _ token: String) async throws -> String? {
        try await client.send(.head, path, token: token, headers: Self.tus).headers[.uploadOffset]
    }

    @Test func anUploadIsOfItsUserOnly() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let (alice, bob) = (try await client.token("alice"), try await client.token("bobby"))
            let path = try await client.beginUpload(of: 3, token: alice)
            #expect(try await client.send(.head, path, token: bob, headers: Self.tus).status == .notFound)
            #expect(try await client.patch(path, at: 0, [1, 2, 3], token: bob).status == .notFound)
            #expect(try await client.send(.delete, path, token: bob, headers: Self.tus).status == .notFound)
            #expect(try await Self.offset(path, client, alice) == "0")
            #expect(try await client.patch(path, at: 0, [1, 2, 3], token: alice).headers[.chatBlob] != nil)
        }
    }

    @Test(arguments: ["", "-1", "+0", "-0", "x", "1", "9223372036854775807", "9223372036854775808", "0x0", "0,0"])
    func aWrongOffsetChangesNothing(offset: String) async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let path = try await client.beginUpload(of: 3, token: token)
            let headers: HTTPFields = [.tusResumable: "1.0.0", .uploadOffset: offset, .contentType: "application/offset+octet-stream"]
            let response = try await client.send(.patch, path, token: token, headers: headers, body: ByteBuffer(bytes: [1]))
            #expect([400, 409, 413].contains(response.status.code), "\(response.status)")
            #expect(response.headers[.tusResumable] == "1.0.0")
            #expect(try await Self.offset(path, client, token) == "0")
        }
    }

    @Test(arguments: [nil, "", "application/octet-stream", "application/offset+octet-stream; x=1", "image/png"] as [String?])
    func anotherContentTypeIsRefused(type: String?) async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let path = try await client.beginUpload(of: 3, token: token)
            var headers: HTTPFields = [.tusResumable: "1.0.0", .uploadOffset: "0"]
            if let type { headers[.contentType] = type }
            let response = try await client.send(.patch, path, token: token, headers: headers, body: ByteBuffer(bytes: [1, 2, 3]))
            #expect(response.status == .unsupportedMediaType)
            #expect(try await Self.offset(path, client, token) == "0")
        }
    }

    @Test(arguments: ["", "0.2.2", "1.0.1", "2.0.0"])
    func anotherVersionIsRefused(version: String) async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let path = try await client.beginUpload(of: 3, token: token)
            let headers: HTTPFields = [
                .tusResumable: version, .uploadLength: "1", .uploadOffset: "0", .contentType: "application/offset+octet-stream",
            ]
            for (method, target) in [(.post, "/api/uploads"), (.patch, path), (.delete, path), (.head, path)]
                as [(HTTPRequest.Method, String)]
            {
                let response = try await client.send(method, target, token: token, headers: headers)
                #expect(response.status == .preconditionFailed && response.headers[.tusVersion] == "1.0.0", "\(method)")
            }
            #expect(try await Self.offset(path, client, token) == "0")
        }
    }

    @Test func aCreationWithABodyIsRefused() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let headers: HTTPFields = [.tusResumable: "1.0.0", .uploadLength: "3", .contentLength: "3"]
            let response = try await client.send(.post, "/api/uploads", token: token, headers: headers, body: ByteBuffer(bytes: [1, 2, 3]))
            #expect(response.status == .badRequest)
            #expect(try response.error().message.contains("PATCH"))
            let deferred: HTTPFields = [.tusResumable: "1.0.0"]
            #expect(try await client.send(.post, "/api/uploads", token: token, headers: deferred).status == .badRequest)
        }
    }

    @Test func methodsMayBeOverridden() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let path = try await client.beginUpload(of: 3, token: token)
            var headers: HTTPFields = [
                .tusResumable: "1.0.0", .uploadOffset: "0", .contentType: "application/offset+octet-stream", .methodOverride: "PATCH",
            ]
            let part = try await client.send(.post, path, token: token, headers: headers, body: ByteBuffer(bytes: [1, 2]))
            #expect(part.status == .noContent && part.headers[.uploadOffset] == "2")
            for other in ["GET", "PUT", "patch", ""] {
                headers[.methodOverride] = other
                #expect(try await client.send(.post, path, token: token, headers: headers).status == .methodNotAllowed, "\(other)")
            }
            headers[.methodOverride] = "DELETE"
            #expect(try await client.send(.post, path, token: token, headers: headers).status == .noContent)
            #expect(try await client.send(.head, path, token: token, headers: Self.tus).status == .notFound)
        }
    }

    @Test func aRemovedUploadGivesItsPlaceBack() async throws {
        var configuration = UploadsConfiguration()
        configuration.unfinishedOfUser = 1
        let server = try TestServer(uploads: configuration)
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let path = try await client.beginUpload(of: 3, token: token)
            let full = try await client.send(.post, "/api/uploads", token: token, headers: [.tusResumable: "1.0.0", .uploadLength: "3"])
            #expect(full.status == .unprocessableContent)
            #expect(try full.error().code == .limit)
            #expect(try await client.send(.delete, path, token: token, headers: Self.tus).status == .noContent)
            #expect(try await client.send(.delete, path, token: token, headers: Self.tus).status == .notFound)
            #expect(try await client.patch(path, at: 0, [1], token: token).status == .notFound)
            _ = try await client.beginUpload(of: 3, token: token)
            #expect(try FileManager.default.contentsOfDirectory(atPath: server.test.folder + "/uploads").count == 1)
        }
    }

    @Test func anUploadOfOneByteAtATime() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let bytes = Array("abcdefghij".utf8)
            let path = try await client.beginUpload(of: bytes.count, token: token)
            for (index, byte) in bytes.enumerated() {
                #expect(try await client.patch(path, at: index, [], token: token).headers[.uploadOffset] == String(index))
                let part = try await client.patch(path, at: index, [byte], token: token)
                #expect(part.headers[.uploadOffset] == String(index + 1) && (part.headers[.chatBlob] != nil) == (index == 9))
            }
            let blob = try #require(try await client.patch(path, at: 10, [], token: token).headers[.chatBlob])
            #expect(try await client.send(.get, "/api/blobs/" + blob, token: token).body == ByteBuffer(bytes: bytes))
            // A complete upload accepts no further request.
            #expect(try await client.patch(path, at: 0, [], token: token).status == .conflict)
        }
    }

    @Test func twoTransfersAtOnceLoseNoByte() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let path = try await client.beginUpload(of: bytes.count, token: token)
            // Four clients send parts from the current offset until the upload is complete.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        while let text = try await Self.offset(path, client, token), let offset = Int(text), offset < bytes.count {
                            let part = Array(bytes[offset..<min(offset + 30_000, bytes.count)])
                            let status = try await client.patch(path, at: offset, part, token: token).status
                            #expect([.noContent, .conflict, .tooManyRequests].contains(status), "\(status)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            let blob = try #require(try await client.patch(path, at: bytes.count, [], token: token).headers[.chatBlob])
            #expect(try await client.send(.get, "/api/blobs/" + blob, token: token).body == ByteBuffer(bytes: bytes))
        }
    }

    @Test func theSameBytesAreOneBlobOfBoth() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let (alice, bob) = (try await client.token("alice"), try await client.token("bobby"))
            let first = try await client.upload(Array("the same".utf8), token: alice).headers[.chatBlob]
            let path = "/api/blobs/" + (first ?? "")
            #expect(try await client.send(.get, path, token: bob).status == .notFound)  // a hash is not a permission
            #expect(try await client.upload(Array("the same".utf8), token: bob).headers[.chatBlob] == first)
            #expect(try await client.send(.get, path, token: bob).status == .ok)
            #expect(try await client.send(.get, path, token: alice).status == .ok)
        }
    }

    // MARK: Pictures

    private static func big(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + data
        var crc = UInt32.max
        for byte in body {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return self.big(UInt32(data.count)) + body + self.big(~crc)
    }

    /// Returns a PNG with a header of a size, correct checksums and no pixels.
    private static func png(_ width: UInt32, _ height: UInt32) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + self.chunk("IHDR", self.big(width) + self.big(height) + [8, 6, 0, 0, 0]) + self.chunk("IEND", [])
    }

    /// A PNG of one pixel with a comment.
    private static var commented: [UInt8] {
        let text = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        let bytes = Array(Data(base64Encoded: text) ?? Data())
        return bytes.prefix(33) + self.chunk("tEXt", Array("Comment\u{0}where I live".utf8)) + bytes.dropFirst(33)
    }

    @Test(
        arguments: [
            (16_385, 1), (1, 16_385), (.max, .max), (16_384, 16_384),
        ] as [(UInt32, UInt32)])
    func aFloodOfPixelsIsRefusedAndRemoved(width: UInt32, height: UInt32) async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let response = try await client.upload(Self.png(width, height), token: token)
            // A picture with a size that no decoder accepts is stored as a file.
            if response.status == .noContent {
                #expect(response.headers[.chatType] == "application/octet-stream" && response.headers[.chatWidth] == nil)
                return
            }
            #expect(response.status == .contentTooLarge)
            #expect(try response.error().code == .tooLarge)
            #expect(try FileManager.default.contentsOfDirectory(atPath: server.test.folder + "/uploads").isEmpty)
        }
    }

    @Test func metadataIsNotStored() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let bytes = Self.commented
            let response = try await client.upload(bytes, token: token)
            #expect(
                response.headers[.chatType] == "image/png" && response.headers[.chatWidth] == "1" && response.headers[.chatHeight] == "1")
            let blob = try #require(response.headers[.chatBlob])
            let stored = try await client.send(.get, "/api/blobs/" + blob, token: token)
            #expect(!String(buffer: stored.body).contains("where I live") && stored.body.readableBytes < bytes.count)
            #expect(response.headers[.chatSize] == String(stored.body.readableBytes))
            #expect(stored.headers[.contentDisposition] == nil)
        }
    }

    @Test func aDamagedPictureIsAFile() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            for bytes in [Array(Self.commented.prefix(60)), [0x89, 0x50, 0x4E, 0x47], [0xFF, 0xD8, 0xFF], Array("GIF89a".utf8)] {
                let response = try await client.upload(bytes, token: token)
                #expect(response.status == .noContent && response.headers[.chatType] == "application/octet-stream")
                let blob = try #require(response.headers[.chatBlob])
                let stored = try await client.send(.get, "/api/blobs/" + blob, token: token)
                #expect(stored.headers[.contentDisposition] == "attachment" && stored.body == ByteBuffer(bytes: bytes))
            }
        }
    }

    // MARK: Reading

    @Test(
        arguments: [
            ("bytes=0-0", 206, "0"), ("bytes=9-", 206, "9"), ("bytes=-1", 206, "9"), ("bytes=0-99", 206, "0123456789"),
            ("bytes=5-2", 416, nil),
            ("bytes=-0", 416, nil), ("bytes=99-", 416, nil), ("bytes=0-1,3-4", 200, "0123456789"), ("items=0-1", 200, "0123456789"),
            ("bytes=18446744073709551616-", 416, nil),
        ] as [(String, Int, String?)])
    func aRangeIsAnswered(range: String, status: Int, body: String?) async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let path = "/api/blobs/" + (try await client.upload(Array("0123456789".utf8), token: token).headers[.chatBlob] ?? "")
            let response = try await client.send(.get, path, token: token, headers: [.range: range])
            #expect(response.status.code == status)
            if let body {
                #expect(response.body == ByteBuffer(string: body) && response.headers[.contentLength] == String(body.utf8.count))
            } else {
                #expect(response.headers[.contentRange] == "bytes */10")
            }
        }
    }

    @Test func conditionsCompareTheTag() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let blob = try await client.upload(Array("0123456789".utf8), token: token).headers[.chatBlob] ?? ""
            let path = "/api/blobs/" + blob
            for (tags, status) in [
                ("*", 304), ("\"\(blob)\"", 304), ("\"x\", \"\(blob)\"", 304), ("W/\"\(blob)\"", 304), ("\"x\"", 200), ("", 200),
            ] {
                let response = try await client.send(.get, path, token: token, headers: [.ifNoneMatch: tags])
                #expect(response.status.code == status, "\(tags)")
                if status == 304 { #expect(response.body.readableBytes == 0 && response.headers[.eTag] == "\"\(blob)\"") }
                #expect(response.headers[.cacheControl] == "private, max-age=31536000, immutable")
            }
            for (tag, status) in [("\"\(blob)\"", 206), ("\"x\"", 200), ("Wed, 15 Nov 2023 22:13:20 GMT", 200)] {
                let response = try await client.send(.get, path, token: token, headers: [.range: "bytes=1-2", .ifRange: tag])
                #expect(response.status.code == status, "\(tag)")
            }
        }
    }

    @Test func aMissingFileOfABlobIsAnErrorOfTheServer() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let blob = try #require(try await client.upload([1, 2, 3], token: token).headers[.chatBlob].flatMap { BlobID($0) })
            DurableFile.remove(server.path(of: blob))
            let response = try await client.send(.get, "/api/blobs/\(blob)", token: token)
            #expect(response.status == .serviceUnavailable)
            // A further upload of the same bytes restores the blob.
            #expect(try await client.upload([1, 2, 3], token: token).status == .noContent)
            #expect(try await client.send(.get, "/api/blobs/\(blob)", token: token).status == .ok)
        }
    }

    @Test(arguments: [
        "", "x", "..", String(repeating: "0F", count: 32), String(repeating: "0", count: 63), String(repeating: "0", count: 65),
    ])
    func aNameThatIsNotAHashIsNotFound(name: String) async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            #expect(try await client.send(.get, "/api/blobs/" + name, token: token).status == .notFound)
            for query in ["user=a%20b", "user=", "conv=x", "link=x", "user=nobody&conv=&link="] {
                let path = "/api/blobs/" + String(repeating: "0", count: 64) + "?" + query
                #expect(try await client.send(.get, path, token: token).status == .notFound, "\(query)")
            }
        }
    }
}
