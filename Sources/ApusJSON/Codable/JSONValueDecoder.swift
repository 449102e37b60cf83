/// Makes `Decodable` values of ``JSONValue``s.
///
/// `Data` comes from binary data, from an array of bytes and from base64; `[UInt8]` from binary data and from an array; `Date` from an
/// ISO 8601 string with a time zone and from milliseconds since 1970; whole numbers from any number that is exactly one.
public struct JSONValueDecoder: Sendable {
    /// What the `init(from:)` of the values may ask for.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Makes a decoder.
    public init() {}

    /// Decodes a value.
    ///
    /// Throws `DecodingError` with the coding path of what does not fit, and what `init(from:)` throws.
    public func decode<T: Decodable>(_ type: T.Type, from value: JSONValue) throws -> T {
        try JSONDecodingScope(value: value, path: .root, settings: self).decoded(type, value, key: nil)
    }
}
