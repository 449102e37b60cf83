import HTTPTypes
import Hummingbird
import NIOCore

/// Serves the files of the page.
///
/// Each request is a lookup in a table of known files. A path from a client never reaches the file
/// system.
struct StaticFiles: Sendable {
    /// Returns the file at a path, which begins with a slash.
    private let find: @Sendable (_ path: String) -> PageFile?

    /// Serves the files embedded in the binary.
    static func embedded() -> StaticFiles {
        var files: [String: PageFile] = [:]
        for file in EmbeddedPage.files { files["/" + file.path] = PageFile(name: file.path, bytes: file.bytes) }
        return StaticFiles { [files] in files[$0] }
    }

    /// Serves the files of a folder, as they change.
    ///
    /// - Throws: `ChatServerError` `pageFolder` when the folder has no `index.html`.
    static func folder(_ folder: String) throws(ChatServerError) -> StaticFiles {
        let folder = try PageFolder(folder)
        return StaticFiles { folder.file($0) }
    }

    func add(to router: Router<ChatRequestContext>) {
        router.get("/") { request, context in try self.respond(request, context) }
        router.get("/**") { request, context in try self.respond(request, context) }
    }

    func file(_ path: String) -> PageFile? { self.find(path) ?? (path.hasSuffix("/") ? self.find(path + "index.html") : nil) }

    private func respond(_ request: Request, _ context: ChatRequestContext) throws -> Response {
        guard let file = self.file(request.uri.path) else { throw HTTPError(.notFound) }
        var headers: HTTPFields = [
            .contentType: file.type, .eTag: file.tag, .cacheControl: "no-cache", .contentSecurityPolicy: Self.policy,
        ]
        if let name = HTTPField.Name("X-Frame-Options") { headers[name] = "DENY" }
        if request.headers[.ifNoneMatch] == file.tag { return Response(status: .notModified, headers: headers) }
        return Response(status: .ok, headers: headers, body: .paced(file.bytes, on: context.channel))
    }

    /// Scripts and styles from here only, none inline; pictures also from `blob:`, because a blob
    /// is fetched with the token.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; font-src 'self'; media-src 'self' blob:; "
        + "connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
}
