import ApusBytes
import ApusJSON

/// Reads MessagePack values from the start of a buffer. Each length is checked against the
/// remaining bytes before any allocation.
///
/// Source: the MessagePack specification, "Formats".
struct MessagePackReader {
    private let bytes: UnsafeRawBufferPointer
    private let maximumDepth: Int
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = min(max(maximumDepth, 1), JSONReader.Limits.highestDepth)
    }

    /// The number of unread bytes.
    var remaining: Int { self.bytes.count - self.offset }

    func malformed(_ what: String) -> SocketIOError {
        SocketIOError(.malformedPacket, message: "MessagePack: \(what) (at byte \(self.offset))")
    }

    /// Reads the next value. Returns `nil` for JavaScript's `undefined`.
    ///
    /// - Parameter depth: The number of enclosing arrays and maps.
    mutating func value(depth: Int = 0) throws(SocketIOError) -> SocketIOValue? {
        guard self.offset < self.bytes.count, Self.startsContainer(self.bytes[self.offset]) else { return try self.scalar() }
        guard depth >= Self.recursiveDepth else { return try self.containerByRecursion(depth: depth) }
        return try JSONTreeBuilder.build { builder throws(SocketIOError) in try self.container(into: &builder, depth: depth) }
    }

    private mutating func scalar() throws(SocketIOError) -> SocketIOValue? {
        let marker = try self.byte()
        switch marker {
        case 0x00...0x7f: return .integer(Int64(marker))
        case 0xa0...0xbf: return .string(try self.string(count: Int(marker & 0x1f)))
        case 0xc0: return .null
        case 0xc2: return .bool(false)
        case 0xc3: return .bool(true)
        case 0xc4...0xc6: return .binary(Array(try self.take(try self.length(width: 1 << (marker - 0xc4)))))
        case 0xc7...0xc9:
            let count = try self.length(width: 1 << (marker - 0xc7))
            return try self.extended(type: try self.byte(), count: count, isFixed: false)
        case 0xca: return Self.number(Double(Float(bitPattern: UInt32(truncatingIfNeeded: try self.unsigned(width: 4)))))
        case 0xcb: return Self.number(Double(bitPattern: try self.unsigned(width: 8)))
        case 0xcc...0xcf: return Self.integer(try self.unsigned(width: 1 << (marker - 0xcc)))
        case 0xd0: return .integer(Int64(Int8(truncatingIfNeeded: try self.unsigned(width: 1))))
        case 0xd1: return .integer(Int64(Int16(truncatingIfNeeded: try self.unsigned(width: 2))))
        case 0xd2: return .integer(Int64(Int32(truncatingIfNeeded: try self.unsigned(width: 4))))
        case 0xd3: return .integer(Int64(bitPattern: try self.unsigned(width: 8)))
        case 0xd4...0xd8: return try self.extended(type: try self.byte(), count: 1 << (marker - 0xd4), isFixed: true)
        case 0xd9...0xdb: return .string(try self.string(count: try self.length(width: 1 << (marker - 0xd9))))
        case 0xe0...0xff: return .integer(Int64(Int8(bitPattern: marker)))
        default: throw self.malformed("no value begins with the byte \(marker)")  // 0xc1; the caller handles containers
        }
    }

    // MARK: Arrays and maps

    /// Reads the header of a map. Returns the number of members.
    mutating func mapHeader() throws(SocketIOError) -> Int {
        let (isObject, count) = try self.containerHeader()
        guard isObject else { throw self.malformed("a packet must be a map, not an array") }
        return count
    }

    /// Reads a key of a map, which must be a string. A numeric key, which JavaScript accepts, is
    /// rejected, as in python-socketio.
    mutating func name() throws(SocketIOError) -> String {
        switch try self.byte() {
        case let marker where marker & 0xe0 == 0xa0: return try self.string(count: Int(marker & 0x1f))
        case let marker where (0xd9...0xdb).contains(marker): return try self.string(count: try self.length(width: 1 << (marker - 0xd9)))
        default: throw self.malformed("the key of a map is not a string")
        }
    }

    private static func startsContainer(_ marker: UInt8) -> Bool {
        (0x80...0x9f).contains(marker) || (0xdc...0xdf).contains(marker)
    }

    /// The number of levels that are read by recursion, which is faster. Deeper levels are read in
    /// a loop, so that nested values from a peer cannot exhaust the stack.
    private static let recursiveDepth = 16

    /// The maximum capacity reserved from an announced count, which may be false at every level.
    private static let reservedElements = 64

    private mutating func containerByRecursion(depth: Int) throws(SocketIOError) -> SocketIOValue {
        guard depth < self.maximumDepth else { throw self.malformed("the nesting exceeds \(self.maximumDepth) levels (`maximumDepth`)") }
        let (isObject, count) = try self.containerHeader()
        guard isObject else {
            var elements: [SocketIOValue] = []
            elements.reserveCapacity(min(count, Self.reservedElements))
            for _ in 0..<count { elements.append(try self.value(depth: depth + 1) ?? .null) }
            return .array(elements)
        }
        var members: [JSONObject.Element] = []
        members.reserveCapacity(min(count, Self.reservedElements))
        for _ in 0..<count {
            let name = try self.name()
            // A member that is undefined is omitted, as in JavaScript.
            if let value = try self.value(depth: depth + 1) { members.append((name, value)) }
        }
        return .object(JSONObject(members))
    }

    /// Reads an array or a map with all of its contents in a loop.
    private mutating func container(into builder: inout JSONTreeBuilder, depth: Int) throws(SocketIOError) -> SocketIOValue {
        // The number of missing values of the innermost open container, and of the containers
        // around it. The array needs no allocation unless containers are nested.
        var missing = 0
        var outer: [Int] = []
        while true {
            var value: SocketIOValue?
            if self.offset < self.bytes.count, Self.startsContainer(self.bytes[self.offset]) {
                guard depth + builder.depth < self.maximumDepth else {
                    throw self.malformed("the nesting exceeds \(self.maximumDepth) levels (`maximumDepth`)")
                }
                let (isObject, count) = try self.containerHeader()
                guard count == 0 else {
                    if builder.depth > 0 { outer.append(missing) }
                    missing = count
                    builder.open(isObject: isObject)
                    if isObject { builder.append(name: try self.name()) }
                    continue
                }
                let empty: SocketIOValue = isObject ? .object(JSONObject()) : .array([])
                guard builder.depth > 0 else { return empty }
                value = empty
            } else {
                value = try self.scalar()
            }
            // After a value: the next value follows, or one or more containers close.
            while true {
                if let value {
                    builder.append(value)
                } else if builder.isInObject {
                    builder.removeName()  // an undefined member is omitted, as in JavaScript
                } else {
                    builder.append(.null)
                }
                missing -= 1
                guard missing == 0 else {
                    if builder.isInObject { builder.append(name: try self.name()) }
                    break
                }
                let whole = builder.close()
                guard builder.depth > 0 else { return whole }
                missing = outer.popLast() ?? 0
                value = whole
            }
        }
    }

    /// Reads the header of an array or a map.
    private mutating func containerHeader() throws(SocketIOError) -> (isObject: Bool, count: Int) {
        let marker = try self.byte()
        switch marker {
        case 0x80...0x8f: return (true, try self.checked(Int(marker & 0x0f), bytesEach: 2))
        case 0xde, 0xdf: return (true, try self.checked(try self.length(width: 2 << (marker - 0xde)), bytesEach: 2))
        case 0x90...0x9f: return (false, try self.checked(Int(marker & 0x0f), bytesEach: 1))
        case 0xdc, 0xdd: return (false, try self.checked(try self.length(width: 2 << (marker - 0xdc)), bytesEach: 1))
        default: throw self.malformed("a packet must be a map")
        }
    }

    /// Throws if the remaining bytes cannot hold the announced number of elements.
    private func checked(_ count: Int, bytesEach: Int) throws(SocketIOError) -> Int {
        guard count <= self.remaining / bytesEach else {
            throw self.malformed("the container announces \(count) elements, but only \(self.remaining) bytes remain")
        }
        return count
    }

    // MARK: Extensions

    /// Reads an extension. In notepack 2, type 0 is undefined (fixext 1), a date in milliseconds
    /// (fixext 8) or an ArrayBuffer (ext). Type -1 is the timestamp of the specification, which
    /// notepack 3 and python-socketio send.
    private mutating func extended(type: UInt8, count: Int, isFixed: Bool) throws(SocketIOError) -> SocketIOValue? {
        switch (Int8(bitPattern: type), isFixed, count) {
        case (0, true, 1):
            _ = try self.byte()
            return nil
        case (0, true, 8):
            let milliseconds = Int64(bitPattern: try self.unsigned(width: 8))
            let rest = (milliseconds % 1000 + 1000) % 1000
            let seconds = (milliseconds / 1000) - (milliseconds % 1000 < 0 ? 1 : 0)
            return MessagePackTimestamp(seconds: seconds, nanoseconds: UInt32(truncatingIfNeeded: rest) * 1_000_000).value
        case (0, false, _):
            return .binary(Array(try self.take(count)))
        case (-1, _, 4):
            return MessagePackTimestamp(seconds: Int64(truncatingIfNeeded: try self.unsigned(width: 4))).value
        case (-1, _, 8):
            let bits = try self.unsigned(width: 8)
            return MessagePackTimestamp(
                seconds: Int64(truncatingIfNeeded: bits & 0x3_ffff_ffff), nanoseconds: UInt32(truncatingIfNeeded: bits >> 34)
            ).value
        case (-1, _, 12):
            let nanoseconds = UInt32(truncatingIfNeeded: try self.unsigned(width: 4))
            return MessagePackTimestamp(seconds: Int64(bitPattern: try self.unsigned(width: 8)), nanoseconds: nanoseconds).value
        default:
            throw self.malformed("the extension type \(Int8(bitPattern: type)) with \(count) bytes is not supported")
        }
    }

    // MARK: Numbers and bytes

    private static func number(_ value: Double) -> SocketIOValue {
        value.isFinite ? .double(value) : .null
    }

    /// Returns an integer, or a double if the value exceeds 63 bits, as in the JSON reader.
    private static func integer(_ value: UInt64) -> SocketIOValue {
        Int64(exactly: value).map { .integer($0) } ?? .double(Double(value))
    }

    private mutating func string(count: Int) throws(SocketIOError) -> String {
        // Invalid UTF-8 becomes U+FFFD: JavaScript peers send lone surrogates, which must not end a
        // connection.
        String(decoding: try self.take(count), as: UTF8.self)
    }

    private mutating func length(width: Int) throws(SocketIOError) -> Int {
        let length = try self.unsigned(width: width)
        guard let length = Int(exactly: length), length <= self.remaining else {
            throw self.malformed("the value announces \(length) bytes or elements, but only \(self.remaining) bytes remain")
        }
        return length
    }

    private mutating func unsigned(width: Int) throws(SocketIOError) -> UInt64 {
        var value: UInt64 = 0
        for byte in try self.take(width) { value = value << 8 | UInt64(byte) }
        return value
    }

    private mutating func byte() throws(SocketIOError) -> UInt8 {
        guard self.offset < self.bytes.count else { throw self.malformed("the data ends inside a value") }
        defer { self.offset += 1 }
        return self.bytes[self.offset]
    }

    private mutating func take(_ count: Int) throws(SocketIOError) -> UnsafeRawBufferPointer {
        guard count <= self.remaining else { throw self.malformed("the value announces \(count) bytes, but only \(self.remaining) remain") }
        defer { self.offset += count }
        return UnsafeRawBufferPointer(rebasing: self.bytes[self.offset..<self.offset + count])
    }
}
