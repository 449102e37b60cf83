extension JSONParser {
    /// Validates a value as strictly as ``value(depth:)``, without recursion and without creating
    /// it. Only an object whose names have to be compared
    /// (``JSONReader/Limits/refusesRepeatedNames``) is created.
    ///
    /// - Parameter depth: The number of enclosing arrays and objects.
    /// - Returns: Whether the value is a string without escapes.
    @discardableResult
    mutating func skipValue(depth around: Int) throws(JSONError) -> Bool {
        var isPlainString = false
        var open = OpenContainers()
        while true {
            switch self.peek {
            case UInt8(ascii: "\""):
                self.offset += 1
                isPlainString = try self.skipString()
            case UInt8(ascii: "["):
                try self.enter(depth: around + open.depth + 1)
                guard self.peek == UInt8(ascii: "]") else {
                    open.append(isObject: false)
                    continue
                }
                self.offset += 1
            case UInt8(ascii: "{") where !self.limits.refusesRepeatedNames:
                try self.enter(depth: around + open.depth + 1)
                guard self.peek == UInt8(ascii: "}") else {
                    open.append(isObject: true)
                    try self.skipName()
                    continue
                }
                self.offset += 1
            default:
                // Numbers and literals need no allocation. An object whose names have to be
                // compared is decoded.
                _ = try self.value(depth: around + open.depth)
            }
            // After a value: the next value follows, or one or more containers close.
            while true {
                guard open.depth > 0 else { return isPlainString }
                guard try self.endsContainer(open.isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    if open.isInObject { try self.skipName() }
                    break
                }
                isPlainString = false
                open.removeLast()
            }
        }
    }

    private mutating func skipName() throws(JSONError) {
        try self.enterName()
        try self.skipString()
        try self.leaveName()
    }

    /// The kinds of the open containers, with one bit each.
    private struct OpenContainers {
        private var isObject = SIMD8<UInt64>()
        private(set) var depth = 0

        /// Whether the innermost container is an object.
        var isInObject: Bool {
            let last = self.depth - 1
            return self.isObject[last >> 6] & (1 << UInt64(last & 63)) != 0
        }

        /// Opens a container. The depth is at most the reader's limit of 512 levels, the number of
        /// bits.
        mutating func append(isObject: Bool) {
            let bit: UInt64 = 1 << UInt64(self.depth & 63)
            if isObject { self.isObject[self.depth >> 6] |= bit } else { self.isObject[self.depth >> 6] &= ~bit }
            self.depth += 1
        }

        mutating func removeLast() { self.depth -= 1 }
    }
}
