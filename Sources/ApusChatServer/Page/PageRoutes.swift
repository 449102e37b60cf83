import ApusChatHTTP
import ApusEngineIOServer
import HTTPTypes
import Hummingbird
import NIOCore

/// Serves the files of the page.
///
/// Each request is a lookup in a table of known files. A path from a client never reaches the file
/// system.
struct PageRoutes: Sendable {
    /// Returns the file at a path, which begins with a slash.
    let find: @Sendable (_ path: String) -> PageFile?

    /// The files inside the program.
    static func embedded() -> PageRoutes {
        var files: [String: PageFile] = [:]
        for file in EmbeddedPage.files { files["/" + file.path] = PageFile(name: file.path, bytes: file.bytes) }
        return PageRoutes { [files] in files[$0] }
    }

    /// The files of a folder, as they change.
    ///
    /// - Throws: `ChatServerError` `pageFolder` when the folder has no `index.html`.
    static func folder(_ folder: String) throws(ChatServerError) -> PageRoutes {
        let folder = try PageFolder(folder)
        return PageRoutes { folder.file($0) }
    }

    /// Adds the routes to a router that has the middleware.
    func add(to router: Router<HTTPContext>) {
        for path: RouterPath in ["/", "/**"] {
            router.get(path) { request, context in try self.response(to: request, context) }
            router.head(path) { request, context in try self.response(to: request, context).createHeadResponse() }
        }
    }

    private func response(to request: Request, _ context: HTTPContext) throws -> Response {
        let path = request.uri.path
        guard let file = self.file(path) else { throw HTTPError(.notFound) }
        var headers: HTTPFields = [
            .contentType: file.type, .contentSecurityPolicy: Self.policy,
            .cacheControl: Self.namesContent(path, of: file) ? "public, max-age=31536000, immutable" : "no-cache",
        ]
        if let name = HTTPField.Name("X-Frame-Options") { headers[name] = "DENY" }
        // The worker of a page in a subfolder serves that folder only, which is the default, too.
        if path.hasSuffix("/sw.js"), let name = HTTPField.Name("Service-Worker-Allowed") { headers[name] = String(path.dropLast(5)) }
        var bytes = file.bytes
        var tag = "\"" + file.hash + "\""
        if let compressed = file.compressed {
            headers[.vary] = "Accept-Encoding"
            if HTTPContentCoding(accepted: request.headers[values: .acceptEncoding], offered: [.gzip]) != nil {
                headers[.contentEncoding] = "gzip"
                bytes = compressed
                // Each representation has a tag of its own (RFC 9110 8.8.3.3).
                tag = "\"" + file.hash + "-gzip\""
            }
        }
        headers[.eTag] = tag
        if Self.matches(request.headers[values: .ifNoneMatch], tag) { return Response(status: .notModified, headers: headers) }
        return Response(status: .ok, headers: headers, body: Self.body(bytes, on: context.channel))
    }

    /// Whether `If-None-Match` names an entity tag (RFC 9110 13.1.2). The comparison is weak.
    private static func matches(_ lists: [String], _ tag: String) -> Bool {
        for element in lists.flatMap({ $0.split(separator: ",") }) {
            let text = element.trimmingPrefix { $0 == " " || $0 == "\t" }
            let end = text.lastIndex { $0 != " " && $0 != "\t" }
            let candidate = end.map { text[...$0] } ?? ""
            if candidate == "*" || (candidate.hasPrefix("W/") ? candidate.dropFirst(2) : candidate) == tag { return true }
        }
        return false
    }

    /// An invitation to a group is the address `/join` of the page, with the code in its fragment.
    private func file(_ path: String) -> PageFile? {
        self.find(path) ?? (path == "/join" ? self.find("/index.html") : path.hasSuffix("/") ? self.find(path + "index.html") : nil)
    }

    /// Whether the name ends in the hash of the file, as `scripts/bundle_page.py` writes it. Such
    /// an address never gets other content.
    private static func namesContent(_ path: String, of file: PageFile) -> Bool {
        guard let dash = path.lastIndex(of: "-"), let dot = path[dash...].firstIndex(of: ".") else { return false }
        let hash = path[path.index(after: dash)..<dot]
        return hash.utf8.count == 16 && file.hash.hasPrefix(hash)
    }

    /// The maximum size of one write, in bytes. TLS encrypts and copies whole writes.
    private static let pieceBytes = 64 << 10

    /// A body that is written at the pace of the client. A client that does not read holds at most
    /// three pieces.
    private static func body(_ bytes: ByteBuffer, on channel: any Channel) -> ResponseBody {
        guard bytes.readableBytes > self.pieceBytes else { return ResponseBody(byteBuffer: bytes) }
        return ResponseBody(contentLength: bytes.readableBytes) { writer in
            var rest = bytes
            while let piece = rest.readSlice(length: min(Self.pieceBytes, rest.readableBytes)), piece.readableBytes > 0 {
                try await writer.write(piece)
                // The writer suspends while the channel is not writable, which it learns after the
                // event loop has carried out the write.
                try await channel.eventLoop.submit {}.get()
            }
            try await writer.finish(nil)
        }
    }

    /// Scripts and styles from here only, none inline; pictures also from `blob:`, because a blob
    /// is fetched with the session.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; font-src 'self'; media-src 'self' blob:; "
        + "connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
}
