public import ApusJSON

/// The body of a message, as the type for its kind.
public enum ChatBody: Hashable, Sendable {
    /// A text.
    case text(TextBody)
    /// A picture.
    case image(ImageBody)
    /// A recording.
    case audio(AudioBody)
    /// A video.
    case video(VideoBody)
    /// A file.
    case file(FileBody)
    /// A place.
    case location(LocationBody)
    /// A user.
    case card(CardBody)
    /// A call.
    case call(CallBody)
    /// A question with options.
    case poll(PollBody)
    /// Several messages.
    case bundle(BundleBody)
    /// An encrypted message.
    case encrypted(EncryptedBody)
    /// A body whose kind an application defines.
    case custom(CustomBody)

    /// Decodes the body of a message. Does not check the rules for new messages.
    package init(kind: EventKind, body: JSONObject) throws(WireError) {
        let reader = WireReader(body)
        switch kind.code {
        case .text: self = .text(try TextBody(from: reader))
        case .image: self = .image(try ImageBody(from: reader))
        case .audio: self = .audio(try AudioBody(from: reader))
        case .video: self = .video(try VideoBody(from: reader))
        case .file: self = .file(try FileBody(from: reader))
        case .location: self = .location(try LocationBody(from: reader))
        case .card: self = .card(try CardBody(from: reader))
        case .call: self = .call(try CallBody(from: reader))
        case .poll: self = .poll(try PollBody(from: reader))
        case .bundle: self = .bundle(try BundleBody(from: reader))
        case .encrypted: self = .encrypted(try EncryptedBody(from: reader))
        case .custom: self = .custom(CustomBody(kind: kind, fields: body))
        default: throw WireError(.unsupported, field: "kind", rule: "must be the kind of a message, not `\(kind)`")
        }
    }

    /// Decodes the body of an event; nil for a change, an unknown kind or removed content.
    ///
    /// - Parameter event: The event.
    public init?(_ event: ChatEvent) {
        guard !event.state.isBlank, let body = try? ChatBody(kind: event.kind, body: event.body) else { return nil }
        self = body
    }

    /// The body as a `MessageBody`; nil for the kind of an application.
    private var message: (any MessageBody)? {
        switch self {
        case .text(let body): body
        case .image(let body): body
        case .audio(let body): body
        case .video(let body): body
        case .file(let body): body
        case .location(let body): body
        case .card(let body): body
        case .call(let body): body
        case .poll(let body): body
        case .bundle(let body): body
        case .encrypted(let body): body
        case .custom: nil
        }
    }

    /// The kind of a message with this body.
    public var kind: EventKind {
        if case .custom(let body) = self { return body.kind }
        return self.message.map { type(of: $0).kind } ?? .text
    }

    /// The fields of the body as JSON.
    public var fields: JSONObject {
        if case .custom(let body) = self { return body.fields }
        return self.message?.json.objectValue ?? [:]
    }

    /// The text of a preview in a list; nil if the client shows the name of the kind instead.
    public var previewText: String? {
        if case .custom(let body) = self { return PreviewText.line(body.text) }
        return self.message?.previewText
    }

    /// The text of the message for the search index.
    package var searchText: String? {
        if case .custom(let body) = self { return body.text }
        return self.message?.searchText
    }

    /// Returns the text of a message for the search index. The `body` is JSON text.
    package static func searchText(kind: EventKind, body: String) -> String? {
        guard let fields = (try? JSONValue(jsonString: body))?.objectValue else { return nil }
        return (try? ChatBody(kind: kind, body: fields))?.searchText
    }

    /// The blobs to which the body refers.
    public var blobs: [BlobID] {
        if case .custom(let body) = self { return body.blobs }
        return self.message?.blobs ?? []
    }

    /// The users mentioned in the text.
    public var mentions: [UserName] { self.message?.mentions ?? [] }

    /// Whether the text mentions all members.
    public var mentionsAll: Bool { self.message?.mentionsAll ?? false }
}
