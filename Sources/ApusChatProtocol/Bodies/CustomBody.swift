public import ApusJSON

/// The body of an application's kind (`x.…`): an object with any fields and a bounded size.
///
/// Other clients show the field `text`. Members that can read the message can read the uploads in
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

    /// Checks the size, and the fields `text` and `blobs`.
    package func validate() throws(WireError) {
        guard let size = try? JSONWriter.bytes(of: .object(self.fields)).count, size <= ChatLimits.customBytes else {
            throw WireError(.tooLarge, field: "", rule: "must have at most \(ChatLimits.customBytes) bytes")
        }
        let reader = WireReader(self.fields)
        _ = try reader.stringIfPresent("text", maximum: ChatLimits.textLength)
        _ = try reader.texts("blobs", as: BlobID.self, maximum: ChatLimits.customBlobs)
    }

    package var text: String? { self.fields["text"]?.stringValue }

    package var blobs: [BlobID] {
        (try? WireReader(self.fields).texts("blobs", as: BlobID.self, maximum: ChatLimits.customBlobs)) ?? []
    }
}
