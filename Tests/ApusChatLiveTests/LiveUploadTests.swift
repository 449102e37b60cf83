import ApusChatClient
import ApusChatProtocol
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Files of the client with a complete server.
@Suite(.timeLimit(.minutes(5)))
struct LiveUploadTests {
    /// Returns bytes that are not the beginning of a media format.
    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ ($0 >> 8)) } }

    @Test func aFileOfSeveralPartsIsSentAndDownloaded() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let bob = try await fixture.signUp("bob")
            let carol = try await fixture.signUp("carol")
            let pair = try await alice.conversation(with: "bob")
            let bytes = Self.bytes(200_000)
            let bold = TextEntity(kind: .bold, offset: 4, length: 4)
            try await pair.send(
                file: try fixture.write(bytes, to: "数据.bin"), type: "application/octet-stream", caption: "the data", entities: [bold])
            let there = bob.conversation(pair.id)
            try await bob.wait { (try? await there.texts) == ["the data"] }
            let row = try await there.storedMessages().messages.first { $0.text == "the data" }
            guard case .file(let file)? = row?.body else { throw NoFile() }
            #expect(file.name == "数据.bin" && file.entities == [bold])
            #expect(file.size == 200_000)
            #expect(try await bob.download(file.blob) == bytes)
            await #expect { try await carol.download(file.blob) } throws: { ($0 as? ChatClientError)?.code == .notFound }
            // A program without a session can use the link.
            let link = try await bob.link(to: file.blob)
            let (found, _) = try await URLSession.shared.data(from: try #require(URL(string: link.url)))
            #expect(Array(found) == bytes)
            #expect(link.expiresAt > 0)
            await #expect { try await carol.link(to: file.blob) } throws: { ($0 as? ChatClientError)?.code == .notFound }
        }
    }

    @Test func anUploadContinuesAfterACutConnection() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let bob = try await fixture.signUp("bob")
            let pair = try await alice.conversation(with: "bob")
            let bytes = Self.bytes(300_000)
            fixture.relay.silence()
            try await pair.send(file: try fixture.write(bytes, to: "data.bin"), type: "application/octet-stream", caption: "data")
            await fixture.relay.cut()
            let there = bob.conversation(pair.id)
            try await bob.wait { (try? await there.texts) == ["data"] }
            let row = try await there.storedMessages().messages.first { $0.text == "data" }
            guard case .file(let file)? = row?.body else { throw NoFile() }
            #expect(try await bob.download(file.blob) == bytes)
        }
    }

    private struct NoFile: Error {}
}
