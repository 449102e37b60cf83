/// Encodes `Encodable` values as ``JSONValue``s.
///
/// `Data` becomes ``JSONValue/binary(_:)`` and `Date` becomes ``JSONValue/date(_:)``; `URL` and
/// `UUID` become strings; a ``JSONValue`` is unchanged. `[UInt8]` is an array of numbers, as in
/// every encoder. An integer outside of `Int64`, a number that is not finite and a date outside of
/// JavaScript's range are errors. Any value can be the root, including a string or `nil`.
public struct JSONValueEncoder: Sendable {
    /// The user info for `encode(to:)`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates an encoder.
    public init() {}

    /// Encodes a value.
    ///
    /// - Throws: `EncodingError.invalidValue` with the coding path of a value that JSON cannot
    ///   represent, or the error of an `encode(to:)`.
    public func encode<Value: Encodable>(_ value: Value) throws -> JSONValue {
        // The most common types need no scope, which allocates memory.
        if Value.self == String.self { return .string(sameType(value, as: String.self)) }
        if Value.self == Int.self { return .integer(Int64(sameType(value, as: Int.self))) }
        if Value.self == JSONValue.self { return sameType(value, as: JSONValue.self) }
        let scope = JSONEncodingScope(node: JSONEncodingNode(), path: .root, settings: self)
        guard let result = try scope.value(of: value, key: nil) else {
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: "\(type(of: value)) encoded no value."))
        }
        return result
    }
}
