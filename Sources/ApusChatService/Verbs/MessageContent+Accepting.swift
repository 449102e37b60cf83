import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON

extension MessageContent {
    /// Validates the body of a new message.
    ///
    /// - Parameters:
    ///   - keys: The keys of `AcceptedBody.mentions`; an element is nil if the account does not
    ///     exist.
    ///   - blob: Returns the properties of an upload as the server measured them. They replace
    ///     those of the client.
    init(
        _ accepted: AcceptedBody, kind: EventKind, mentions keys: [UserKey?], blob: (BlobID) throws -> BlobRow? = { _ in nil }
    ) throws {
        var fields = accepted.fields
        if let id = fields["blob"]?.stringValue.flatMap({ BlobID($0) }), let row = try blob(id) {
            fields["size"] = .integer(row.size)
            fields["type"] = .string(kind.code == .audio ? Self.soundType(row.type) : row.type)
            if row.width > 0, kind.code == .image || kind.code == .video {
                fields["width"] = .integer(row.width)
                fields["height"] = .integer(row.height)
                if fields["thumb"] == nil, !row.thumb.isEmpty { fields["thumb"] = .string(row.thumb) }
            }
            if row.duration > 0, kind.code == .audio || kind.code == .video { fields["duration"] = .integer(row.duration) }
        }
        self.init(
            kind: kind, body: try JSONValue.object(fields).jsonString(), mentions: keys.compactMap { $0 },
            mentionsAll: accepted.mentionsAll, blobs: accepted.blobs)
        guard kind.code == .poll, let poll = try? PollBody(from: WireReader(fields)) else { return }
        self.options = poll.options.count
        self.allowsManyVotes = poll.allowsMultiple
        self.hidesVoters = poll.isAnonymous
        self.closesAt = max(0, poll.closesAt ?? 0)
    }

    /// Returns the media type of a recording, derived from the media type of its file. WebM and MP4
    /// files contain video or sound, and their first bytes do not show which.
    private static func soundType(_ type: String) -> String {
        type.hasPrefix("video/") ? "audio/" + type.dropFirst("video/".count) : type
    }
}

/// The validated body of a new message, before the keys of its mentions are known.
///
/// The draft stores a validation error instead of throwing it, because a retry is answered before
/// its body is validated.
struct ContentDraft: Sendable {
    let kind: EventKind
    let accepted: Result<AcceptedBody, ChatError>

    init(kind: EventKind, body: JSONObject) {
        self.kind = kind
        do throws(WireError) {
            self.accepted = .success(try ChatKinds.accept(kind: kind, body: body))
        } catch {
            self.accepted = .failure(ChatError(error))
        }
    }

    var mentions: [UserName] { (try? self.accepted.get().mentions) ?? [] }
    /// Whether the content depends on an upload.
    var hasBlobs: Bool { (try? !self.accepted.get().blobs.isEmpty) ?? false }

    func content(_ keys: [UserKey?], _ context: ReadContext?) -> Result<MessageContent, ChatError> {
        self.accepted.flatMap { accepted in
            Result {
                try MessageContent(accepted, kind: self.kind, mentions: keys) { try context?.reads.blob($0) }
            }
            .mapError(ChatError.init(reading:))
        }
    }
}
