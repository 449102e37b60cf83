package import ApusJSON

/// A validated body of a message, with the values derived from it.
package struct AcceptedBody: Hashable, Sendable {
    /// The fields to store. Unknown fields, and fields that only the server may set, are removed.
    /// The body of an application's kind keeps all its fields.
    package var fields: JSONObject
    package var blobs: [BlobID]
    package var mentions: [UserName]
    package var mentionsAll: Bool
}

/// Validates the bodies of new and edited messages, by their kinds.
package enum ChatKinds {
    /// The kinds of messages that clients can send, without those of applications.
    package static let sendable: [EventKind] = [.text, .image, .audio, .video, .file, .location, .card, .poll]

    /// The kinds whose messages can be edited.
    package static let editable: [EventKind] = [.text, .image, .audio, .video, .file]

    /// Validates the body of a new message. The field names of errors begin with `body`.
    ///
    /// - Throws: `unsupported` for a kind that clients cannot send.
    package static func accept(kind: EventKind, body: JSONObject) throws(WireError) -> AcceptedBody {
        let reader = WireReader(body)
        do throws(WireError) {
            switch kind.code {
            case .text: return try self.accepted(try TextBody(from: reader))
            case .image: return try self.accepted(try ImageBody(from: reader))
            case .audio: return try self.accepted(try AudioBody(from: reader))
            case .video: return try self.accepted(try VideoBody(from: reader))
            case .file: return try self.accepted(try FileBody(from: reader))
            case .location: return try self.accepted(try LocationBody(from: reader))
            case .card: return try self.accepted(try CardBody(from: reader))
            case .poll: return try self.accepted(try PollBody(from: reader))
            case .custom: return try self.accepted(CustomBody(kind: kind, fields: body))
            default: break
            }
        } catch {
            throw error.under("body")
        }
        throw WireError(.unsupported, field: "kind", rule: "must be a kind that clients can send, not `\(kind)`")
    }

    private static func accepted(_ body: some MessageBody) throws(WireError) -> AcceptedBody {
        try body.validate()
        var body = body
        body.removeServerFields()
        var writer = WireWriter()
        body.write(to: &writer)
        return AcceptedBody(fields: writer.object, blobs: body.blobs, mentions: body.mentions, mentionsAll: body.mentionsAll)
    }

    private static func accepted(_ body: CustomBody) throws(WireError) -> AcceptedBody {
        try body.validate()
        return AcceptedBody(fields: body.fields, blobs: body.blobs, mentions: [], mentionsAll: false)
    }

    /// Returns the preview of an event in a list.
    package static func preview(of event: ChatEvent) -> EventPreview {
        let users = WireReader(event.body).object["users"]?.arrayValue?.prefix(ChatLimits.previewUsers) ?? []
        let body = ChatBody(event)
        var preview = EventPreview(
            seq: event.seq, n: event.n, sender: event.sender, at: event.at, kind: event.kind, state: event.state,
            text: body?.previewText, users: users.compactMap { $0.stringValue.flatMap { UserName($0) } })
        switch body {
        case .call(let call)?: (preview.call, preview.media, preview.duration) = (call.state, call.media, call.duration)
        case .audio(let audio)?: (preview.isVoice, preview.duration) = (audio.isVoice, audio.duration)
        default: break
        }
        return preview
    }
}
