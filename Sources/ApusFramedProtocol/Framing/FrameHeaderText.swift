import ApusJSON
import NIOCore

/// Reads and writes the JSON of a header strictly: one object, unique names, bounded nesting.
///
/// Repeated names are rejected: two readers that resolve them differently would read different
/// lengths from one header.
enum FrameHeaderText {
    static func read(_ text: ByteBuffer, maximumDepth: Int) throws(FramedError) -> JSONObject {
        var limits = JSONReader.Limits(maximumDepth: maximumDepth)
        limits.refusesRepeatedNames = true
        let value: JSONValue
        do {
            value = try JSONReader.read(text.readableBytesView, limits: limits)
        } catch {
            throw FramedError(.malformedHeader, message: "the header of \(text.readableBytes) bytes is not strict JSON", cause: error)
        }
        guard case .object(let object) = value else {
            throw FramedError(.malformedHeader, message: "the header must be a JSON object")
        }
        return object
    }

    /// Returns a header as JSON text.
    ///
    /// - Throws: ``FramedError/Code/invalidUse`` for values without a JSON form (binary data, NaN),
    ///   and for a header nested deeper than `maximumDepth`.
    static func bytes(of header: JSONObject, maximumDepth: Int = FramedLimits().maximumHeaderDepth) throws(FramedError) -> [UInt8] {
        guard Self.depth(of: .object(header), within: maximumDepth) <= maximumDepth else {
            throw FramedError(
                .invalidUse,
                message: "the header must not be nested deeper than \(maximumDepth) levels, which receivers accept by default")
        }
        do {
            return try JSONWriter.bytes(of: .object(header))
        } catch {
            throw FramedError(.invalidUse, message: "the header cannot be written as JSON", cause: error)
        }
    }

    /// Returns the number of levels of a value, counted up to `bound + 1`.
    private static func depth(of value: JSONValue, within bound: Int) -> Int {
        guard bound >= 0 else { return 0 }
        switch value {
        case .array(let elements): return 1 + (elements.lazy.map { Self.depth(of: $0, within: bound - 1) }.max() ?? 0)
        case .object(let object): return 1 + (object.lazy.map { Self.depth(of: $0.value, within: bound - 1) }.max() ?? 0)
        case .null, .bool, .integer, .double, .string, .binary, .date: return 0
        }
    }
}
