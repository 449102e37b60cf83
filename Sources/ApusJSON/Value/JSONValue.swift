public import struct Foundation.Date

/// A JSON value (RFC 8259 section 3), or binary data or a date, which Socket.IO adds.
///
/// Numbers of different cases are not equal: `.integer(1)` and `.double(1)` differ, as `1` and
/// `1.0` do in the text. Strings compare as in Swift, by canonical equivalence. The keys of an
/// object compare by their bytes (see ``JSONObject``).
public enum JSONValue: Hashable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without a fraction or an exponent that fits in 64 bits.
    case integer(Int64)
    /// Any other number.
    case double(Double)
    /// A string.
    case string(String)
    /// Bytes. JSON text cannot contain them: Socket.IO sends them as attachments, and
    /// ``JSONWriter`` requires a strategy for them.
    case binary([UInt8])
    /// A date. In JSON text it is written as a string in JavaScript's format
    /// (`2026-11-22T15:00:00.000Z`), or as `null` outside of JavaScript's range. The string is not
    /// read as a date. MessagePack has a format for dates.
    case date(Date)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object(JSONObject)

    /// Creates a string.
    public init(_ value: String) { self = .string(value) }
    /// Creates a Boolean.
    public init(_ value: Bool) { self = .bool(value) }
    /// Creates an integer.
    public init(_ value: Int) { self = .integer(Int64(value)) }
    /// Creates a number. NaN and the infinities are allowed, but cannot be written.
    public init(_ value: Double) { self = .double(value) }
}
