import ApusJSON
import NIOCore

/// The JSON of a header, read strictly: one object, no name twice, not too deep.
///
/// Two readers that choose between repeated names differently would see two lengths in one header.
enum FrameHeaderText {
    static func read(_ text: ByteBuffer, maximumDepth: Int) throws(FramedError) -> JSONObject {
        var limits = JSONReader.Limits(maximumDepth: maximumDepth)
        limits.refusesRepeatedNames = true
        let value: JSONValue
        do {
            value = try JSONReader.read(text.readableBytesView, limits: limits)
        } catch {
            throw FramedError(.malformedHeader, message: "a header of \(text.readableBytes) bytes is no strict JSON", cause: error)
        }
        guard case .object(let object) = value else {
            throw FramedError(.malformedHeader, message: "a header is no JSON object")
        }
        return object
    }

    /// - Throws: ``FramedError/Code/invalidUse`` for what JSON has no form for (binary data, NaN), and for what no peer would read.
    static func bytes(of header: JSONObject, maximumDepth: Int = FramedLimits().maximumHeaderDepth) throws(FramedError) -> [UInt8] {
        guard Self.depth(of: .object(header), within: maximumDepth) <= maximumDepth else {
            throw FramedError(.invalidUse, message: "a header nested deeper than \(maximumDepth) levels")
        }
        do {
            return try JSONWriter.bytes(of: .object(header))
        } catch {
            throw FramedError(.invalidUse, message: "a header that cannot be written as JSON", cause: error)
        }
    }

    /// The levels of a value, counted up to one more than `bound`.
    private static func depth(of value: JSONValue, within bound: Int) -> Int {
        guard bound >= 0 else { return 0 }
        switch value {
        case .array(let elements): return 1 + (elements.lazy.map { Self.depth(of: $0, within: bound - 1) }.max() ?? 0)
        case .object(let object): return 1 + (object.lazy.map { Self.depth(of: $0.value, within: bound - 1) }.max() ?? 0)
        case .null, .bool, .integer, .double, .string, .binary, .date: return 0
        }
    }
}
