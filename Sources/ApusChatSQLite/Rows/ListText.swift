import ApusChatProtocol
import ApusChatStorage
import ApusJSON

/// Encodes a list as the text of one column: numbers are separated by spaces, and texts are a JSON
/// array.
enum ListText {
    static func text(_ numbers: some Sequence<Int64>) -> String { numbers.map(String.init).joined(separator: " ") }

    static func numbers(_ text: String) -> [Int64] { text.isEmpty ? [] : text.split(separator: " ").compactMap { Int64($0) } }

    /// Returns counts. They are clamped as those of a column are (`SQLiteStatement.count`).
    static func totals(_ text: String) -> [Int64] { self.numbers(text).map(SQLiteStatement.clamped) }

    static func text(_ texts: [String]) -> String { self.json(.array(texts.map { .string($0) })) }

    static func texts(_ text: String) -> [String] { self.values(text).compactMap(\.stringValue) }

    /// Encodes folders. Each folder is an array of its name, its filter or null, and its slot.
    /// Earlier versions wrote only the name, or the name and the filter; the slot was then the
    /// position in the list.
    static func text(_ folders: [FolderRow]) -> String {
        self.json(
            .array(
                folders.map { row in
                    .array([.string(row.folder.name), row.folder.filter.map { .string($0) } ?? .null, .integer(Int64(row.slot))])
                }))
    }

    static func folders(_ text: String) -> [FolderRow] {
        self.values(text).enumerated().compactMap { index, value in
            if let name = value.stringValue { return FolderRow(Folder(name: name), slot: index) }
            guard let parts = value.arrayValue, let name = parts.first?.stringValue else { return nil }
            let slot = parts.count > 2 ? parts[2].intValue : index
            return FolderRow(Folder(name: name, filter: parts.count > 1 ? parts[1].stringValue : nil), slot: slot ?? index)
        }
    }

    static func text(_ counts: [ReactionCount]) -> String {
        self.json(.array(counts.map { .array([.string($0.key), .integer($0.count)]) }))
    }

    static func counts(_ text: String) -> [ReactionCount] {
        self.values(text).compactMap { value in
            guard let pair = value.arrayValue, pair.count == 2, let key = pair[0].stringValue, let count = pair[1].intValue else {
                return nil
            }
            return ReactionCount(key: key, count: SQLiteStatement.clamped(Int64(count)))
        }
    }

    static func json(_ value: JSONValue) -> String { (try? value.jsonString()) ?? "" }

    private static func values(_ text: String) -> [JSONValue] {
        text.isEmpty ? [] : (try? JSONValue(jsonString: text))?.arrayValue ?? []
    }
}

extension RequestHash {
    /// Binds the 32 bytes of the hash without allocating an array.
    func bind(to statement: SQLiteStatement, _ index: Int32) {
        let (first, second, third, fourth) = self.words
        let bytes = (first.bigEndian, second.bigEndian, third.bigEndian, fourth.bigEndian)
        withUnsafeBytes(of: bytes) { statement.bind(index, bytes: $0) }
    }
}
