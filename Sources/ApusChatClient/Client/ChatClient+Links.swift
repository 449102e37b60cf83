public import ApusChatProtocol
import ApusJSON

/// A link to a file for a program that has no session, such as the player of the system.
public struct ChatFileLink: Hashable, Sendable {
    /// The URL, which is a secret until the link expires.
    public var url: String
    /// The time at which the link expires, in milliseconds since 1970.
    public var expiresAt: Int64
}

extension ChatClient {
    /// Requests a link to a file or picture of a message, for example for a player that reads it in
    /// parts.
    ///
    /// The link expires after 15 minutes, with the session of this device, or when the account may
    /// no longer read the file.
    ///
    /// - Parameters:
    ///   - blob: The id of the file.
    ///   - size: The maximum width and height of a smaller version of a picture, in pixels.
    ///     Default: the uploaded file.
    public func link(to blob: BlobID, size: Int? = nil) async throws(ChatClientError) -> ChatFileLink {
        let path = "/api/blobs/\(blob.rawValue)/link" + (size.map { "?size=\($0)" } ?? "")
        let answer = try await self.engine.http.post(path, .object([:]), access: try await self.engine.tokens.access())
        guard let link = answer["path"]?.stringValue, link.hasPrefix("/api/blobs/"), let end = answer["expires_at"]?.intValue else {
            throw ChatClientError(.badAnswer, message: "the answer to a request for a link has no valid `path` and `expires_at`")
        }
        return ChatFileLink(url: self.server + link, expiresAt: Int64(end))
    }
}
