public import ApusJSON

/// The body of a `text` message.
public struct ChatTextBody: Hashable, Sendable, Codable {
    /// Plain text: shown as text, never as markup. 1 to 8000 Unicode scalars.
    public var text: String

    /// A body with this text.
    public init(text: String) { self.text = text }
}

/// The body of an `image` message. The server checks that the blob is the sender's and fills in what it measured itself.
public struct ChatImageBody: Hashable, Sendable, Codable {
    /// The picture's bytes, uploaded before.
    public var blob: BlobID
    /// In pixels.
    public var width: Int
    /// In pixels.
    public var height: Int
    /// In bytes.
    public var size: Int
    /// The media type the server found: `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    public var type: String
    /// Words under the picture.
    public var text: String?

    /// A body with all its parts.
    public init(blob: BlobID, width: Int, height: Int, size: Int, type: String, text: String? = nil) {
        self.blob = blob
        self.width = width
        self.height = height
        self.size = size
        self.type = type
        self.text = text
    }
}

/// A body that was read and judged.
public enum ChatBody: Hashable, Sendable {
    /// Words.
    case text(ChatTextBody)
    /// A picture.
    case image(ChatImageBody)

    /// The kind that goes with it.
    public var kind: ChatEventKind {
        switch self {
        case .text: return .text
        case .image: return .image
        }
    }

    /// The body as it is stored and sent: known fields only, in one order.
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

    /// Reads what a client sent.
    /// - Throws: `ChatError` `bad_request` for an unknown kind, a missing or wrong field; `too_large` above a limit.
    public init(kind: ChatEventKind, body: JSONValue) throws(ChatError) {
        guard body.objectValue != nil else { throw ChatError(.badRequest, message: "`body` must be an object") }
        switch kind {
        case .text:
            guard let text = body["text"]?.stringValue else { throw ChatError(.badRequest, message: "`body.text` must be a string") }
            guard !text.isEmpty else { throw ChatError(.badRequest, message: "`body.text` is empty") }
            try Self.judge(text)
            self = .text(ChatTextBody(text: text))
        case .image:
            guard let blob = body["blob"]?.stringValue.flatMap(BlobID.init) else {
                throw ChatError(.badRequest, message: "`body.blob` must be the 64 hexadecimal digits that the upload answered")
            }
            guard let width = Self.count(body["width"]), let height = Self.count(body["height"]), let size = Self.count(body["size"]),
                let type = body["type"]?.stringValue
            else {
                throw ChatError(
                    .badRequest,
                    message: "`body.width`, `height`, `size` must be positive integers and `type` a string, as the upload answered")
            }
            var caption: String?
            if let text = body["text"], !text.isNull {
                guard let words = text.stringValue else { throw ChatError(.badRequest, message: "`body.text` must be a string") }
                try Self.judge(words)
                caption = words.isEmpty ? nil : words
            }
            self = .image(ChatImageBody(blob: blob, width: width, height: height, size: size, type: type, text: caption))
        default:
            throw ChatError(.badRequest, message: "a client may send the kinds `text` and `image`")
        }
    }

    private static func judge(_ text: String) throws(ChatError) {
        // Bytes first: counting scalars is linear in them.
        guard text.utf8.count <= ChatLimits.textLength * 4, text.unicodeScalars.count <= ChatLimits.textLength else {
            throw ChatError(.tooLarge, message: "at most \(ChatLimits.textLength) characters")
        }
    }

    private static func count(_ value: JSONValue?) -> Int? {
        guard let number = value?.intValue, number > 0, let count = Int(exactly: number) else { return nil }
        return count
    }
}
