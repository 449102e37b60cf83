import Crypto
import Foundation
import NIOCore
import Testing

@testable import ApusChatServer

@Suite(.timeLimit(.minutes(5))) struct PageTests {
    private static let page = [
        "index.html": "<!doctype html>", "js/app.js": "let a = 1\n", "sw.js": "let b = 1\n", ".hidden/secret.js": "let c = 1\n",
        "notes.md": "text",
    ]

    @Test func theFilesHaveTheirTypesAndThePolicy() async throws {
        try await RunningServer.with(page: Self.page) { server in
            let index = try await server.http.get("/")
            #expect(index.status == 200)
            #expect(index.body == "<!doctype html>")
            #expect(index.headers["content-type"] == "text/html; charset=utf-8")
            #expect(index.headers["content-security-policy"]?.contains("script-src 'self'") == true)
            #expect(index.headers["x-frame-options"] == "DENY")
            #expect(index.headers["x-content-type-options"] == "nosniff")
            #expect(index.headers["cache-control"] == "no-cache")
            #expect(try await server.http.get("/js/app.js").headers["content-type"] == "text/javascript; charset=utf-8")
            #expect(try await server.http.get("/notes.md").status == 404)
            #expect(try await server.http.get("/.hidden/secret.js").status == 404)
            #expect(try await server.http.get("/../data/chat.key").status == 404)
        }
    }

    @Test func anUnchangedFileIsNotSentAgain() async throws {
        try await RunningServer.with(page: Self.page) { server in
            let tag = try #require(try await server.http.get("/js/app.js").headers["etag"])
            let again = try await server.http.get("/js/app.js", ["If-None-Match": "W/\"x\", " + tag])
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
        }
    }

    @Test(
        arguments: [
            ("gzip", true), ("br, gzip;q=0.1", true), ("*", true), ("deflate, x-gzip", true), ("gzip;q=0", false), ("identity", false),
            ("*;q=0", false), ("deflate", false), ("", false),
        ])
    func textIsCompressedForClientsThatAcceptIt(accepted: String, isCompressed: Bool) async throws {
        let script = String(repeating: "let a = 1\n", count: 100)
        try await RunningServer.with(page: ["index.html": "x", "app.js": script]) { server in
            let answer = try await server.http.get("/app.js", accepted.isEmpty ? [:] : ["Accept-Encoding": accepted])
            #expect(answer.headers["content-encoding"] == (isCompressed ? "gzip" : nil))
            #expect(answer.headers["vary"] == "Accept-Encoding")
            #expect((answer.headers["content-length"].flatMap { Int($0) } ?? 0 < 100) == isCompressed)
            #expect((answer.body == script) != isCompressed)
        }
    }

    @Test func eachRepresentationHasATagOfItsOwn() async throws {
        let script = String(repeating: "let a = 1\n", count: 100)
        try await RunningServer.with(page: ["index.html": "x", "app.js": script]) { server in
            let plain = try #require(try await server.http.get("/app.js").headers["etag"])
            let gzip = try #require(try await server.http.get("/app.js", ["Accept-Encoding": "gzip"]).headers["etag"])
            #expect(plain != gzip)
            for (tag, accepted, status) in [(plain, "gzip", 200), (gzip, "", 200), ("\"x\" , W/\(gzip) ", "gzip", 304), ("*", "", 304)] {
                let again = try await server.http.get("/app.js", ["If-None-Match": tag, "Accept-Encoding": accepted])
                #expect(again.status == status)
                #expect(again.headers["vary"] == "Accept-Encoding")
            }
        }
    }

    @Test func aFileThatDoesNotShrinkIsServedAsItIs() throws {
        let file = try #require(PageFile(name: "a.js", bytes: ByteBuffer(string: "1")))
        #expect(file.compressed == nil)
        let picture = try #require(PageFile(name: "a.png", bytes: ByteBuffer(repeating: 0, count: 1_000)))
        #expect(picture.compressed == nil)
    }

    /// The number and the compressed size of the files of the page in all languages. A browser
    /// requests those of one language, at most 150,000 bytes (`test_page_program.py`).
    @Test func theShellIsSmall() throws {
        // The PNG files are for the installed page, `core-core` is for a browser without locks.
        let others = ["test", "sample", ".png", "core-core"]
        let files = EmbeddedPage.files.filter { file in !others.contains { file.path.contains($0) } }
        let sizes = files.compactMap { PageFile(name: $0.path, bytes: $0.bytes) }.map { ($0.compressed ?? $0.bytes).readableBytes }
        #expect(sizes.reduce(0, +) <= 200_000)
        #expect(sizes.count <= 12)
    }

    @Test func aNameWithTheHashOfTheContentIsKept() async throws {
        let text = "let a = 1\n"
        let hash = SHA256.hash(data: Data(text.utf8)).prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let other = String(hash.reversed())
        let page = ["index.html": "x", "js/app-\(hash).js": text, "js/app-\(other).js": text, "js/app-.js": text]
        try await RunningServer.with(page: page) { server in
            for (name, isKept) in [(hash, true), (other, false), ("", false)] {
                let answer = try await server.http.get("/js/app-\(name).js")
                #expect(answer.headers["cache-control"] == (isKept ? "public, max-age=31536000, immutable" : "no-cache"))
            }
        }
    }

    @Test func anInvitationOpensThePage() async throws {
        try await RunningServer.with(page: Self.page) { server in
            let answer = try await server.http.get("/join")
            #expect(answer.body == "<!doctype html>")
            #expect(try await server.http.get("/join/x").status == 404)
        }
    }

    @Test func bytesThatAreNotTextAreBase64InLines() {
        let file = EmbeddedFile(
            path: "a.png",
            content: .base64(
                """
                AAEC
                //8=
                """))
        #expect(Array(file.bytes.readableBytesView) == [0, 1, 2, 255, 255])
        #expect(EmbeddedFile(path: "empty.txt", content: .text("")).bytes.readableBytes == 0)
        #expect(EmbeddedFile(path: "one.txt", content: .text("é")).bytes == ByteBuffer(string: "é"))
    }

    @Test func theWorkerServesItsFolder() async throws {
        try await RunningServer.with(page: Self.page) { server in
            let answer = try await server.http.get("/sw.js")
            #expect(answer.headers["service-worker-allowed"] == "/")
        }
    }

    @Test func aHeadRequestHasNoBody() async throws {
        try await RunningServer.with(page: Self.page) { server in
            let answer = try await server.http.get("/", method: "HEAD")
            #expect(answer.status == 200)
            #expect(answer.body.isEmpty)
        }
    }

    @Test func aFolderWithoutAPageIsRefused() {
        #expect { try PageFolder(NSTemporaryDirectory() + "apus-missing") } throws: { ($0 as? ChatServerError)?.code == .pageFolder }
    }
}
