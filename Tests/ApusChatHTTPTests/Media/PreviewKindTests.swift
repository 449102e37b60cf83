import ApusChatProtocol
import ApusChatStorage
import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import ApusChatHTTP

/// The parts of the creation of previews that need no tools.
@Suite("Kinds and folders of previews")
struct PreviewKindTests {
    @Test(
        arguments: [
            ("thumbnail", .thumbnail), ("preview", .preview), ("1", .thumbnail), ("400", .thumbnail), ("401", .preview),
            ("16384", .preview), ("16385", nil), ("0", nil), ("-1", nil), ("", nil), ("plain", nil), ("voice", nil), ("Preview", nil),
            ("1.5", nil), (" 300", nil), ("+300", nil), ("300px", nil), ("9223372036854775808", nil), ("３００", nil),
        ] as [(String, PreviewKind?)])
    func aSizeIsANameOrANumberOfPixels(text: String, kind: PreviewKind?) { #expect(PreviewKind(size: text) == kind) }

    @Test(
        arguments: [
            ("image/png", [.thumbnail, .preview, .plain]), ("video/mp4", [.thumbnail, .preview, .plain]),
            ("video/webm", [.thumbnail, .preview, .plain, .voice]), ("audio/ogg", [.voice]), ("audio/webm", [.voice]),
            ("application/octet-stream", []), ("text/html", []), ("", []), ("image", []),
        ] as [(String, Set<PreviewKind>)])
    func aKindAppliesToItsMedia(type: String, kinds: Set<PreviewKind>) {
        #expect(Set(PreviewKind.allCases.filter { $0.applies(to: type) }) == kinds)
    }

    @Test(
        arguments: [
            ("RIFF....WEBP", "image/webp"), ("RIFF....WAVE", nil), ("RIFF....WEB", nil), ("\u{FF}\u{D8}\u{FF}", "image/jpeg"),
            ("\u{FF}\u{D8}", nil), ("....ftyp", "audio/mp4"), ("....fty", nil), ("\u{89}PNG", nil), ("GIF89a", nil), ("", nil),
            ("<html>", nil),
        ] as [(String, String?)])
    func onlyTypesThatToolsWriteAreServed(start: String, type: String?) {
        #expect(PreviewKind.type(of: start.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }) == type)
    }

    // MARK: The folder of a job

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-workshop-" + UUID().uuidString).path
        try DurableFile.makeFolder(folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    private func write(_ bytes: [UInt8], _ path: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }

    private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xD9]

    @Test func eachJobHasAFolderOfItsOwn() async throws {
        try await self.withFolder { folder in
            let (first, second) = (try Workshop(in: folder), try Workshop(in: folder, content: [1, 2]))
            #expect(first.folder != second.folder && first.bytes(Workshop.input) == nil && second.bytes(Workshop.input) == [1, 2])
            second.remove()
            second.remove()
            #expect(!DurableFile.exists(second.folder) && DurableFile.exists(first.folder))
            #expect(throws: StorageError.self) { try Workshop(in: folder + "/none") }
            #expect(throws: StorageError.self) { try Workshop(in: folder + "/none", content: [1]) }
        }
    }

    @Test(arguments: [(10, true), (11, false)]) func aResultHasALimit(count: Int, isRead: Bool) async throws {
        try await self.withFolder { folder in
            let workshop = try Workshop(in: folder)
            try self.write(Array(repeating: 1, count: count), workshop.path("out"))
            #expect((workshop.bytes("out", upTo: 10) != nil) == isRead)
        }
    }

    @Test func aResultIsMovedToItsPlaceOnce() async throws {
        try await self.withFolder { folder in
            let workshop = try Workshop(in: folder)
            let place = folder + "/ab/preview"
            try self.write(Self.jpeg, workshop.path("out.jpg"))
            try workshop.publish("out.jpg", in: folder + "/ab", as: place)
            #expect(DurableFile.bytes(of: place, upTo: 100) != nil && workshop.bytes("out.jpg") == nil)
            // The tool wrote nothing the second time.
            try workshop.publish("out.jpg", in: folder + "/ab", as: place)
            #expect(DurableFile.bytes(of: place, upTo: 100) != nil)
        }
    }

    @Test(arguments: ["<html>", "", "GIF89a", "\u{89}PNG"]) func aResultOfAnotherTypeIsNotServed(content: String) async throws {
        try await self.withFolder { folder in
            let workshop = try Workshop(in: folder)
            try self.write(Array(content.utf8), workshop.path("out"))
            try workshop.publish("out", in: folder + "/ab", as: folder + "/ab/preview")
            #expect(!DurableFile.exists(folder + "/ab/preview"))
        }
    }

    /// A tool that is deceived into making a link must not publish the file to which it leads.
    @Test func aLinkIsNotServed() async throws {
        try await self.withFolder { folder in
            let workshop = try Workshop(in: folder)
            try self.write(Self.jpeg, folder + "/secret")
            try FileManager.default.createSymbolicLink(atPath: workshop.path("out"), withDestinationPath: folder + "/secret")
            #expect(workshop.bytes("out") == nil)
            try workshop.publish("out", in: folder + "/ab", as: folder + "/ab/preview")
            #expect(!DurableFile.exists(folder + "/ab/preview"))
        }
    }

    // MARK: The file for the tools

    @Test func aFileOfThisMachineIsLinked() async throws {
        try await self.withFolder { folder in
            let threads = NIOThreadPool(numberOfThreads: 1)
            threads.start()
            try self.write([1, 2, 3], folder + "/blob")
            try await MediaSource.link(to: folder + "/blob", threads: threads).place(folder + "/in")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/in") == folder + "/blob")
            // The name is taken.
            await #expect(throws: (any Error).self) {
                try await MediaSource.link(to: folder + "/blob", threads: threads).place(folder + "/in")
            }
            try await threads.shutdownGracefully()
        }
    }

