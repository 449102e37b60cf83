import ApusChatProtocol
import ApusChatStorage
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ApusChatHTTP

/// Uploads of pictures of each format. The sample pictures have 3 × 2 pixels, and contain the texts
/// `SecretCamera`, `SecretComment`, `SecretXMP` and `SecretTrailer` where their format permits it.
@Suite("Uploads of pictures")
struct PictureUploadTests {
    /// A GIF with a comment and bytes after its end.
    private static let gif = """
        R0lGODlhAwACAIIAAAAAAP8AAMzMAAD/AADMzAAA/wAAAAAAACH/C05FVFNDQVBFMi4wAwEAAAAh/g1TZWNyZXRDb21tZW50ACH5BAAKAAAALAAAAAADAAIA\
        AAgJAAMMKABAAIGAACH5BAEKAAYALAAAAAADAAIAggAAAP8AAMzMAAD/AADMzAAA/wAAAAAAAAgJAAkIAFBgQICAADtTZWNyZXRUcmFpbGVy
        """
    /// A WebP with Exif, whose orientation is a quarter turn, and XMP.
    private static let webp = """
        UklGRiIBAABXRUJQVlA4WAoAAAAMAAAAAgAAAQAAVlA4IEQAAABwAgCdASoDAAIAA4BaJagCdLoAyQDJAAWbPbKkAP5NAIprfeVf3hyhfyz5ZX/yb/ZbKPw0\
        f/k38v/4Fk9OcjwyDTEAAEVYSUamAAAATU0AKgAAAAgAAwEPAAIAAAANAAAAMgESAAMAAAABAAYAAIglAAQAAAABAAAAQAAAAABTZWNyZXRDYW1lcmEAAAAE\
        AAEAAgAAAAJOAAAAAAIABQAAAAMAAAB2AAMAAgAAAAJFAAAAAAQABQAAAAMAAACOAAAAAAAAADQAAAABAAAAHwAAAAEAAAAMAAAAAQAAAA0AAAABAAAAGAAA\
        AAEAAAASAAAAAVhNUCAJAAAAU2VjcmV0WE1QAA==
        """
    /// A progressive JPEG with Exif, whose orientation is a quarter turn.
    private static let jpeg = """
        /9j/4AAQSkZJRgABAQAAAQABAAD/4QCuRXhpZgAATU0AKgAAAAgAAwEPAAIAAAANAAAAMgESAAMAAAABAAYAAIglAAQAAAABAAAAQAAAAABTZWNyZXRDYW1l\
        cmEAAAAEAAEAAgAAAAJOAAAAAAIABQAAAAMAAAB2AAMAAgAAAAJFAAAAAAQABQAAAAMAAACOAAAAAAAAADQAAAABAAAAHwAAAAEAAAAMAAAAAQAAAA0AAAAB\
        AAAAGAAAAAEAAAASAAAAAf/bAEMAEAsMDgwKEA4NDhIREBMYKBoYFhYYMSMlHSg6Mz08OTM4N0BIXE5ARFdFNzhQbVFXX2JnaGc+TXF5cGR4XGVnY//bAEMB\
        ERISGBUYLxoaL2NCOEJjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY//CABEIAAIAAwMBIgACEQEDEQH/xAAVAAEB\
        AAAAAAAAAAAAAAAAAAAAAv/EABQBAQAAAAAAAAAAAAAAAAAAAAT/2gAMAwEAAhADEAAAAYDx/wD/xAAVEAEBAAAAAAAAAAAAAAAAAAACAf/aAAgBAQABBQIm\
        Uf/EABcRAAMBAAAAAAAAAAAAAAAAAAABAjL/2gAIAQMBAT8BrTP/xAAXEQADAQAAAAAAAAAAAAAAAAAAAQMy/9oACAECAQE/AZYR/8QAGBAAAgMAAAAAAAAA\
        AAAAAAAAAAECETH/2gAIAQEABj8CjaWI/8QAFxABAAMAAAAAAAAAAAAAAAAAAQAhYf/aAAgBAQABPyFIUtyZP//aAAwDAQACAAMAAAAQ8//EABYRAAMAAAAA\
        AAAAAAAAAAAAAAABof/aAAgBAwEBPxCxn//EABcRAAMBAAAAAAAAAAAAAAAAAAABobH/2gAIAQIBAT8QnWH/xAAWEAEBAQAAAAAAAAAAAAAAAAABACH/2gAI\
        AQEAAT8Qfa0hVxf/2Q==
        """

    struct Sample: Sendable, CustomTestStringConvertible {
        let type: String
        let text: String
        /// The size as it is shown.
        let width: Int
        let height: Int

        var bytes: [UInt8] { Array(Data(base64Encoded: self.text) ?? Data()) }
        var testDescription: String { self.type }
    }

    static let samples = [
        Sample(type: "image/gif", text: gif, width: 3, height: 2), Sample(type: "image/webp", text: webp, width: 2, height: 3),
        Sample(type: "image/jpeg", text: jpeg, width: 2, height: 3),
    ]

