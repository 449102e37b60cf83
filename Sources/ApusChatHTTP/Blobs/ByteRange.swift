/// The part of a file that the field `Range` requests.
///
/// Source: RFC 9110 section 14. A request for several ranges or with an unknown unit is answered
/// with the whole file, as that section permits.
enum ByteRange: Equatable {
    case whole
    case part(ClosedRange<Int64>)
    /// The range contains no byte of the file.
    case unsatisfiable

    init(_ field: String?, size: Int64) {
        self = .whole
        guard let field, field.lowercased().hasPrefix("bytes=") else { return }
        let parts = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map(Self.trimmed)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else { return }
        switch (parts[0].isEmpty, parts[1].isEmpty) {
        case (true, true): return
        case (true, false):
            // A suffix range. A number that exceeds `Int64` also exceeds the size of the file.
            let count = min(Int64(parts[1]) ?? .max, size)
            self = count > 0 ? .part(size - count...size - 1) : .unsatisfiable
        case (false, _):
            guard let first = Int64(parts[0]), first < size else {
                self = .unsatisfiable
                return
            }
            let last = parts[1].isEmpty ? size - 1 : min(Int64(parts[1]) ?? .max, size - 1)
            self = last >= first ? .part(first...last) : .unsatisfiable
        }
    }

    /// Returns a position without leading and trailing spaces. A space within a position is a
    /// syntax error.
    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }
}
