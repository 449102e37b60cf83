import ApusChatProtocol
import ApusChatStorage
import ApusJSON

/// Lists in a column: numbers separated by spaces, texts as JSON.
enum ListText {
    static func text(_ numbers: some Sequence<Int64>) -> String { numbers.map(String.init).joined(separator: " ") }

    static func numbers(_ text: String) -> [Int64] { text.isEmpty ? [] : text.split(separator: " ").compactMap { Int64($0) } }

    static func text(_ texts: [String]) -> String { self.json(.array(texts.map { .string($0) })) }

    static func texts(_ text: String) -> [String] { self.values(text).compactMap(\.stringValue) }

    /// A folder without a filter is its name, one with a filter a pair.
    static func text(_ folders: [Folder]) -> String {
        self.json(
            .array(
                folders.map { folder in
                    folder.filter.map { .array([.string(folder.name), .string($0)]) } ?? .string(folder.name)
                }))
    }

    static func folders(_ text: String) -> [Folder] {
        self.values(text).compactMap { value in
            if let name = value.stringValue { return Folder(name: name) }
            guard let pair = value.arrayValue, pair.count == 2, let name = pair[0].stringValue else { return nil }
            return Folder(name: name, filter: pair[1].stringValue)
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
            return ReactionCount(key: key, count: Int64(count))
        }
    }

    static func json(_ value: JSONValue) -> String { (try? value.jsonString()) ?? "" }

    private static func values(_ text: String) -> [JSONValue] {
        text.isEmpty ? [] : (try? JSONValue(jsonString: text))?.arrayValue ?? []
    }
}

extension RequestHash {
    /// Binds the 32 bytes without an array.
    func bind(to statement: SQLiteStatement, _ index: Int32) {
        let (first, second, third, fourth) = self.words
        let bytes = (first.bigEndian, second.bigEndian, third.bigEndian, fourth.bigEndian)
        withUnsafeBytes(of: bytes) { statement.bind(index, bytes: $0) }
    }
}
