public import struct Foundation.Date

/// A JSON value (RFC 8259 section 3), and the binary data and dates that Socket.IO carries beside it.
///
/// Two numbers are equal when they are of the same case: `.integer(1)` and `.double(1)` differ, as `1` and `1.0` do in the text.
/// Strings compare as Swift compares them, by canonical equivalence; the keys of an object compare by their bytes (see ``JSONObject``).
public enum JSONValue: Hashable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without fraction and exponent that fits in 64 bits.
    case integer(Int64)
    /// Any other number.
    case double(Double)
    /// A string.
    case string(String)
    /// Bytes. They never stand in JSON text: Socket.IO sends them as attachments; ``JSONWriter`` refuses them unless told what to do.
    case binary([UInt8])
    /// A date. In JSON text it is a string, as JavaScript writes it (`2026-11-22T15:00:00.000Z`), and is read back as one; one
    /// beyond JavaScript's calendar is `null`. MessagePack has a form of its own for it.
    case date(Date)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object(JSONObject)

    /// A string value.
    public init(_ value: String) { self = .string(value) }
    /// A boolean value.
    public init(_ value: Bool) { self = .bool(value) }
    /// A whole number.
    public init(_ value: Int) { self = .integer(Int64(value)) }
    /// A number. NaN and the infinities can be held but not written.
    public init(_ value: Double) { self = .double(value) }
}
