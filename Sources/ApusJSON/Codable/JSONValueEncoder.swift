/// Turns `Encodable` values into ``JSONValue``s.
///
/// `Data` becomes ``JSONValue/binary(_:)``, `Date` a string as JavaScript's `toJSON` writes it (`2026-11-21T15:04:05.678Z`), `URL` and `UUID`
/// strings, ``JSONValue`` itself. `[UInt8]` is an array of numbers, as for every encoder. A whole number beyond `Int64` and a number that
/// is not finite are refused. Values may stand alone: a string or `nil` is a value too.
public struct JSONValueEncoder: Sendable {
    /// What the `encode(to:)` of the values may ask for.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Makes an encoder.
    public init() {}

    /// Encodes a value.
    ///
    /// Throws `EncodingError.invalidValue` with the coding path of what has no form in JSON, and what `encode(to:)` throws.
    public func encode<Value: Encodable>(_ value: Value) throws -> JSONValue {
        // The most frequent need no scope, which takes memory.
        if Value.self == String.self { return .string(sameType(value, as: String.self)) }
        if Value.self == Int.self { return .integer(Int64(sameType(value, as: Int.self))) }
        if Value.self == JSONValue.self { return sameType(value, as: JSONValue.self) }
        let scope = JSONEncodingScope(node: JSONEncodingNode(), path: .root, settings: self)
        guard let result = try scope.value(of: value, key: nil) else {
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: "\(type(of: value)) encoded nothing."))
        }
        return result
    }
}
