/// Decodes `Decodable` values from ``JSONValue``s.
///
/// `Data` is decoded from binary data, an array of bytes or base64; `[UInt8]` from binary data or
/// an array; `Date` from a date, from milliseconds since 1970 or from an ISO 8601 string, which
/// must include a time zone if it includes a time; an integer from any number that is exactly
/// integral.
public struct JSONValueDecoder: Sendable {
    /// The user info for `init(from:)`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates a decoder.
    public init() {}

    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - value: The value to decode from.
    /// - Throws: `DecodingError` with the coding path of the mismatch, or the error of an
    ///   `init(from:)`.
    public func decode<T: Decodable>(_ type: T.Type, from value: JSONValue) throws -> T {
        try JSONDecodingScope(value: value, path: .root, settings: self).decoded(type, value, key: nil)
    }
}
