extension KeyedDecodingContainer {
    /// Reads what counts or numbers something, and so is never negative. A server's word is judged at this door, so that nobody behind it
    /// computes with a number that no log can have.
    func decodeCount(forKey key: Key) throws -> Int64 { try self.judged(try self.decode(Int64.self, forKey: key), key) }

    /// The same for a number that may be absent or null.
    func decodeCountIfPresent(forKey key: Key) throws -> Int64? {
        try self.decodeIfPresent(Int64.self, forKey: key).map { try self.judged($0, key) }
    }

    /// Reads a page token, at most 128 bytes.
    func decodePageIfPresent(forKey key: Key) throws -> String? {
        guard let page = try self.decodeIfPresent(String.self, forKey: key) else { return nil }
        guard page.utf8.count <= 128 else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "must be the `page` of the previous answer")
        }
        return page
    }

    private func judged(_ number: Int64, _ key: Key) throws -> Int64 {
        guard number >= 0 else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "must not be negative")
        }
        return number
    }
}
