/// The implementation of ``JSONReader``: arrays, objects, literals and whitespace.
///
/// `limits.maximumDepth` is checked before each level. Every access to `bytes` follows a check of
/// `count`, because the buffer is unchecked in release builds.
struct JSONParser {
    let bytes: UnsafeRawBufferPointer
    let count: Int
    let limits: JSONReader.Limits
    /// The offset of the next byte.
    var offset = 0
    /// The buffer for strings with escapes, retained for its capacity.
    var unescaped: [UInt8] = []

    init(bytes: UnsafeRawBufferPointer, limits: JSONReader.Limits) {
        self.bytes = bytes
        self.count = bytes.count
        self.limits = limits
    }

    /// Reads a JSON text (RFC 8259 section 2: `JSON-text = ws value ws`).
    mutating func document() throws(JSONError) -> JSONValue {
        self.skipWhitespace()
        let value = try self.value(depth: 0)
        self.skipWhitespace()
        guard self.offset == self.count else { throw self.unexpected(expected: "the end of the text") }
        return value
    }

    /// The number of levels read by recursion, which takes fewer instructions. Deeper levels are
    /// read in a loop, so that nested values from a peer cannot exhaust the stack.
    private static let recursiveDepth = 16

    /// Reads one value.
    ///
    /// - Parameter depth: The number of enclosing arrays and objects.
    mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        guard let byte = self.peek else { throw self.unexpected(expected: "a value") }
        switch byte {
        case UInt8(ascii: "\""):
            self.offset += 1
            return .string(try self.string())
        case UInt8(ascii: "{") where depth < Self.recursiveDepth: return try self.object(depth: depth + 1)
        case UInt8(ascii: "[") where depth < Self.recursiveDepth: return try self.array(depth: depth + 1)
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            return try JSONTreeBuilder.build { builder throws(JSONError) in try self.container(into: &builder, depth: depth) }
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): return try self.number()
        case UInt8(ascii: "t"): return try self.literal("true", .bool(true))
        case UInt8(ascii: "f"): return try self.literal("false", .bool(false))
        case UInt8(ascii: "n"): return try self.literal("null", .null)
        default: throw self.unexpected(expected: "a value")
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
        try self.enter(depth: depth)
        guard self.peek != UInt8(ascii: "]") else {
            self.offset += 1
            return .array([])
        }
        var elements: [JSONValue] = []
        elements.reserveCapacity(4)
        while true {
            elements.append(try self.value(depth: depth))
            if try self.endsContainer(UInt8(ascii: "]")) { return .array(elements) }
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
        try self.enter(depth: depth)
        guard self.peek != UInt8(ascii: "}") else {
            self.offset += 1
            return .object(JSONObject())
        }
        var members: ContiguousArray<JSONObject.Element> = []
        members.reserveCapacity(4)
        while true {
            let key = try self.name()
            members.append((key, try self.value(depth: depth)))
            guard try self.endsContainer(UInt8(ascii: "}")) else { continue }
            let count = members.count
            let object = JSONObject(unchecked: members)
            guard object.count == count || !self.limits.refusesRepeatedNames else {
                throw self.repeatedName(count)
            }
            return .object(object)
        }
    }

    /// Reads an array or an object with all of its contents in a loop.
    private mutating func container(into builder: inout JSONTreeBuilder, depth: Int) throws(JSONError) -> JSONValue {
        while true {
            var value: JSONValue
            switch self.peek {
            case UInt8(ascii: "["):
                try self.enter(depth: depth + builder.depth + 1)
                guard self.peek == UInt8(ascii: "]") else {
                    builder.open(isObject: false)
                    continue
                }
                self.offset += 1
                value = .array([])
            case UInt8(ascii: "{"):
                try self.enter(depth: depth + builder.depth + 1)
                guard self.peek == UInt8(ascii: "}") else {
                    builder.open(isObject: true)
                    builder.append(name: try self.name())
                    continue
                }
                self.offset += 1
                value = .object(JSONObject())
            default: value = try self.value(depth: depth)  // a scalar
            }
            // After a value: the next value follows, or one or more containers close.
            while true {
                guard builder.depth > 0 else { return value }
                builder.append(value)
                guard try self.endsContainer(builder.isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    if builder.isInObject { builder.append(name: try self.name()) }
                    break
                }
                let count = builder.count
                value = builder.close()
                guard !self.limits.refusesRepeatedNames || value.objectValue?.count ?? count == count else {
                    throw self.repeatedName(count)
                }
            }
        }
    }

    private func repeatedName(_ count: Int) -> JSONError {
        JSONError(
            .repeatedName, message: "the object that ends here has \(count) members, two of them with the same name", offset: self.offset)
    }

    private mutating func name() throws(JSONError) -> String {
        try self.enterName()
        let name = try self.string()
        try self.leaveName()
        return name
    }

    /// Reads the opening quote of a member's name.
    mutating func enterName() throws(JSONError) {
        guard self.peek == UInt8(ascii: "\"") else { throw self.unexpected(expected: "a name in quotes") }
        self.offset += 1
    }

    /// Reads the colon between a member's name and its value.
    mutating func leaveName() throws(JSONError) {
        self.skipWhitespace()
        guard self.peek == UInt8(ascii: ":") else { throw self.unexpected(expected: "a colon") }
        self.offset += 1
        self.skipWhitespace()
    }

    /// Reads an opening bracket.
    mutating func enter(depth: Int) throws(JSONError) {
        guard depth <= self.limits.maximumDepth else {
            throw JSONError(
                .tooDeep, message: "the nesting exceeds \(self.limits.maximumDepth) levels (`maximumDepth`)", offset: self.offset)
        }
        self.offset += 1
        self.skipWhitespace()
    }

    /// Reads the separator after an element: a comma, or the closing bracket. Returns `true` for
    /// the bracket.
    mutating func endsContainer(_ closing: UInt8) throws(JSONError) -> Bool {
        self.skipWhitespace()
        switch self.peek {
        case UInt8(ascii: ","):
            self.offset += 1
            self.skipWhitespace()
            return false
        case closing:
            self.offset += 1
            return true
        default:
            throw self.unexpected(expected: "a comma or \(closing == UInt8(ascii: "]") ? "]" : "}")")
        }
    }

    mutating func literal(_ text: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        for index in 0..<text.utf8CodeUnitCount {
            guard self.peek == text.utf8Start[index] else { throw self.unexpected(expected: "\(text)") }
            self.offset += 1
        }
        return value
    }

    mutating func skipWhitespace() {
        while self.offset < self.count {
            switch self.bytes[self.offset] {
            case 0x20, 0x0A, 0x0D, 0x09: self.offset += 1
            default: return
            }
        }
    }

    var peek: UInt8? { self.offset < self.count ? self.bytes[self.offset] : nil }

    func unexpected(_ code: JSONError.Code = .unexpectedByte, expected: String) -> JSONError {
        guard let byte = self.peek else {
            return JSONError(.unexpectedEnd, message: "expected \(expected), found the end of the text", offset: self.offset)
        }
        let hex = String(byte, radix: 16, uppercase: true)
        return JSONError(code, message: "expected \(expected), found byte 0x\(hex.count == 1 ? "0" : "")\(hex)", offset: self.offset)
    }
}
