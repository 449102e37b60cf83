import Foundation
import NIOCore
import Testing

@testable import ApusChatServer

@Suite("The page's files")
struct PageTests {
    /// The page's folder in the repository.
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../Web")
        .standardizedFileURL.path

    @Test func theBinaryHoldsTheFilesAsTheyAre() throws {
        let embedded = StaticFiles.embedded()
        let folder = try StaticFiles.folder(Self.folder)
        let paths = (FileManager.default.enumerator(atPath: Self.folder)?.allObjects ?? []).compactMap { $0 as? String }
            .filter { PageFile.type(of: $0) != nil }
        #expect(paths.count > 30 && paths.sorted() == EmbeddedPage.files.map(\.path).sorted())
        for path in paths + [""] {
            let file = try #require(embedded.file("/" + path))
            let same = try #require(folder.file("/" + path))
            #expect(file.bytes == same.bytes && file.type == same.type && file.tag == same.tag, "\(path)")
            #expect(file.bytes.readableBytes > 0)
        }
        for path in ["/absent.js", "/../index.html", "/js", "/js/", "index.html", ""] {
            #expect(embedded.file(path) == nil && folder.file(path) == nil, "\(path)")
        }
    }

    @Test func bytesThatAreNoTextAreBase64InLines() {
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

    @Test func aFolderIsServedAsItChanges() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder + "/css", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name)) }
        #expect {
            _ = try PageFolder(folder)
        } throws: { error in
            (error as? ChatServerError)?.code == .pageFolder && "\(error)".contains(folder)
        }
        try write("one", to: "index.html")
        let files = try PageFolder(folder, interval: .zero)
        let first = try #require(files.file("/index.html"))
        #expect(first.bytes == ByteBuffer(string: "one") && files.file("/index.html")?.tag == first.tag)
        try write("three", to: "index.html")
        try write("body {}", to: "css/new.css")
        try write("#!/bin/sh", to: "notes.sh")  // an extension that is not served
        #expect(files.file("/index.html")?.bytes == ByteBuffer(string: "three") && files.file("/index.html")?.tag != first.tag)
        #expect(files.file("/css/new.css")?.type == "text/css; charset=utf-8")
        #expect(files.file("/notes.sh") == nil && files.file("/css") == nil)
        try FileManager.default.removeItem(atPath: folder + "/css/new.css")
        #expect(files.file("/css/new.css") == nil)
        // The folder is not scanned again within the interval.
        let lazy = try PageFolder(folder, interval: .seconds(3_600))
        try write("four", to: "index.html")
        #expect(lazy.file("/index.html")?.bytes == ByteBuffer(string: "three"))
    }
}
