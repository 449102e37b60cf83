import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON

extension MessageContent {
    /// Checks the body of a new message.
    ///
    /// - Parameters:
    ///   - keys: The keys of `AcceptedBody.mentions`, nil for names without an account.
    ///   - blob: Returns what the server knows of an upload, which replaces what the client told.
    init(
        _ accepted: AcceptedBody, kind: EventKind, mentions keys: [UserKey?], blob: (BlobID) throws -> BlobRow? = { _ in nil }
    ) throws {
        var fields = accepted.fields
        if let id = fields["blob"]?.stringValue.flatMap({ BlobID($0) }), let row = try blob(id) {
            fields["size"] = .integer(row.size)
            fields["type"] = .string(row.type)
            if row.width > 0, kind.code == .image {
                fields["width"] = .integer(row.width)
                fields["height"] = .integer(row.height)
            }
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
}

/// The body of a new message before the keys of its mentions are known.
///
/// What is wrong with it is a value: a retry is answered before anything is validated.
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
