import Foundation
import NIOCore
import Testing

@testable import ApusChatServer

/// The paths of the page, and the conditions of its requests.
@Suite(.timeLimit(.minutes(5))) struct PageRoutesTests {
    private static let page = [
        "index.html": "<!doctype html>", "js/app.js": "let a = 1\n", "docs/index.html": "docs", "docs/sw.js": "let b = 1\n",
        "docs/.git/config.txt": "secret", "a b.txt": "space", "big.txt": String(repeating: "0123456789", count: 20_000), "run.exe": "x",
    ]

    @Test func onlyTheFilesOfThePageAreFound() async throws {
        try await RunningServer.with(page: Self.page) { server in
            let paths: [(path: String, body: String?)] = [
                ("/", "<!doctype html>"), ("/?x=1", "<!doctype html>"), ("/index.html", "<!doctype html>"), ("/docs/", "docs"),
                ("/docs/?a", "docs"), ("/js/app.js?v=2", "let a = 1\n"), ("/docs", nil), ("/js/", nil), ("/JS/app.js", nil),
                ("/js/app.js/", nil), ("/js//app.js", nil), ("/js/../index.html", nil), ("/../data/chat.sqlite", nil),
                ("/%2e%2e/data/chat.key", nil), ("/..%2fdata/chat.key", nil), ("/docs/.git/config.txt", nil), ("/run.exe", nil),
                ("/index.html%00.js", nil), ("/etc/passwd", nil), ("/joins", nil), ("/join/", nil), ("/favicon.ico", nil),
            ]
            for (path, body) in paths {
                let answer = try await server.http.get(path)
                #expect(answer.status == (body == nil ? 404 : 200), "\(path)")
                if let body { #expect(answer.body == body, "\(path)") }
                let head = try await server.http.get(path, method: "HEAD")
                #expect(head.status == answer.status && head.body.isEmpty, "\(path)")
            }
        }
    }

    @Test func otherMethodsDoNotExist() async throws {
        try await RunningServer.with(page: Self.page) { server in
            for method in ["POST", "PUT", "DELETE", "PATCH"] {
                let status = try await server.http.get("/index.html", method: method).status
                #expect(status == 404 || status == 405, "\(method)")
            }
        }
    }

    @Test func aLargeFileArrivesInPieces() async throws {
        try await RunningServer.with(page: Self.page) { server in
            let answer = try await server.http.get("/big.txt")
            #expect(answer.body == Self.page["big.txt"] && answer.headers["content-length"] == "200000")
            let head = try await server.http.get("/big.txt", method: "HEAD")
            #expect(head.body.isEmpty && head.headers["content-length"] == "200000")
        }
    }

    /// Each case is a value of the field `If-None-Match` and the status of the answer.
    @Test func theEntityTagDecidesWhetherAFileIsSent() async throws {
        try await RunningServer.with(page: Self.page) { server in
            let tag = try #require(try await server.http.get("/js/app.js").headers["etag"])
            let bare = tag.replacing("\"", with: "")
            let fields: [(field: String, status: Int)] = [
                (tag, 304), ("W/" + tag, 304), ("*", 304), ("\"a\", " + tag, 304), ("\"a\",\t" + tag + "\t,\"b\"", 304), (",,, ,*", 304),
                ("", 200), (",", 200), (bare, 200), ("\"\"", 200), ("w/" + tag, 200), ("W/W/" + tag, 200), (tag + "x", 200), ("**", 200),
                ("\"" + bare, 200), ("\"\(bare)-gzip\"", 200), (String(repeating: "\"a\",", count: 500) + tag, 304),
            ]
            for (field, status) in fields {
                let answer = try await server.http.get("/js/app.js", ["If-None-Match": field])
                #expect(answer.status == status && answer.body.isEmpty == (status == 304), "\(field.prefix(60))")
                #expect(answer.headers["etag"] == tag, "RFC 9110 15.4.5")
            }
        }
    }

    @Test func aWorkerServesTheFolderOfItsFile() async throws {
        try await RunningServer.with(page: Self.page) { server in
            for (path, scope) in [("/docs/sw.js", "/docs/"), ("/js/app.js", nil)] {
                let answer = try await server.http.get(path)
                #expect(answer.headers["service-worker-allowed"] == scope)
            }
        }
    }

    @Test(arguments: [
        ("a.HTML", "text/html; charset=utf-8"), ("a.b.css", "text/css; charset=utf-8"), ("x.woff2", "font/woff2"), ("a", nil), ("a.", nil),
        (".js", nil), ("a.js.exe", nil), ("a.php", nil), ("", nil), ("a.JPEG", "image/jpeg"),
    ]) func theTypeIsThatOfTheExtension(name: String, type: String?) { #expect(PageFile.type(of: name) == type) }

    // MARK: A folder

    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-page-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    /// The interval is zero, so that each request scans the folder.
    @Test func aChangedFolderIsServedAsItIs() throws {
        try self.withFolder { folder in
            func write(_ name: String, _ text: String) throws { try Data(text.utf8).write(to: folder.appendingPathComponent(name)) }
            try write("index.html", "one")
            let page = try PageFolder(folder.path, interval: .zero)
            let first = try #require(page.file("/index.html"))
            #expect(page.file("/index.html")?.hash == first.hash)
            try write("index.html", "other")
            try write("b.js", "let b")
            #expect(page.file("/index.html").map { String(buffer: $0.bytes) } == "other")
            #expect(page.file("/b.js") != nil)
            try FileManager.default.removeItem(at: folder.appendingPathComponent("b.js"))
            #expect(page.file("/b.js") == nil)
            try FileManager.default.removeItem(at: folder)
            #expect(page.file("/index.html") == nil)
        }
    }

    @Test func aFolderIsScannedOnceInItsInterval() throws {
        try self.withFolder { folder in
            try Data("one".utf8).write(to: folder.appendingPathComponent("index.html"))
            let page = try PageFolder(folder.path, interval: .seconds(86_400))
            try Data("b".utf8).write(to: folder.appendingPathComponent("b.js"))
            #expect(page.file("/b.js") == nil && page.file("/index.html") != nil)
        }
    }
}
