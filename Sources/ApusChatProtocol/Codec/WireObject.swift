package import ApusJSON

/// A value that is encoded as a JSON object on the wire.
///
/// Decoders ignore unknown fields, so that later versions can add fields. A field with the value
/// null is treated as absent.
package protocol WireObject: Sendable {
    /// Decodes the fields.
    init(from reader: WireReader) throws(WireError)
    /// Encodes the fields. Absent values are omitted.
    func write(to writer: inout WireWriter)
}

extension WireObject {
    /// Decodes an object.
    package init(json value: JSONValue) throws(WireError) { try self.init(from: try WireReader(value)) }

    /// The encoded object.
    package var json: JSONValue {
        var writer = WireWriter()
        self.write(to: &writer)
        return .object(writer.object)
    }
}

/// A value that is encoded as a string with a certain syntax.
package protocol WireText: Sendable {
    /// The syntax of the string, as the rest of a sentence of an error message.
    static var wireRule: String { get }
    /// Decodes the string; nil if its syntax is not valid.
    init?(wireText: String)
    /// The encoded string.
    var wireText: String { get }
}

/// A value of a set that later versions may extend. A string that is not in the set is decoded as
/// `unknown`.
package protocol WireChoice: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    /// The value that represents strings of later versions.
    static var unknown: Self { get }
}

/// An object without fields, such as the answer to a request that has no result.
package struct WireEmpty: WireObject, Hashable {
    package init() {}
    package init(from reader: WireReader) throws(WireError) {}
    package func write(to writer: inout WireWriter) {}
}
