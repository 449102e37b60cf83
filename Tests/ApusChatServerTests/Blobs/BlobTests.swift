import ApusChatProtocol
import Foundation
import GRDB
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ApusChatServer

@Suite("Blobs")
struct BlobTests {
    /// A picture of empty data. The checksums are not valid, and the server does not read them.
    private static func png(_ width: UInt32, _ height: UInt32) -> [UInt8] {
        func bytes(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
            bytes(UInt32(content.count)) + Array(type.utf8) + content + [0, 0, 0, 0]
        }
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", bytes(width) + bytes(height) + [8, 2, 0, 0, 0])
            + chunk("IDAT", []) + chunk("tEXt", Array("Comment".utf8)) + chunk("IEND", [])
    }

    @Test func metadataIsRemovedAndADamagedPictureIsAFile() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let folder = try BlobFolder(directory: directory)
        defer { folder.close() }
        let reply = try folder.write(Self.png(2, 3))
        let stored = try Data(
            contentsOf: URL(fileURLWithPath: "\(directory)/blobs/\(reply.blob.rawValue.prefix(2))/\(reply.blob.rawValue)"))
        #expect(stored.range(of: Data("Comment".utf8)) == nil && stored.count == reply.size && reply.width == 2)
        let damaged = try folder.write(Array(Self.png(2, 3).dropLast()))
        #expect(damaged.type == "application/octet-stream" && damaged.width == nil && damaged.height == nil)
    }

    @Test func aBlobIsStoredOnceUnderItsHash() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let folder = try BlobFolder(directory: directory)
        defer { folder.close() }
        let first = try folder.write(Self.png(2, 3))
        #expect(try folder.write(Self.png(2, 3)) == first)
        #expect(first.type == "image/png" && first.width == 2 && first.size == 57)
        let files = (FileManager.default.enumerator(atPath: directory + "/blobs")?.allObjects ?? []).compactMap { $0 as? String }
        #expect(files.filter { $0.contains(first.blob.rawValue) } == ["\(first.blob.rawValue.prefix(2))/\(first.blob.rawValue)"])
        #expect(!files.contains { $0.hasSuffix(".part") })
    }

    /// An earlier server may have stopped between the rename and the sync of the folder.
    @Test func aBlobThatIsThereIsSyncedAsWell() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let synced = NIOLockedValueBox<[String]>([])
        let folder = try BlobFolder(directory: directory) { path in synced.withLockedValue { $0.append(path) } }
        defer { folder.close() }
        let reply = try folder.write(Self.png(2, 3))
        let names = ["\(directory)/blobs/\(reply.blob.rawValue.prefix(2))", "\(directory)/blobs"]
        #expect(synced.withLockedValue { $0 } == [directory] + names)
        _ = try folder.write(Self.png(2, 3))
        #expect(synced.withLockedValue { $0 } == [directory] + names + names)
        synced.withLockedValue { $0 = [] }
        let failing = try BlobFolder(directory: directory) { path in
            if path != directory { throw ChatError(.storage, message: "") }
        }
        defer { failing.close() }
        #expect(throws: ChatError.self) { try failing.write(Self.png(2, 3)) }
    }

    @Test func aBlobIsReadInPieces() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let folder = try BlobFolder(directory: directory)
        defer { folder.close() }
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        let upload = try await folder.examine(ByteBuffer(bytes: bytes))
        let reply = upload.reply
        await #expect(throws: ChatError.self) { try await folder.piece(of: reply.blob, from: 0, count: 1) }  // validated, not stored
        try await folder.keep(upload)
        var read: [UInt8] = []
        while read.count < reply.size {
            let piece = try await folder.piece(of: reply.blob, from: read.count, count: 65_536)
            #expect(piece.readableBytes <= 65_536)
            read += Array(piece.readableBytesView)
        }
        #expect(read == bytes)
        await #expect(throws: ChatError.self) { try await folder.piece(of: reply.blob, from: bytes.count, count: 1) }
        await #expect(throws: ChatError.self) { try await folder.piece(of: BlobID(unchecked: "absent"), from: 0, count: 1) }
    }

    @Test func downloadsHaveAShareForEachUser() {
        let places = Places(maximum: 3, maximumPerUser: 2)
        let (alice, bobby, carol) = (UserID(unchecked: "alice"), UserID(unchecked: "bobby"), UserID(unchecked: "carol"))
        var taken = [places.take(for: alice), places.take(for: alice), places.take(for: bobby)]
        #expect(taken.allSatisfy { $0 != nil })
        #expect(places.take(for: alice) == nil && places.take(for: carol) == nil)
        taken.removeFirst()  // releases the permit
        #expect(places.take(for: carol) != nil)
        #expect(places.take(for: alice) != nil)
    }

    @Test func aUsersUploadsHaveAQuota() throws {
        let chat = try TestChat()
        func upload(_ name: String, _ size: Int, by user: UserID) -> ChatError.Code? {
            chat.code {
                let reply = BlobReply(blob: BlobID(unchecked: name), size: size, type: "image/png", width: 1, height: 1)
                try chat.db.write { db in try Blobs.insert(reply, by: user, quota: 100, at: 1, db) }
            }
        }
        #expect(upload("a", 101, by: chat.alice) == .tooLarge)
        #expect(upload("b", 60, by: chat.alice) == nil)
        #expect(upload("c", 41, by: chat.alice) == .tooLarge)
        #expect(upload("c", 40, by: chat.alice) == nil)
        #expect(upload("b", 60, by: chat.alice) == nil)  // a repeated upload is free
        #expect(upload("d", 1, by: chat.alice) == .tooLarge)
        #expect(upload("b", 60, by: chat.bobby) == nil)  // each user has a quota
        func judge(_ name: String, _ size: Int) -> ChatError.Code? {
            chat.code {
                let reply = BlobReply(blob: BlobID(unchecked: name), size: size, type: "image/png", width: 1, height: 1)
                try chat.db.read { db in try Blobs.requireRoom(for: reply, of: chat.bobby, quota: 100, db) }
            }
        }
        #expect(judge("e", 40) == nil && judge("e", 41) == .tooLarge && judge("e", .max) == .tooLarge)
        #expect(judge("b", 60) == nil)
    }

    @Test func limitsHold() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let folder = try BlobFolder(directory: directory)
        defer { folder.close() }
        #expect(throws: ChatError.self) { try folder.write([]) }
        #expect(throws: ChatError.self) { try folder.write(Self.png(60_000, 60_000)) }
        #expect(throws: ChatError.self) { try folder.write(Self.png(.max, .max)) }
        #expect(throws: ChatError.self) { try folder.write(Self.png(16_000, 6_000)) }
        #expect(throws: ChatError.self) { try folder.write([UInt8](repeating: 0, count: ChatLimits.blobBytes + 1)) }
    }
}
