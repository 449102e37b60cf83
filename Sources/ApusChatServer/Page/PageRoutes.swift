import ApusChatHTTP
import ApusEngineIOServer
import HTTPTypes
import Hummingbird
import NIOCore

/// Serves the files of the page.
///
/// Each request is a lookup in a table of known files. A path from a client is never used in the
/// file system.
struct PageRoutes: Sendable {
    /// Returns the file at a path that begins with a slash; nil if the page has no such file.
    let find: @Sendable (_ path: String) -> PageFile?

    /// Returns routes for the files that the program contains.
    static func embedded() -> PageRoutes {
        var files: [String: PageFile] = [:]
        for file in EmbeddedPage.files { files["/" + file.path] = PageFile(name: file.path, bytes: file.bytes) }
        return PageRoutes { [files] in files[$0] }
    }

    /// Returns routes for the files of a folder, in their current form.
    ///
    /// - Throws: `ChatServerError` with `pageFolder` if the folder has no `index.html`.
    static func folder(_ folder: String) throws(ChatServerError) -> PageRoutes {
        let folder = try PageFolder(folder)
        return PageRoutes { folder.file($0) }
    }

    /// Adds the routes to a router whose middleware is already installed.
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
        // Restricts the service worker of a page in a subfolder to that folder, which is also the
        // default scope.
        if path.hasSuffix("/sw.js"), let name = HTTPField.Name("Service-Worker-Allowed") { headers[name] = String(path.dropLast(5)) }
        var bytes = file.bytes
        var tag = "\"" + file.hash + "\""
        if let compressed = file.compressed {
            headers[.vary] = "Accept-Encoding"
            if HTTPContentCoding(accepted: request.headers[values: .acceptEncoding], offered: [.gzip]) != nil {
                headers[.contentEncoding] = "gzip"
                bytes = compressed
                // Each representation needs a different entity tag (RFC 9110 section 8.8.3.3).
                tag = "\"" + file.hash + "-gzip\""
            }
        }
        headers[.eTag] = tag
        if Self.matches(request.headers[values: .ifNoneMatch], tag) { return Response(status: .notModified, headers: headers) }
        return Response(status: .ok, headers: headers, body: Self.body(bytes, on: context.channel))
    }

    /// Returns whether `If-None-Match` contains an entity tag (RFC 9110 section 13.1.2). The
    /// comparison is weak.
    private static func matches(_ lists: [String], _ tag: String) -> Bool {
        for element in lists.flatMap({ $0.split(separator: ",") }) {
            let text = element.trimmingPrefix { $0 == " " || $0 == "\t" }
            let end = text.lastIndex { $0 != " " && $0 != "\t" }
            let candidate = end.map { text[...$0] } ?? ""
            if candidate == "*" || (candidate.hasPrefix("W/") ? candidate.dropFirst(2) : candidate) == tag { return true }
        }
        return false
    }

    /// Returns the file at a path. For `/join`, the path of invite links, returns the page. The
    /// code of the link is in the fragment.
    private func file(_ path: String) -> PageFile? {
        self.find(path) ?? (path == "/join" ? self.find("/index.html") : path.hasSuffix("/") ? self.find(path + "index.html") : nil)
    }

    /// Returns whether the name ends in the hash of the file, as `scripts/bundle_page.py` creates
    /// it. The content at such a path never changes.
    private static func namesContent(_ path: String, of file: PageFile) -> Bool {
        guard let dash = path.lastIndex(of: "-"), let dot = path[dash...].firstIndex(of: ".") else { return false }
        let hash = path[path.index(after: dash)..<dot]
        return hash.utf8.count == 16 && file.hash.hasPrefix(hash)
    }

    /// The maximum size of one write, in bytes. TLS encrypts and copies a write as a whole.
    private static let pieceBytes = 64 << 10

    /// Returns a body that is written only as fast as the client receives it. For a client that
    /// does not read, at most three pieces are buffered.
    private static func body(_ bytes: ByteBuffer, on channel: any Channel) -> ResponseBody {
        guard bytes.readableBytes > self.pieceBytes else { return ResponseBody(byteBuffer: bytes) }
        return ResponseBody(contentLength: bytes.readableBytes) { writer in
            var rest = bytes
            while let piece = rest.readSlice(length: min(Self.pieceBytes, rest.readableBytes)), piece.readableBytes > 0 {
                try await writer.write(piece)
                // The writer suspends while the channel is not writable. It detects that state only
                // after the event loop has performed the previous write.
                try await channel.eventLoop.submit {}.get()
            }
            try await writer.finish(nil)
        }
    }

    /// Permits scripts and styles only from this server, and no inline ones. Pictures may also have
    /// `blob:` URLs, because the page downloads them with the session.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; font-src 'self'; media-src 'self' blob:; "
        + "connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
}
