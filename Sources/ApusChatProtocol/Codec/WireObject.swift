package import ApusJSON

/// A value that is a JSON object on the wire.
///
/// Readers ignore unknown fields, so that a later version can add some. A null is an absent field.
package protocol WireObject: Sendable {
    /// Reads the fields.
    init(from reader: WireReader) throws(WireError)
    /// Writes the fields. Absent values are omitted.
    func write(to writer: inout WireWriter)
}

extension WireObject {
    /// Reads an object.
    package init(json value: JSONValue) throws(WireError) { try self.init(from: try WireReader(value)) }

    /// The object as JSON.
    package var json: JSONValue {
        var writer = WireWriter()
        self.write(to: &writer)
        return .object(writer.object)
    }
}

/// A value that is a string on the wire, with a syntax of its own.
package protocol WireText: Sendable {
    /// What the string must be, for an error message.
    static var wireRule: String { get }
    /// Reads the text; nil if it is not valid.
    init?(wireText: String)
    /// The text on the wire.
    var wireText: String { get }
}

/// A value of a set that later versions may extend. A text outside of the set reads as `unknown`.
package protocol WireChoice: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    /// Stands for a value of a later version.
    static var unknown: Self { get }
}

/// An object without fields, such as the answer to a request that has no result.
package struct WireEmpty: WireObject, Hashable {
    package init() {}
    package init(from reader: WireReader) throws(WireError) {}
    package func write(to writer: inout WireWriter) {}
}
