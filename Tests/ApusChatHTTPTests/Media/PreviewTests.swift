import ApusChatProtocol
import ApusChatStorage
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import ApusChatHTTP

/// Previews by shell scripts in place of the media tools.
#if canImport(Subprocess)
    @Suite(.timeLimit(.minutes(4))) struct PreviewTests {
        private static let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

        /// A temporary folder with scripts.
        private final class Scripts: Sendable {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-scripts-" + UUID().uuidString).path

            init() throws { try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true) }

            deinit { try? FileManager.default.removeItem(atPath: self.folder) }

            func script(_ name: String, _ text: String) throws -> String {
                let path = "\(self.folder)/\(name)"
                try Data(("#!/bin/sh\n" + text).utf8).write(to: URL(fileURLWithPath: path))
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
                return path
            }

            /// Returns tools that run `before`, write files of the right formats, and count their
            /// runs.
            func pictures(before: String = "") throws -> MediaTools {
                let script = """
                    echo run >> "\(self.folder)/runs"
                    \(before)
                    while [ "$1" != -o ]; do shift; done
                    name=${2%%[*}
                    case "$name" in
                        *.webp) printf 'RIFF1234WEBP-%s' "$name" > "$name" ;;
                        *.jpg) printf '\\377\\330\\377-%s' "$name" > "$name" ;;
                        *.ppm) printf 'P6 1 1 255\\n\\377\\000\\000' > "$name" ;;
                    esac
                    """
                return MediaTools(pictures: try self.script("vipsthumbnail", script), probe: nil, films: nil, logger: nil)
            }

            var runs: Int { (try? String(contentsOfFile: self.folder + "/runs", encoding: .utf8))?.split(separator: "\n").count ?? 0 }
        }

        private static func bytes() throws -> [UInt8] { Array(try #require(Data(base64Encoded: Self.png))) }

        @Test func aPictureHasPreviewsAndABlurHash() async throws {
            let scripts = try Scripts()
            let server = try TestServer(tools: try scripts.pictures())
            try await server.run { (client: TestRequests) async throws in
                let (alice, bob) = (try await client.token("alice"), try await client.token("bobby"))
                let uploaded = try await client.upload(try Self.bytes(), token: alice)
                #expect(uploaded.headers[.chatThumb]?.utf8.count == 28)
                let path = "/api/blobs/" + (uploaded.headers[.chatBlob] ?? "")
                for (size, type) in [("thumbnail", "image/webp"), ("preview", "image/webp")] {
                    let found = try await client.send(.get, "\(path)?size=\(size)", token: alice)
                    #expect(found.status == .ok && found.headers[.contentType] == type)
                    #expect(String(buffer: found.body) == "RIFF1234WEBP-\(size).webp")
                    #expect(found.headers[.cacheControl] == "private, max-age=31536000, immutable")
                    #expect(found.headers[.contentSecurityPolicy] == "sandbox; default-src 'none'")
                    #expect(found.headers[.xContentTypeOptions] == "nosniff")
                    let tag = try #require(found.headers[.eTag])
                    #expect(
                        try await client.send(.get, "\(path)?size=\(size)", token: alice, headers: [.ifNoneMatch: tag]).status
                            == .notModified)
                    // The entity tag of the original differs from that of the preview.
                    #expect(try await client.send(.get, path, token: alice, headers: [.ifNoneMatch: tag]).status == .ok)
                    let part = try await client.send(.get, "\(path)?size=\(size)", token: alice, headers: [.range: "bytes=0-3"])
                    #expect(part.status == .partialContent && part.body == ByteBuffer(string: "RIFF"))
                    #expect(try await client.send(.get, "\(path)?size=\(size)", token: bob).status == .notFound)
                }
                #expect(try await client.send(.get, path + "?size=plain", token: alice).status == .badRequest)
                #expect(try await client.send(.get, path + "?size=", token: alice).status == .badRequest)
                #expect(try await client.send(.get, path + "?size=0", token: alice).status == .badRequest)
                for (pixels, size) in [(1, "thumbnail"), (400, "thumbnail"), (401, "preview"), (16_384, "preview")] {
                    let found = try await client.send(.get, "\(path)?size=\(pixels)", token: alice)
                    #expect(String(buffer: found.body) == "RIFF1234WEBP-\(size).webp")
                }
                #expect(scripts.runs == 4)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: server.test.folder + "/previews/work").isEmpty)
        }

        @Test func aMissingPreviewIsRebuilt() async throws {
            let scripts = try Scripts()
            let server = try TestServer(tools: try scripts.pictures())
            try await server.run { (client: TestRequests) async throws in
                let token = try await client.token("alice")
                let blob = try #require(try await client.upload(try Self.bytes(), token: token).headers[.chatBlob].flatMap { BlobID($0) })
                server.files.previews.remove(blob)
                let found = try await client.send(.get, "/api/blobs/\(blob)?size=thumbnail", token: token)
                #expect(String(buffer: found.body) == "RIFF1234WEBP-thumbnail.webp")
            }
        }

        @Test func aFailureServesTheOriginalAndIsNotRepeated() async throws {
            let scripts = try Scripts()
            let server = try TestServer(tools: try scripts.pictures(before: "touch junk; exit 1"))
            try await server.run { (client: TestRequests) async throws in
                let token = try await client.token("alice")
                let uploaded = try await client.upload(try Self.bytes(), token: token)
                #expect(uploaded.status == .noContent && uploaded.headers[.chatThumb] == nil)
                for _ in 0..<2 {
                    let found = try await client.send(.get, "/api/blobs/\(uploaded.headers[.chatBlob] ?? "")?size=preview", token: token)
                    #expect(found.status == .ok && found.headers[.contentType] == "image/png")
                    #expect(found.headers[.cacheControl] == "private, max-age=60")
                }
                #expect(scripts.runs == 1)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: server.test.folder + "/previews/work").isEmpty)
        }

        /// The upload does not wait for a tool that hangs. The end of the server's work removes the
        /// unfinished files of the tool.
        @Test func aToolThatHangsDoesNotDelayTheUpload() async throws {
            let scripts = try Scripts()
            var configuration = UploadsConfiguration()
            configuration.previewWait = .milliseconds(10)
            let server = try TestServer(uploads: configuration, tools: try scripts.pictures(before: "sleep 600"))
            try await server.run { (client: TestRequests) async throws in
                let token = try await client.token("alice")
                #expect(try await client.upload(try Self.bytes(), token: token).status == .noContent)
            }
            await server.files.endWork()
            #expect(try FileManager.default.contentsOfDirectory(atPath: server.test.folder + "/previews/work").isEmpty)
        }

        @Test func withoutToolsTheOriginalIsServed() async throws {
            try await TestServer().run { (client: TestRequests) async throws in
                let token = try await client.token("alice")
                let picture = try await client.upload(try Self.bytes(), token: token).headers[.chatBlob] ?? ""
                #expect(
                    try await client.send(.get, "/api/blobs/\(picture)?size=thumbnail", token: token).headers[.contentType] == "image/png")
                let text = try await client.upload(Array("text".utf8), token: token).headers[.chatBlob] ?? ""
                #expect(try await client.send(.get, "/api/blobs/\(text)?size=thumbnail", token: token).status == .notFound)
            }
        }

        /// A server that was killed leaves the folders of unfinished previews.
        @Test func unfinishedWorksAreRemovedAtTheStart() throws {
            let test = try TestAccounts()
            let work = test.folder + "/previews/work"
            try FileManager.default.createDirectory(atPath: work + "/abcd", withIntermediateDirectories: true)
            try Data([1]).write(to: URL(fileURLWithPath: work + "/abcd/preview.webp"))
            let files = try BlobFiles(folder: test.folder)
            defer { files.close() }
            #expect(try FileManager.default.contentsOfDirectory(atPath: work).isEmpty)
        }

        @Test func aCollectedBlobLosesItsPreviews() async throws {
            let scripts = try Scripts()
            let server = try TestServer(tools: try scripts.pictures())
            try await server.run { (client: TestRequests) async throws in
                let token = try await client.token("alice")
                let blob = try #require(try await client.upload(try Self.bytes(), token: token).headers[.chatBlob].flatMap { BlobID($0) })
                let paths = [PreviewKind.thumbnail, .preview, .plain].map { server.files.previews.path($0, of: blob) }
                #expect(paths.allSatisfy { DurableFile.exists($0) })
                server.test.wait(8 * 86_400_000)
                try await server.uploads.sweep()
                #expect(!paths.contains { DurableFile.exists($0) })
            }
        }

        /// An MP4 file with only a file type box (ISO/IEC 14496-12, section 4.3).
        private static let film = [0, 0, 0, 24] + Array("ftypisom\0\0\0\0isommp41".utf8)

        @Test func aPreviewThatTheToolsCannotMakeIsRequestedOnce() async throws {
            let scripts = try Scripts()
            let probe = #"""
                echo run >> "\#(scripts.folder)/runs"
                echo '{"streams":[{"codec_type":"video","width":64,"height":48}],"format":{"duration":"3.25"}}'
                """#
            let tools = MediaTools(
                pictures: nil, probe: try scripts.script("ffprobe", probe),
                films: try scripts.script("ffmpeg", #"for name; do :; done; printf '\377\330\377-%s' "$name" > "$name""#), logger: nil)
            let server = try TestServer(tools: tools)
            try await server.run { (client: TestRequests) async throws in
                let token = try await client.token("alice")
                let uploaded = try await client.upload(Self.film, token: token)
                for _ in 0..<3 {
                    let found = try await client.send(.get, "/api/blobs/\(uploaded.headers[.chatBlob] ?? "")?size=thumbnail", token: token)
                    #expect(found.status == .notFound)
                }
                #expect(scripts.runs == 2, "one run for the upload, and one for the first request")
            }
        }

        @Test func aFilmHasItsSizeDurationAndPicture() async throws {
            let scripts = try Scripts()
            var tools = try scripts.pictures()
            tools = MediaTools(
                pictures: tools.pictures,
                probe: try scripts.script(
                    "ffprobe",
                    #"echo '{"streams":[{"codec_type":"video","width":64,"height":48}],"format":{"duration":"3.25"}}'"#),
                films: try scripts.script("ffmpeg", #"for name; do :; done; printf '\377\330\377-%s' "$name" > "$name""#), logger: nil)
            let server = try TestServer(tools: tools)
            try await server.run { (client: TestRequests) async throws in
                let token = try await client.token("alice")
                let uploaded = try await client.upload(Self.film, token: token)
                #expect(uploaded.headers[.chatWidth] == "64" && uploaded.headers[.chatHeight] == "48")
                #expect(uploaded.headers[.chatDuration] == "3250" && uploaded.headers[.chatThumb] != nil)
                let found = try await client.send(.get, "/api/blobs/\(uploaded.headers[.chatBlob] ?? "")?size=preview", token: token)
                #expect(found.headers[.contentType] == "image/jpeg")
            }
        }
    }
#endif
