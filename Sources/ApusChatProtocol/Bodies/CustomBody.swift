public import ApusJSON

/// The body of an application's kind (`x.…`): an object with any fields and a bounded size.
///
/// Other clients show the field `text`. Members who can read the message can read the uploads in
/// the field `blobs`.
public struct CustomBody: Hashable, Sendable {
    /// The kind.
    public var kind: EventKind
    /// The fields.
    public var fields: JSONObject

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - kind: The kind.
    ///   - fields: The fields.
    public init(kind: EventKind, fields: JSONObject) {
        self.kind = kind
        self.fields = fields
    }

    /// Checks the size, the nesting, and the fields `text` and `blobs`.
    package func validate() throws(WireError) {
        guard let size = try? JSONWriter.bytes(of: .object(self.fields)).count, size <= ChatLimits.customBytes else {
            throw WireError(.tooLarge, field: "", rule: "must have at most \(ChatLimits.customBytes) bytes")
        }
        guard self.hasAllowedLevels else {
            throw WireError(.tooLarge, field: "", rule: "must have at most \(ChatLimits.customLevels) levels of arrays and objects")
        }
        let reader = WireReader(self.fields)
        _ = try reader.stringIfPresent("text", maximum: ChatLimits.textLength)
        _ = try reader.texts("blobs", as: BlobID.self, maximum: ChatLimits.customBlobs)
    }

    /// Whether the nesting is within its limit. Visits the levels in turn, without recursion.
    private var hasAllowedLevels: Bool {
        var level: [JSONValue] = [.object(self.fields)]
        for _ in 0..<ChatLimits.customLevels {
            level = level.flatMap { value -> [JSONValue] in
                switch value {
                case .object(let object): object.map(\.value)
                case .array(let elements): elements
                default: []
                }
            }
            if level.isEmpty { return true }
        }
        return level.allSatisfy { $0.arrayValue == nil && $0.objectValue == nil }
    }

    package var text: String? { self.fields["text"]?.stringValue }

    package var blobs: [BlobID] {
        (try? WireReader(self.fields).texts("blobs", as: BlobID.self, maximum: ChatLimits.customBlobs)) ?? []
    }
}