    private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: text.utf8) }
    }

    @Test(arguments: samples) func aPictureIsStoredWithoutItsMetadata(sample: Sample) async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            #expect(Self.contains(sample.bytes, "Secret"))
            let token = try await client.token("alice")
            let uploaded = try await client.upload(sample.bytes, token: token)
            #expect(uploaded.headers[.chatType] == sample.type)
            #expect(uploaded.headers[.chatWidth] == String(sample.width) && uploaded.headers[.chatHeight] == String(sample.height))
            let blob = try #require(uploaded.headers[.chatBlob])
            let served = try await client.send(.get, "/api/blobs/" + blob, token: token)
            let bytes = Array(served.body.readableBytesView)
            #expect(!Self.contains(bytes, "Secret") && uploaded.headers[.chatSize] == String(bytes.count))
            #expect(served.headers[.contentType] == sample.type && served.headers[.contentDisposition] == nil)
            #expect(served.headers[.contentSecurityPolicy] == "sandbox; default-src 'none'")
            // The upload of the stored picture is the same blob.
            #expect(try await client.upload(bytes, token: token).headers[.chatBlob] == blob)
            // The original bytes remain nowhere in the data folder.
            for file in try FileManager.default.subpathsOfDirectory(atPath: server.test.folder) {
                let content = DurableFile.bytes(of: server.test.folder + "/" + file, upTo: 1 << 20) ?? []
                #expect(!Self.contains(content, "Secret"), "\(file)")
            }
        }
    }

    /// A picture that ends early is a generic file, or the picture without its metadata if its
    /// pixels are complete. In no case is metadata served.
    @Test(arguments: samples) func aPictureThatEndsEarlyServesNoMetadataAsAPicture(sample: Sample) async throws {
        try await TestServer { $0.hasLimits = false }.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            for count in stride(from: 1, to: sample.bytes.count, by: 7) {
                let uploaded = try await client.upload(Array(sample.bytes.prefix(count)), token: token)
                #expect(uploaded.status == .noContent, "\(count)")
                let served = try await client.send(.get, "/api/blobs/" + (uploaded.headers[.chatBlob] ?? ""), token: token)
                if uploaded.headers[.chatType] == sample.type {
                    #expect(!Self.contains(Array(served.body.readableBytesView), "Secret"), "\(count)")
                } else {
                    #expect(uploaded.headers[.chatType] == "application/octet-stream", "\(count)")
                    #expect(uploaded.headers[.chatWidth] == nil && served.headers[.contentDisposition] == "attachment")
                }
            }
        }
    }

    /// A picture inside of another file is not a picture.
    @Test(arguments: ["<html><script>alert(1)</script>", "%PDF-1.7\n", "#!/bin/sh\n", "\u{FEFF}", " "])
    func aPictureAfterOtherBytesIsADownload(start: String) async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            for sample in Self.samples {
                let uploaded = try await client.upload(Array(start.utf8) + sample.bytes, token: token)
                #expect(uploaded.headers[.chatType] == "application/octet-stream" && uploaded.headers[.chatWidth] == nil)
            }
        }
    }

    // MARK: Bounds

    /// Returns a GIF without pixels whose header states a size.
    private static func header(_ width: UInt16, _ height: UInt16) -> [UInt8] {
        func little(_ number: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)] }
        return Array("GIF89a".utf8) + little(width) + little(height) + [0, 0, 0, 0x3B]
    }

    @Test(
        arguments: [
            (16_384, 1, false), (1, 16_384, false), (16_385, 1, true), (1, 16_385, true), (8_000, 5_000, false), (8_000, 5_001, true),
            (65_535, 65_535, true),
        ] as [(UInt16, UInt16, Bool)])
    func sidesAndPixelsHaveTheirLimits(width: UInt16, height: UInt16, isRefused: Bool) async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let response = try await client.upload(Self.header(width, height), token: token)
            #expect((response.status == .contentTooLarge) == isRefused, "\(response.status)")
            guard isRefused else { return }
            let error = try response.error()
            #expect(error.code == .tooLarge && error.message.contains("\(width) × \(height) pixels"))
            // The upload is removed, and its bytes are given back.
            #expect(try FileManager.default.contentsOfDirectory(atPath: server.test.folder + "/uploads").isEmpty)
        }
    }

    /// The pixels of pictures that are not stored as uploads have the same limits.
    @Test func aCleanedPictureHasTheSameLimits() async throws {
        let server = try TestServer()
        for sample in Self.samples {
            let cleaned = try #require(try await server.files.cleaned(sample.bytes))
            #expect(cleaned.type == sample.type && !Self.contains(cleaned.bytes, "Secret"))
            #expect(try await server.files.cleaned(Array(sample.bytes.prefix(sample.bytes.count / 4))) == nil)
        }
        for bytes in [[], [0x89], Array("<svg/>".utf8), Array("RIFF1234WAVE".utf8)] as [[UInt8]] {
            #expect(try await server.files.cleaned(bytes) == nil)
        }
        await #expect(throws: ChatError.self) { _ = try await server.files.cleaned(Self.header(16_385, 1)) }
    }
}
