import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import ApusChatHTTP

@Suite struct BlobTests {
    /// A PNG of one pixel.
    private static let png = Data(
        base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

    @Test func aBlobIsReadByItsUploaderOnly() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let (alice, bob) = (try await client.token("alice"), try await client.token("bobby"))
            let blob = try #require(try await client.upload(Array("<script>".utf8), token: alice).headers[.chatBlob])
            let found = try await client.send(.get, "/api/blobs/" + blob, token: alice)
            #expect(found.status == .ok)
            #expect(found.headers[.contentDisposition] == "attachment")
            #expect(found.headers[.xContentTypeOptions] == "nosniff")
            #expect(found.headers[.contentSecurityPolicy] == "sandbox; default-src 'none'")
            #expect(found.headers[.contentType] == "application/octet-stream")
            for token in [bob, "a.AAAA"] {
                let status = try await client.send(.get, "/api/blobs/" + blob, token: token).status
                #expect(status == (token == bob ? .notFound : .unauthorized))
            }
            #expect(try await client.send(.get, "/api/blobs/../../etc/passwd", token: alice).status == .notFound)
            #expect(try await client.send(.get, "/api/blobs/" + String(repeating: "0", count: 64), token: alice).status == .notFound)
        }
    }

    @Test func rangesAndConditionsAreAnswered() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let path = "/api/blobs/" + (try await client.upload(Array("0123456789".utf8), token: token).headers[.chatBlob] ?? "")
            let part = try await client.send(.get, path, token: token, headers: [.range: "bytes=2-4"])
            #expect(part.status == .partialContent)
            #expect(part.body == ByteBuffer(string: "234"))
            #expect(part.headers[.contentRange] == "bytes 2-4/10")
            let beyond = try await client.send(.get, path, token: token, headers: [.range: "bytes=10-"])
            #expect(beyond.status == .rangeNotSatisfiable)
            #expect(beyond.headers[.contentRange] == "bytes */10")
            let tag = try #require(part.headers[.eTag])
            #expect(try await client.send(.get, path, token: token, headers: [.ifNoneMatch: tag]).status == .notModified)
            let stale = try await client.send(.get, path, token: token, headers: [.range: "bytes=2-4", .ifRange: "\"other\""])
            #expect(stale.status == .ok)
            let head = try await client.send(.head, path, token: token)
            #expect(head.headers[.contentLength] == "10")
            #expect(head.body.readableBytes == 0)
        }
    }

    @Test(
        arguments: [
            (nil, .whole), ("bytes=0-0", .part(0...0)), ("bytes=5-", .part(5...9)), ("bytes=-3", .part(7...9)), ("bytes=-99", .part(0...9)),
            ("bytes=3-99", .part(3...9)), ("bytes=-0", .unsatisfiable), ("bytes=10-", .unsatisfiable), ("bytes=4-2", .unsatisfiable),
            ("bytes=0-1,3-4", .whole), ("lines=1-2", .whole), ("bytes=a-b", .whole), ("bytes=-", .whole),
            ("bytes=99999999999999999999-", .unsatisfiable), ("bytes=0-99999999999999999999", .part(0...9)),
        ] as [(String?, ByteRange)])
    func aRangeIsRead(_ field: String?, _ range: ByteRange) { #expect(ByteRange(field, size: 10) == range) }

    @Test func aFilmLosesItsPositionAndADamagedOneIsAGenericFile() async throws {
        func box(_ type: String, _ content: [UInt8]) -> [UInt8] { [0, 0, 0, UInt8(content.count + 8)] + Array(type.utf8) + content }
        let film = box("ftyp", Array("isom0000isom".utf8)) + box("moov", box("udta", Array("Secret".utf8))) + box("mdat", [1, 2, 3])
        let damaged = film.dropLast(11) + [0, 0, 0, 99] + Array("moov".utf8)
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let uploaded = try await client.upload(film, token: token)
            #expect(uploaded.headers[.chatType] == "video/mp4" && uploaded.headers[.chatSize] == String(film.count))
            let blob = try #require(uploaded.headers[.chatBlob])
            let found = Array(try await client.send(.get, "/api/blobs/" + blob, token: token).body.readableBytesView)
            #expect(found.count == film.count && !String(decoding: found, as: UTF8.self).contains("Secret"))
            #expect(found.suffix(11) == film.suffix(11))
            // An upload of the original film, or of the served one, is the same blob.
            for bytes in [film, found] { #expect(try await client.upload(bytes, token: token).headers[.chatBlob] == blob) }
            #expect(try await client.upload(Array(damaged), token: token).headers[.chatType] == "application/octet-stream")
        }
    }

    @Test func thePictureOfAUserIsShownByItsSetting() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let (alice, bob) = (try await client.token("alice"), try await client.token("bobby"))
            let uploaded = try await client.upload(Array(try #require(Self.png)), token: alice)
            #expect(uploaded.headers[.chatType] == "image/png")
            #expect(uploaded.headers[.chatWidth] == "1" && uploaded.headers[.chatHeight] == "1")
            let blob = try #require(uploaded.headers[.chatBlob].flatMap { BlobID($0) })
            @Sendable func show(_ audience: Audience, blob: BlobID?) async throws {
                try await server.test.database.write { storage in
                    let key = try #require(try storage.userKeys(named: [UserName(prepared: "alice")]).first ?? nil)
                    var account = try #require(try storage.accounts([key]).first)
                    account.avatar = blob
                    account.privacy.avatar = audience
                    let row = account
                    try storage.commit { changes, _ in changes.accounts = [row] }
                }
            }
            let path = "/api/blobs/\(blob)?user=alice"
            #expect(try await client.send(.get, path, token: bob).status == .notFound)
            try await show(.all, blob: blob)
            let shown = try await client.send(.get, path, token: bob)
            #expect(shown.status == .ok)
            #expect(shown.headers[.contentDisposition] == nil)
            try await show(.contacts, blob: blob)
            #expect(try await client.send(.get, path, token: bob).status == .notFound)
            try await show(.all, blob: nil)
            #expect(try await client.send(.get, path, token: bob).status == .notFound)
        }
    }

    @Test func thePictureOfAConversationIsShownInTheDirectoryAndByALink() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let (alice, bob) = (try await client.token("alice"), try await client.token("bobby"))
            let uploaded = try await client.upload(Array(try #require(Self.png)), token: alice)
            let blob = try #require(uploaded.headers[.chatBlob].flatMap { BlobID($0) })
            let (key, code) = (ConversationKey(77), "0123456789abcdefg")
            @Sendable func write(listed: Bool, _ configure: @escaping @Sendable (inout LinkRow) -> Void = { _ in }) async throws {
                try await server.test.database.write { storage in
                    var settings = ConversationSettings()
                    settings.listed = listed
                    var row = ConversationRow(key: key, kind: .group, createdAt: 0, settings: settings)
                    row.profile.avatar = blob
                    var link = LinkRow(code: code, conversation: key, creator: UserKey(1), createdAt: 0)
                    configure(&link)
                    let (conversation, written) = (row, link)
                    try storage.commit { changes, _ in
                        changes.conversations = [
                            ConversationChange(key: key, counters: conversation.counters, row: conversation, isNew: true)
                        ]
                        changes.links = [written]
                    }
                }
            }
            let path = "/api/blobs/\(blob)"
            @Sendable func statuses() async throws -> [Int] {
                var statuses: [Int] = []
                for query in ["", "?conv=\(ConversationID(number: 77))", "?link=\(code)"] {
                    statuses.append(try await client.send(.get, path + query, token: bob).status.code)
                }
                return statuses
            }
            #expect(try await statuses() == [404, 404, 404])
            try await write(listed: true) { $0.isRevoked = true }
            #expect(try await statuses() == [404, 200, 404])
            try await write(listed: false)
            #expect(try await statuses() == [404, 404, 200])
            try await write(listed: false) { $0.usesLeft = 0 }
            #expect(try await statuses() == [404, 404, 404])
            try await write(listed: false) { $0.expiresAt = 1 }
            #expect(try await statuses() == [404, 404, 404])
        }
    }

    @Test func metadataIsRemoved() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let png = Array(try #require(Self.png))
            // A text chunk before the end chunk.
            let text: [UInt8] = [0, 0, 0, 4] + Array("tEXtGPS:".utf8) + [0, 0, 0, 0]
            let first = try await client.upload(png, token: token).headers[.chatBlob]
            let second = try await client.upload(Array(png.dropLast(12)) + text + Array(png.suffix(12)), token: token)
            #expect(first != nil)
            #expect(second.headers[.chatBlob] == first)
        }
    }

    @Test func anotherAttemptDoesNotWriteToTheBlob() async throws {
        let server = try TestServer()
        let path = server.test.folder + "/picture"
        try #require(Self.png).write(to: URL(fileURLWithPath: path))
        let first = try await server.files.examine(path, at: 1)
        try await server.files.store.store(first.path, size: first.row.size, as: first.row.id)
        let second = try await server.files.examine(path, at: 2)
        #expect(second.row.id == first.row.id)
        try Data().write(to: URL(fileURLWithPath: second.path))
        #expect(DurableFile.bytes(of: server.path(of: first.row.id), upTo: 1_000)?.count == Int(first.row.size))
    }

    @Test func aPictureWithTooManyPixelsIsRefused() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            var png = Array(try #require(Self.png))
            png.replaceSubrange(16..<24, with: [0, 0, 0x3E, 0x80, 0, 0, 0x17, 0x70])  // 16000 × 6000
            let refused = try await client.upload(png, token: token)
            #expect(refused.status == .contentTooLarge)
        }
    }

    @Test(arguments: [
        ("\u{0}\u{0}\u{0}\u{18}ftypisom", "video/mp4"), ("\u{0}\u{0}\u{0}\u{18}ftypM4A ", "audio/mp4"), ("OggS", "audio/ogg"),
        ("#!AMR\n", "audio/amr"), ("#!AMR-WB\n", MediaType.other), ("fLaC", "audio/flac"), ("RIFF1234WAVE", "audio/wav"),
        ("ID3", "audio/mpeg"), ("<html>", MediaType.other), ("", MediaType.other),
        ("%PDF-1.7", MediaType.other), ("<svg ", MediaType.other),
    ]) func aTypeIsSniffed(_ bytes: String, _ type: String) { #expect(MediaType.sniffed(Array(bytes.utf8)) == type) }
}
