public import ApusJSON

/// The body of a `text` message.
public struct ChatTextBody: Hashable, Sendable, Codable {
    /// Plain text, 1 to 8000 Unicode scalars. Clients show it as text, never as markup.
    public var text: String

    /// Creates a body.
    public init(text: String) { self.text = text }
}

/// The body of an `image` message. The server checks that the sender can read the blob and replaces
/// the measurements with its own.
public struct ChatImageBody: Hashable, Sendable, Codable {
    /// The blob with the picture's bytes, uploaded earlier.
    public var blob: BlobID
    /// The width in pixels.
    public var width: Int
    /// The height in pixels.
    public var height: Int
    /// The size in bytes.
    public var size: Int
    /// The media type detected by the server: `image/png`, `image/jpeg`, `image/gif` or
    /// `image/webp`.
    public var type: String
    /// The caption.
    public var text: String?

    /// Creates a body.
    public init(blob: BlobID, width: Int, height: Int, size: Int, type: String, text: String? = nil) {
        self.blob = blob
        self.width = width
        self.height = height
        self.size = size
        self.type = type
        self.text = text
    }
}

/// A validated body of a message.
public enum ChatBody: Hashable, Sendable {
    /// A text.
    case text(ChatTextBody)
    /// A picture.
    case image(ChatImageBody)

    /// The kind of a message with this body.
    public var kind: ChatEventKind {
        switch self {
        case .text: return .text
        case .image: return .image
        }
    }

    /// The body as it is stored and sent: known fields only, in a fixed order.
    public var value: JSONValue {
        switch self {
        case .text(let body):
            return .object(["text": .string(body.text)])
        case .image(let body):
            var object: JSONObject = [
                "blob": .string(body.blob.rawValue), "width": .integer(Int64(body.width)), "height": .integer(Int64(body.height)),
                "size": .integer(Int64(body.size)), "type": .string(body.type),
            ]
            if let text = body.text { object["text"] = .string(text) }
            return .object(object)
        }
    }

    /// Validates a body sent by a client.
    /// - Throws: `ChatError` `bad_request` for an unknown kind, a missing or wrong field;
    ///   `too_large` above a limit.
    public init(kind: ChatEventKind, body: JSONValue) throws(ChatError) {
        guard body.objectValue != nil else { throw ChatError(.badRequest, message: "`body` must be an object") }
        switch kind {
        case .text:
            guard let text = body["text"]?.stringValue else { throw ChatError(.badRequest, message: "`body.text` must be a string") }
            guard !text.isEmpty else { throw ChatError(.badRequest, message: "`body.text` must not be empty") }
            try Self.validate(text)
            self = .text(ChatTextBody(text: text))
        case .image:
            guard let blob = body["blob"]?.stringValue.flatMap(BlobID.init) else {
                throw ChatError(.badRequest, message: "`body.blob` must be the 64 hexadecimal digits returned by the upload")
            }
            guard let width = Self.count(body["width"]), let height = Self.count(body["height"]), let size = Self.count(body["size"]),
                let type = body["type"]?.stringValue
            else {
                throw ChatError(
                    .badRequest,
                    message: "`body.width`, `height`, `size` must be positive integers and `type` a string, as returned by the upload")
            }
            var caption: String?
            if let text = body["text"], !text.isNull {
                guard let words = text.stringValue else { throw ChatError(.badRequest, message: "`body.text` must be a string") }
                try Self.validate(words)
                caption = words.isEmpty ? nil : words
            }
            self = .image(ChatImageBody(blob: blob, width: width, height: height, size: size, type: type, text: caption))
        default:
            throw ChatError(.badRequest, message: "`kind` must be `text` or `image`")
        }
    }

    private static func validate(_ text: String) throws(ChatError) {
        // Compares the byte count first, because counting scalars takes linear time.
        guard text.utf8.count <= ChatLimits.textLength * 4, text.unicodeScalars.count <= ChatLimits.textLength else {
            throw ChatError(.tooLarge, message: "`body.text` must have at most \(ChatLimits.textLength) characters")
        }
    }

    private static func count(_ value: JSONValue?) -> Int? {
        guard let number = value?.intValue, number > 0, let count = Int(exactly: number) else { return nil }
        return count
    }
}
