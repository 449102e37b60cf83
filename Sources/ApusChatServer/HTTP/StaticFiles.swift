import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The page and what belongs to it: the files of `Web/`, read once at the start.
///
/// A request is a look-up in a table; no path of a client's ever reaches the file system (hazard 21).
struct StaticFiles: Sendable {
    struct File: Sendable {
        var type: String
        var tag: String
        var bytes: ByteBuffer
    }

    private(set) var files: [String: File] = [:]

    /// Reads the files of the resource bundle.
    static func bundled() -> StaticFiles {
        guard let root = Bundle.module.resourceURL?.appendingPathComponent("Web") else { return StaticFiles() }
        return StaticFiles(folder: root.path)
    }

    init() {}

    init(folder: String) {
        guard let paths = FileManager.default.enumerator(atPath: folder) else { return }
        for case let path as String in paths {
            guard let type = Self.types[(path as NSString).pathExtension.lowercased()],
                let data = FileManager.default.contents(atPath: folder + "/" + path)
            else { continue }  // a folder, or a file of a kind that no page needs
            let tag = "\"" + Secrets.hex(SHA256.hash(data: data).prefix(16)) + "\""
            self.files["/" + path] = File(type: type, tag: tag, bytes: ByteBuffer(bytes: data))
        }
        self.files["/"] = self.files["/index.html"]
    }

    func add(to router: Router<ChatRequestContext>) {
        router.get("/") { request, _ in try self.respond(request) }
        router.get("/**") { request, _ in try self.respond(request) }
    }

    private func respond(_ request: Request) throws -> Response {
        guard let file = self.files[request.uri.path] ?? self.files[request.uri.path + "index.html"] else { throw HTTPError(.notFound) }
        var headers: HTTPFields = [
            .contentType: file.type, .eTag: file.tag, .cacheControl: "no-cache", .contentSecurityPolicy: Self.policy,
        ]
        if let name = HTTPField.Name("X-Frame-Options") { headers[name] = "DENY" }
        if request.headers[.ifNoneMatch] == file.tag { return Response(status: .notModified, headers: headers) }
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: file.bytes))
    }

    /// Scripts and styles from here only, none inline; pictures also from `blob:`, because a blob is fetched with the token.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; font-src 'self'; media-src 'self' blob:; "
        + "connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "mjs": "text/javascript; charset=utf-8", "json": "application/json; charset=utf-8", "map": "application/json; charset=utf-8",
        "svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
        "ico": "image/x-icon", "woff2": "font/woff2", "webmanifest": "application/manifest+json", "txt": "text/plain; charset=utf-8",
    ]
}
