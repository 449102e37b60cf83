import ApusChatProtocol
import ApusJSON
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatClient

/// Downloads and exports from a server that answers every request with the same bytes.
@Suite(.timeLimit(.minutes(5)))
struct LiveDownloadTests {
    private typealias World = AnsweredClient

    private func with(_ answer: String, _ body: [UInt8] = [], base: String = "", _ test: (World) async throws -> Void) async throws {
        try await withAnswer(answer, body, base: base, test)
    }

    private static let blob = String(repeating: "0f", count: 32)

    private static func ok(_ length: Int) -> String { "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\nConnection: close\r\n\r\n" }

    private func code(_ body: () async throws -> Void) async -> ChatClientError.Code? { await codeOfError(body) }

    // MARK: Downloads

    @Test func aDownloadNamesTheFileAndTheSession() async throws {
        let blob = try #require(BlobID(Self.blob))
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        try await self.with(Self.ok(bytes.count), bytes, base: "/base") { world in
            #expect(try await world.client.download(blob, size: 96, owner: .conversation(ConversationID(number: 7)), access: "t0") == bytes)
            let head = try #require(world.heads.withLockedValue { $0.first })
            #expect(head.hasPrefix("GET /base/api/blobs/\(Self.blob)?size=96&conv=\(ConversationID(number: 7).rawValue) HTTP/1.1\r\n"))
            #expect(head.lowercased().contains("authorization: bearer t0\r\n"))
            #expect(!head.lowercased().contains("accept-encoding: gzip"), "media is compressed already")
        }
    }

    @Test func aDownloadThatEndsEarlyLeavesNoFile() async throws {
        let blob = try #require(BlobID(Self.blob))
        try await self.with(Self.ok(1_000), [UInt8](repeating: 1, count: 500)) { world in
            #expect(await self.code { _ = try await world.client.download(blob, size: nil, owner: nil, access: "t") } != nil)
        }
    }

    /// A token is not sent to another server.
    @Test func aRedirectIsNotFollowed() async throws {
        let blob = try #require(BlobID(Self.blob))
        try await self.with("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n") {
            world in
            #expect(await self.code { _ = try await world.client.download(blob, size: nil, owner: nil, access: "t") } == .badAnswer)
            #expect(world.heads.withLockedValue { $0.count } == 1)
        }
    }

    @Test(arguments: [
        (401, "", ChatClientError.Code.signedOut), (404, "", .notFound), (410, "", .notFound), (500, "", .unreachable),
        (503, "x", .unreachable),
        (418, "{}", .badAnswer), (403, #"{"error":{"code":"forbidden","message":"No."}}"#, .refused),
        (404, #"{"error":{"code":"not_found","message":"No."}}"#, .notFound),
        (401, #"{"error":{"code":"unauthorized","message":"No."}}"#, .signedOut),
    ])
    func aRefusedDownloadHasItsCode(status: Int, body: String, code: ChatClientError.Code) async throws {
        let blob = try #require(BlobID(Self.blob))
        let head = "HTTP/1.1 \(status) X\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n"
        try await self.with(head, Array(body.utf8)) { world in
            #expect(await self.code { _ = try await world.client.download(blob, size: nil, owner: nil, access: "t") } == code)
        }
    }

    // MARK: Exports

    @Test func anExportReplacesTheFileForItsOwnerOnly() async throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try await self.with(Self.ok(bytes.count), bytes) { world in
            let path = "\(world.folder)/data.zip"
            #expect(FileManager.default.createFile(atPath: path, contents: Data([1]), attributes: [.posixPermissions: 0o644]))
            try await world.save("data.zip")
            #expect(FileManager.default.contents(atPath: path) == Data(bytes))
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            #expect(world.files == ["data.zip"], "no partial file remains")
        }
    }

    /// An incomplete export does not replace an existing file.
    @Test func anExportThatEndsEarlyLeavesTheOldFile() async throws {
        try await self.with(Self.ok(1_000_000), [UInt8](repeating: 2, count: 400_000)) { world in
            let path = "\(world.folder)/data.zip"
            #expect(FileManager.default.createFile(atPath: path, contents: Data([1, 2, 3])))
            #expect(await self.code { try await world.save("data.zip") } != nil)
            #expect(FileManager.default.contents(atPath: path) == Data([1, 2, 3]))
            #expect(await self.code { try await world.save("new.zip") } != nil)
            #expect(world.files == ["data.zip"])
        }
    }

    /// The body of an error is not written to the file.
    @Test func aRefusedExportWritesNothing() async throws {
        let body = #"{"error":{"code":"unauthorized","message":"No."}}"#
        try await self.with("HTTP/1.1 401 X\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n", Array(body.utf8)) {
            world in
            #expect(await self.code { try await world.save("data.zip") } == .signedOut)
            #expect(world.files.isEmpty)
        }
    }

    @Test func aFileThatCannotBeWrittenIsNotRequested() async throws {
        try await self.with(Self.ok(1), [1]) { world in
            #expect(await self.code { try await world.save("missing/data.zip") } == .invalidUse)
            #expect(world.heads.withLockedValue { $0.isEmpty })
            // A directory cannot be replaced by a file.
            try FileManager.default.createDirectory(atPath: "\(world.folder)/folder", withIntermediateDirectories: false)
            #expect(await self.code { try await world.save("folder") } == .invalidUse)
            #expect(world.files == ["folder"])
        }
    }
}
