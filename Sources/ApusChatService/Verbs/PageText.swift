import ApusChatProtocol
import ApusChatStorage
import ApusJSON

/// Encodes opaque page tokens. A token consists of fields that are separated by `~`, which no field
/// contains.
enum PageText {
    static func token(_ fields: [String]) throws -> PageToken {
        guard let token = PageToken(fields.joined(separator: "~")) else {
            throw ChatError(.internal, message: "The server cannot encode the token of the next page.")
        }
        return token
    }

    /// Decodes a token.
    ///
    /// - Returns: The fields after the tag.
    /// - Throws: `bad_request` if the tag or the number of fields differs.
    static func fields(_ token: PageToken, tag: String, count: Int) throws -> [String] {
        let fields = token.rawValue.split(separator: "~", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == count + 1, fields[0] == tag else { throw ChatError.wrongPage }
        return Array(fields.dropFirst())
    }

    static func number(_ text: String) throws -> Int64 {
        guard let number = Int64(text) else { throw ChatError.wrongPage }
        return number
    }

    /// Returns a token that continues a list after a key.
    static func token(after key: Int64) throws -> PageToken { try self.token(["k", String(key)]) }

    static func key(_ token: PageToken?) throws -> Int64? {
        try token.map { try self.number(self.fields($0, tag: "k", count: 1)[0]) }
    }
}

/// Computes the size of encoded answers.
enum AnswerSize {
    /// The maximum size of the list of one page in bytes, which is below the limit of an answer.
    static let pageBytes = ChatLimits.answerBytes - 16 * 1024

    /// Returns the number of leading values that fit into a page; at least 1 for a collection that
    /// is not empty.
    static func fitting(_ values: some Collection<some WireObject>) -> Int {
        self.fitting(values.lazy.map { self.bytes($0) }, self.pageBytes)
    }

    /// Returns the number of leading sizes whose sum fits into a number of bytes; at least 1 for a
    /// sequence that is not empty.
    static func fitting(_ sizes: some Sequence<Int>, _ bytes: Int) -> Int {
        var total = 0
        var count = 0
        for size in sizes {
            total += 1 + size
            if total > bytes, count > 0 { break }
            count += 1
        }
        return count
    }

    static func bytes(_ value: some WireObject) -> Int { (try? JSONWriter.bytes(of: value.json).count) ?? 0 }
}

extension ChatError {
    static let wrongPage = ChatError(
        .badRequest, message: "`page` must be the token of an earlier answer to the same request.", field: "page")
}
