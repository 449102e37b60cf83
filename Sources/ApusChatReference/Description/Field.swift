package import ApusChatProtocol

/// The type of a field in the reference of the wire.
package indirect enum FieldType: Hashable, Sendable {
    /// A string whose number of Unicode scalars is in the range.
    case string(ClosedRange<Int>)
    /// A ``UserName``.
    case user
    /// A ``ConversationID``.
    case conversation
    /// A ``ClientID``.
    case client
    /// A ``DeviceID``.
    case device
    /// A ``BlobID``.
    case blob
    /// A ``BlobChange``.
    case blobOrEmpty
    /// A ``LinkCode``.
    case link
    /// A ``PageToken``.
    case token
    /// The name of an ``EventKind``.
    case kind
    /// An integer in the range.
    case integer(ClosedRange<Int64>)
    /// A number in the range, which may have a fraction.
    case number(ClosedRange<Double>)
    /// Milliseconds since 1970.
    case time
    /// A Boolean.
    case bool
    /// An object with any fields.
    case any
    /// One of the listed strings.
    case choice([String])
    /// The object that is described under this name.
    case shape(String)
    /// A list with a maximum number of elements.
    case list(FieldType, Int)

    /// A `seq` or an `n`.
    package static let seq = FieldType.integer(1...WireReader.largestInteger)
    /// A count, which is 0 or greater.
    package static let count = FieldType.integer(0...WireReader.largestInteger)

    /// A string of at most `maximum` Unicode scalars.
    package static func string(_ maximum: Int) -> Self { .string(0...maximum) }
    /// A string of 1 to `maximum` Unicode scalars.
    package static func words(_ maximum: Int) -> Self { .string(1...maximum) }
    /// Returns a choice between the known values of an open set.
    package static func choice<Choice: WireChoice>(_ type: Choice.Type) -> Self {
        .choice(Choice.allCases.filter { $0 != .unknown }.map(\.rawValue))
    }
}

/// A field of an object on the wire.
package struct Field: Hashable, Sendable {
    package var name: String
    package var type: FieldType
    package var isRequired: Bool
    package var text: String

    /// Describes a field that is always present.
    package static func must(_ name: String, _ type: FieldType, _ text: String) -> Self {
        Self(name: name, type: type, isRequired: true, text: text)
    }

    /// Describes a field that may be absent.
    package static func may(_ name: String, _ type: FieldType, _ text: String) -> Self {
        Self(name: name, type: type, isRequired: false, text: text)
    }

    /// The id that the client chose for a request that changes data.
    package static let id = Self.must("id", .client, "The client's id of the request. A retry carries the same one.")
    /// The conversation of a request.
    package static let conv = Self.must("conv", .conversation, "The conversation.")
}

/// The description of an object on the wire.
package struct Shape: Sendable {
    package var name: String
    package var text: String
    package var fields: [Field]
    /// An example as JSON text.
    package var example: String
    /// Decodes the object with the codec and encodes it again. The result must equal the object.
    package var recode: Recode?

    package init(_ name: String, _ text: String, _ fields: [Field], example: String = "", recode: Recode? = nil) {
        self.name = name
        self.text = text
        self.fields = fields
        self.example = example
        self.recode = recode
    }
}
