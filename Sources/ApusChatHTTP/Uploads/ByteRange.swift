/// The part of a file that a `Range` field asks for.
///
/// Source: RFC 9110 section 14. Several ranges and unknown units are answered with the whole file,
/// as the section permits.
enum ByteRange: Equatable {
    case whole
    case part(ClosedRange<Int64>)
    /// No byte of the file is in the range.
    case unsatisfiable

    init(_ field: String?, size: Int64) {
        self = .whole
        guard let field, field.lowercased().hasPrefix("bytes=") else { return }
        let parts = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { text in text.filter { $0 != " " } }
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else { return }
        switch (parts[0].isEmpty, parts[1].isEmpty) {
        case (true, true): return
        case (true, false):
            // The last bytes. A number that does not fit is more than the file has.
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
}