    @Test func aFileOfAnotherStoreIsTheUploadOrACopy() async throws {
        let store = try TestStore(.s3)
        let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
        let id = try await store.put(content)
        let blob = BlobRow(id: id, size: Int64(content.count), type: MediaType.other, createdAt: 0)
        try self.write([9], store.folder + "/staged")
        func placed(_ name: String, staged: String?) async throws -> [UInt8]? {
            let path = store.folder + "/" + name
            try await MediaSource.copy(of: blob, in: store.store, staged: staged, threads: store.threads).place(path)
            return DurableFile.bytes(of: path, upTo: 1 << 20)
        }
        #expect(try await placed("a", staged: store.folder + "/staged") == [9])
        #expect(try await placed("b", staged: nil) == content)
        // The upload was removed in the meantime.
        #expect(try await placed("c", staged: store.folder + "/none") == content)
    }

    // MARK: Time limits

    @Test func aResultWithinTheTimeIsReturned() async {
        let task = Task<Int, any Error> { 7 }
        let result = await task.result(within: .seconds(600))
        #expect((try? result?.get()) == 7)
        struct Failed: Error {}
        let failing = Task<Int, any Error> { throw Failed() }
        let failure = await failing.result(within: .seconds(600))
        #expect(throws: Failed.self) { try failure?.get() }
    }

    @Test func aLateTaskContinuesAfterTheTime() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let task = Task<Int, Never> {
            for await _ in gate {}
            return Task.isCancelled ? 0 : 7
        }
        #expect(await task.result(within: .zero) == nil)
        open.finish()
        #expect(await task.value == 7)
    }

    @Test func aCancelledWaitEndsAndTheTaskContinues() async {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let task = Task<Int, Never> {
            for await _ in gate {}
            return 7
        }
        let waiting = Task { await task.result(within: .seconds(600)) }
        waiting.cancel()
        #expect(await waiting.value == nil)
        open.finish()
        #expect(await task.value == 7)
    }
}
