extension JSONParser {
    /// Checks a value as strictly as ``value(depth:)`` reads one, and makes none.
    ///
    /// - Returns: Whether it is a string without escapes.
    @discardableResult
    mutating func skipValue(depth: Int) throws(JSONError) -> Bool {
        switch self.peek {
        case UInt8(ascii: "\""):
            self.offset += 1
            return try self.skipString()
        case UInt8(ascii: "{"): try self.skipObject(depth: depth + 1)
        case UInt8(ascii: "["): try self.skipArray(depth: depth + 1)
        default: _ = try self.value(depth: depth)  // numbers and literals take no memory
        }
        return false
    }

    private mutating func skipArray(depth: Int) throws(JSONError) {
        try self.enter(depth: depth)
        guard self.peek != UInt8(ascii: "]") else {
            self.offset += 1
            return
        }
        repeat { try self.skipValue(depth: depth) } while try !self.endsContainer(UInt8(ascii: "]"))
    }

    private mutating func skipObject(depth: Int) throws(JSONError) {
        // Whoever counts names must keep them.
        guard !self.limits.refusesRepeatedNames else { return _ = try self.value(depth: depth - 1) }
        try self.enter(depth: depth)
        guard self.peek != UInt8(ascii: "}") else {
            self.offset += 1
            return
        }
        repeat {
            try self.enterName()
            try self.skipString()
            try self.leaveName()
            try self.skipValue(depth: depth)
        } while try !self.endsContainer(UInt8(ascii: "}"))
    }
}
