extension KeyedDecodingContainer {
    /// Decodes a counter or ordinal, which must not be negative. The check at decoding keeps
    /// invalid numbers of a server out of computations.
    func decodeCount(forKey key: Key) throws -> Int64 { try self.validated(try self.decode(Int64.self, forKey: key), key) }

    /// Decodes a counter or ordinal that may be absent or null.
    func decodeCountIfPresent(forKey key: Key) throws -> Int64? {
        try self.decodeIfPresent(Int64.self, forKey: key).map { try self.validated($0, key) }
    }

    /// Decodes a page token of at most 128 bytes.
    func decodePageIfPresent(forKey key: Key) throws -> String? {
        guard let page = try self.decodeIfPresent(String.self, forKey: key) else { return nil }
        guard page.utf8.count <= 128 else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "must be the `page` of the previous answer")
        }
        return page
    }

    private func validated(_ number: Int64, _ key: Key) throws -> Int64 {
        guard number >= 0 else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "must not be negative")
        }
        return number
    }
}
